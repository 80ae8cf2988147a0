"""Before any data: plan."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simreal.core.errors import UsageError, unknown
from simreal.verbs.deadlines import days_until
from simreal.verbs.options import Json

if TYPE_CHECKING:
    from simreal.verdicts.cost.inputs import Inputs
    from simreal.verdicts.cost.prices import Price, Prices


def plan(
    target: float,
    minutes_per_demo: float | None = None,
    times: str | None = None,
    variants: int | None = None,
    robots: int | None = None,
    operators: int | None = None,
    shift_hours: float | None = None,
    deadline: str | None = None,
    built: bool = False,
    most: int = 1000,
    n_sim: int = 1000,
    usable: float = 0.85,
    training_hours: float = 2.0,
    worth: float | None = None,
    prices: Path | None = None,
    json_output: Json = False,
) -> None:
    """Which pilot to run first, what it takes, and what its result will decide.

    Args:
        target: The success rate that must be reached, a fraction.
        minutes_per_demo: Minutes a demonstration takes with its reset.
        times: In its place a kind of task: easy, dexterous, lerobot, ... (of the price file).
        variants: Variants of the task that each need demonstrations.
        robots: Robots at work; this and the next three come from the price file if left out.
        operators: People who operate them at the same time.
        shift_hours: Hours of a shift.
        deadline: A date (2026-05-01), or a number of days from today.
        built: The task runs in simulation already.
        most: Real demonstrations a variant after which you would give up.
        n_sim: Simulated demonstrations a variant, where simulation is used.
        usable: Share of recorded demonstrations that can be used.
        training_hours: Machine hours of one training.
        worth: Money that reaching the target is worth; see docs/plan.md for the default.
        prices: A TOML file of prices in place of the shipped ones.
        json_output: Print one JSON object and nothing else.
    """
    from simreal.report.plan import plan_lines
    from simreal.verdicts.cost.prices import read_prices
    from simreal.verdicts.pilot import Project, make_plan

    known = read_prices(prices)
    lab = (variants, robots, operators, shift_hours, days_until(deadline))
    project = Project(
        target,
        _minutes(minutes_per_demo, times, known),
        known,
        _lab(known, lab),
        usable,
        most,
        n_sim,
        built,
        training_hours,
        worth,
    )
    found = make_plan(project)
    print(json.dumps(found.to_json()) if json_output else "\n".join(plan_lines(found)))


def _lab(prices: Prices, given: Sequence[float | None]) -> Inputs:
    """The lab of the price file with the options that were given in its place."""
    names = ("variants", "robots", "operators", "shift_hours", "deadline_days")
    changed: dict[str, Any] = {
        name: value for name, value in zip(names, given, strict=True) if value is not None
    }
    return replace(prices.calendar.inputs, **changed)


def _minutes(minutes: float | None, times: str | None, prices: Prices) -> Price:
    from simreal.verdicts.cost.prices import Price

    if minutes is not None and times is not None:
        raise UsageError("Give --minutes-per-demo or --times, not both.")
    if minutes is not None:
        if not 0 < minutes < float("inf"):
            raise UsageError(f"--minutes-per-demo {minutes:g}; give a number above 0.")
        return Price(minutes, minutes, minutes, "minutes", "user")
    name = times or "easy"
    if name not in prices.times:
        raise unknown("kind of task (--times)", name, prices.times)
    return prices.times[name]
