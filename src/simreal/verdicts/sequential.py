"""Looking at results while they come in, without fooling oneself: e-processes.

An e-process may be looked at after every trial; stopping the moment it reaches 1 / alpha keeps
the error at alpha. p values of fixed-size tests do not allow that.

Paired blocks: only discordant pairs count. Under no difference each goes either way with
probability 1/2; against it stands the uniform mixture of all other probabilities. Sources: Ville
(1939); Robbins (1970); Ramdas, Grünwald, Vovk and Shafer (2023).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from scipy import special

from simreal.core.errors import UsageError
from simreal.verdicts.numerics import root
from simreal.verdicts.planning import ALPHA
from simreal.verdicts.rates import Interval, check_counts

Alternative = Literal["two-sided", "better"]
SequentialState = Literal["better", "worse", "cannot tell"]


def check_alpha(alpha: float) -> None:
    """Refuse an error rate that is not strictly between 0 and 1."""
    if not 0 < alpha < 1:
        raise UsageError(f"alpha must lie strictly between 0 and 1; got {alpha}.")


def check_most(most: int) -> None:
    """Refuse a limit that allows nothing."""
    if most < 1:
        raise UsageError(f"At least one pair must be allowed; got {most}.")


def log_e_paired(b: int, c: int, alternative: Alternative = "two-sided") -> float:
    """Log of E = 2^m B(b+1, c+1), m = b + c; for "better" times 2 P(Beta(b+1, c+1) > 1/2).

    b: pairs won by the first arm only, c: by the second only. Evidence against "no difference",
    or, for "better", against "the first is no better". E(6, 1) = 2.2857, E(7, 0) = 16.
    """
    check_counts(min(b, c), b + c)
    log_e = (b + c) * math.log(2) + float(special.betaln(b + 1, c + 1))
    if alternative == "better":
        log_e += math.log(2) + float(_log_upper_half(b, c))
    return log_e


def _log_upper_half(b: int, c: int) -> float:
    """Log of P(Beta(b + 1, c + 1) > 1/2), which is a binomial tail; kept finite."""
    return math.log(max(float(special.bdtr(b, b + c + 1, 0.5)), 1e-300))


def e_paired(b: int, c: int, alternative: Alternative = "two-sided") -> float:
    """The e-value of discordant counts (see `log_e_paired`), at most 1e300."""
    return math.exp(min(log_e_paired(b, c, alternative), 690.0))


def confidence_sequence(s: int, n: int, alpha: float = ALPHA) -> Interval:
    """An interval for one rate that holds at all n at once: look whenever you like.

    All p with B(s+1, n-s+1) / (p^s (1-p)^(n-s)) < 1 / alpha. 17/20 gives (.5292, .9862).
    """
    check_counts(s, n)
    check_alpha(alpha)
    if n == 0:
        return 0.0, 1.0
    constant = float(special.betaln(s + 1, n - s + 1)) + math.log(alpha)

    def evidence(p: float) -> float:
        return constant - float(special.xlogy(s, p)) - float(special.xlog1py(n - s, -p))

    tiny, rate = 1e-300, s / n
    lower = 0.0 if s == 0 else root(evidence, tiny, rate)
    upper = 1.0 if s == n else root(evidence, rate, 1.0 - 1e-16)
    return lower, upper


@dataclass(frozen=True)
class Watched:
    """An e-process that was followed. highest: the largest log e-value so far, at least 0.

    crossed: whether it reached 1 / alpha. saved: values that were allowed and not needed.
    """

    highest: float
    crossed: bool
    saved: int

    @property
    def e(self) -> float:
        """The largest e-value so far, at most e^690."""
        return math.exp(min(self.highest, 690.0))

    @property
    def p(self) -> float:
        """Anytime-valid p: 1 / e, capped at 1."""
        return min(1.0, 1 / self.e)


def watch(log_e: Iterable[float], most: int, alpha: float = ALPHA) -> Watched:
    """Follow log e-values as they come until one reaches 1 / alpha, or there are `most`.

    The iterable is read no further than needed.
    """
    check_most(most)
    check_alpha(alpha)
    highest, seen, crossed = 0.0, 0, False
    for value in log_e:
        seen += 1
        highest = max(highest, value)
        crossed = highest >= -math.log(alpha)
        if crossed or seen == most:
            break
    return Watched(highest, crossed, most - seen if crossed else 0)


@dataclass(frozen=True)
class Sequential:
    """Where a sequential comparison stands.

    pairs: pairs looked at. e: largest e-value so far. p: anytime-valid, 1 / e capped at 1.
    saved: planned pairs that were not needed.
    """

    pairs: int
    b: int
    c: int
    e: float
    p: float
    state: SequentialState
    saved: int

    @property
    def decided(self) -> bool:
        """Whether the trials may stop."""
        return self.state != "cannot tell"


def follow_pairs(
    pairs: Iterable[tuple[bool, bool]],
    most: int,
    alpha: float = ALPHA,
    alternative: Alternative = "two-sided",
) -> Sequential:
    """Take pairs (first succeeded, second succeeded) one by one; stop when decided or at `most`.

    The iterable is read no further than needed, so it may run the trials.
    """
    seen: list[tuple[bool, bool]] = []

    def log_e() -> Iterator[float]:
        b = c = 0
        for first, second in pairs:
            seen.append((first, second))
            b, c = b + (first and not second), c + (second and not first)
            yield log_e_paired(b, c, alternative)

    found = watch(log_e(), most, alpha)
    b, c = sum(x and not y for x, y in seen), sum(y and not x for x, y in seen)
    state: SequentialState = "cannot tell"
    if found.crossed:
        state = "better" if b > c else "worse"
    return Sequential(len(seen), b, c, found.e, found.p, state, found.saved)
