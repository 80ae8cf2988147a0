"""What stands between a commanded target and the motor of a real SO-101 joint.

The world's own servo is the published STS3215 (`simreal.worlds.so101`); this model adds what
randomization leaves out: play, dead band, stiction, a gain and a set point that differ from joint
to joint, commands that arrive late and unevenly, a speed limit in the firmware, encoder counts.
It changes the controls and the Coulomb friction of a position actuator `torque = kp (ctrl - q)`:
nothing else of the simulation knows that it is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from simreal.core.errors import UsageError
from simreal.core.types import RATE_HZ
from simreal.robots.late import LateCommands

Array = npt.NDArray[np.float64]

JOINTS = 6
#: Encoder and goal position of the STS3215: 4096 counts a turn (Feetech's register table).
COUNT_RAD = 2 * np.pi / 4096
#: Coulomb friction of the published STS3215 (12 V) model, Nm (BAM, `friction_base`).
BASE_FRICTION_NM = 0.196


@dataclass(frozen=True)
class ServoParameters:
    """One servo model a joint; every tuple has the six joints in order.

    gain_ratio: torque per error over the published 22.1 Nm/rad (supply voltage, motor spread).
    bias_rad: constant shift of the set point, which adds to the sag under gravity.
    play_rad: half-width of the backlash between command and motor: the set point moves only when
    the command pushes one end of it. dead_band_rad: errors below this give no torque.
    friction_nm: Coulomb friction; stiction_ratio: friction at rest over it; stribeck_rad_s: speed
    at which 1/e of the difference is left. max_speed_rad_s: how fast the set point may move.
    latency_s, jitter_s: a command takes effect after latency + U(0, jitter), drawn per command and
    common to the joints (they share one bus).
    """

    gain_ratio: tuple[float, ...]
    bias_rad: tuple[float, ...]
    play_rad: tuple[float, ...]
    dead_band_rad: tuple[float, ...]
    friction_nm: tuple[float, ...]
    stiction_ratio: tuple[float, ...]
    stribeck_rad_s: float
    max_speed_rad_s: float
    latency_s: float
    jitter_s: float

    def __post_init__(self) -> None:
        """Refuse wrong lengths and impossible numbers.

        Raises:
            UsageError: naming the field and what is allowed.
        """
        for field in fields(self):
            value = getattr(self, field.name)
            numbers = value if isinstance(value, tuple) else (value,)
            if isinstance(value, tuple) and len(value) != JOINTS:
                raise UsageError(f"Servo {field.name} needs {JOINTS} numbers, got {len(value)}.")
            low = -np.inf if field.name == "bias_rad" else 0.0
            if not all(np.isfinite(x) and x >= low for x in numbers):
                raise UsageError(f"Servo {field.name} must be finite and >= {low:g}; got {value}.")
        if self.stribeck_rad_s == 0 or self.max_speed_rad_s == 0:
            raise UsageError("Servo stribeck_rad_s and max_speed_rad_s must be positive.")


#: A real SO-101, fitted to the development half of its motion logs (`benchmarks/servo.py` prints
#: how well it predicts the other half). The published servo stays as it is; mostly play explains
#: the rest: 1-2 degrees on the joints that carry the arm's weight, half a degree on the others.
#: Not identifiable from positions and assumed: dead band of one count (the servo's default),
#: stiction, Stribeck speed, jitter; the speed limit is the data sheet's no-load 45 rpm. No log
#: loads the gripper; it gets the values of a light joint.
REAL_ARM = ServoParameters(
    gain_ratio=(1.2, 1.0, 0.95, 1.05, 1.1, 1.0),
    bias_rad=(-0.003, 0.012, 0.0145, 0.001, 0.0, 0.0),
    play_rad=(0.004, 0.026, 0.037, 0.008, 0.0045, 0.006),
    dead_band_rad=(COUNT_RAD,) * JOINTS,
    friction_nm=(BASE_FRICTION_NM,) * JOINTS,
    stiction_ratio=(1.15,) * JOINTS,
    stribeck_rad_s=0.1,
    max_speed_rad_s=4.7,
    latency_s=0.005,
    jitter_s=0.010,
)


class ServoModel:
    """`ServoParameters` at work in N worlds; plugs into a world as its `Servo`.

    twin_seed feeds the jitter together with each episode's condition seed. step_s: physics step,
    `every`: physics steps between two calls of `substep`, period_s: time between two commands.
    """

    def __init__(
        self,
        parameters: ServoParameters,
        twin_seed: int,
        *,
        step_s: float = 0.0025,
        every: int = 2,
        period_s: float = 1 / RATE_HZ,
    ) -> None:
        self.every = every
        self._tick_s = step_s * every
        self.parameters = parameters
        self._gain = np.array(parameters.gain_ratio)
        self._bias = np.array(parameters.bias_rad)
        self._play = np.array(parameters.play_rad)
        self._dead = np.array(parameters.dead_band_rad)
        self._friction = np.array(parameters.friction_nm)
        self._extra = self._friction * (np.array(parameters.stiction_ratio) - 1)
        late = (parameters.latency_s, parameters.jitter_s)
        self._commands = LateCommands(twin_seed, "servo jitter", *late, self._tick_s, period_s)
        self.reset(())

    def reset(self, seeds: Sequence[int]) -> None:
        """Start N episodes; each holds where its joints stand until its first command arrives."""
        self._commands.reset(seeds)
        self._applied: Array | None = None

    def substep(self, target: Array, qpos: Array, qvel: Array) -> tuple[Array, Array]:
        """Controls (rad) and Coulomb friction (Nm) for the next `every` physics steps.

        target, qpos, qvel: (N, J), rad and rad/s. Both results have that shape.
        """
        if self._applied is None:
            self._applied, self._set_point, self._held = qpos.copy(), qpos.copy(), qpos.copy()
        self._commands.advance(np.rint(target / COUNT_RAD) * COUNT_RAD, self._applied)
        reach = self.parameters.max_speed_rad_s * self._tick_s
        self._set_point += np.clip(self._applied - self._set_point, -reach, reach)
        np.clip(
            self._held, self._set_point - self._play, self._set_point + self._play, out=self._held
        )
        error = self._held + self._bias - qpos
        error -= np.clip(error, -self._dead, self._dead)
        slip = np.exp(-np.square(qvel / self.parameters.stribeck_rad_s))
        return qpos + self._gain * error, self._friction + self._extra * slip


def in_counts(angle_rad: Array) -> Array:
    """What a 4096-count encoder reports for true angles, rad."""
    return np.rint(angle_rad / COUNT_RAD) * COUNT_RAD
