"""What an hour of each resource costs: shipped defaults with their sources, the user's own on top.

A price is a band with a value inside. Defaults without a source are marked as assumptions; they
never carry a headline.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from importlib import resources
from pathlib import Path
from typing import Any

from simreal.core.errors import UsageError, unknown
from simreal.verdicts.cost.inputs import Inputs

#: Minutes a demonstration are those of the study's own ledger.
MEASURED = "measured"
#: The highest price taken; sums of what is higher would mean nothing.
LARGEST = 1e9


@dataclass(frozen=True)
class Price:
    """A price with the band it lies in; low <= value <= high, in the currency per `unit`."""

    low: float
    value: float
    high: float
    unit: str
    source: str
    assumption: bool = False

    def __post_init__(self) -> None:
        numbers = (self.low, self.value, self.high)
        if not all(math.isfinite(x) for x in numbers) or not 0 <= self.low <= self.high:
            raise UsageError(f"A price needs finite 0 <= low <= high; got {numbers}.")
        if self.high > LARGEST:
            raise UsageError(f"A price may be {LARGEST:,.0f} at most; got {numbers}.")
        if not self.low <= self.value <= self.high:
            raise UsageError(f"A price's value must lie in its band; got {numbers}.")

    @property
    def ends(self) -> tuple[float, ...]:
        """The band's ends, one number where they coincide."""
        return (self.low,) if self.low == self.high else (self.low, self.high)


@dataclass(frozen=True)
class Calendar:
    """The table [calendar]: a lab, and how fast things go.

    minutes: robot and operator time of a recorded demonstration with its reset; None for what the
    study's ledger says. usable: share of recordings that can be used. per_core_hour: simulated
    demonstrations that a core makes in an hour, where the ledger does not say.
    """

    inputs: Inputs
    minutes: Price | None
    usable: Price
    per_core_hour: Price


@dataclass(frozen=True)
class Prices:
    """All prices of one calculation.

    operator, robot, wear, compute, engineering: per hour. quality_check: per demonstration.
    incident: per incident. setup_hours: engineering hours until a task runs in simulation.
    times: planning times in minutes a demonstration, by kind of task. calendar: who and what
    works, and when.
    """

    currency: str
    operator: Price
    robot: Price
    wear: Price
    compute: Price
    engineering: Price
    quality_check: Price
    incident: Price
    setup_hours: Price
    calendar: Calendar
    times: Mapping[str, Price] = field(default_factory=dict)

    def of(self, resource: str) -> Price:
        """The price of one of `purposes.RESOURCES`."""
        price = getattr(self, resource)
        assert isinstance(price, Price)
        return price

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Names of the prices that rest on no source."""
        return tuple(
            f.name
            for f in fields(self)
            if isinstance(price := getattr(self, f.name), Price) and price.assumption
        )


def _shipped() -> dict[str, Any]:
    text = resources.files("simreal.verdicts.cost").joinpath("prices.toml").read_text("utf-8")
    return tomllib.loads(text)


def _is_number(entry: Any) -> bool:
    return isinstance(entry, int | float) and not isinstance(entry, bool)


def _price(name: str, entry: Any, unit: str) -> Price:
    """A price from a TOML entry: a number, or a table with low, high, value, source."""
    if _is_number(entry):
        return Price(float(entry), float(entry), float(entry), unit, "user")
    if not isinstance(entry, Mapping):
        raise UsageError(f"Price {name!r} must be a number or a table; got {entry!r}.")
    known = {"low", "high", "value", "unit", "source", "assumption"}
    for key in entry:
        if key not in known:
            raise unknown(f"key of price {name!r}", key, known)
    if "value" not in entry and not {"low", "high"} <= set(entry):
        raise UsageError(f"Price {name!r} needs `value`, or `low` and `high`.")
    bad = [k for k in ("low", "high", "value") if k in entry and not _is_number(entry[k])]
    if bad:
        raise UsageError(f"Price {name!r}: {bad[0]} must be a number; got {entry[bad[0]]!r}.")
    low = float(entry.get("low", entry.get("value")))
    high = float(entry.get("high", entry.get("value")))
    value = float(entry.get("value", (low + high) / 2))
    source, assumed = str(entry.get("source", "user")), bool(entry.get("assumption", False))
    return Price(low, value, high, str(entry.get("unit", unit)), source, assumed)


def _chosen(content: Mapping[str, Any], key: str, presets: str) -> Price:
    """The robot or machine: a price of its own, or the name of a preset."""
    choice = content[key]
    if not isinstance(choice, str):
        return _price(key, choice, "an hour")
    if choice not in content[presets]:
        raise unknown(f"{key} in the price file", choice, content[presets])
    return _price(choice, content[presets][choice], "an hour")


def _merged(user: Mapping[str, Any]) -> dict[str, Any]:
    """The shipped entries with the user's in their place; tables of presets are joined."""
    content = _shipped()
    for name, entry in user.items():
        if name not in content:
            raise unknown("price", name, content)
        if name in ("robots", "machines", "times", "calendar"):
            if not isinstance(entry, Mapping):
                raise UsageError(f"[{name}] must be a table of named values; got {entry!r}.")
            content[name] = {**content[name], **entry}
        else:
            content[name] = entry
    return content


