"""p values from full enumeration, and their correction for several tests at once.

Sources: Boschloo (1970); McNemar (1947); Lancaster (1961) and Fagerland et al. (2013) for the
mid-p; Holm (1979). No normal approximation except where a function says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
from scipy import special

from simreal.core.errors import UsageError
from simreal.verdicts.numerics import Array, binomial_mass, hypergeometric_tail
from simreal.verdicts.rates import check_counts


def _region(k1: int, n1: int, k2: int, n2: int) -> npt.NDArray[np.int64]:
    """For each first count i, the largest second count j at least as extreme, or -1.

    A table is ordered by Fisher's one-sided p, the hypergeometric tail. That grows with j, so the
    boundary is found by bisection over all i at once.
    """
    limit = float(hypergeometric_tail(k1, k2, n1, n2)[0]) * (1 + 1e-9)
    counts = np.arange(n1 + 1)
    inside = np.full(n1 + 1, -1)
    outside = np.full(n1 + 1, n2 + 1)
    while np.any(outside - inside > 1):
        middle = np.clip((inside + outside) // 2, 0, n2)
        extreme = hypergeometric_tail(counts, middle, n1, n2) <= limit
        inside[extreme] = np.maximum(inside, middle)[extreme]
        outside[~extreme] = np.minimum(outside, middle)[~extreme]
    return inside


def _boschloo_greater(k1: int, n1: int, k2: int, n2: int) -> float:
    """The supremum over the common rate of the probability of a table this extreme."""
    edge = _region(k1, n1, k2, n2)
    counts = np.flatnonzero(edge >= 0)
    edge = edge[counts]

    def probability(angle: Array) -> Array:
        rate = np.sin(angle)[:, None] ** 2
        mass = binomial_mass(counts, n1, rate)
        return np.asarray((mass * special.bdtr(edge, n2, rate)).sum(axis=1))

    # Equal steps of the angle are equal steps in binomial standard deviations.
    size = int(max(200, 3 * math.sqrt(n1 + n2)))
    grid = np.linspace(0, math.pi / 2, size + 1)[1:-1].astype(np.float64)
    parts: list[Array] = np.array_split(grid, size // 50)
    values = np.concatenate([probability(part) for part in parts])
    best, step = float(values.max()), float(grid[1] - grid[0])
    for peak in grid[np.argsort(values)[-3:]]:
        best = max(best, _refined(probability, float(peak), step))
    return best


def _refined(probability: Callable[[Array], Array], peak: float, step: float) -> float:
    """The maximum within one grid step of `peak`, by finer grids until these are flat."""
    while True:
        ends = max(0.0, peak - step), min(math.pi / 2, peak + step)
        near = np.linspace(*ends, 21).astype(np.float64)
        values = probability(near)
        highest, flat = float(values.max()), float(np.ptp(values))
        if flat <= 1e-10 * highest or step < 1e-9:
            return highest
        peak, step = float(near[np.argmax(values)]), step / 10


def boschloo(k1: int, n1: int, k2: int, n2: int) -> float:
    """Boschloo's exact test of two independent rates, two-sided (twice the smaller side).

    Uniformly more powerful than Fisher's. Without data, or with equal rates, p = 1.
    """
    check_counts(k1, n1)
    check_counts(k2, n2)
    if n1 == 0 or n2 == 0 or k1 * n2 == k2 * n1:
        return 1.0
    if k1 * n2 < k2 * n1:
        k1, n1, k2, n2 = k2, n2, k1, n1
    return min(1.0, 2 * _boschloo_greater(k1, n1, k2, n2))


def mcnemar(b: int, c: int) -> float:
    """McNemar's exact test on discordant counts, two-sided; without a discordant pair p = 1."""
    check_counts(min(b, c), b + c)
    return min(1.0, 2 * float(special.bdtr(min(b, c), b + c, 0.5)))


def mcnemar_mid_p(b: int, c: int) -> float:
    """The mid-p version: half of the observed table's probability; no guarantee, less waste."""
    check_counts(min(b, c), b + c)
    if b == c:
        return 1.0
    observed = float(binomial_mass(min(b, c), b + c, 0.5))
    return min(1.0, 2 * float(special.bdtr(min(b, c), b + c, 0.5)) - observed)


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Holm's step-down adjusted p values, in the order given."""
    values = np.asarray(p_values, dtype=float)
    if np.any(~((values >= 0) & (values <= 1))):
        raise UsageError(f"p values must lie between 0 and 1; got {list(p_values)}.")
    order = np.argsort(values, kind="stable")
    scaled = values[order] * np.arange(len(values), 0, -1)
    adjusted = np.minimum(1.0, np.maximum.accumulate(scaled))
    result = np.empty(len(values))
    result[order] = adjusted
    return tuple(float(p) for p in result)
