"""The little numerics that verdicts need beyond `scipy.special`.

Written out because importing scipy.stats and scipy.optimize would double the time in which
`simreal --help` answers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
from scipy import special

from simreal.core.errors import UsageError

Array = npt.NDArray[np.float64]


def root(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a continuous function changes sign between `low` and `high` (Illinois method)."""
    f_low, f_high = function(low), function(high)
    if f_low == 0:
        return low
    if f_high == 0:
        return high
    if (f_low > 0) == (f_high > 0):
        raise UsageError(f"No change of sign between {low} and {high}: {f_low} and {f_high}.")
    side = 0
    for step in range(200):
        middle = (low * f_high - high * f_low) / (f_high - f_low)
        if step % 4 == 3 or not low < middle < high:
            middle = (low + high) / 2
        value = function(middle)
        if value == 0 or high - low < 1e-15 * max(1.0, abs(low), abs(high)):
            return middle
        if (value > 0) == (f_high > 0):
            high, f_high = middle, value
            f_low = f_low / 2 if side == 1 else f_low
            side = 1
        else:
            low, f_low = middle, value
            f_high = f_high / 2 if side == -1 else f_high
            side = -1
    return (low + high) / 2


def binomial_mass(k: npt.ArrayLike, n: npt.ArrayLike, p: npt.ArrayLike) -> Array:
    """P(K = k) for K ~ Binomial(n, p), elementwise."""
    count, size, rate = (np.asarray(x, dtype=float) for x in (k, n, p))
    log_mass = special.gammaln(size + 1) - special.gammaln(count + 1)
    log_mass = log_mass - special.gammaln(size - count + 1)
    log_mass = log_mass + special.xlogy(count, rate) + special.xlog1py(size - count, -rate)
    return np.asarray(np.exp(log_mass), dtype=float)


def systematic(weights: Array, draws: int, random: np.random.Generator) -> npt.NDArray[np.int64]:
    """Indices of `draws` equally weighted rows of weights (N,), by systematic resampling."""
    climb = np.cumsum(weights)
    places = (np.arange(draws) + random.random()) / draws * climb[-1]
    return np.asarray(np.minimum(np.searchsorted(climb, places), len(weights) - 1))


def quantiles(
    values: Array, levels: Sequence[float], weights: Array | None = None
) -> tuple[float, ...]:
    """The least of the values (N,) that so much of the weight is at or below, for each level.

    Rounding in the sum of weights moves none of them to the next value.
    """
    order = np.argsort(values, kind="stable")
    climb = np.cumsum(np.ones(len(values)) if weights is None else weights[order])
    places = np.searchsorted(climb, np.asarray(levels) * climb[-1] * (1 - 1e-12))
    return tuple(float(values[order[i]]) for i in places)


def likely_counts(n: int, low: float, high: float) -> npt.NDArray[np.int64]:
    """All k but those of mass under 1e-20, for K ~ Binomial(n, p) with p from `low` to `high`."""
    reach = [30 + 12 * math.sqrt(n * p * (1 - p)) for p in (low, high)]
    first, last = n * low - reach[0], n * high + reach[1]
    return np.arange(max(0, math.floor(first)), min(n, math.ceil(last)) + 1)


def hypergeometric_tail(first: npt.ArrayLike, second: npt.ArrayLike, n1: int, n2: int) -> Array:
    """P(X >= first) where X of `first + second` successes fall among n1 of n1 + n2, elementwise.

    Sums away from the mean, where terms fall, upwards or (from one) downwards.
    """
    low, other = np.broadcast_arrays(np.asarray(first, dtype=float), np.asarray(second, float))
    low, other = np.atleast_1d(low), np.atleast_1d(other)
    up = low * (n1 + n2) > n1 * (low + other)
    step = np.where(up, 1.0, -1.0)
    count = np.where(up, low, low - 1)
    rest = low + other - count
    inside = (count >= 0) & (rest <= n2)
    term = np.where(inside, _hypergeometric_mass(count * inside, rest * inside, n1, n2), 0.0)
    total = term.copy()
    active = np.flatnonzero(term > 0)
    count, rest, step, term = count[active], rest[active], step[active], term[active]
    while len(active):
        rising = (n1 - count) * rest / ((count + 1) * (n2 - rest + 1))
        falling = count * (n2 - rest) / ((n1 - count + 1) * (rest + 1))
        term = term * np.where(step > 0, rising, falling)
        total[active] += term
        count, rest = count + step, rest - step
        go = term > 1e-17 * total[active]
        active, count, rest, step, term = active[go], count[go], rest[go], step[go], term[go]
    return np.asarray(np.clip(np.where(up, total, 1 - total), 0.0, 1.0), dtype=float)


def _hypergeometric_mass(first: Array, second: Array, n1: int, n2: int) -> Array:
    log_mass = _log_choose(n1, first) + _log_choose(n2, second)
    return np.asarray(np.exp(log_mass - _log_choose(n1 + n2, first + second)), dtype=float)


def _log_choose(n: int, k: Array) -> Array:
    return np.asarray(
        special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1), dtype=float
    )
