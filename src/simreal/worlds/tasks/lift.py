"""Lift: grasp a 2.5 cm cube and raise it 8 cm."""

from __future__ import annotations

import mujoco
import numpy as np

from simreal.core.types import Bools
from simreal.worlds.scene import add_box_object
from simreal.worlds.so101_rig import SO101
from simreal.worlds.task import Phase, Task, TaskState

HALF_M = 0.0125
MASS_KG = 0.030
LIFT_M = 0.08


def _build(spec: mujoco.MjSpec) -> None:
    add_box_object(spec, half_m=(HALF_M, HALF_M, HALF_M), mass_kg=MASS_KG)


def _draw(rng: np.random.Generator) -> dict[str, float]:
    """A place the arm reaches from above (0.18-0.24 m ahead, within 29 degrees), any yaw."""
    radius, angle = rng.uniform(0.18, 0.24), rng.uniform(-0.5, 0.5)
    return {
        "object_x_m": float(radius * np.cos(angle)),
        "object_y_m": float(radius * np.sin(angle)),
        "object_yaw_rad": float(rng.uniform(-np.pi / 4, np.pi / 4)),
    }


def _reached(state: TaskState) -> Bools:
    return np.asarray(np.linalg.norm(state.tool_pos - state.object_pos, axis=1) < 0.035)


def _grasped(state: TaskState) -> Bools:
    return state.on_fixed & state.on_moving


def _raised(state: TaskState) -> Bools:
    return state.object_pos[:, 2] - state.object_start[:, 2] > 0.02


def _lifted(state: TaskState) -> Bools:
    return state.object_pos[:, 2] - state.object_start[:, 2] > LIFT_M


LIFT = Task(
    name="lift",
    text="Pick up the cube and lift it.",
    horizon=120,
    hold_steps=4,
    build=_build,
    draw=_draw,
    judge={"reached": _reached, "grasped": _grasped, "raised": _raised, "lifted": _lifted},
    failures={
        None: "never reached",
        "reached": "missed",
        "grasped": "slipped",
        "raised": "dropped",
        "lifted": "timed out",
    },
    phases=(
        Phase("approach", "object", height_m=0.055, gripper=42.0),
        Phase("descend", "object", height_m=0.0, gripper=42.0, within_xy_m=0.009),
        Phase("close", "object", height_m=0.0, gripper=4.0, within_xy_m=0.008, above_m=0.008),
        Phase("lift", "start", height_m=0.11, gripper=4.0, held=True),
    ),
    robot=SO101,
    reset_names=("object_x_m", "object_y_m", "object_yaw_rad"),
    max_width_m=0.042,
    untouched=(None, "reached"),
)
