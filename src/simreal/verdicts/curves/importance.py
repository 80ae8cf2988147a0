"""Adaptive importance sampling against a standard normal prior.

Round 0 draws from the prior. Each later round draws from a Student t (5 degrees of freedom) whose
mean and covariance are those of all draws so far, weighted by a tempered likelihood: the exponent
is the largest that leaves enough effective draws. All draws of all rounds are kept and weighted by
the mixture of all proposals (Veach and Guibas 1995; Cornuet et al. 2012), so that the mean weight
estimates the evidence and the prior's share of the mixture bounds every weight.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special

from simreal.verdicts.curves.models import Floats
from simreal.verdicts.curves.prior import DIMENSIONS

_FIRST, _NEXT = 4000, 4000
_ROUNDS = 24
#: Effective draws of each model; of all together there are then more than 500.
WANTED = 1200.0
_FREEDOM = 5.0
#: Effective draws a proposal is fitted to.
_FITTED = 100.0
_WIDER = 1.3


@dataclass(frozen=True)
class Sample:
    """Draws `z`, (N, 8), and the logarithms of their importance weights, (N,)."""

    z: Floats
    log_weights: Floats

    @property
    def effective(self) -> float:
        """How many equally weighted draws these are worth (Kish)."""
        return _effective(self.log_weights)


@dataclass(frozen=True)
class _Proposal:
    """A multivariate Student t; root: Cholesky factor of its scale matrix."""

    mean: Floats
    root: Floats

    def draw(self, count: int, random: np.random.Generator) -> Floats:
        normal = random.standard_normal((count, DIMENSIONS))
        wide = np.sqrt(_FREEDOM / random.chisquare(_FREEDOM, count))
        return np.asarray(self.mean + (normal @ self.root.T) * wide[:, None])

    def log_density(self, z: Floats) -> Floats:
        inverse = np.linalg.inv(self.root)
        squares = (((z - self.mean) @ inverse.T) ** 2).sum(axis=1)
        half = (_FREEDOM + DIMENSIONS) / 2
        constant = special.gammaln(half) - special.gammaln(_FREEDOM / 2)
        constant -= DIMENSIONS / 2 * np.log(_FREEDOM * np.pi) + np.log(np.diag(self.root)).sum()
        return np.asarray(constant - half * np.log1p(squares / _FREEDOM))


def importance(log_likelihood: Callable[[Floats], Floats], random: np.random.Generator) -> Sample:
    """Draws of the posterior of one model, with weights whose mean is its evidence."""
    z = random.standard_normal((_FIRST, DIMENSIONS))
    likelihood = log_likelihood(z)
    mixture = _log_normal_density(z) + np.log(_FIRST)
    proposals: list[_Proposal] = []
    for _ in range(_ROUNDS):
        sample = _weighted(z, likelihood, mixture)
        if sample.effective >= WANTED:
            return sample
        proposal = _fitted(z, likelihood, sample.log_weights - likelihood)
        new = proposal.draw(_NEXT, random)
        mixture = np.logaddexp(mixture, proposal.log_density(z) + np.log(_NEXT))
        proposals.append(proposal)
        parts = [_log_normal_density(new) + np.log(_FIRST)]
        parts += [one.log_density(new) + np.log(_NEXT) for one in proposals]
        mixture = np.concatenate([mixture, special.logsumexp(parts, axis=0)])
        z = np.concatenate([z, new])
        likelihood = np.concatenate([likelihood, log_likelihood(new)])
    return _weighted(z, likelihood, mixture)


def _weighted(z: Floats, likelihood: Floats, mixture: Floats) -> Sample:
    return Sample(z, likelihood + _log_normal_density(z) - mixture + np.log(len(z)))


def _log_normal_density(z: Floats) -> Floats:
    return np.asarray(-0.5 * (z**2).sum(axis=1) - DIMENSIONS / 2 * np.log(2 * np.pi))


def _effective(log_weights: Floats) -> float:
    weights = np.exp(log_weights - log_weights.max())
    return float(weights.sum() ** 2 / (weights**2).sum())


def _fitted(z: Floats, likelihood: Floats, base: Floats) -> _Proposal:
    """Mean and covariance under the sharpest tempered likelihood that enough draws support."""
    low, high = 0.0, 1.0
    if _effective(base + likelihood) < _FITTED:
        for _ in range(30):
            middle = (low + high) / 2
            enough = _effective(base + middle * likelihood) >= _FITTED
            low, high = (middle, high) if enough else (low, middle)
        high = low
    weights = special.softmax(base + high * likelihood)
    mean = weights @ z
    centred = z - mean
    covariance = (centred * weights[:, None]).T @ centred * _WIDER
    return _Proposal(mean, np.linalg.cholesky(covariance + 1e-6 * np.eye(DIMENSIONS)))
