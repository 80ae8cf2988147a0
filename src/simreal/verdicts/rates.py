"""One success rate: the counts, the rate, and an interval that says how little is known.

Wilson's interval is the one displayed; Clopper-Pearson carries safety and acceptance claims, where
the error must never exceed what is printed; Jeffreys serves as the Bayesian check of the two.
Counts may be fractional where repeats of one initial state count as less than one trial each.

Sources: Wilson (1927); Clopper and Pearson (1934); Brown, Cai and DasGupta (2001); Kish (1965).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import special

from simreal.core.errors import UsageError

#: Both ends of an interval, as fractions.
Interval = tuple[float, float]
Side = Literal["two", "lower", "upper"]

#: Confidence of every interval unless said otherwise.
CONFIDENCE = 0.95
#: With fewer trials than this, counts are shown and no verdict is given.
FEW_TRIALS = 5


def check_counts(k: float, n: float) -> None:
    """Refuse counts that cannot be: 0 <= k <= n, both finite."""
    if not (math.isfinite(k) and math.isfinite(n) and 0 <= k <= n):
        raise UsageError(f"A rate needs 0 <= successes <= trials; got {k} of {n}.")


def check_confidence(confidence: float) -> None:
    """Refuse a confidence that is not strictly between 0 and 1."""
    if not 0 < confidence < 1:
        raise UsageError(f"Confidence must lie strictly between 0 and 1; got {confidence}.")


def z_value(confidence: float = CONFIDENCE) -> float:
    """The two-sided normal quantile: 1.959964 at .95."""
    check_confidence(confidence)
    return float(special.ndtri(0.5 + confidence / 2))


def wilson(k: float, n: float, confidence: float = CONFIDENCE) -> Interval:
    """Wilson's score interval; 0/0 gives [0, 1], 0/n and n/n end exactly at 0 and 1."""
    check_counts(k, n)
    z = z_value(confidence)
    if n == 0:
        return 0.0, 1.0
    rate = k / n
    centre = (rate + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    lower = 0.0 if k == 0 else max(0.0, centre - half)
    upper = 1.0 if k == n else min(1.0, centre + half)
    return lower, upper


def clopper_pearson(
    k: float, n: float, confidence: float = CONFIDENCE, side: Side = "two"
) -> Interval:
    """The exact interval. `side="lower"` spends the whole error on the lower bound (upper = 1)."""
    check_counts(k, n)
    check_confidence(confidence)
    tail = 1 - confidence if side != "two" else (1 - confidence) / 2
    lower, upper = 0.0, 1.0
    if k > 0 and side != "upper":
        lower = float(special.betaincinv(k, n - k + 1, tail))
    if k < n and side != "lower":
        upper = float(special.betainccinv(k + 1, n - k, tail))
    return lower, upper


def jeffreys(k: float, n: float, confidence: float = CONFIDENCE) -> Interval:
    """Equal-tailed interval of the Beta(k + 1/2, n - k + 1/2) posterior; 0/0 gives [0, 1]."""
    check_counts(k, n)
    check_confidence(confidence)
    if n == 0:
        return 0.0, 1.0
    tail = (1 - confidence) / 2
    shape = (k + 0.5, n - k + 0.5)
    return float(special.betaincinv(*shape, tail)), float(special.betainccinv(*shape, tail))


def probability_better(k1: int, n1: int, k2: int, n2: int) -> float:
    """P(rate 1 > rate 2) under uniform priors, by Gauss-Legendre quadrature over rate 1."""
    check_counts(k1, n1)
    check_counts(k2, n2)
    nodes, weights = np.polynomial.legendre.leggauss(64)
    low = special.betaincinv(k1 + 1, n1 - k1 + 1, 1e-13)
    high = special.betainccinv(k1 + 1, n1 - k1 + 1, 1e-13)
    x = low + (nodes + 1) * (high - low) / 2
    log_density = special.xlogy(k1, x) + special.xlog1py(n1 - k1, -x)
    density = np.exp(log_density - special.betaln(k1 + 1, n1 - k1 + 1))
    total = weights * density * special.betainc(k2 + 1, n2 - k2 + 1, x)
    return float(min(1.0, max(0.0, total.sum() * (high - low) / 2)))


@dataclass(frozen=True)
class Rate:
    """`k` successes in `n` trials; `rate` is None without data, `method` names what gave `ci`."""

    k: int
    n: int
    rate: float | None
    ci: Interval
    method: str = "Wilson"

    @classmethod
    def of(cls, k: int, n: int, confidence: float = CONFIDENCE) -> Rate:
        """The rate of k successes in n trials with Wilson's interval."""
        return cls(int(k), int(n), k / n if n else None, wilson(k, n, confidence))

    @property
    def enough(self) -> bool:
        """Whether there are enough trials (5) for more than the bare counts."""
        return self.n >= FEW_TRIALS

    def to_json(self) -> dict[str, Any]:
        """`{k, n, rate, ci}`, fractions of 1."""
        return {"k": self.k, "n": self.n, "rate": self.rate, "ci": list(self.ci)}


def rate_with_missing(k: int, n: int, missing: int, confidence: float = CONFIDENCE) -> Rate:
    """The rate where `missing` planned trials were lost: the union of all intervals they allow.

    The interval reaches from Wilson's lower limit with every lost trial a failure to the upper
    limit with every one a success.
    """
    if missing < 0:
        raise UsageError(f"The number of missing trials cannot be negative; got {missing}.")
    lower = wilson(k, n + missing, confidence)[0]
    upper = wilson(k + missing, n + missing, confidence)[1]
    method = "Wilson" if missing == 0 else f"Wilson, union over {missing} missing trials"
    return Rate(k, n, k / n if n else None, (lower, upper), method)


def effective_trials(repeats: Sequence[int], icc: float = 1.0) -> float:
    """Independent trials that repeats of initial states are worth: n / (1 + (m - 1) ICC).

    repeats: trials per initial state. m is their size-weighted mean (Kish). With ICC = 1, the
    cautious default, a deterministic repeat adds nothing.
    """
    if not 0 <= icc <= 1:
        raise UsageError(f"An intraclass correlation lies between 0 and 1; got {icc}.")
    sizes = np.asarray(repeats, dtype=float)
    total = float(sizes.sum())
    if total == 0:
        return 0.0
    mean_size = float((sizes**2).sum()) / total
    return total / (1 + (mean_size - 1) * icc)


def clustered_rate(
    successes: Sequence[int],
    repeats: Sequence[int],
    icc: float = 1.0,
    confidence: float = CONFIDENCE,
) -> Rate:
    """The rate over repeated initial states; counts are the raw ones, the interval is `n_eff`'s.

    successes, repeats: one entry per initial state.
    """
    k, n = int(sum(successes)), int(sum(repeats))
    n_eff = effective_trials(repeats, icc)
    if n == 0 or n_eff == n:
        return Rate.of(k, n, confidence)
    ci = wilson(k / n * n_eff, n_eff, confidence)
    return Rate(k, n, k / n, ci, f"Wilson at {n_eff:.1f} effective trials")


def intraclass_correlation(successes: Sequence[int], repeats: Sequence[int]) -> float:
    """The analysis-of-variance estimate of the ICC over initial states, clamped to [0, 1].

    Needs two initial states and one repeat at least; where every outcome is the same it is 1.
    """
    k, m = np.asarray(successes, dtype=float), np.asarray(repeats, dtype=float)
    groups, total = len(m), float(m.sum())
    if groups < 2 or total <= groups:
        raise UsageError("An intraclass correlation needs 2 initial states and a repeat.")
    grand = float(k.sum()) / total
    within = float((k * (1 - k / m)).sum()) / (total - groups)
    between = float((m * (k / m - grand) ** 2).sum()) / (groups - 1)
    size = (total - float((m**2).sum()) / total) / (groups - 1)
    spread = between + (size - 1) * within
    return 1.0 if spread <= 0 else float(min(1.0, max(0.0, (between - within) / spread)))
