"""What is expected rather than measured: probabilities, models, the worth of information."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from simreal.report.marks import Curve, Span
from simreal.report.numbers import money, percent
from simreal.verdicts.explain import CAVEAT


def caveat(explanation: Mapping[str, Any]) -> str:
    """What an explanation of the gap does not say."""
    return str(explanation.get("note") or CAVEAT)


def likely(probability: float | None, goal: float | None) -> str:
    """`84 % likely to pass a test of 85 %`, or that it is not known."""
    if probability is None:
        return "not estimated"
    where = "the goal" if goal is None else f"{percent(goal)} %"
    return f"{percent(probability)} % likely to pass a test of {where}"


def road_next(n_real: int, n_sim: int) -> str:
    """The next increment of a road."""
    parts = [(n_real, "real"), (n_sim, "simulated")]
    text = " and ".join(f"{n:,} {kind}" for n, kind in parts if n)
    return f"{text} demonstrations" if text else "trials only"


def models(found: Mapping[str, float]) -> str:
    """The probabilities of the models that were averaged, most likely first."""
    order = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{name.replace('_', ' ')} {percent(p)} %" for name, p in order)


def evpi(value: float | None, currency: str) -> str:
    """What knowing everything would be worth: no measurement can be worth more."""
    if value is None:
        return ""
    return (
        "To know every road's true success before choosing would be worth "
        f"{money(value, currency)} on average; no measurement can be worth more than that."
    )


def avoided(found: Mapping[str, Any] | None, currency: str) -> str:
    """Unsafe events that happened in simulation, and what they would have cost on a robot."""
    if not found or not found["events"]:
        return ""
    happened = f"{found['events']:,} unsafe events happened in simulation and not on a robot"
    if found["money"][1] == 0:
        return (
            f"{happened}. They are priced at nothing until the file of prices says what an "
            "incident costs (incident)."
        )
    low, high = (money(x, currency) for x in found["money"])
    return f"{happened}, where they would have cost {low} to {high}."


def missed(curve: Curve) -> str:
    """How many measured cells the band of a fitted curve does not meet; empty where it meets all.

    A cell is missed where its whole 95 % interval lies outside the band at its amount of data.
    """
    cells = [dose for dose in curve.doses if dose.cell.enough]
    low, high = (
        np.interp([d.n_real for d in cells], curve.n_real, ends) for ends in (curve.p10, curve.p90)
    )
    off = sum(
        bool(dose.cell.high < a or dose.cell.low > b)
        for dose, a, b in zip(cells, low, high, strict=True)
    )
    if not off:
        return ""
    where = f"{off} of {len(cells)} measured places" if len(cells) > 1 else "the one place measured"
    return (
        f"The curve {curve.label} does not follow the measurements: at {where} the whole 95 % "
        "interval lies outside its band. The forecasts on this page rest on these curves."
    )


def unreached(found: Sequence[Span], goal: float | None) -> str:
    """That half of the simulated futures end without the goal on every road; else empty."""
    if not found or any(one.p50 is not None for one in found):
        return ""
    wanted = "the goal" if goal is None else f"the goal of {percent(goal)} %"
    return (
        f"None of the roads is expected to show {wanted} within what was looked at: on each of "
        "them at least half of the simulated futures end without it."
    )


def advisable(rules: Sequence[Mapping[str, Any]]) -> list[str]:
    """Which arms may be advised: those that may not with their reasons, the others in one line."""
    lines = [
        f"{rule['arm']}: no: {'; '.join(rule['reasons'])}" for rule in rules if not rule["eligible"]
    ]
    noted = [
        f"{rule['arm']}: yes ({'; '.join(rule['reasons'])})"
        for rule in rules
        if rule["eligible"] and rule["reasons"]
    ]
    plain = [str(rule["arm"]) for rule in rules if rule["eligible"] and not rule["reasons"]]
    if len(plain) == len(rules):
        return [f"All {len(rules)} of them." if len(rules) > 1 else f"{plain[0]}: yes"]
    return [*lines, *noted, *([f"All others: {', '.join(plain)}."] if plain else [])]


def repeated(found: Mapping[str, Any] | None) -> str:
    """Whether the nominal simulator gave again what it had given before."""
    if not found or not found["n"]:
        return ""
    return (
        f"Of {found['n']:,} trials recorded in the nominal simulator before, {found['differ']:,} "
        "ended otherwise when they were repeated for this."
    )
