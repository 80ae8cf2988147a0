"""What stands between a commanded tool and a peg in its hole, and randomization leaves out.

Friction of peg on hole: higher at rest than sliding (Stribeck), another one when pulling out and
another across the lay of the surface, and uneven along the marks that machining left, so that
sliding makes the force tremble with speed over pitch. The fixture: soft within its play. The arm:
friction at rest in its joints, play of its tool, commands that come late and a limit of speed.
Nothing here is random but the lateness of commands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from simreal.core.errors import UsageError
from simreal.core.seeds import generator
from simreal.core.types import RATE_HZ
from simreal.robots.late import LateCommands

Array = npt.NDArray[np.float64]

#: Physics steps between two calls, and the step of the physics, s: 500 Hz, as a UR's controller.
EVERY, STEP_S = 2, 0.001
#: Marks of three pitches, so that no two turns of a cutter are alike; shares of their amplitude.
_PITCHES = np.array([1.0, 0.618, 2.3])
_SHARES = np.array([0.6, 0.25, 0.15])


def _check(parameters: Any, positive: Sequence[str]) -> None:
    """Raise UsageError for a number that is not finite, negative, or zero where it may not be."""
    for field in fields(parameters):
        value = getattr(parameters, field.name)
        numbers = np.atleast_1d(value)
        if not np.isfinite(numbers).all() or (numbers < 0).any():
            raise UsageError(f"{field.name} must be finite and not negative; got {value}.")
        if field.name in positive and not numbers.all():
            raise UsageError(f"{field.name} must be positive; got {value}.")


@dataclass(frozen=True)
class ContactParameters:
    """Friction of peg on hole, as factors of Coulomb's coefficient.

    stribeck_ratio: at rest over sliding; stribeck_m_s: speed at which 1/e of the difference is
    left. out_ratio: pulling out over pushing in. lay_ratio: sliding across the lay of the surface,
    which goes around the hole, over sliding along it. mark_depth: amplitude of the unevenness, as a
    share of the friction; mark_pitch_m: its main wavelength.
    """

    stribeck_ratio: float = 1.0
    stribeck_m_s: float = 0.0025
    out_ratio: float = 1.0
    lay_ratio: float = 1.0
    mark_depth: float = 0.0
    mark_pitch_m: float = 0.0002

    def __post_init__(self) -> None:
        """Refuse impossible numbers."""
        _check(self, ("stribeck_m_s", "mark_pitch_m", "out_ratio", "lay_ratio"))


@dataclass(frozen=True)
class FixtureParameters:
    """play_m: to each side, within which the fixture has only `soft_share` of its stiffness."""

    play_m: float = 0.0
    soft_share: float = 1.0

    def __post_init__(self) -> None:
        """Refuse impossible numbers."""
        _check(self, ("soft_share",))


@dataclass(frozen=True)
class ArmParameters:
    """The arm's joints and its commands. Pairs: translation (m), rotation (rad).

    stiction_ratio: of the six joints, friction at rest over moving; stribeck_rad_s: speed at which
    1/e of the difference is left. play: half-width of the backlash between commanded and held tool.
    max_speed: how fast the held tool may be moved. A command takes effect after latency_s +
    U(0, jitter_s).
    """

    stiction_ratio: tuple[float, ...] = (1.0,) * 6
    stribeck_rad_s: float = 0.01
    play: tuple[float, float] = (0.0, 0.0)
    max_speed: tuple[float, float] = (10.0, 10.0)
    latency_s: float = 0.0
    jitter_s: float = 0.0

    def __post_init__(self) -> None:
        """Refuse impossible numbers."""
        _check(self, ("stribeck_rad_s", "max_speed"))


class PegEffects:
    """The three at work in N worlds; plugs into a world as the `PegLaws` of its drive.

    twin_seed: where the marks of the surfaces lie, and, with each episode's condition seed, how
    late its commands come.
    """

    def __init__(
        self,
        contact: ContactParameters,
        fixture: FixtureParameters,
        arm: ArmParameters,
        twin_seed: int,
        *,
        step_s: float = STEP_S,
    ) -> None:
        self.every = EVERY
        self._tick_s = EVERY * step_s
        self._contact, self._fixture, self._arm = contact, fixture, arm
        self._play = np.repeat(arm.play, 3)
        self._reach = np.repeat(arm.max_speed, 3) * self._tick_s
        self._stiction = np.array(arm.stiction_ratio) - 1
        self._phase = 2 * np.pi * generator(twin_seed, "twin/surface marks").random((2, 3))
        self._wave = 2 * np.pi / (contact.mark_pitch_m * _PITCHES)
        self._commands = LateCommands(
            twin_seed, "peg commands", arm.latency_s, arm.jitter_s, self._tick_s, 1 / RATE_HZ
        )
        self.reset(())

    def reset(self, seeds: Sequence[int]) -> None:
        """Start N episodes; each holds where its tool is until its first command arrives."""
        self._commands.reset(seeds)
        self._applied: Array | None = None

    def command(self, target: Array, held: Array) -> Array:
        """The tool pose to hold next, (N, 6) m and rad. target: as commanded; held: as held now."""
        if self._applied is None:
            self._applied, self._set = held.copy(), held.copy()
        self._commands.advance(target, self._applied)
        self._set += np.clip(self._applied - self._set, -self._reach, self._reach)
        given: Array = np.clip(held, self._set - self._play, self._set + self._play)
        return given

    def friction(self, tip: Array, velocity: Array) -> Array:
        """Factors (N,) of peg on hole. tip: (N, 3) m, velocity: (N, 3) m/s, in the hole's frame."""
        p = self._contact
        square = velocity * velocity
        speed = square[:, 0] + square[:, 1] + square[:, 2]
        factor = 1 + (p.stribeck_ratio - 1) * np.exp(-speed / p.stribeck_m_s**2)
        inside = tip[:, 2] < 0
        along_axis = square[:, 2] / (speed + 1e-12)
        factor *= np.where(inside, 1 + (p.lay_ratio - 1) * along_axis, 1.0)
        factor *= np.where(inside & (velocity[:, 2] > p.stribeck_m_s), p.out_ratio, 1.0)
        place = np.where(inside, tip[:, 2], tip[:, 0])
        phase = np.where(inside[:, None], self._phase[0], self._phase[1])
        marks = (np.sin(place[:, None] * self._wave + phase) * _SHARES).sum(axis=1)
        given: Array = factor * (1 + p.mark_depth * marks)
        return given

    def joint_friction(self, speed: Array) -> Array:
        """Factors (N, 6) of the arm's joints. speed: (N, 6) rad/s."""
        still = np.exp(-np.square(speed / self._arm.stribeck_rad_s))
        given: Array = 1 + self._stiction * still
        return given

    def fixture(self, shift: Array) -> Array:
        """Factors (N, 2) of the fixture's sideways stiffness. shift: (N, 2) m from rest.

        The secant of a spring with slope `soft_share` up to the play and 1 beyond.
        """
        p = self._fixture
        away = np.abs(shift)
        beyond = np.maximum(away - p.play_m, 0.0) / np.maximum(away, 1e-9)
        given: Array = p.soft_share + (1 - p.soft_share) * beyond
        return given
