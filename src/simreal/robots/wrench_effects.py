"""What a real force/torque sensor does to a wrench and randomization leaves out.

In the order of the force's way: gains and cross-talk between channels, hysteresis, the resonance of
the gripper on its sensor (which rings when contact begins, ends, slips or trembles, and is still
when nothing changes), the sensor's own low-pass filter, quantization. Nothing here is random: the
same forces give the same readings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.signal import lfilter, lfiltic

from simreal.core.errors import UsageError
from simreal.core.types import WRENCH_HZ, Floats

Array = npt.NDArray[np.float64]

#: What a newton's effect is in a torque channel, Nm (as in `worlds.terms_peg`, which this file may
#: not import).
TORQUE_ARM_M = 0.057
_SCALE = np.array([1.0] * 3 + [TORQUE_ARM_M] * 3)


@dataclass(frozen=True)
class SensorParameters:
    """A force/torque sensor; amounts in newtons, `TORQUE_ARM_M` times as much for torques.

    gain: of the six channels. crosstalk: (30,) what each channel takes from each other one, row by
    row. hysteresis_n: half-width of the band in which a reading does not move. resonance_hz,
    resonance_damping (of critical), resonance_share: of the force that goes through it. cutoff_hz:
    of a first-order low-pass, 0 for none. quantum_n: step between two readings, 0 for none.
    """

    gain: tuple[float, ...] = (1.0,) * 6
    crosstalk: tuple[float, ...] = (0.0,) * 30
    hysteresis_n: float = 0.0
    resonance_hz: float = 75.0
    resonance_damping: float = 0.05
    resonance_share: float = 0.0
    cutoff_hz: float = 0.0
    quantum_n: float = 0.0

    def __post_init__(self) -> None:
        """Refuse wrong lengths and impossible numbers.

        Raises:
            UsageError: naming the field and what is allowed.
        """
        if len(self.gain) != 6 or len(self.crosstalk) != 30:
            raise UsageError("A force/torque sensor has 6 gains and 30 values of cross-talk.")
        if not np.isfinite([*self.gain, *self.crosstalk]).all():
            raise UsageError("Gains and cross-talk of a force/torque sensor must be finite.")
        for name in ("hysteresis_n", "cutoff_hz", "quantum_n"):
            if not (np.isfinite(getattr(self, name)) and getattr(self, name) >= 0):
                raise UsageError(f"{name} must be finite and not negative.")
        if not (0 <= self.resonance_share <= 1 and 0 < self.resonance_damping < 1):
            raise UsageError("resonance_share lies in 0 to 1, resonance_damping between them.")
        if not 0 < self.resonance_hz < WRENCH_HZ / 2:
            raise UsageError(f"resonance_hz lies between 0 and {WRENCH_HZ / 2:g} Hz.")

    @property
    def matrix(self) -> Array:
        """(6, 6) readings by true channels."""
        matrix = np.diag(self.gain)
        matrix[~np.eye(6, dtype=bool)] = self.crosstalk
        scaled: Array = matrix * _SCALE[:, None] / _SCALE
        return scaled


class SensorEffects:
    """`SensorParameters` at work in N worlds; plugs into a world as its `Feel`."""

    def __init__(self, parameters: SensorParameters) -> None:
        self.parameters = parameters
        self._matrix = parameters.matrix
        self._band = parameters.hysteresis_n * _SCALE
        self._quantum = parameters.quantum_n * _SCALE
        self._filters = _filters(parameters)
        self.reset(())

    def reset(self, seeds: Sequence[int]) -> None:
        """Start N episodes at rest."""
        self._held: Array | None = None
        self._memory: list[Array] = []

    def apply(self, wrench: Floats, step: int) -> Floats:
        """What the sensor makes of the windows (N, S, 6) of one control step, the next in time."""
        given: Array = np.einsum("nsj,ij->nsi", wrench.astype(np.float64), self._matrix)
        if self._held is None:
            self._held = given[:, 0].copy()
            self._memory = [_settled(b, a, given[:, 0]) for b, a in self._filters]
        if self._band.any():
            for sample in range(given.shape[1]):
                now = given[:, sample]
                np.clip(self._held, now - self._band, now + self._band, out=self._held)
                given[:, sample] = self._held
        for i, (b, a) in enumerate(self._filters):
            given, self._memory[i] = lfilter(b, a, given, axis=1, zi=self._memory[i])
        if self._quantum.any():
            given = np.rint(given / self._quantum) * self._quantum
        return given.astype(np.float32)


def _filters(p: SensorParameters) -> list[tuple[Array, Array]]:
    """Resonance and low-pass as (b, a), both 1 for a force that stays."""
    found = []
    if p.resonance_share:
        turn = 2 * np.pi * p.resonance_hz / WRENCH_HZ
        fade = np.exp(-p.resonance_damping * turn)
        swing = np.cos(turn * np.sqrt(1 - p.resonance_damping**2))
        a = np.array([1.0, -2 * fade * swing, fade**2])
        b = (1 - p.resonance_share) * a
        b[0] += p.resonance_share * a.sum()
        found.append((b, a))
    if p.cutoff_hz:
        kept = np.exp(-2 * np.pi * p.cutoff_hz / WRENCH_HZ)
        found.append((np.array([1 - kept]), np.array([1.0, -kept])))
    return found


def _settled(b: Array, a: Array, value: Array) -> Array:
    """A filter's memory (N, order, 6) after `value` (N, 6) has stood for long."""
    order = max(len(a), len(b)) - 1
    unit: Array = lfiltic(b, a, np.ones(order), np.ones(order))
    return np.asarray(unit[None, :, None] * value[:, None])
