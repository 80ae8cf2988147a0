"""All roads side by side: which qualify, which is chosen, and what can be measured first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from simreal.core.seeds import generator
from simreal.verdicts.advise.beliefs import Beliefs
from simreal.verdicts.advise.clock import Clock
from simreal.verdicts.advise.plan import Bounds, Have, Outlook, Plan, chances, plan_of, walk
from simreal.verdicts.advise.rates import Rates
from simreal.verdicts.advise.surface import Floats
from simreal.verdicts.curves import CellCounts
from simreal.verdicts.evidence import ROADS


@dataclass(frozen=True)
class Question:
    """What the roads have to do: reach `goal` in a test, with probability `confidence`."""

    goal: float
    confidence: float = 0.8
    bounds: Bounds = field(default_factory=Bounds)


@dataclass(frozen=True)
class Prospect:
    """A plan with P(pass) of each stage for each draw; what prices do not change.

    open: whether it may be chosen; a road that was never tried may only be measured. took: days of
    each stage, (D, S), where there is a deadline. kept: true rates of what passes, see `chances`.
    """

    plan: Plan
    passed: Floats
    open: bool
    took: Floats | None = None
    kept: Floats | None = None

    @property
    def unconfirmed(self) -> Prospect:
        """The same without the test of what exists."""
        plan = replace(self.plan, confirming=False)
        took = None if self.took is None else self.took[:, 1:]
        kept = None if self.kept is None else self.kept[:, 1:]
        return Prospect(plan, self.passed[:, 1:], self.open, took, kept)

    def walk(self, rates: Rates, bounds: Bounds, setup: Floats) -> Outlook:
        """The plan followed on every draw."""
        return walk(self.plan, self.passed, rates, bounds, setup, self.took, self.kept)


@dataclass(frozen=True)
class Survey:
    """The roads at certain prices. outlooks: of the roads that may be chosen; untried: of others.

    miss: what not reaching the goal is taken to cost, on top of what was spent. chosen: the road
    of least expected cost among those sure enough, None where none is.
    """

    outlooks: tuple[Outlook, ...]
    untried: tuple[Outlook, ...]
    miss: float
    chosen: Outlook | None

    def of(self, road: str) -> Outlook | None:
        """The outlook of a road that may be chosen."""
        return next((o for o in self.outlooks if o.plan.road == road), None)

    @property
    def surest(self) -> Outlook | None:
        """The road with the highest P(reach)."""
        return max(self.outlooks, key=lambda o: (o.p_reach, -o.mean), default=None)

    @property
    def losses(self) -> Floats:
        """(D, A + 1): each road that may be chosen, and doing nothing."""
        draws = len(self.outlooks[0].reach)
        columns = [o.losses(self.miss) for o in self.outlooks]
        return np.stack([*columns, np.full(draws, self.miss)], axis=1)

    def pareto(self, outlook: Outlook) -> bool:
        """Whether no other road is at least as sure for at most the money."""
        return not any(
            o.p_reach >= outlook.p_reach
            and o.mean <= outlook.mean
            and (o.p_reach, -o.mean) != (outlook.p_reach, -outlook.mean)
            for o in self.outlooks
        )


def prospects(
    beliefs: Beliefs,
    cells: Sequence[CellCounts],
    have: Have,
    goal: float,
    barred: Sequence[str] = (),
    clock: Clock | None = None,
) -> tuple[Prospect, ...]:
    """The plan of every road that is not barred; open where the road was tried."""
    found = []
    for road in ROADS:
        plan = None if road in barred else plan_of(road, have, cells)
        if plan is not None:
            tried = any(cell.road == road for cell in cells)
            took = None if clock is None else clock(plan)
            passed, kept = chances(plan, beliefs, goal)
            found.append(Prospect(plan, passed, tried, took, kept))
    return tuple(found)


def setups(rates: Rates, draws: int, seed: int = 0) -> Floats:
    """What building the simulator costs in each draw, even over its band, (D,)."""
    low, high = rates.setup
    even = (np.arange(draws) + 0.5) / draws
    return low + (high - low) * generator(seed, "advice set-up").permutation(even)


def survey(found: Sequence[Prospect], rates: Rates, question: Question) -> Survey:
    """Walk every plan at these rates and choose."""
    setup = setups(rates, len(found[0].passed)) if found else np.zeros(0)
    bounds = question.bounds
    miss = bounds.budget if math.isfinite(bounds.budget) else _dearest(found, rates, bounds, setup)
    outlooks: dict[bool, list[Outlook]] = {True: [], False: []}
    for one in found:
        ways = [one, one.unconfirmed] if one.plan.confirm is not None else [one]
        walked = [way.walk(rates, bounds, setup) for way in ways]
        outlooks[one.open].append(_better(walked, miss, question.confidence))
    sure = [o for o in outlooks[True] if o.p_reach >= question.confidence]
    chosen = min(sure, key=lambda o: o.mean, default=None)
    return Survey(tuple(outlooks[True]), tuple(outlooks[False]), miss, chosen)


def _better(ways: Sequence[Outlook], miss: float, confidence: float) -> Outlook:
    """Of the ways down a road: the least loss among those sure enough, else the surest."""
    sure = [way for way in ways if way.p_reach >= confidence]
    if sure:
        return min(sure, key=lambda way: float(way.losses(miss).mean()))
    return max(ways, key=lambda way: (way.p_reach, -float(way.losses(miss).mean())))


def _dearest(found: Sequence[Prospect], rates: Rates, bounds: Bounds, setup: Floats) -> float:
    """Money of the dearest plan followed to its end without a pass."""
    never = [replace(one, passed=np.zeros_like(one.passed), kept=None) for one in found]
    return max((one.walk(rates, bounds, setup).mean for one in never), default=0.0)


def runner_up(survey: Survey) -> Outlook | None:
    """The road that would be taken next: of those sure enough the cheapest, else the surest."""
    rest = [o for o in survey.outlooks if o is not survey.chosen]
    return min(rest, key=lambda o: (-round(o.p_reach, 1), o.mean), default=None)
