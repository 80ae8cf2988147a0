"""Shares of an effect among factors that are each on or off: Shapley values, seed by seed.

Outcomes have shape (2^k, n): row S (bit i set: factor i is on) holds what came out of the n common
seeds, 0 or 1 (or any number). Effects are *losses*: how much lower the outcome is with the factor
on. Shares of one seed sum exactly to its y(none) - y(all); so do their means.
Sources: Shapley (1953); Grabisch and Roubens (1999) for the interaction of two factors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import factorial

import numpy as np

from simreal.core.errors import BadDataError, UsageError
from simreal.verdicts.intervals import t_interval, tango
from simreal.verdicts.numerics import Array
from simreal.verdicts.rates import CONFIDENCE, Interval

#: Factors that can be told apart: 2^k outcomes are needed.
MOST_FACTORS = 8


@dataclass(frozen=True)
class Effect:
    """A mean over seeds with its interval; positive where outcomes are lost."""

    points: float
    ci: Interval


@dataclass(frozen=True)
class Share:
    """One factor's part of the loss.

    first_in: what is lost when it alone is switched on; last_in: when all others are on already.
    They bound how far the answer depends on the order in which factors are looked at.
    """

    name: str
    share: Effect
    first_in: Effect
    last_in: Effect


@dataclass(frozen=True)
class Interaction:
    """What two factors lose together beyond what each loses by itself.

    Positive: each makes the other worse; negative: they overlap (either alone spoils a trial).
    """

    names: tuple[str, str]
    effect: Effect


def checked(outcomes: Sequence[Sequence[float]] | Array, factors: int) -> Array:
    """Outcomes as an array (2^k, n).

    Raises:
        UsageError: for a number of factors that cannot be handled.
        BadDataError: for a wrong shape, fewer than two seeds, or a number that is not finite.
    """
    if not 1 <= factors <= MOST_FACTORS:
        raise UsageError(f"{factors} factors; allowed: 1 to {MOST_FACTORS}.")
    values = np.asarray(outcomes, dtype=np.float64)
    if values.ndim != 2 or len(values) != 2**factors or values.shape[1] < 2:
        raise BadDataError(
            f"Outcomes have shape {values.shape}; {factors} factors need ({2**factors}, n), n >= 2."
        )
    if not np.isfinite(values).all():
        raise BadDataError("An outcome is not a finite number.")
    return values


def _factors(outcomes: Array) -> int:
    return len(outcomes).bit_length() - 1


def shapley(outcomes: Array) -> Array:
    """Shares of every seed, (k, n): phi_i = sum over S without i of weight (y(S) - y(S + i))."""
    k = _factors(outcomes)
    shares = np.zeros((k, outcomes.shape[1]))
    for i in range(k):
        for on in (s for s in range(2**k) if not s >> i & 1):
            size = on.bit_count()
            weight = factorial(size) * factorial(k - size - 1) / factorial(k)
            shares[i] += weight * (outcomes[on] - outcomes[on | 1 << i])
    return shares


def interaction(outcomes: Array, i: int, j: int) -> Array:
    """Shapley interaction of factors i and j in every seed, (n,)."""
    k, both = _factors(outcomes), 1 << i | 1 << j
    total = np.zeros(outcomes.shape[1])
    for on in (s for s in range(2**k) if not s & both):
        size = on.bit_count()
        weight = factorial(size) * factorial(k - size - 2) / factorial(k - 1)
        alone = outcomes[on | 1 << i] + outcomes[on | 1 << j]
        total += weight * (alone - outcomes[on] - outcomes[on | both])
    return total


def first_in(outcomes: Array, i: int) -> Array:
    """y(none) - y(i), (n,)."""
    return np.asarray(outcomes[0] - outcomes[1 << i])


def last_in(outcomes: Array, i: int) -> Array:
    """y(all but i) - y(all), (n,)."""
    everything = len(outcomes) - 1
    return np.asarray(outcomes[everything ^ 1 << i] - outcomes[everything])


def mean_effect(values: Array, confidence: float = CONFIDENCE) -> Effect:
    """Mean of the seeds with Student's t interval.

    Where all seeds agree, t would give no width at all; the interval is then that of no discordant
    pair among so many (Tango), shifted to the mean and kept within [-1, 1].
    """
    mean, ci = t_interval(values.tolist(), confidence)
    if np.ptp(values) == 0:
        lower, upper = tango(0, 0, len(values), confidence)
        ci = (max(-1.0, mean + lower), min(1.0, mean + upper))
    return Effect(mean, ci)


def paired_effect(differences: Array, confidence: float = CONFIDENCE) -> Effect:
    """Mean of paired differences of successes (-1, 0, 1) with Tango's interval, else t."""
    if not np.isin(differences, (-1.0, 0.0, 1.0)).all():
        return mean_effect(differences, confidence)
    b, c = float((differences > 0).sum()), float((differences < 0).sum())
    n = len(differences)
    return Effect((b - c) / n, tango(b, c, n, confidence))


def shares(
    outcomes: Array, names: Sequence[str], confidence: float = CONFIDENCE
) -> tuple[Share, ...]:
    """Every factor's share with its bounds. outcomes: (2^k, n); names: of bits 0 to k - 1."""
    values = checked(outcomes, len(names))
    parts = shapley(values)
    return tuple(
        Share(
            name,
            mean_effect(parts[i], confidence),
            paired_effect(first_in(values, i), confidence),
            paired_effect(last_in(values, i), confidence),
        )
        for i, name in enumerate(names)
    )


def interactions(
    outcomes: Array, names: Sequence[str], confidence: float = CONFIDENCE
) -> tuple[Interaction, ...]:
    """Every pair of factors; intervals hold together for all pairs (Bonferroni)."""
    values = checked(outcomes, len(names))
    pairs = [(i, j) for i in range(len(names)) for j in range(i + 1, len(names))]
    joint = 1 - (1 - confidence) / max(1, len(pairs))
    return tuple(
        Interaction((names[i], names[j]), mean_effect(interaction(values, i, j), joint))
        for i, j in pairs
    )
