"""The SO-101 at its table as a world's robot: placing, measuring, judging, expert's knowledge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import mujoco
import numpy as np
import numpy.typing as npt

from simreal.core.types import Condition, Floats
from simreal.worlds import so101
from simreal.worlds.forms import add_robot_looks
from simreal.worlds.names import OBJECT, TABLE
from simreal.worlds.physics import Physics
from simreal.worlds.placing import initial_qpos, table_height
from simreal.worlds.ranges import DYNAMICS_AXES, VISUAL_AXES
from simreal.worlds.robot import Robot, View
from simreal.worlds.scene import Scene
from simreal.worlds.settings import Settings
from simreal.worlds.task import Privileged, Task, TaskState
from simreal.worlds.terms import DYNAMICS
from simreal.worlds.terms_visual import VISUAL

Array = npt.NDArray[np.float64]

#: How far a scenario may move an object from where its task put it; farther is out of reach.
MOST_SHIFT_M = 0.03


class So101Rig:
    """N SO-101 arms. Keeps the `Rig` contract; positions are joint angles in rad."""

    def __init__(self, task: Task[TaskState], scene: Scene) -> None:
        """`task` says what is judged, `scene` holds the compiled models."""
        self.task, self.scene = task, scene

    def start(
        self, physics: Physics, settings: Sequence[Settings], conditions: Sequence[Condition]
    ) -> None:
        """Arms at home, objects on the table, goal markers where the task has them."""
        self._physics, self._settings = physics, tuple(settings)
        placed = zip(settings, conditions, strict=True)
        qpos = np.stack([initial_qpos(self.scene, s, c.reset) for s, c in placed])
        physics.reset(settings, qpos, qpos[:, physics.joint_q])
        self._place_goals(conditions)
        self._object = int(self.scene.physics.body(OBJECT).id)
        self._object_start = physics.body_poses()[0][:, self._object].astype(np.float32)
        geom = self.scene.physics.geom(OBJECT).id
        half = [s.value("physics.geom_size")[geom] for s in settings]
        starts = zip(settings, self._object_start.astype(float), strict=True)
        height = [table_height(s, x, y) for s, (x, y, _) in starts]
        self._object_half = np.stack(half).astype(np.float32)
        self._table_z = np.array(height).astype(np.float32)
        self._offset_deg = np.stack([s.value("control.joint_offset_deg") for s in settings])

    def _place_goals(self, conditions: Sequence[Condition]) -> None:
        """Move the goal marker, where the task has one; its pose is no part of qpos."""
        model = self.scene.physics
        self._goal_xy = np.full((len(conditions), 2), np.nan, dtype=np.float32)
        if not any(model.body(b).name == "goal" for b in range(model.nbody)):
            return
        for i, condition in enumerate(conditions):
            model, data = self._physics.info(i)
            x, y = condition.reset["goal_x_m"], condition.reset["goal_y_m"]
            settings = self._settings[i]
            data.mocap_pos[0] = (x, y, table_height(settings, x, y) + 0.0005)
            data.mocap_quat[0] = settings.value("physics.body_quat")[model.body(TABLE).id]
            mujoco.mj_forward(model, data)
            self._goal_xy[i] = (x, y)

    def stepped(self) -> None:
        """All that is judged can be read from the present state."""

    def positions(self) -> Array:
        """Joint angles, (N, 6) rad."""
        return self._physics.joint_rad()

    def wrench(self) -> Floats | None:
        """The arm has no force/torque sensor."""
        return None

    def hit_n(self) -> Array:
        """Force of the hand on the table, (N,)."""
        return np.asarray(np.linalg.norm(self._physics.sensor("hand_table")[:, 1:4], axis=1))

    def state(self) -> TaskState:
        """Exact values that tasks judge and experts act by."""
        physics = self._physics
        position = physics.body_poses()[0][:, self._object]
        return TaskState(
            object_pos=position.astype(np.float32),
            object_start=self._object_start,
            object_half=self._object_half,
            tool_pos=physics.site(so101.TOOL_SITE).astype(np.float32),
            goal_xy=self._goal_xy,
            on_fixed=physics.sensor("fixed_touch")[:, 0] > 0,
            on_moving=physics.sensor("moving_touch")[:, 0] > 0,
            table_z=self._table_z,
        )

    def privileged(self) -> Privileged:
        """Exact values for scripted experts."""
        physics, n = self._physics, len(self._settings)
        gravity, friction = np.zeros((n, 6)), np.zeros((n, 6))
        for i in range(n):
            model, data = physics.info(i)
            gain = model.actuator_gainprm[:, 0]
            gravity[i] = data.qfrc_bias[physics.joint_v] / gain
            friction[i] = model.dof_frictionloss[physics.joint_v] / gain
        matrix = physics.body_poses()[1][:, self._object]
        return Privileged(
            state=self.state(),
            joint_rad=physics.joint_rad(),
            object_yaw=np.arctan2(matrix[:, 1, 0], matrix[:, 0, 0]),
            gravity_rad=gravity,
            friction_rad=friction,
            offset_deg=self._offset_deg,
        )


class Servo(Protocol):
    """A model of the six joint servos (used by twins)."""

    every: int

    def reset(self, seeds: Sequence[int]) -> None:
        """Start N episodes."""
        ...

    def substep(self, target: Array, qpos: Array, qvel: Array) -> tuple[Array, Array]:
        """From targets and joints (N, 6), rad and rad/s, to controls (rad) and friction (Nm)."""
        ...


class ServoDrive:
    """A `Servo` at work in a world: it sets the controls and the joints' Coulomb friction."""

    def __init__(self, servo: Servo) -> None:
        """Drive the arm through `servo`."""
        self._servo, self.every = servo, servo.every

    def reset(self, seeds: Sequence[int]) -> None:
        """Start N episodes."""
        self._servo.reset(seeds)

    def substep(self, physics: Physics, target: Array) -> None:
        """Set controls and friction for the next `every` physics steps."""
        ctrl, friction = self._servo.substep(target, physics.joint_rad(), physics.joint_speed())
        for i in physics.live():
            model, data = physics.info(i)
            data.ctrl[:] = ctrl[i]
            model.dof_frictionloss[physics.joint_v] = friction[i]


