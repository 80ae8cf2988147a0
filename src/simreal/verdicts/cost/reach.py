"""Money to reach a success rate, by road: of the measured arms, and over the learning curve."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from simreal.verdicts.cost.usage import Floats, PriceDraws, Units, Usage, add
from simreal.verdicts.curves import Posterior
from simreal.verdicts.curves.view import FARTHEST
from simreal.verdicts.evidence import Evidence, Role

#: Rates at which curves are given.
RATES = tuple(round(0.05 * step, 2) for step in range(10, 20))
_QUANTILES = (0.1, 0.5, 0.9)
_GRID = 200


@dataclass(frozen=True)
class Road:
    """Real data only (n_sim 0), beside a fixed number of simulated demonstrations, or sim-only
    (n_sim None: as many as it takes, without real ones).
    """

    name: str
    n_sim: int | None

    @property
    def role(self) -> Role:
        """The role of the arms on this road."""
        if self.n_sim is None:
            return "sim-only"
        return "hybrid" if self.n_sim else "real-only"


def roads(posterior: Posterior) -> list[Road]:
    """The roads that were measured; none is a guess."""
    cells = posterior.cells
    found = [Road("real-only", 0)] if any(c.n_sim == 0 for c in cells) else []
    beside = sorted({c.n_sim for c in cells if c.n_sim and c.n_real})
    found += [Road(f"hybrid, {n:,} simulated", n) for n in beside]
    if any(c.n_sim and not c.n_real for c in cells):
        found.append(Road("sim-only", None))
    return found


def needed(posterior: Posterior, road: Road, goal: float) -> tuple[Floats, Floats]:
    """(real, simulated) demonstrations that reach `goal` in each draw, (D,) each.

    Infinite where more than 4 times the largest measured number would be needed.
    """
    if road.n_sim is not None:
        real = posterior.surfaces.needed(goal, road.n_sim)
        real = np.where(real > FARTHEST * max(posterior.measured_real, 1), math.inf, np.ceil(real))
        return real, np.full(len(real), float(road.n_sim))
    grid = np.unique(np.round(np.geomspace(1, FARTHEST * posterior.measured_sim, _GRID)))
    reached = posterior.success(np.zeros(len(grid)), grid) >= goal
    first = grid[reached.argmax(axis=1)]
    return np.zeros(len(first)), np.where(reached.any(axis=1), first, math.inf)


@dataclass(frozen=True)
class Costing:
    """What turns numbers of demonstrations into money: units, price draws, and set-up draws."""

    units: Units
    draws: PriceDraws
    built: bool

    def money(self, n_real: Floats, n_sim: Floats, training: Usage) -> Floats:
        """Money for data, one training and the simulator, (D,); infinite where data is.

        Posterior draws and price draws are independent; theirs are paired in order.
        """
        prices = self.draws
        total = prices.money(training)
        with np.errstate(invalid="ignore"):
            total = total + _times(n_real, prices.money(self.units.real or {}))
            total = total + _times(n_sim, prices.money(self.units.sim or {}))
        if not self.built:
            total = total + np.where(n_sim > 0, self.setup, 0.0)
        return total

    @property
    def setup(self) -> Floats:
        """The simulator: measured or declared, or anywhere in its unknown band, (D,)."""
        known = self.draws.money(self.units.setup)
        if self.units.setup_hours is None:
            return known
        return known + self.draws.setup_hours * self.draws.values["engineering"]


def _times(count: Floats, price: Floats) -> Floats:
    return np.where(np.isinf(count), math.inf, count * price)


def _point(rate: float, money: Floats) -> dict[str, Any]:
    ends = np.quantile(money, _QUANTILES, method="inverted_cdf")
    names = ("p10", "p50", "p90")
    return {
        "rate": rate,
        **{n: float(x) if math.isfinite(x) else None for n, x in zip(names, ends, strict=True)},
    }


def fitted(
    evidence: Evidence, posterior: Posterior, costing: Costing, rates: Sequence[float] = RATES
) -> list[dict[str, Any]]:
    """The `reach` of economics over the learning curve: a line a road, p10 to p90 of money."""
    found = []
    for road in roads(posterior):
        training = _training(evidence, costing.units, road)
        points = []
        for rate in rates:
            real, sim = needed(posterior, road, rate)
            points.append(_point(rate, costing.money(real, sim, training)))
        found.append({"road": road.name, "basis": "learning curve", "points": points})
    return found


def _training(evidence: Evidence, units: Units, road: Road) -> Usage:
    """The mean training of the arms on a road."""
    names = [arm.name for arm in evidence.all_of(road.role)]
    return add(*((1 / len(names), units.training[name]) for name in names))


def measured(evidence: Evidence, costing: Costing) -> list[dict[str, Any]]:
    """The same of the arms as they were tried: one point each, at the rate it reached."""
    found = []
    count = len(costing.draws.setup_hours)
    for arm in evidence.arms:
        rate = evidence.pooled_rate(arm.name).rate
        if rate is None:
            continue
        real, sim = np.full(count, float(arm.n_real)), np.full(count, float(arm.n_sim))
        money = costing.money(real, sim, costing.units.training[arm.name])
        point = _point(rate, money)
        found.append({"road": arm.name, "basis": "measured arm", "points": [point]})
    return found
