"""Looking early at scores: tests of a mean by betting, for anything between 0 and 1.

Against "the mean is m" one bets on every value x before it is seen; the wealth

    K(p) = prod over x of  x p / m + (1 - x) (1 - p) / (1 - m),    0 <= p <= 1,

has expectation 1 at every step whatever the distribution, because it is linear in x; the even
mixture of K over p is then an e-process: it may be looked at after every trial, and reaches
1 / alpha with probability alpha at most. It is the wealth of a gambler whose next stake is the
mean stake of the p that did well so far (Cover's universal portfolio). For x in {0, 1} it is the
e-process of `sequential`, so both tests have the same error and differ in what they look at.

A paired difference d of two scores is judged as (1 + d) / 2 against m = 1/2.

The question is about the *mean score*, not about success: a policy that reaches further and
succeeds as seldom has a better mean score. Sources: Waudby-Smith and Ramdas (2024); Cover (1991).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
import numpy.typing as npt

from simreal.core.errors import UsageError
from simreal.verdicts.numerics import Array, root
from simreal.verdicts.planning import ALPHA
from simreal.verdicts.rates import Interval
from simreal.verdicts.sequential import Alternative, SequentialState, check_alpha, watch

#: Quadrature points of the mixture over p. Any number of them is a valid mixture; with 256 it is
#: the even one to the last digit up to 511 trials.
POINTS = 256

ReachState = Literal["reached", "missed", "cannot tell"]


@cache
def _quadrature() -> tuple[Array, Array]:
    """Gauss-Legendre nodes and weights on [-1, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(POINTS)
    return nodes, weights


def _bets(mean: float, alternative: Alternative) -> tuple[Array, Array]:
    """Points p and log weights of the mixture; "better" bets on p above the mean alone."""
    nodes, weights = _quadrature()
    low = mean if alternative == "better" else 0.0
    return low + (nodes + 1) * (1 - low) / 2, np.log(weights / 2)


def _log_factors(values: Array, mean: float, points: Array) -> Array:
    """Log of what each value multiplies the wealth at each p by, shape (values, points)."""
    x = values[:, None]
    factors = x * (points / mean) + (1 - x) * ((1 - points) / (1 - mean))
    return np.asarray(np.log(factors), dtype=float)


def _mixed(log_wealth: Array, log_weights: Array) -> float:
    total = log_wealth + log_weights
    highest = float(total.max())
    return highest + math.log(float(np.exp(total - highest).sum()))


def _scores(values: npt.ArrayLike) -> Array:
    scores = np.asarray(values, dtype=float).reshape(-1)
    wrong = scores[~((scores >= 0) & (scores <= 1))]
    if wrong.size:
        raise UsageError(f"Scores lie between 0 and 1; got {wrong[0]}.")
    return scores


def log_e_mean(values: npt.ArrayLike, mean: float, alternative: Alternative = "two-sided") -> float:
    """Log e-value of scores, shape (N,), against "their mean is `mean`".

    alternative: "better" is evidence that the mean is above it. Scores of 0 and 1 alone give the
    beta-binomial evidence of `sequential`.
    """
    if not 0 < mean < 1:
        raise UsageError(f"The mean must lie strictly between 0 and 1; got {mean}.")
    points, log_weights = _bets(mean, alternative)
    return _mixed(_log_factors(_scores(values), mean, points).sum(axis=0), log_weights)


def log_e_scores(
    pairs: Sequence[tuple[float, float]], alternative: Alternative = "two-sided"
) -> float:
    """Log e-value of paired scores against "no difference in the mean score".

    Seven pairs (1, 0) and none (0, 1) give log 16, as the pairs of `sequential.e_paired`.
    """
    return log_e_mean((1 + _differences(pairs)) / 2, 0.5, alternative)


def _differences(pairs: Sequence[tuple[float, float]]) -> Array:
    both = _scores(np.asarray(pairs, dtype=float)).reshape(-1, 2)
    return np.asarray(both[:, 0] - both[:, 1], dtype=float)


def mean_sequence(values: npt.ArrayLike, alpha: float = ALPHA) -> Interval:
    """An interval for the mean score that holds at all N at once: look whenever you like.

    All m with an e-value below 1 / alpha. They are an interval around the mean of the scores,
    because the e-value is log-convex in m and at most 1 there.
    """
    check_alpha(alpha)
    scores = _scores(values)
    if not len(scores):
        return 0.0, 1.0
    points, log_weights = _bets(0.5, "two-sided")
    tiny = 1e-12
    centre = min(max(float(scores.mean()), tiny), 1 - tiny)

    def evidence(m: float) -> float:
        wealth = _log_factors(scores, m, points).sum(axis=0)
        return _mixed(wealth, log_weights) + math.log(alpha)

    lower = root(evidence, tiny, centre) if evidence(tiny) > 0 else 0.0
    upper = root(evidence, centre, 1 - tiny) if evidence(1 - tiny) > 0 else 1.0
    return lower, upper


def difference_sequence(pairs: Sequence[tuple[float, float]], alpha: float = ALPHA) -> Interval:
    """An interval for the mean paired difference of scores (first minus second) at all N at once.

    It leaves out 0 exactly where the two-sided test of `log_e_scores` rejects now.
    """
    lower, upper = mean_sequence((1 + _differences(pairs)) / 2, alpha)
    return 2 * lower - 1, 2 * upper - 1


@dataclass(frozen=True)
class ScoreSequential:
    """Where a sequential comparison of scores stands.

    pairs: pairs looked at. a, b: mean scores. ci: of a - b, valid at any time. e: the largest
    e-value so far. p: anytime-valid, 1 / e capped at 1. saved: planned pairs not needed.
    """

    pairs: int
    a: float | None
    b: float | None
    ci: Interval
    e: float
    p: float
    state: SequentialState
    saved: int

    @property
    def decided(self) -> bool:
        """Whether the trials may stop."""
        return self.state != "cannot tell"


def follow_scores(
    pairs: Iterable[tuple[float, float]],
    most: int,
    alpha: float = ALPHA,
    alternative: Alternative = "two-sided",
) -> ScoreSequential:
    """Take pairs of scores (first, second) one by one; stop when decided or at `most`.

    The iterable is read no further than needed, so it may run the trials.
    """
    points, log_weights = _bets(0.5, alternative)
    seen: list[tuple[float, float]] = []

    def log_e() -> Iterator[float]:
        wealth = np.zeros(len(points))
        for pair in pairs:
            seen.append(pair)
            wealth += _log_factors((1 + _differences([pair])) / 2, 0.5, points)[0]
            yield _mixed(wealth, log_weights)

    found = watch(log_e(), most, alpha)
    state: SequentialState = "cannot tell"
    if found.crossed:
        state = "better" if sum(x - y for x, y in seen) > 0 else "worse"
    a, b = (sum(scores) / len(seen) for scores in zip(*seen, strict=True)) if seen else (None, None)
    ci = difference_sequence(seen, alpha)
    return ScoreSequential(len(seen), a, b, ci, found.e, found.p, state, found.saved)


@dataclass(frozen=True)
class Reaching:
    """Where trials of one policy stand against a declared mean (a success rate, or a score).

    n: trials looked at. ci: of the mean, valid at any time. saved: planned trials not needed.
    """

    n: int
    mean: float | None
    ci: Interval
    goal: float
    state: ReachState
    saved: int

    @property
    def decided(self) -> bool:
        """Whether the trials may stop."""
        return self.state != "cannot tell"


def follow_mean(values: Iterable[float], goal: float, most: int, alpha: float = ALPHA) -> Reaching:
    """Take scores (or successes, 0 and 1) one by one until the goal is left out, or `most`.

    "reached": the whole interval lies above `goal`; "missed": below. Both err with `alpha` at
    most, however often one looks.
    """
    if not 0 < goal < 1:
        raise UsageError(f"The goal must lie strictly between 0 and 1; got {goal}.")
    points, log_weights = _bets(goal, "two-sided")
    seen: list[float] = []

    def log_e() -> Iterator[float]:
        wealth = np.zeros(len(points))
        for value in values:
            seen.append(float(value))
            wealth += _log_factors(_scores([value]), goal, points)[0]
            yield _mixed(wealth, log_weights)

    found = watch(log_e(), most, alpha)
    mean = sum(seen) / len(seen) if seen else None
    state: ReachState = "cannot tell"
    if found.crossed and mean is not None:
        state = "reached" if mean > goal else "missed"
    return Reaching(len(seen), mean, mean_sequence(seen, alpha), goal, state, found.saved)
