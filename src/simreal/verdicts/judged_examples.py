"""Valid examples of a ranking, agreement, a sequential evaluation, and a plan before any data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from simreal.core.types import STAND_IN
from simreal.verdicts.agreement import Measured, agreement
from simreal.verdicts.cost.prices import Price, prices_from
from simreal.verdicts.evidence import Evidence
from simreal.verdicts.pilot import Project, make_plan
from simreal.verdicts.ranking import ranking_of
from simreal.verdicts.stopping import Result, Rule, judge

_RATES = {"rt-1": (18, 15), "octo": (6, 4), "rt-2": (16, 17), "scratch": (2, 1), "act": (12, 9)}


def _ranking(evidence: Evidence) -> Any:
    ranking = ranking_of(evidence)
    return ranking.to_json() if ranking else None


def _validate(_: Evidence) -> Any:
    sim, real = ({n: Measured.of(k[side], 20) for n, k in _RATES.items()} for side in (0, 1))
    return agreement(real, sim).to_json()


def _evaluate(_: Evidence) -> Any:
    results = {"hybrid": 10 * [Result(True, 1.0)], "sim-only": 10 * [Result(False, 0.5)]}
    return judge(Rule(("hybrid", "sim-only"), "success", 60), results).to_json("5f1c", STAND_IN)


def _plan(_: Evidence) -> Any:
    prices = prices_from({})
    minutes = Price(3.0, 3.0, 3.0, "minutes", "user")
    return make_plan(Project(0.85, minutes, prices, prices.calendar.inputs)).to_json()


#: Schema -> a valid record, from a small study where it takes one.
EXAMPLES: Mapping[str, Callable[[Evidence], Any]] = {
    "ranking": _ranking,
    "validate": _validate,
    "evaluate": _evaluate,
    "plan": _plan,
}
