"""How many trials a question needs, and how small a difference a given study could have seen.

Two-rate formulae are the usual normal approximations (Fleiss; Blackwelder for non-inferiority);
the power of a paired study is exact for the exact McNemar test.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy import special

from simreal.core.errors import UsageError
from simreal.verdicts.numerics import binomial_mass, likely_counts
from simreal.verdicts.rates import CONFIDENCE, wilson, z_value

#: Power that planning aims for unless told otherwise.
POWER = 0.8
#: Two-sided error rate of a comparison unless told otherwise.
ALPHA = 0.05
_LARGEST_PLAN = 10_000_000


def _check_rates(**rates: float) -> None:
    for name, rate in rates.items():
        if not 0 <= rate <= 1:
            raise UsageError(f"{name} must be a fraction between 0 and 1; got {rate}.")


def _check_power(power: float, alpha: float) -> None:
    if not (0 < alpha < power < 1):
        raise UsageError(f"Need 0 < alpha < power < 1; got alpha {alpha}, power {power}.")


def trials_to_compare(p1: float, p2: float, power: float = POWER, alpha: float = ALPHA) -> int:
    """Trials in each of two independent arms to tell rate p1 from p2: .60/.85 needs 49."""
    _check_rates(p1=p1, p2=p2)
    _check_power(power, alpha)
    if p1 == p2:
        raise UsageError(f"No number of trials tells {p1} from {p2}; give two different rates.")
    middle = (p1 + p2) / 2
    null = math.sqrt(2 * middle * (1 - middle))
    real = math.sqrt(p1 * (1 - p1) + p2 * (1 - p2))
    root = z_value(1 - alpha) * null + float(special.ndtri(power)) * real
    return math.ceil(root * root / (p1 - p2) ** 2)


def trials_for_noninferiority(
    rate: float, margin: float, power: float = POWER, alpha: float = ALPHA
) -> int:
    """Trials in each of two arms that both succeed at `rate`, one-sided `alpha`: .8/.10 → 198."""
    _check_rates(rate=rate, margin=margin)
    _check_power(power, alpha)
    if margin == 0:
        raise UsageError("A non-inferiority margin of 0 needs infinitely many trials.")
    root = float(special.ndtri(1 - alpha) + special.ndtri(power))
    return max(1, math.ceil(root * root * 2 * rate * (1 - rate) / margin**2))


def _smallest(passes: Callable[[int], bool], what: str) -> int:
    """The smallest n >= 1 from which on `passes` holds, for a condition that n makes easier."""
    high = 1
    while not passes(high):
        high *= 2
        if high > _LARGEST_PLAN:
            raise UsageError(f"{what} needs more than {_LARGEST_PLAN:,} trials; ask for less.")
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if passes(middle) else (middle, high)
    return high


def trials_for_half_width(rate: float, half_width: float, confidence: float = CONFIDENCE) -> int:
    """Trials until Wilson's interval at `rate` is no wider than ±half_width: .8, .10 → 60."""
    _check_rates(rate=rate)
    if not 0 < half_width < 0.5:
        raise UsageError(f"half_width must lie between 0 and 0.5; got {half_width}.")

    def narrow(n: int) -> bool:
        lower, upper = wilson(rate * n, n, confidence)
        return upper - lower <= 2 * half_width

    return _smallest(narrow, f"A half-width of {half_width}")


def trials_without_failure(rate: float, confidence: float = CONFIDENCE) -> int:
    """Failure-free trials that show at least `rate`: .8/.9/.95/.99 need 14/29/59/299."""
    if not 0 < rate < 1:
        raise UsageError(f"The rate to show must lie strictly between 0 and 1; got {rate}.")
    z_value(confidence)
    return math.ceil(math.log(1 - confidence) / math.log(rate) - 1e-12)