def prices_from(user: Mapping[str, Any]) -> Prices:
    """The shipped prices with the entries of a parsed price file on top."""
    content = _merged(user)
    currency = content["currency"]
    if not (isinstance(currency, str) and re.fullmatch(r"[^\s\d]{1,5}", currency)):
        raise UsageError(f"currency is {currency!r}; give a code or a sign such as EUR.")
    hourly = {
        name: _price(name, content[name], unit)
        for name, unit in (
            ("operator", "an hour"),
            ("wear", "a robot hour"),
            ("engineering", "an hour"),
            ("quality_check", "a demonstration"),
            ("incident", "an incident"),
            ("setup_hours", "hours a task"),
        )
    }
    times = {k: _price(k, v, "minutes") for k, v in content["times"].items()}
    return Prices(
        currency=currency,
        robot=_chosen(content, "robot", "robots"),
        compute=_chosen(content, "machine", "machines"),
        times=times,
        calendar=_calendar(content["calendar"], times),
        **hourly,
    )


def _calendar(content: Mapping[str, Any], times: Mapping[str, Price]) -> Calendar:
    lab = {field.name for field in fields(Inputs)}
    speeds = ("minutes", "usable", "per_core_hour")
    for key in content:
        if key not in lab | set(speeds):
            raise unknown("key of [calendar]", key, [*lab, *speeds])
    minutes, unit = content["minutes"], "minutes a demonstration with reset"
    if isinstance(minutes, str) and minutes not in (MEASURED, *times):
        raise unknown("minutes in [calendar]", minutes, [MEASURED, *times])
    usable = _price("usable", content["usable"], "share of recordings")
    per_hour = _price("per_core_hour", content["per_core_hour"], "demonstrations a core hour")
    if not (usable.low > 0 and usable.high <= 1 and per_hour.low > 0):
        raise UsageError("In [calendar], usable must lie in (0, 1] and per_core_hour be above 0.")
    chosen = None if minutes == MEASURED else times.get(str(minutes))
    if not isinstance(minutes, str):
        chosen = _price("minutes", minutes, unit)
    inputs = Inputs(**{key: value for key, value in content.items() if key in lab})
    return Calendar(inputs, chosen, usable, per_hour)


def read_prices(path: Path | None = None) -> Prices:
    """The shipped prices, with the user's TOML file on top where one is given."""
    if path is None:
        return prices_from({})
    try:
        return prices_from(tomllib.loads(path.read_text("utf-8")))
    except FileNotFoundError:
        raise UsageError(f"No price file {path}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not valid TOML: {error}.") from error
