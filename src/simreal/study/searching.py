"""Where the next trials of an exploration go: towards probable failures, in several places.

A surrogate of the failure probability (logistic, on the factors that matter most) is fitted on all
trials so far. CMA-ES finds several maxima of its optimistic value, each away from those before;
trials are drawn around them, and a share from the profile as it is. Coordinates are ranks in [0, 1]
under the profile, and the density of each proposal is known, so that trials can be weighted back
to the profile.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from simreal.core.seeds import generator, integer
from simreal.study.space import Point, Space
from simreal.verdicts.numerics import Array
from simreal.verdicts.regions import Flags, Scale, effect

#: Factors that a surrogate looks at, and places that a round of trials is drawn around.
FACTORS, PLACES = 6, 5
#: Spread of the trials about a place, in ranks; share that is drawn as the profile draws.
SPREAD, PLAIN = 0.12, 0.2
#: How far places keep from one another (ranks), and what standing on one costs (logits).
APART, CROWDED = 0.3, 4.0
#: Precision of the prior of a coefficient: of one factor, and of a product of two.
PRIOR, PRIOR_PRODUCT = 1.0, 2.0
_NEWTON, _GENERATIONS, _POPULATION = 12, 20, 12
#: Draws of the task among which the one nearest to a place is chosen.
_DRAWS = 128


def ranks(values: Array, reference: Array) -> Array:
    """The share of the reference that lies below each value, ties by half."""
    ordered = np.sort(reference)
    below = np.searchsorted(ordered, values, side="left")
    upto = np.searchsorted(ordered, values, side="right")
    return np.asarray((below + upto) / (2 * len(ordered)))


class Surrogate:
    """The logit of the failure probability: linear and quadratic in ranks, and all products."""

    def __init__(self, x: Array, failed: Flags) -> None:
        """Fit to trials at ranks x (n, K); Newton's method, Gaussian prior, Laplace's variance."""
        features = _features(x)
        k = x.shape[1]
        precision = np.full(features.shape[1], PRIOR)
        precision[0], precision[1 + 2 * k :] = 1e-3, PRIOR_PRODUCT
        beta: Array = np.zeros(features.shape[1])
        for _ in range(_NEWTON):
            p = special.expit(features @ beta)
            slope = features.T @ (failed - p) - precision * beta
            curve = (features * (p * (1 - p))[:, None]).T @ features + np.diag(precision)
            beta = beta + np.linalg.solve(curve, slope)
        self._beta, self._covariance = beta, np.linalg.inv(curve)

    def logit(self, x: Array) -> tuple[Array, Array]:
        """Mean and standard deviation of the logit at ranks x (n, K)."""
        features = _features(x)
        variance = np.einsum("ij,jk,ik->i", features, self._covariance, features)
        return features @ self._beta, np.sqrt(np.maximum(variance, 0.0))


def _features(x: Array) -> Array:
    z = 2.0 * np.atleast_2d(x) - 1.0
    k = z.shape[1]
    products = [z[:, i] * z[:, j] for i in range(k) for j in range(i)]
    rest = np.stack(products, axis=1) if products else np.zeros((len(z), 0))
    return np.concatenate([np.ones((len(z), 1)), z, z**2 - 1 / 3, rest], axis=1)


@dataclass(frozen=True)
class Proposal:
    """One round: the factors it steers, and the places (P, K) in ranks it draws around."""

    names: tuple[str, ...]
    places: tuple[tuple[float, ...], ...]

    def to_json(self) -> dict[str, Any]:
        """A JSON value that `from_json` turns back into an equal proposal."""
        return {"names": list(self.names), "places": [list(p) for p in self.places]}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Proposal:
        """The inverse of `to_json`."""
        places = tuple(tuple(float(x) for x in p) for p in content["places"])
        return cls(tuple(str(name) for name in content["names"]), places)

    def density(self, x: Array) -> Array:
        """How much denser than under the profile trials at ranks x (n, K) are."""
        around = [np.prod(_bell(x, np.array(place)), axis=1) for place in self.places]
        return np.asarray(PLAIN + (1 - PLAIN) * np.mean(around, axis=0))

    def draw(self, space: Space, rng: np.random.Generator) -> tuple[Array, dict[str, float]]:
        """Fractions and initial values of one trial."""
        fractions, reset = space.plain(rng)
        if rng.random() < PLAIN:
            return fractions, reset
        place = np.array(self.places[rng.integers(len(self.places))])
        steered = dict(zip(self.names, place, strict=True))
        for name, centre in steered.items():
            if name in space.slots:
                fractions[space.slots[name]] = space.fraction(name, _near(rng, centre))
        wanted = {name: centre for name, centre in steered.items() if name not in space.slots}
        return fractions, _chosen(space, rng, wanted) if wanted else reset


def _bell(x: Array, centre: Array) -> Array:
    """Density of a normal about `centre`, cut at 0 and 1."""
    z = (x - centre) / SPREAD
    inside = special.ndtr((1 - centre) / SPREAD) - special.ndtr(-centre / SPREAD)
    return np.asarray(np.exp(-z * z / 2) / (np.sqrt(2 * np.pi) * SPREAD * inside))


def _near(rng: np.random.Generator, centre: float) -> float:
    low, high = special.ndtr(-centre / SPREAD), special.ndtr((1 - centre) / SPREAD)
    drawn = centre + SPREAD * special.ndtri(low + (high - low) * rng.random())
    return float(np.clip(drawn, 0.0, 1.0))


def _chosen(
    space: Space, rng: np.random.Generator, wanted: Mapping[str, float]
) -> dict[str, float]:
    """Initial values near a place: one of many draws, with the weight the place gives it."""
    drawn = [space.start(rng) for _ in range(_DRAWS)]
    x = np.stack(
        [ranks(np.array([d[n] for d in drawn]), space.reference[n]) for n in wanted], axis=1
    )
    weight = np.prod(_bell(x, np.array(list(wanted.values()))), axis=1)
    return drawn[int(rng.choice(_DRAWS, p=weight / weight.sum()))]


class Search:
    """All trials so far as the search sees them."""

    def __init__(self, space: Space, seed: int) -> None:
        self._space, self._seed = space, seed
        self._names = [n for n in space.reference if not n.startswith("mean ")]
        self._scales: Mapping[str, Scale] = space.scales

    def ranks(self, points: Sequence[Point], names: Sequence[str]) -> Array:
        """Ranks (n, K) of some factors."""
        rows = [self._space.factors(point) for point in points]
        columns = [
            ranks(np.array([row[name] for row in rows]), self._space.reference[name])
            for name in names
        ]
        return np.stack(columns, axis=1)

    def weights(self, points: Sequence[Point], rounds: Sequence[tuple[Proposal, int]]) -> Array:
        """Of all trials: n over how many of them were to be expected where each lies.

        rounds: the proposals and how many of the trials were drawn from each; the others are
        spread as the profile spreads them (the balance heuristic of importance sampling).
        """
        plain = len(points) - sum(many for _, many in rounds)
        expected = np.full(len(points), float(plain))
        for proposal, many in rounds:
            expected += many * proposal.density(self.ranks(points, proposal.names))
        return len(points) / expected

    def propose(
        self,
        number: int,
        points: Sequence[Point],
        failed: Flags,
        rounds: Sequence[tuple[Proposal, int]],
    ) -> Proposal:
        """Round `number`: which factors matter now, and where failure is probable."""
        weights = self.weights(points, rounds)
        rows = [self._space.factors(point) for point in points]
        strength = {
            name: effect(np.array([r[name] for r in rows]), self._scales[name], failed, weights)
            for name in self._names
        }
        names = tuple(sorted(self._names, key=lambda n: (-strength[n], n))[:FACTORS])
        surrogate = Surrogate(self.ranks(points, names), failed)
        return Proposal(names, _places(surrogate, len(names), self._seed, number))


def _places(surrogate: Surrogate, k: int, seed: int, number: int) -> tuple[tuple[float, ...], ...]:
    """Maxima of the optimistic logit (one standard deviation up), each away from the others."""
    from cmaes import CMA

    found: list[Array] = []

    def cost(x: Array) -> Array:
        mean, spread = surrogate.logit(x)
        near = [np.exp(-np.sum((x - f) ** 2, axis=1) / (2 * APART**2)) for f in found]
        return np.asarray(-(mean + spread) + CROWDED * np.sum(near, axis=0))

    for place in range(PLACES):
        rng = generator(seed, "explore/place", PLACES * number + place)
        starts = rng.random((256, k))
        start = starts[int(np.argmin(cost(starts)))]
        if k == 1:  # CMA-ES wants two dimensions or more
            found.append(start)
            continue
        optimizer = CMA(
            mean=start,
            sigma=0.15,
            bounds=np.tile([0.0, 1.0], (k, 1)),
            seed=integer(seed, "explore/cma", PLACES * number + place),
            population_size=_POPULATION,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            found.append(_climbed(optimizer, cost))
    return tuple(tuple(round(float(v), 6) for v in place) for place in found)


def _climbed(optimizer: Any, cost: Any) -> Array:
    """The best solution that CMA-ES meets."""
    best, least = optimizer.mean, np.inf
    for _ in range(_GENERATIONS):
        asked = np.stack([optimizer.ask() for _ in range(optimizer.population_size)])
        costs = cost(asked)
        if costs.min() < least:
            best, least = asked[int(costs.argmin())], float(costs.min())
        optimizer.tell([(x, float(c)) for x, c in zip(asked, costs, strict=True)])
    return np.asarray(best)
