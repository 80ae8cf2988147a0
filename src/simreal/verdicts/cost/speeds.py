"""How fast things go: by a study's ledger where it says, else by planning figures; as draws."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from simreal.core.seeds import generator
from simreal.core.types import STAND_IN, Charge
from simreal.verdicts.cost.calendar import Draws
from simreal.verdicts.cost.prices import Price, Prices
from simreal.verdicts.cost.purposes import amounts, counted, hours, purpose
from simreal.verdicts.cost.usage import Floats, Usage, units_of
from simreal.verdicts.evidence import Evidence

DRAWS = 2000
#: Planning time of a demonstration where no ledger measured one.
FALLBACK = "operator_day"


@dataclass(frozen=True)
class Speeds:
    """What is uncertain about how fast things go, as draws and in words for the page."""

    draws: Draws
    shown: Mapping[str, Any]
    label: str

    def resized(self, draws: int) -> Speeds:
        """As many draws as asked for; each stream is repeated or cut."""
        parts = (np.resize(getattr(self.draws, part.name), draws) for part in fields(Draws))
        return replace(self, draws=Draws(*parts))


def speeds_of(evidence: Evidence, prices: Prices, draws: int = DRAWS) -> Speeds:
    """How fast a study says things go; planning figures where it does not."""
    units = units_of(evidence, prices)
    plan = planned_speeds(prices, draws)
    minutes, shown = plan.draws.minutes, dict(plan.shown)
    on_twin = False
    if prices.calendar.minutes is None and units.real and "robot" in units.real:
        minutes = _measured_minutes(evidence, units.real, draws)
        shown["minutes"] = _words(minutes, "this study's ledger")
        on_twin = units.stand_in
    trial, shown["trial_minutes"] = minutes, shown["minutes"]
    if units.trial and "robot" in units.trial:
        trial = np.full(draws, 60 * units.trial["robot"])
        shown["trial_minutes"] = _words(trial, "this study's ledger")
        on_twin = on_twin or units.stand_in
    per_hour = plan.draws.per_core_hour
    if units.sim and units.sim.get("compute"):
        per_hour = np.full(draws, 1 / units.sim["compute"])
        shown["per_core_hour"] = _words(per_hour, "this study's ledger")
    setup = plan.draws.setup_hours
    if units.setup_hours is None:
        setup = np.full(draws, units.setup.get("engineering", 0.0))
        shown["setup_hours"] = _words(setup, "ledger or price file")
    changed = replace(
        plan.draws, minutes=minutes, trial_minutes=trial, per_core_hour=per_hour, setup_hours=setup
    )
    return Speeds(changed, shown, STAND_IN if on_twin else "")


def planned_speeds(prices: Prices, draws: int = DRAWS) -> Speeds:
    """Planning figures alone: prices, planning times, measured speed of the simulation."""
    calendar = prices.calendar
    minutes = calendar.minutes or prices.times[FALLBACK]
    laws = {
        "minutes": minutes,
        "usable": calendar.usable,
        "trial_minutes": minutes,
        "setup_hours": prices.setup_hours,
        "per_core_hour": calendar.per_core_hour,
    }
    drawn = {name: _draw(name, law, draws) for name, law in laws.items()}
    shown = {name: _words(drawn[name], law.source) for name, law in laws.items()}
    return Speeds(Draws(**drawn), shown, "")


def _draw(name: str, law: Price, draws: int) -> Floats:
    return generator(0, f"calendar/{name}").uniform(law.low, law.high, draws)


def _words(values: Floats, source: str) -> dict[str, Any]:
    """The 80 % range of draws and where it comes from."""
    low, high = np.quantile(values, [0.1, 0.9])
    return {"p10": float(low), "p90": float(high), "source": source}


def _measured_minutes(evidence: Evidence, real: Usage, draws: int) -> Floats:
    """Robot minutes for each usable demonstration: shards of the ledger drawn with replacement."""
    shards: defaultdict[str, list[Charge]] = defaultdict(list)
    for charge in evidence.charges:
        if purpose(charge) == "real data":
            shards[charge.work].append(charge)
    spent = [sum(hours(c) for c in part if "robot" in amounts(c)) for part in shards.values()]
    made = [counted(part, "demonstration") for part in shards.values()]
    if not all(made):
        return np.full(draws, 60 * real["robot"])
    picked = generator(0, "calendar/shards").integers(0, len(made), (draws, len(made)))
    return np.asarray(60 * np.asarray(spent)[picked].sum(1) / np.asarray(made)[picked].sum(1))
