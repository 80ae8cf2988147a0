"""The posterior of the learning surface: Bayesian model averaging by importance sampling.

The three models have equal prior probability. Counts are beta-binomial: several trainings of one
recipe are several cells with equal numbers of demonstrations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
from scipy import special

from simreal.core.errors import UsageError
from simreal.core.seeds import generator
from simreal.verdicts.curves.importance import Sample, importance
from simreal.verdicts.curves.models import MODELS, Floats, Ints, Surfaces
from simreal.verdicts.curves.prior import DEFAULT, Prior
from simreal.verdicts.evidence import road_of
from simreal.verdicts.numerics import systematic
from simreal.verdicts.rates import check_counts

#: Fewer effective draws than this make quantiles unreliable.
ENOUGH = 500.0
_EDGE = 1e-6


@dataclass(frozen=True, order=True)
class CellCounts:
    """`k` successes in `n` trials of one training on n_real and n_sim demonstrations.

    arm: whose training it is, where that matters.
    """

    n_real: int
    n_sim: int
    k: int
    n: int
    arm: str = ""

    def __post_init__(self) -> None:
        check_counts(self.k, self.n)
        if self.n_real < 0 or self.n_sim < 0:
            raise UsageError(
                f"Numbers of demonstrations must be >= 0; got {self.n_real} real and "
                f"{self.n_sim} simulated."
            )

    @property
    def place(self) -> tuple[int, int]:
        """(n_real, n_sim)."""
        return self.n_real, self.n_sim

    @property
    def road(self) -> str:
        """The road that its data lie on; empty without any."""
        return road_of(*self.place) or ""


@dataclass(frozen=True)
class Posterior:
    """D equally weighted draws of a surface and its retraining noise.

    spread: (D,) beta-binomial concentration: one training's rate is Beta(p s, (1 - p) s). models:
    posterior probability of each model. effective: effective number of importance draws. cells:
    what it rests on.
    """

    surfaces: Surfaces
    spread: Floats
    models: Mapping[str, float]
    effective: float
    cells: tuple[CellCounts, ...]

    def success(self, n_real: npt.ArrayLike, n_sim: npt.ArrayLike) -> Floats:
        """True success rates (mean over trainings), (D, C), at C pairs of counts."""
        return self.surfaces.success(n_real, n_sim)

    @property
    def measured_real(self) -> int:
        """The largest measured number of real demonstrations; beyond it is extrapolation."""
        return max((cell.n_real for cell in self.cells), default=0)

    @property
    def measured_sim(self) -> int:
        """The largest measured number of simulated demonstrations."""
        return max((cell.n_sim for cell in self.cells), default=0)

    @property
    def note(self) -> str | None:
        """What is wrong with the draws; None where they are enough."""
        if self.effective > ENOUGH:
            return None
        return (
            f"The learning curve rests on {self.effective:.0f} effective draws, fewer than "
            f"{ENOUGH:.0f}: read its bands as rough."
        )

    def log_likelihood(self, cells: Sequence[CellCounts]) -> Floats:
        """Log likelihood of further cells under each draw, (D,), binomial coefficients left out."""
        return log_likelihood(self.surfaces, self.spread, cells)

    def outcomes(
        self, n_real: npt.ArrayLike, n_sim: npt.ArrayLike, trials: npt.ArrayLike, seed: int = 0
    ) -> Ints:
        """Simulated successes, (D, C), of one training a cell, tried `trials` times each."""
        rate = np.clip(self.success(n_real, n_sim), _EDGE, 1 - _EDGE)
        random = generator(seed, "curve outcomes")
        spread = self.spread[:, None]
        trained = random.beta(rate * spread, (1 - rate) * spread)
        return np.asarray(random.binomial(np.asarray(trials, dtype=np.int64), trained))


def fit(
    cells: Sequence[CellCounts], *, seed: int = 0, draws: int = 2000, prior: Prior = DEFAULT
) -> Posterior:
    """The posterior after some cells, the prior itself after none; cells may come in any order."""
    if draws < 1:
        raise UsageError(f"A posterior needs at least 1 draw; got {draws}.")
    used = tuple(sorted(cell for cell in cells if cell.n))

    def weigh(model: int, z: Floats) -> Floats:
        return log_likelihood(*prior.surfaces(model, z), used)

    samples = [
        importance(partial(weigh, model), generator(seed, "learning curve", model))
        for model in range(len(MODELS))
    ]
    weights = _averaged(samples)
    totals = [float(w.sum()) for w in weights]
    flat = np.concatenate(weights)
    effective = 1 / float((flat**2).sum())
    picked = systematic(flat, draws, generator(seed, "learning curve draws"))
    return _drawn(prior, samples, picked, dict(zip(MODELS, totals, strict=True)), effective, used)


def log_likelihood(surfaces: Surfaces, spread: Floats, cells: Sequence[CellCounts]) -> Floats:
    """Beta-binomial log likelihood under each surface, (D,), binomial coefficients left out."""
    if not cells:
        return np.zeros(len(surfaces))
    table = np.array([(c.n_real, c.n_sim, c.k, c.n) for c in cells], dtype=float)
    places, back = np.unique(table[:, :2], axis=0, return_inverse=True)
    rate = np.clip(surfaces.success(places[:, 0], places[:, 1]), _EDGE, 1 - _EDGE)
    wins, losses = rate * spread[:, None], (1 - rate) * spread[:, None]
    base = special.gammaln(wins) + special.gammaln(losses)
    k, n = table[:, 2], table[:, 3]
    total = special.gammaln(wins[:, back] + k) + special.gammaln(losses[:, back] + n - k)
    sizes, times = np.unique(n, return_counts=True)
    ends = (special.gammaln(spread[:, None] + sizes) * times).sum(axis=1)
    ends = ends - len(n) * special.gammaln(spread)
    return np.asarray(total.sum(axis=1) - base[:, back].sum(axis=1) - ends)


def _averaged(samples: Sequence[Sample]) -> list[Floats]:
    """Weights of the draws of all models, with sum 1 over all of them."""
    logs = [sample.log_weights - np.log(len(sample.z)) for sample in samples]
    top = max(float(log.max()) for log in logs)
    raw = [np.exp(log - top) for log in logs]
    total = sum(float(part.sum()) for part in raw)
    return [np.asarray(part / total) for part in raw]


def _drawn(
    prior: Prior,
    samples: Sequence[Sample],
    picked: Ints,
    models: Mapping[str, float],
    effective: float,
    cells: tuple[CellCounts, ...],
) -> Posterior:
    """The posterior of the picked rows."""
    ends = np.cumsum([0, *(len(sample.z) for sample in samples)])
    parts = []
    for model, sample in enumerate(samples):
        rows = picked[(picked >= ends[model]) & (picked < ends[model + 1])] - ends[model]
        parts.append(prior.surfaces(model, sample.z[rows]))
    arrays = {
        name: np.concatenate([getattr(surfaces, name) for surfaces, _ in parts])
        for name in Surfaces.__dataclass_fields__
    }
    spread = np.concatenate([spread for _, spread in parts])
    return Posterior(Surfaces(**arrays), spread, models, effective, cells)
