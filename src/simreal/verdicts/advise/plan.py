"""The doubling plan of a road: collect to double, train, test, stop on the first pass.

A plan starts from what exists. Its first stage may test the best checkpoint of the road once more;
each later stage has twice the data of the one before. A test is `TRIALS` fresh trials and is passed
with a success rate of at least the goal. Everything is computed in closed form for each draw of the
surface; nothing is simulated and so nothing is noisy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from simreal.verdicts.advise.beliefs import Beliefs
from simreal.verdicts.advise.rates import Rates
from simreal.verdicts.advise.surface import Floats, pass_chance
from simreal.verdicts.curves import CellCounts
from simreal.verdicts.evidence import road_of
from simreal.verdicts.numerics import quantiles

#: Fresh trials of every test.
TRIALS = 50
#: A plan ends here: 16 times what exists.
DOUBLINGS = 4


@dataclass(frozen=True)
class Have:
    """Demonstrations that exist and cost nothing more."""

    n_real: int
    n_sim: int


@dataclass(frozen=True)
class Plan:
    """Stages of one road: confirm (or not) a checkpoint, then train at `multiples` of `base`.

    start: the road's best checkpoint so far. confirming: whether the first stage tests it again.
    base: (n_real, n_sim) of the road with all data that exist.
    """

    road: str
    start: CellCounts | None
    confirming: bool
    base: tuple[int, int]
    multiples: tuple[int, ...]
    have: Have

    @property
    def confirm(self) -> CellCounts | None:
        """The checkpoint that the first stage tests again."""
        return self.start if self.confirming else None

    @property
    def levels(self) -> tuple[tuple[int, int], ...]:
        """(n_real, n_sim) of every training."""
        return tuple((self.base[0] * m, self.base[1] * m) for m in self.multiples)

    @property
    def places(self) -> tuple[tuple[int, int], ...]:
        """(n_real, n_sim) of every stage."""
        first = (self.confirm.place,) if self.confirm else ()
        return (*first, *self.levels)


def plan_of(road: str, have: Have, cells: Sequence[CellCounts]) -> Plan | None:
    """The plan of a road from what exists; None where there is nothing to double."""
    base = {
        "real-only": (have.n_real, 0),
        "sim-only": (0, have.n_sim),
        "hybrid": (have.n_real, have.n_sim),
    }[road]
    if road_of(*base) != road:
        return None
    measured = [cell for cell in cells if cell.road == road]
    done = any(cell.place == base for cell in measured)
    multiples = tuple(2**step for step in range(1 if done else 0, DOUBLINGS + 1))
    best = max(measured, key=lambda c: ((c.k + 1) / (c.n + 2), c.place), default=None)
    return Plan(road, best, best is not None, base, multiples, have)


def least_passes(goal: float, trials: int = TRIALS) -> int:
    """Successes that pass a test: .85 of 50 are 43."""
    return math.ceil(goal * trials - 1e-9)


def chances(plan: Plan, beliefs: Beliefs, goal: float) -> tuple[Floats, Floats]:
    """For each draw, (D, S) both: P(a stage's test is passed), and E(true rate if passed, else 0).

    A true rate of Beta(w, l) has E(rate; pass) = w / (w + l) P(pass) under Beta(w + 1, l).
    """
    coming = beliefs.training(beliefs.along(plan.road, plan.base, plan.multiples))
    parts = [coming]
    if plan.confirm is not None:
        parts.insert(0, beliefs.checkpoint(plan.confirm))
    wins, losses = (np.concatenate(both, axis=1) for both in zip(*parts, strict=True))
    least = least_passes(goal)
    kept = wins / (wins + losses) * pass_chance(wins + 1, losses, TRIALS, least)
    return pass_chance(wins, losses, TRIALS, least), kept


def money(plan: Plan, rates: Rates) -> tuple[Floats, Floats]:
    """Cost of each stage, (S,): the increment in this plan, and from nothing for another variant.

    Neither has the building of the simulator in it.
    """
    spent, fresh = [], []
    test = TRIALS * rates.trial
    real, sim = plan.have.n_real, plan.have.n_sim
    if plan.confirm is not None:
        spent.append(test)
    for n_real, n_sim in plan.levels:
        data = max(0, n_real - real) * rates.real_demo + max(0, n_sim - sim) * rates.sim_demo
        spent.append(data + rates.training + test)
        real, sim = max(real, n_real), max(sim, n_sim)
    for n_real, n_sim in plan.places:
        data = n_real * rates.real_demo + n_sim * rates.sim_demo
        fresh.append(data + rates.training + test)
    return np.array(spent), np.array(fresh)


@dataclass(frozen=True)
class Outlook:
    """What a plan comes to. reach, cost: P(pass) and expected money of each draw, (D,).

    mean, p50, p90: of the money over draws and tests, passed or not. after: expected true success
    rate of what passed, below the rate in its test since tests are passed by luck too; None where
    nothing can pass, or where it was not asked for.
    """

    plan: Plan
    reach: Floats
    cost: Floats
    mean: float
    p50: float
    p90: float
    after: float | None = None

    @property
    def p_reach(self) -> float:
        """P(pass within the budget)."""
        return float(self.reach.mean())

    def losses(self, miss: float) -> Floats:
        """Money of each draw with `miss` on top where the goal is not reached, (D,)."""
        return self.cost + (1 - self.reach) * miss


@dataclass(frozen=True)
class Bounds:
    """What ends a plan early: money, and calendar days.

    variants: task variants to serve. The first follows the plan; each other one then starts at the
    stage that passed, from nothing, in the same simulator.
    """

    budget: float = math.inf
    days: float = math.inf
    variants: int = 1


def walk(
    plan: Plan,
    passed: Floats,
    rates: Rates,
    bounds: Bounds,
    setup: Floats,
    took: Floats | None = None,
    kept: Floats | None = None,
) -> Outlook:
    """Follow a plan on every draw at once.

    passed, kept: (D, S) of `chances`. took: (D, S), days of each stage. setup: (D,), what building
    the simulator costs in each draw; not spent on the road that needs none.
    """
    spent, fresh = money(plan, rates)
    built = setup if plan.road != "real-only" else np.zeros_like(setup)
    upto = built[:, None] + np.cumsum(spent)
    total = upto + (bounds.variants - 1) * fresh
    affordable = total <= bounds.budget
    if took is not None:
        affordable &= np.cumsum(took, axis=1) <= bounds.days
    allowed = np.logical_and.accumulate(affordable, axis=1)
    odds = np.where(allowed, passed, 0.0)
    alive = np.cumprod(1 - odds, axis=1)
    before = np.concatenate([np.ones((len(odds), 1)), alive[:, :-1]], axis=1)
    stops = before * odds  # (D, S): passed exactly there
    last = np.where(allowed, upto, 0.0).max(axis=1)
    wasted = np.where(allowed[:, 0], last, np.minimum(built, bounds.budget))
    missed = alive[:, -1]
    values = np.concatenate([total, wasted[:, None]], axis=1)
    weights = np.concatenate([stops, missed[:, None]], axis=1)
    cost = (values * weights).sum(axis=1)
    middle, high = quantiles(values.ravel(), (0.5, 0.9), weights.ravel())
    after = None
    if kept is not None and stops.sum() > 0:
        after = float((before * np.where(allowed, kept, 0.0)).sum() / stops.sum())
    return Outlook(plan, 1 - missed, cost, float(cost.mean()), middle, high, after)