def mcnemar_power(n: int, difference: float, discordance: float, alpha: float = ALPHA) -> float:
    """Exact power of the exact McNemar test with n pairs.

    discordance: probability that a pair differs; at least |difference|.
    """
    if n < 0 or not abs(difference) <= discordance <= 1:
        raise UsageError(
            f"Need n >= 0 and |difference| <= discordance <= 1; got n {n}, difference "
            f"{difference}, discordance {discordance}."
        )
    if discordance == 0:
        return 0.0
    pairs = likely_counts(n, discordance, discordance)
    weight = binomial_mass(pairs, n, discordance)
    win = min(1.0, max(0.0, (1 + difference / discordance) / 2))
    edge = _mcnemar_edge(pairs, alpha)
    lost = np.maximum(edge, 0)
    rejected = special.bdtr(lost, pairs, win) + special.bdtr(lost, pairs, 1 - win)
    return float(np.where(edge >= 0, weight * rejected, 0.0).sum())


def _mcnemar_edge(pairs: npt.NDArray[np.int64], alpha: float) -> npt.NDArray[np.int64]:
    """For each number of discordant pairs, the most losses that are still significant, or -1."""
    low, high = np.full(len(pairs), -1), pairs // 2 + 1
    near = np.floor((pairs - z_value(1 - alpha) * np.sqrt(pairs)) / 2).astype(np.int64)
    guesses = [near - 2, near + 2]
    while np.any(high - low > 1):
        middle = guesses.pop() if guesses else (low + high) // 2
        middle = np.clip(middle, np.maximum(low, 0), high)
        significant = 2 * special.bdtr(middle, pairs, 0.5) <= alpha
        low[significant] = np.maximum(low, middle)[significant]
        high[~significant] = np.minimum(high, middle)[~significant]
    return low


def trials_to_compare_paired(
    difference: float, discordance: float, power: float = POWER, alpha: float = ALPHA
) -> int:
    """Pairs for the exact McNemar test to see `difference` when `discordance` of them differ.

    The power of an exact test is a sawtooth; the n returned starts a stretch of several teeth
    that all stay at or above `power`.
    """
    _check_power(power, alpha)
    if not 0 < abs(difference) <= discordance <= 1:
        raise UsageError(
            f"Need 0 < |difference| <= discordance <= 1; got {difference} and {discordance}."
        )

    def enough(n: int) -> bool:
        return mcnemar_power(n, difference, discordance, alpha) >= power

    found = _smallest(enough, f"A difference of {difference}")
    stretch = math.ceil(8 / discordance)
    while short := [n for n in range(found, found + stretch) if not enough(n)]:
        found = short[-1] + 1
    return found


def _bisect_difference(seen: Callable[[float], bool], largest: float) -> float | None:
    if not seen(largest):
        return None
    low, high = 0.0, largest
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (low, middle) if seen(middle) else (middle, high)
    return high


def smallest_detectable(
    rate: float, n1: float, n2: float, power: float = POWER, alpha: float = ALPHA
) -> float | None:
    """The smallest true difference, around `rate`, that n1 and n2 trials see with `power`.

    The two rates lie as evenly around `rate` as 0 and 1 allow. None where even a difference of 1
    would be missed.
    """
    _check_rates(rate=rate)
    _check_power(power, alpha)
    if min(n1, n2) <= 0:
        return None
    z_alpha, z_power = z_value(1 - alpha), float(special.ndtri(power))

    def seen(difference: float) -> bool:
        p1 = min(1.0, max(difference, rate + difference / 2))
        p2 = p1 - difference
        middle = (p1 * n1 + p2 * n2) / (n1 + n2)
        null = math.sqrt(middle * (1 - middle) * (1 / n1 + 1 / n2))
        real = math.sqrt(max(0.0, p1 * (1 - p1) / n1 + p2 * (1 - p2) / n2))
        return difference >= z_alpha * null + z_power * real

    return _bisect_difference(seen, 1.0)


def smallest_detectable_paired(
    n: int, discordance: float, power: float = POWER, alpha: float = ALPHA
) -> float | None:
    """The smallest true difference that n pairs see with `power` by the exact McNemar test.

    discordance: share of pairs expected to differ anyway; a difference implies at least itself.
    """
    _check_rates(discordance=discordance)
    _check_power(power, alpha)

    def seen(difference: float) -> bool:
        return mcnemar_power(n, difference, max(discordance, difference), alpha) >= power

    return _bisect_difference(seen, 1.0)
