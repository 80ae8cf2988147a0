"""A cheap closed-loop policy with honest senses: it looks once, then moves by joint readings.

It finds the red cube in the first picture of the scene camera, and lets the scripted operator grasp
there, with everything the operator wants to know worked out from readings under the assumption that
camera, joints, servos and contact are those of the nominal simulation. Whatever breaks one of these
assumptions breaks the policy.
"""

from __future__ import annotations

import functools

import mujoco
import numpy as np

from simreal.core.seeds import generator
from simreal.core.types import Action, Condition, Observation
from simreal.demos.experts import STEADY, ScriptedOperator
from simreal.worlds import so101
from simreal.worlds.simulated import SimConfig, scene_of, simulated_world
from simreal.worlds.task import Privileged, TaskState
from simreal.worlds.tasks import task as find_task

SIZE_PX = 64
#: Readings of a gripper that holds the 25 mm cube; empty it closes further.
HOLDING = (8.0, 40.0)
#: A gripper that moves less than this a step, while it closes, is stopped by something.
STALLED = 0.8


def square(index: int, seed: int = 0) -> Condition:
    """A condition of `lift` with the cube square to the arm (the policy does not see its yaw)."""
    reset = find_task("lift").draw(generator(seed, "seeing", index))
    reset["object_yaw_rad"] = float(np.arctan2(reset["object_y_m"], reset["object_x_m"]))
    return Condition(index, "nominal", reset, seed=index)


def blob(picture: np.ndarray) -> np.ndarray | None:
    """Centre (row, column) of what is red in (H, W, 3), or None."""
    red, green, blue = (picture[..., c].astype(float) for c in range(3))
    weight = np.clip(red - 2.2 * np.maximum(green, blue) - 15, 0, None)
    if weight.sum() < 60:
        return None
    rows, columns = np.mgrid[0 : picture.shape[0], 0 : picture.shape[1]]
    return np.array([(weight * rows).sum(), (weight * columns).sum()]) / weight.sum()


def _terms(centre: np.ndarray) -> np.ndarray:
    row, column = (centre - SIZE_PX / 2) / SIZE_PX
    return np.array([1, row, column, row * row, row * column, column * column])


@functools.cache
def calibration() -> np.ndarray:
    """Least squares from blob centres to the cube's place on the table, in the nominal world."""
    world = simulated_world(SimConfig("lift", size_px=SIZE_PX, batch=60))
    conditions = [square(i, seed=99) for i in range(60)]
    world.reset(conditions)
    pictures = world.observe().images["scene"]
    world.close()
    found = [(blob(p), c.reset) for p, c in zip(pictures, conditions, strict=True)]
    rows = [(_terms(b), (r["object_x_m"], r["object_y_m"])) for b, r in found if b is not None]
    solved = np.linalg.lstsq(*(np.array(column) for column in zip(*rows, strict=True)), rcond=None)
    return solved[0]


class SeeingPolicy:
    """Looks at the first step, then acts on what it measures."""

    def __init__(self) -> None:
        self._operator = ScriptedOperator(find_task("lift"), lambda: self._known, STEADY, seed=0)
        self._model = scene_of("lift", "primitive", None).physics
        self._data = mujoco.MjData(self._model)
        self._rows = [int(self._model.joint(j).qposadr[0]) for j in so101.JOINTS]
        self._dofs = [int(self._model.joint(j).dofadr[0]) for j in so101.JOINTS]

    def reset(self, n: int) -> None:
        self._operator.reset(n)
        self._n, self._first = n, True
        self._closing = np.zeros(n, dtype=int)
        self._still = np.zeros(n, dtype=int)
        self._gripper = np.full(n, np.inf)

    def looks(self) -> bool:
        return self._first

    def act(self, observation: Observation) -> Action:
        if self._first:
            self._places = np.array([self._place(p) for p in observation.images["scene"]])
            self._first = False
        self._known = self._estimate(np.array(observation.joint_pos))
        action = self._operator.act(observation)
        closing = [phase in ("close", "lift") for phase in self._operator.phases]
        self._closing = np.where(closing, self._closing + 1, 0)
        return action

    def _place(self, picture: np.ndarray) -> np.ndarray:
        centre = blob(picture)
        xy = np.array([0.21, 0.0]) if centre is None else _terms(centre) @ calibration()
        return np.array([*xy, 0.0125])

    def _estimate(self, measured: np.ndarray) -> Privileged:
        joints = so101.to_radians(measured)
        tool, gravity = np.zeros((self._n, 3)), np.zeros((self._n, 6))
        for i, angles in enumerate(joints):
            self._data.qpos[self._rows] = angles
            mujoco.mj_forward(self._model, self._data)
            tool[i] = self._data.site(so101.TOOL_SITE).xpos
            gravity[i] = self._data.qfrc_bias[self._dofs] / so101.KP
        gripper = measured[:, so101.GRIPPER]
        stalled = np.abs(gripper - self._gripper) < STALLED
        self._still = np.where(stalled & (self._closing > 0), self._still + 1, 0)
        self._gripper = gripper
        held = (self._still > 2) & (gripper > HOLDING[0]) & (gripper < HOLDING[1])
        places = self._places.astype(np.float32)
        state = TaskState(
            object_pos=places,
            object_start=places,
            object_half=np.full((self._n, 3), 0.0125, np.float32),
            tool_pos=tool.astype(np.float32),
            goal_xy=np.full((self._n, 2), np.nan, np.float32),
            on_fixed=held,
            on_moving=held,
            table_z=np.zeros(self._n, np.float32),
        )
        yaw = np.arctan2(places[:, 1], places[:, 0])
        friction = np.full((self._n, 6), so101.FRICTION_LOSS / so101.KP)
        return Privileged(state, joints, yaw, gravity, friction, np.zeros((self._n, 6)))
