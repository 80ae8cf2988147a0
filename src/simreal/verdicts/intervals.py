"""Intervals for two rates: their difference (unpaired, paired) and their ratio.

Sources: Newcombe (1998), method 10; Tango (1998); Koopman (1984); Zou and Donner (2008) for MOVER.
All counts may be fractional (repeats of one initial state count less than one trial each).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy import special

from simreal.core.errors import UsageError
from simreal.verdicts.numerics import root
from simreal.verdicts.rates import CONFIDENCE, Interval, check_counts, wilson, z_value

_TINY = 1e-12


def newcombe(
    k1: float, n1: float, k2: float, n2: float, confidence: float = CONFIDENCE
) -> Interval:
    """Newcombe's interval of rate 1 minus rate 2, independent trials; without data [-1, 1]."""
    check_counts(k1, n1)
    check_counts(k2, n2)
    if n1 == 0 or n2 == 0:
        return -1.0, 1.0
    p1, p2 = k1 / n1, k2 / n2
    l1, u1 = wilson(k1, n1, confidence)
    l2, u2 = wilson(k2, n2, confidence)
    lower = p1 - p2 - math.hypot(p1 - l1, u2 - p2)
    upper = p1 - p2 + math.hypot(u1 - p1, p2 - l2)
    return max(-1.0, lower), min(1.0, upper)


def tango_score(b: float, c: float, n: float, delta: float) -> float:
    """Tango's score statistic for a true difference `delta`; falls from + to - as delta grows.

    b: pairs won by the first only, c: by the second only, n: all pairs.
    """
    spread = -b - c + (2 * n - b + c) * delta
    root = math.sqrt(max(0.0, spread * spread + 8 * n * c * delta * (1 - delta)))
    q = max(0.0, (root - spread) / (4 * n))
    variance = n * (2 * q + delta * (1 - delta))
    distance = b - c - n * delta
    if variance <= 0:
        return 0.0 if distance == 0 else math.copysign(math.inf, distance)
    return distance / math.sqrt(variance)


def tango(b: float, c: float, n: float, confidence: float = CONFIDENCE) -> Interval:
    """Tango's score interval of the paired difference (b - c) / n; without pairs [-1, 1]."""
    check_counts(b + c, n)
    check_counts(min(b, c), n)
    z = z_value(confidence)
    if n == 0:
        return -1.0, 1.0
    difference = (b - c) / n

    def end(sign: float) -> float:
        edge = -sign * (1 - _TINY)
        if sign * (tango_score(b, c, n, edge) - sign * z) <= 0:
            return -sign
        low, high = sorted((edge, difference))
        return root(lambda d: tango_score(b, c, n, d) - sign * z, low, high)

    lower = -1.0 if b - c == -n else end(1.0)
    upper = 1.0 if b - c == n else end(-1.0)
    return lower, upper


def _koopman_statistic(k1: float, n1: float, k2: float, n2: float, ratio: float) -> float:
    """Koopman's chi-square for rate 1 / rate 2 = `ratio` (constrained maximum likelihood)."""
    middle = ratio * (n1 + k2) + k1 + n2
    root = math.sqrt(max(0.0, middle * middle - 4 * ratio * (n1 + n2) * (k1 + k2)))
    # The smaller root, written without cancellation.
    p1 = 2 * ratio * (k1 + k2) / (middle + root)
    p1 = min(p1, 1.0, ratio)
    total = 0.0
    for k, n, p in ((k1, n1, p1), (k2, n2, p1 / ratio)):
        distance, variance = k - n * p, n * p * (1 - p)
        if abs(distance) > 1e-12 * max(1.0, n):
            total += math.inf if variance <= 0 else distance * distance / variance
    return total


def koopman(k1: float, n1: float, k2: float, n2: float, confidence: float = CONFIDENCE) -> Interval:
    """Koopman's score interval of rate 1 / rate 2, independent trials; [0, inf] without data.

    The lower end is 0 where k1 = 0 and the upper end infinite where k2 = 0.
    """
    check_counts(k1, n1)
    check_counts(k2, n2)
    limit = z_value(confidence) ** 2
    if n1 == 0 or n2 == 0 or (k1 == 0 and k2 == 0):
        return 0.0, math.inf
    centre = ((k1 or 0.5) / n1) / ((k2 or 0.5) / n2)

    def excess(log_ratio: float) -> float:
        return min(1e9, _koopman_statistic(k1, n1, k2, n2, math.exp(log_ratio))) - limit

    lower = 0.0 if k1 == 0 else _walk(excess, math.log(centre), -1.0)
    upper = math.inf if k2 == 0 else _walk(excess, math.log(centre), 1.0)
    return lower, upper


def _walk(excess: Callable[[float], float], start: float, direction: float) -> float:
    """The ratio at which `excess`, negative at `start`, turns positive along `direction`."""
    inside, step = start, 0.1
    while excess(outside := inside + direction * step) < 0:
        inside, step = outside, step * 2
        if abs(inside) > 700:
            return 0.0 if direction < 0 else math.inf
    low, high = sorted((inside, outside))
    return math.exp(root(excess, low, high))


def weighted_sum(
    values: Sequence[float], intervals: Sequence[Interval], weights: Sequence[float]
) -> tuple[float, Interval]:
    """MOVER: a weighted sum of independent estimates and its interval from theirs."""
    if not len(values) == len(intervals) == len(weights):
        raise UsageError("A weighted sum needs one interval and one weight for each value.")
    estimate, below, above = 0.0, 0.0, 0.0
    for value, (lower, upper), weight in zip(values, intervals, weights, strict=True):
        ends = sorted((weight * (lower - value), weight * (upper - value)))
        estimate += weight * value
        below += ends[0] ** 2
        above += ends[1] ** 2
    return estimate, (estimate - math.sqrt(below), estimate + math.sqrt(above))


def t_interval(values: Sequence[float], confidence: float = CONFIDENCE) -> tuple[float, Interval]:
    """Mean and Student-t interval of at least two independent values (targets, seeds, ...)."""
    numbers = np.asarray(values, dtype=float)
    if len(numbers) < 2:
        raise UsageError(f"A t interval needs at least 2 values; got {len(numbers)}.")
    mean = float(numbers.mean())
    error = float(numbers.std(ddof=1)) / math.sqrt(len(numbers))
    quantile = float(special.stdtrit(len(numbers) - 1, 0.5 + confidence / 2))
    return mean, (mean - quantile * error, mean + quantile * error)


def t_test(values: Sequence[float]) -> float:
    """Two-sided p value of the mean of at least two independent values being 0."""
    numbers = np.asarray(values, dtype=float)
    if len(numbers) < 2:
        raise UsageError(f"A t test needs at least 2 values; got {len(numbers)}.")
    mean, spread = float(numbers.mean()), float(numbers.std(ddof=1))
    if spread == 0:
        return 1.0 if mean == 0 else 0.0
    statistic = abs(mean) * math.sqrt(len(numbers)) / spread
    return float(2 * special.stdtr(len(numbers) - 1, -statistic))