def unsolvable(task: Task[Any], settings: Settings) -> str | None:
    """Why the arm could not do the task under these settings, or None."""
    geom = settings.scene.physics.geom(OBJECT).id
    width = 2 * float(np.max(settings.value("physics.geom_size")[geom][:2]))
    if task.max_width_m is not None and width > task.max_width_m:
        return f"object {1000 * width:.0f} mm wide, limit {1000 * task.max_width_m:.0f} mm"
    shift = float(np.hypot(*settings.value("control.object_offset_m")))
    if shift > MOST_SHIFT_M:
        return f"object moved by {1000 * shift:.0f} mm, limit {1000 * MOST_SHIFT_M:.0f} mm"
    return None


SO101 = Robot(
    name="so101",
    robot_type="so101_follower",
    units="arm joints in degrees, gripper 0-100 (100 = open)",
    channels=so101.JOINTS,
    joints=so101.JOINTS,
    to_boundary=so101.to_lerobot,
    to_si=so101.to_radians,
    spec=so101.arm_spec,
    looks=add_robot_looks,
    finish=so101.add_sensors,
    view=View(position=(0.46, -0.24, 0.30), aim=(0.185, 0.0, 0.065), fovy_deg=40),
    terms={term.name: term for term in (*DYNAMICS, *VISUAL)},
    profiles={
        "none": (),
        "visual": VISUAL_AXES,
        "dynamics": DYNAMICS_AXES,
        "full": (*DYNAMICS_AXES, *VISUAL_AXES),
    },
    writes=frozenset(f for term in DYNAMICS for f in term.writes if f.startswith("physics.")),
    rig=So101Rig,
    unsolvable=unsolvable,
)
