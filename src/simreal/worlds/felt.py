"""What a force/torque sensor makes of the true wrench: bias, drift, noise, a low-pass filter.

Every random number depends on (condition seed, control step) alone; only the filter remembers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from simreal.core.seeds import generator
from simreal.core.types import WRENCH_HZ, WRENCH_SAMPLES, Floats
from simreal.worlds.settings import Settings

Array = npt.NDArray[np.float64]

#: Control steps whose noise is drawn at once: a generator costs more than its numbers.
BLOCK = 32


class Feel(Protocol):
    """Effects of a force/torque sensor beyond the plain pipeline (used by twins)."""

    def reset(self, seeds: Sequence[int]) -> None:
        """Start N episodes."""
        ...

    def apply(self, wrench: Floats, step: int) -> Floats:
        """Alter the windows (N, S, 6) of all N worlds read at control step `step`."""
        ...


class ForceSensor:
    """The sensors of N worlds, each as its settings say (`control.wrench_*`)."""

    def reset(self, settings: Sequence[Settings], seeds: Sequence[int]) -> None:
        """Start N episodes."""
        noise = np.stack([s.value("control.wrench_noise") for s in settings])
        self._noise = np.repeat(noise, 3, axis=1)[:, None]  # (N, 1, 6)
        self._bias = np.stack([s.value("control.wrench_bias") for s in settings])[:, None]
        self._drift = np.stack([s.value("control.wrench_drift") for s in settings])[:, None]
        cutoff = np.array([float(s.value("control.wrench_cutoff_hz")[0]) for s in settings])
        kept = np.exp(-2 * np.pi * cutoff / WRENCH_HZ)  # share of the old value a sample later
        self._kept = np.where(cutoff > 0, kept, 0.0)[:, None]
        self._seeds, self._block = tuple(seeds), -1
        self._old: Array | None = None

    def read(self, true: Floats, step: int) -> Floats:
        """Windows (N, S, 6) as the sensors give them at control step `step`."""
        samples = true.shape[1]
        since = (step * samples + np.arange(samples)) / WRENCH_HZ
        given: Array = true + self._bias + self._drift * since[None, :, None]
        if self._noise.any():
            given = given + self._noise * self._white(step)
        return self._filtered(given).astype(np.float32)

    def _white(self, step: int) -> Array:
        """Standard normal numbers, (N, S, 6)."""
        block, row = divmod(step, BLOCK)
        if block != self._block:
            shape = (BLOCK, WRENCH_SAMPLES, 6)
            drawn = [generator(s, "wrench", block).standard_normal(shape) for s in self._seeds]
            self._block, self._normal = block, np.stack(drawn)
        return self._normal[:, row]

    def _filtered(self, given: Array) -> Array:
        """First-order low-pass, begun at the first sample."""
        if not self._kept.any():
            return given
        out, old = np.empty_like(given), given[:, 0] if self._old is None else self._old
        for sample in range(given.shape[1]):
            old = self._kept * old + (1 - self._kept) * given[:, sample]
            out[:, sample] = old
        self._old = old
        return out
