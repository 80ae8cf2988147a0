"""What is expected rather than measured: probabilities, models, the worth of information."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
    low, high = (money(x, currency) for x in found["money"])
    return (
        f"{found['events']:,} unsafe events happened in simulation and not on a robot, where they "
        f"would have cost {low} to {high}."
    )


def repeated(found: Mapping[str, Any] | None) -> str:
    """Whether the nominal simulator gave again what it had given before."""
    if not found or not found["n"]:
        return ""
    return (
        f"Of {found['n']:,} trials recorded in the nominal simulator before, {found['differ']:,} "
        "ended otherwise when they were repeated for this."
    )
