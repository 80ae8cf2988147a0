"""What a task is: a small, frozen description. `tasks/` holds one file for each.

Frames: world frame, metres, z up, origin at the arm's base on the nominal table surface, x ahead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import mujoco
import numpy as np
import numpy.typing as npt

from simreal.core.types import Bools, Floats
from simreal.worlds.robot import Robot


@dataclass(frozen=True)
class TaskState:
    """What a task of a gripper at a table may judge by: N worlds at one moment, exact values.

    object_pos, object_start, tool_pos: (N, 3) m, world frame. goal_xy: (N, 2) m, or NaN.
    object_half: (N, 3) m half-sizes. on_fixed, on_moving: (N,) each finger touches the object.
    table_z: (N,) height of the table surface under the object's start, m.
    """

    object_pos: Floats
    object_start: Floats
    object_half: Floats
    tool_pos: Floats
    goal_xy: Floats
    on_fixed: Bools
    on_moving: Bools
    table_z: Floats


@dataclass(frozen=True)
class Privileged:
    """What a scripted expert knows and a policy never sees.

    joint_rad: true joint angles, (N, 6). object_yaw: (N,) rad. gravity_rad, friction_rad: (N, 6)
    target shifts that hold the arm against gravity and overcome Coulomb friction.
    offset_deg: (N, 6) joint zero errors, degrees; measured = true + offset.
    """

    state: TaskState
    joint_rad: npt.NDArray[np.float64]
    object_yaw: npt.NDArray[np.float64]
    gravity_rad: npt.NDArray[np.float64]
    friction_rad: npt.NDArray[np.float64]
    offset_deg: npt.NDArray[np.float64]


@dataclass(frozen=True)
class Phase:
    """One stretch of a scripted expert, as data. The last phase whose conditions hold is active.

    anchor: where the tool goes: `object` (fingers around it), `behind` (its side away from the
    goal, `back_m` from its centre), `goal` (pushing it there) or `start` (above where it began).
    height_m: tool height above the object's centre (`start`: above its rest height).
    gripper: command, 0-100. within_xy_m, above_m: the phase may begin when the tool is within
    these distances of the phase's own contact point (its anchor at height 0); None: anywhere.
    held: True: only while both fingers touch the object.
    """

    name: str
    anchor: str
    height_m: float
    gripper: float
    back_m: float = 0.0
    within_xy_m: float | None = None
    above_m: float | None = None
    held: bool | None = None


@dataclass(frozen=True)
class Task[State]:
    """A task, whose score is the share of stages reached.

    robot: what does it. State: what that robot's rig gives the functions below to judge by.
    judge: stage -> whether it holds, first to last; to reach one is to have reached those before
    it. Success is the last one, held for `hold_steps` control steps.
    draw: initial values from a generator (the condition's `reset`, names in `reset_names`), SI.
    failures: (name of the furthest stage reached or None) -> failure kind. untouched: the furthest
    stages at which the object was not touched yet; a trial that failed there and hit the table hard
    has the failure `collided` instead.
    stops: failure kind -> whether it has happened; the first that has ends the episode.
    symptoms: failure kind -> whether it shows; the first that has shown for `hold_steps` control
    steps when the time is up names the failure, before `failures` does.
    suites: suite -> initial values that it sets in every condition; `nominal` is always there.
    collision_n: force of `Rig.hit_n` from which it counts as a collision.
    max_width_m: draws with a wider object are not solvable. reach_m: nearest and farthest distance
    from the base at which `draw` may put the object.
    """

    name: str
    text: str
    horizon: int
    hold_steps: int
    build: Callable[[mujoco.MjSpec], None]
    draw: Callable[[np.random.Generator], dict[str, float]]
    judge: Mapping[str, Callable[[State], Bools]]
    failures: Mapping[str | None, str]
    reset_names: tuple[str, ...]
    robot: Robot
    phases: tuple[Phase, ...] = ()
    stops: Mapping[str, Callable[[State], Bools]] = field(default_factory=dict)
    symptoms: Mapping[str, Callable[[State], Bools]] = field(default_factory=dict)
    suites: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    collision_n: float = 5.0
    max_width_m: float | None = None
    untouched: tuple[str | None, ...] = (None,)
    reach_m: tuple[float, float] = (0.14, 0.30)

    def stages(self, state: State) -> npt.NDArray[np.bool_]:
        """Which stages hold now, shape (stages, N)."""
        return np.stack([np.asarray(holds(state), dtype=bool) for holds in self.judge.values()])

    @property
    def kinds(self) -> tuple[str, ...]:
        """Every failure kind that an episode may end with, in the order they are looked for."""
        named = (*self.stops, *self.symptoms, *self.failures.values())
        return tuple(dict.fromkeys(named))


def cube_inertia(mass_kg: float, half_m: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
    """Principal moments of a homogeneous box with half-sizes (3,) in m; kg m^2."""
    x, y, z = (2 * np.asarray(half_m, dtype=float)) ** 2
    return mass_kg / 12.0 * np.array([y + z, x + z, x + y])
