"""What the advisor knows of success at amounts of data: a learning surface, and tests.

A surface is D equally weighted draws of the true success rate at any number of real and simulated
demonstrations. The advisor sees it through `Surface` alone, so that any model can stand behind it;
`simreal.verdicts.curves.fit` gives the one it uses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt
from scipy import special

Floats = npt.NDArray[np.float64]

#: Rates are kept this far from 0 and 1: a beta distribution needs both its parameters positive.
_EDGE = 1e-6


class Surface(Protocol):
    """Draws of a learning surface."""

    @property
    def spread(self) -> Floats:
        """Retraining noise, (D,): one training's rate is Beta(p s, (1 - p) s)."""

    def success(self, n_real: npt.ArrayLike, n_sim: npt.ArrayLike) -> Floats:
        """True success rates (mean over trainings), (D, C), at C pairs of counts."""


def at(surface: Surface, places: Sequence[tuple[int, int]]) -> Floats:
    """Success rates, (D, C), at pairs (n_real, n_sim), kept off 0 and 1."""
    table = np.asarray(places, dtype=float).reshape(-1, 2)
    return np.clip(surface.success(table[:, 0], table[:, 1]), _EDGE, 1 - _EDGE)


def log_mass(k: npt.ArrayLike, n: float, wins: Floats, losses: Floats) -> Floats:
    """log P(K = k) of a beta-binomial with n trials and Beta(wins, losses), elementwise."""
    count = np.asarray(k, dtype=float)
    ways = special.gammaln(n + 1) - special.gammaln(count + 1) - special.gammaln(n - count + 1)
    found = ways + special.betaln(wins + count, losses + n - count) - special.betaln(wins, losses)
    return np.asarray(found)


def pass_chance(wins: Floats, losses: Floats, trials: int, least: int) -> Floats:
    """P(at least `least` successes in `trials`) for rates Beta(wins, losses), elementwise."""
    mass = np.exp(special.betaln(wins + trials, losses) - special.betaln(wins, losses))
    total = np.zeros_like(wins)
    for k in range(trials, least - 1, -1):
        total += mass
        if k:  # from k successes to k - 1
            mass = mass * (k / (trials - k + 1)) * (losses + trials - k) / (wins + k - 1)
    return np.clip(total, 0.0, 1.0)


def masses(wins: Floats, losses: Floats, trials: int) -> Floats:
    """P(k successes in `trials`), (D, trials + 1), for rates Beta(wins, losses) of shape (D, 1)."""
    k = np.arange(trials)
    ratio = (trials - k) / (k + 1) * (wins + k) / (losses + trials - k - 1)
    none = np.exp(special.betaln(wins, losses + trials) - special.betaln(wins, losses))
    found = none * np.cumprod(np.concatenate([np.ones_like(none), ratio], axis=1), axis=1)
    return np.asarray(found / found.sum(axis=1, keepdims=True))
