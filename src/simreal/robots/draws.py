"""Random numbers of episodes: they depend on (twin seed, condition seed, step) alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from simreal.core.seeds import generator

Array = npt.NDArray[np.float64]

#: Steps drawn at once: making a generator costs more than the numbers that come out of it.
BLOCK = 64


class EpisodeDraws:
    """`size` uniform numbers per world and step.

    Which worlds share a batch, and which steps are asked for, changes no number.
    """

    def __init__(self, twin_seed: int, purpose: str, size: int) -> None:
        self._purpose, self._size = f"twin/{twin_seed}/{purpose}", size
        self._seeds: tuple[int, ...] = ()
        self._block = -1
        self._numbers: Array = np.zeros((0, BLOCK, size))

    def reset(self, seeds: Sequence[int]) -> None:
        """Start N episodes with these condition seeds."""
        self._seeds, self._block = tuple(seeds), -1

    def uniform(self, step: int) -> Array:
        """Numbers in [0, 1) of step `step`, shape (N, size)."""
        block, row = divmod(step, BLOCK)
        if block != self._block:
            draws = [
                generator(seed, self._purpose, block).random((BLOCK, self._size))
                for seed in self._seeds
            ]
            self._block, self._numbers = block, np.stack(draws)
        return self._numbers[:, row]
