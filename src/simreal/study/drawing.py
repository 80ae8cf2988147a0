"""The points of an exploration: each depends on seed, part and index, and on what steers it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from simreal.core.errors import UsageError
from simreal.core.seeds import generator, integer
from simreal.study.searching import Proposal
from simreal.study.space import Point, Space
from simreal.trials.plan import SHARD
from simreal.verdicts.numerics import Array
from simreal.verdicts.regions import Region

#: Trials that a failure map takes, at least and at most.
LEAST, MOST = 400, 200_000
#: Shares of the trials for coverage and for search; the rest confirms. Rounds of search.
COVERAGE, SEARCH, ROUNDS = 0.35, 0.25, 4


@dataclass(frozen=True)
class Budget:
    """How the trials are spent: fixed before the first. inside: for all regions together."""

    coverage: int
    search: tuple[int, ...]
    general: int
    inside: int

    @property
    def total(self) -> int:
        """All trials."""
        return self.coverage + sum(self.search) + self.general + self.inside


def budget_of(trials: int) -> Budget:
    """Whole shards for each part; what is left goes to the regions.

    Raises:
        UsageError: for fewer trials than a map needs, or absurdly many.
    """
    if not LEAST <= trials <= MOST:
        raise UsageError(
            f"--trials {trials}; give {LEAST} to {MOST:,}: with fewer a failure map says nothing."
        )
    shards = trials // SHARD
    coverage = max(2, round(COVERAGE * shards))
    rounds = ROUNDS if shards >= 5 * ROUNDS else 1
    each = max(1, round(SEARCH * shards / rounds))
    general = max(2, (shards - coverage - rounds * each + 1) // 2)
    inside = trials - SHARD * (coverage + rounds * each + general)
    return Budget(SHARD * coverage, (SHARD * each,) * rounds, SHARD * general, inside)


#: (index, attempt) -> (fractions of the space, initial values).
_Indexed = Callable[[int, int], tuple[Array, Mapping[str, float]]]


class Drawing:
    """Draws the points of each part of an exploration."""

    def __init__(self, space: Space, seed: int) -> None:
        self._space, self._seed = space, seed

    def coverage(self, many: int) -> list[Point]:
        """A scrambled Sobol sequence over the profile; initial values as the task draws them."""
        from scipy.stats import qmc

        rng = np.random.default_rng(integer(self._seed, "explore/sobol"))
        sobol = qmc.Sobol(self._space.dimensions, scramble=True, rng=rng)
        even = sobol.random_base2(int(np.ceil(np.log2(many))))

        def draw(index: int, attempt: int) -> tuple[Array, Mapping[str, float]]:
            fractions, reset = self._space.plain(self._rng("coverage", index, attempt))
            return (fractions if attempt else even[index]), reset

        return self._points(range(many), draw)

    def searched(self, first: int, many: int, number: int, proposal: Proposal) -> list[Point]:
        """Points of one round of search."""

        def draw(index: int, attempt: int) -> tuple[Array, Mapping[str, float]]:
            return proposal.draw(self._space, self._rng(f"search/{number}", index, attempt))

        return self._points(range(first, first + many), draw)

    def general(self, first: int, many: int) -> list[Point]:
        """Fresh points of the profile as it is."""

        def draw(index: int, attempt: int) -> tuple[Array, Mapping[str, float]]:
            return self._space.plain(self._rng("general", index, attempt))

        return self._points(range(first, first + many), draw)

    def within(self, first: int, many: int, region: Region) -> list[Point]:
        """Fresh points of the profile inside a region."""

        def draw(index: int, attempt: int) -> tuple[Array, Mapping[str, float]]:
            return self._space.within(self._rng("region", index, attempt), region)

        return self._points(range(first, first + many), draw)

    def _points(self, indices: range, draw: _Indexed) -> list[Point]:
        return [self._space.drawn(i, functools.partial(draw, i)) for i in indices]

    def _rng(self, purpose: str, index: int, attempt: int) -> np.random.Generator:
        return generator(self._seed, f"explore/{purpose}/{attempt}", index)
