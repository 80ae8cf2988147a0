"""Learning surfaces: the success rate of a recipe after `n_real` and `n_sim` demonstrations.

e is the failure rate, c its floor, e0 its value without data, tau and gamma scale and exponent of
the power law; all counts are demonstrations.

A additive        e = c + (e0 - c) (1 + (n_real + R) / tau)^-gamma,  R = R_max n_sim / (n_sim + h)
B multiplicative  e = c + (e0 - c) (1 + n_real / tau)^-gamma (1 - m n_sim / (n_sim + h))
C exchange        e = c + (e0 - c) (1 + (n_real + alpha n_sim^beta) / tau)^-gamma

A simulation that hurts has a negative R_max, m or alpha. Effective data then never falls below 0
and the failure rate never exceeds 1.

Every model has one parameter more, the steepness kappa: n / tau stands as (n / tau)^kappa. With
kappa = 1 the formulas are those above; larger ones give curves with a threshold, on which the first
few demonstrations do next to nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simreal.core.errors import UsageError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: Names of the models; `Surfaces.model` holds indices into it.
MODELS = ("additive", "multiplicative", "exchange")
ADDITIVE, MULTIPLICATIVE, EXCHANGE = range(3)


@dataclass(frozen=True)
class Surfaces:
    """D learning surfaces, one array of shape (D,) for each parameter.

    floor: c. start: e0 >= c. scale: tau, in demonstrations. exponent: gamma. steepness: kappa.
    transfer: R_max (A), m <= 1 (B) or alpha (C). shape: h, in demonstrations (A, B), or beta (C).
    """

    model: Ints
    floor: Floats
    start: Floats
    scale: Floats
    exponent: Floats
    steepness: Floats
    transfer: Floats
    shape: Floats

    def __len__(self) -> int:
        return len(self.model)

    def take(self, rows: npt.NDArray[np.int64]) -> Surfaces:
        """The surfaces of some rows, in that order."""
        return Surfaces(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))

    def success(self, n_real: npt.ArrayLike, n_sim: npt.ArrayLike) -> Floats:
        """Success rates, (D, C), at C pairs of counts; within [0, 1 - c]."""
        real, sim = _counts(n_real, n_sim)
        reached = np.maximum(real + self._added(sim), 0.0) / self.scale[:, None]
        with np.errstate(divide="ignore"):
            grown = np.logaddexp(0.0, self.steepness[:, None] * np.log(reached))
        decay = np.exp(-self.exponent[:, None] * grown) * self._factor(sim)
        excess = (self.start - self.floor)[:, None] * decay
        return np.asarray(np.maximum(0.0, (1 - self.floor)[:, None] - excess))

    def needed(self, goal: float, n_sim: float = 0.0) -> Floats:
        """Real demonstrations, (D,), from which on `goal` is reached beside `n_sim` simulated.

        Infinite where the goal lies above the ceiling 1 - c.
        """
        if not 0 < goal < 1:
            raise UsageError(f"A goal is a rate strictly between 0 and 1; got {goal}.")
        sim = _counts([0.0], [n_sim])[1]
        with np.errstate(divide="ignore", over="ignore"):
            left = (1 - goal - self.floor) / ((self.start - self.floor) * self._factor(sim)[:, 0])
            grown = np.expm1(-np.log(np.maximum(left, 0.0)) / self.exponent)
            effective = self.scale * np.maximum(grown, 0.0) ** (1 / self.steepness)
        effective = np.where(left <= 0, math.inf, effective)
        asked = np.maximum(0.0, effective - self._added(sim)[:, 0])
        return np.where(effective <= 0, 0.0, asked)

    def _added(self, sim: Floats) -> Floats:
        """Real demonstrations that simulated ones stand for, (D, C); none in model B."""
        added = np.zeros((len(self), sim.shape[1]))
        for model, part in ((ADDITIVE, _saturation), (EXCHANGE, np.power)):
            rows = self.model == model
            if rows.any():
                added[rows] = self.transfer[rows, None] * part(sim, self.shape[rows, None])
        return added

    def _factor(self, sim: Floats) -> Floats:
        """What simulated demonstrations multiply the excess of failures by, (D, C); model B."""
        factor = np.ones((len(self), sim.shape[1]))
        rows = self.model == MULTIPLICATIVE
        if rows.any():
            share = _saturation(sim, self.shape[rows, None])
            factor[rows] = 1 - self.transfer[rows, None] * share
        return factor


def _saturation(sim: Floats, half: Floats) -> Floats:
    return np.asarray(sim / (sim + half))


def _counts(n_real: npt.ArrayLike, n_sim: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Both counts as rows of one length, (1, C)."""
    real, sim = np.broadcast_arrays(np.asarray(n_real, float), np.asarray(n_sim, float))
    if not (np.all(real >= 0) and np.all(sim >= 0)):
        raise UsageError("Numbers of demonstrations must be >= 0.")
    return np.atleast_1d(real)[None, :], np.atleast_1d(sim)[None, :]
