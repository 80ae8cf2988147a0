"""Push: slide a 4 cm block to a marked spot 8 cm away."""

from __future__ import annotations

import mujoco
import numpy as np

from simreal.core.types import Bools, Floats
from simreal.worlds.scene import add_box_object, add_goal_marker
from simreal.worlds.so101_rig import SO101
from simreal.worlds.task import Phase, Task, TaskState

HALF_M = (0.02, 0.02, 0.02)
MASS_KG = 0.060
TOLERANCE_M = 0.02


def _build(spec: mujoco.MjSpec) -> None:
    add_box_object(spec, half_m=HALF_M, mass_kg=MASS_KG)
    add_goal_marker(spec, radius_m=TOLERANCE_M)


def _draw(rng: np.random.Generator) -> dict[str, float]:
    """A block ahead of the arm, and a goal 7-9 cm to its left or right."""
    x, y = rng.uniform(0.19, 0.23), rng.uniform(-0.02, 0.02)
    side = 1.0 if rng.random() < 0.5 else -1.0
    return {
        "object_x_m": float(x),
        "object_y_m": float(y - side * 0.04),
        "object_yaw_rad": float(rng.uniform(-0.2, 0.2)),
        "goal_x_m": float(x + rng.uniform(-0.01, 0.01)),
        "goal_y_m": float(y + side * rng.uniform(0.03, 0.05)),
    }


def _way_m(state: TaskState) -> Floats:
    """How far the block has been moved over the table, (N,) m."""
    moved = state.object_pos[:, :2] - state.object_start[:, :2]
    way: Floats = np.hypot(moved[:, 0], moved[:, 1])
    return way


def _touched(state: TaskState) -> Bools:
    """A finger is at the block, or was between two control steps and has knocked it on."""
    return state.on_fixed | state.on_moving | (_way_m(state) > 0.003)


def _moved(state: TaskState) -> Bools:
    return np.asarray(_way_m(state) > 0.02)


def _at_goal(state: TaskState) -> Bools:
    left = state.object_pos[:, :2] - state.goal_xy
    return np.asarray(np.hypot(left[:, 0], left[:, 1]) < TOLERANCE_M)


PUSH = Task(
    name="push",
    text="Push the block onto the marked spot.",
    horizon=160,
    hold_steps=4,
    build=_build,
    draw=_draw,
    judge={"touched": _touched, "moved": _moved, "at goal": _at_goal},
    failures={
        None: "missed",
        "touched": "stuck",
        "moved": "off course",
        "at goal": "timed out",
    },
    phases=(
        Phase("hover", "behind", height_m=0.06, back_m=0.045, gripper=4.0),
        Phase("descend", "behind", height_m=0.0, back_m=0.045, gripper=4.0, within_xy_m=0.012),
        Phase(
            "push", "goal", height_m=0.0, back_m=0.03, gripper=4.0, within_xy_m=0.03, above_m=0.015
        ),
    ),
    robot=SO101,
    reset_names=("object_x_m", "object_y_m", "object_yaw_rad", "goal_x_m", "goal_y_m"),
)
