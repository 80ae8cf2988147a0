"""The UR5e with a peg in its gripper as a world's robot: placing, measuring, judging."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from simreal.core.types import RATE_HZ, WRENCH_HZ, Condition, Floats
from simreal.worlds import pegfields, peghole, ur5e
from simreal.worlds.forms import add_robot_looks
from simreal.worlds.names import OBJECT
from simreal.worlds.peg_state import PegPrivileged, PegState
from simreal.worlds.peghole import PegHole
from simreal.worlds.physics import Physics
from simreal.worlds.ranges import DYNAMICS_PEG_AXES, VISUAL_PEG_AXES
from simreal.worlds.robot import Robot, View
from simreal.worlds.scene import Scene
from simreal.worlds.settings import Settings
from simreal.worlds.task import Task
from simreal.worlds.terms_peg import DYNAMICS_PEG, VISUAL_PEG, fields
from simreal.worlds.wrench import window as read_window

Array = npt.NDArray[np.float64]

#: Over how long a force counts as sustained, and over how long a peg must get deeper, s.
SUSTAINED_S, PROGRESS_S = 0.2, 0.5
#: Sides of the hole closer to each other in depth than this are one, m.
_SAME_DEPTH_M = 0.0005
SLIPS = (peghole.SLIP_SLIDE, peghole.SLIP_TURN)
_PLACED = (*pegfields.MOUTH_FIELDS, *pegfields.POSE_FIELDS)
#: Channels at the boundary per SI unit: mm and degrees.
_UNITS = np.array([1e3] * 3 + [180.0 / np.pi] * 3)


class PegRig:
    """N arms that hold a peg over a hole. Keeps the `Rig` contract; channels as in `ur5e`."""

    def __init__(self, peg: PegHole, task: Task[PegState], scene: Scene) -> None:
        """`peg` is the peg and hole that the scene of `task` was compiled from."""
        self.peg, self.scene = peg, scene
        self._scratch = mujoco.MjData(scene.physics)

    def start(
        self, physics: Physics, settings: Sequence[Settings], conditions: Sequence[Condition]
    ) -> None:
        """Holes and pegs as conditions and settings say, tools above the mouths, forces tared."""
        self._physics, self._settings = physics, tuple(settings)
        placed = [self._place(s, c) for s, c in zip(settings, conditions, strict=True)]
        qpos = np.stack([q for q, _ in placed])
        physics.reset(settings, qpos, np.stack([pose for _, pose in placed]))
        model, n = self.scene.physics, len(conditions)
        self._slips = [int(model.joint(j).qposadr[0]) for j in SLIPS]
        self._object, self._hole = (int(model.body(b).id) for b in (OBJECT, peghole.HOLE))
        self._geoms = frozenset(pegfields.contact_geoms(model))
        clear = [_clearance(s, c) for s, c in zip(settings, conditions, strict=True)]
        peg_geom = pegfields.contact_geoms(model)[0]
        self._bore = self.peg.width_m + np.array(clear)
        self._friction = np.array([s.value("physics.geom_friction")[peg_geom, 0] for s in settings])
        self._offset = np.stack([s.value("control.joint_offset_deg") for s in settings])
        self._force = np.zeros((n, round(SUSTAINED_S * WRENCH_HZ)))
        self._depths: list[Array] = []
        self.stepped()

    def _place(self, settings: Settings, condition: Condition) -> tuple[Array, Array]:
        """Write hole and grasp into `settings`; coordinates (nq,) and tool pose (6,) at the start.

        Raises:
            UsageError: for a hole that the arm cannot reach or the solver not resolve.
        """
        reset, model = condition.reset, self.scene.physics
        clearance = _clearance(settings, condition)
        chamfer = self.peg.chamfer_m + float(settings.value("control.chamfer_m")[0])
        arrays = fields(settings, "physics", pegfields.MOUTH_FIELDS)
        pegfields.write_mouth(arrays, model, self.peg, clearance, chamfer)
        mouth_look = settings.edit("look.geom_size")[settings.geom("look", "hole_mouth")]
        mouth_look[: 1 if self.peg.shape == "round" else 2] = (
            self.peg.width_m + clearance
        ) / 2 + chamfer
        arrays = fields(settings, "physics", pegfields.POSE_FIELDS)
        mouth = np.array([reset["hole_x_m"], reset["hole_y_m"], self.peg.hole_m[2]])
        mouth = mouth + settings.value("control.hole_offset_m")
        about_x, about_y = (float(t) for t in settings.value("control.hole_tilt_rad"))
        yaw = reset["hole_yaw_rad"]
        pegfields.write_hole_pose(arrays, model, mouth, yaw, (about_x, about_y))
        grasp = np.array([reset["grasp_x_m"], 0.0, reset["grasp_z_m"]])
        pegfields.write_grasp(arrays, model, grasp, (0.0, reset["grasp_turn_rad"]))
        pose = _start_pose(mouth, yaw, reset)
        qpos = np.array(model.qpos0)
        rows, _ = ur5e.joint_rows(model)
        qpos[rows] = ur5e.start_joints(model, self._scratch, pose)
        return qpos, pose

    def stepped(self) -> None:
        """Take in what happened over the last control step."""
        pairs = zip(self._physics.models, self._physics.data, strict=True)
        window = np.stack([read_window(model, data) for model, data in pairs])
        window[self._physics.diverged] = 0.0
        self._window: Array = window
        force = np.linalg.norm(window[:, :, :3], axis=2)
        self._force = np.concatenate([self._force, force], axis=1)[:, force.shape[1] :]
        self._state = self._judged(force)

    def _judged(self, force: Array) -> PegState:
        """The state after a control step with forces (N, S)."""
        physics, n = self._physics, self._physics.n
        position, matrix = physics.body_poses()
        hole = np.swapaxes(matrix[:, self._hole], 1, 2)
        tip = np.einsum("nij,nj->ni", hole, position[:, self._object] - position[:, self._hole])
        upright = np.einsum("ni,ni->n", matrix[:, self._object, :, 2], matrix[:, self._hole, :, 2])
        slips = np.stack([data.qpos[self._slips] for data in physics.data])
        state = PegState(
            tip=tip,
            tilt=np.arccos(np.clip(upright, -1.0, 1.0)),
            width=np.full(n, self.peg.width_m),
            bore=self._bore,
            goal_depth=np.full(n, self.peg.depth_m),
            slip=slips[:, 0],
            slip_turn=slips[:, 1],
            peak_n=force.max(axis=1),
            pressed_n=self._force.min(axis=1),
            push_n=self._window[:, :, 2].mean(axis=1),
            gained=np.zeros(n),
            sides=np.array([self._two_sides(i) for i in range(n)]),
            friction=self._friction,
        )
        self._depths = [*self._depths, state.depth][-1 - round(PROGRESS_S * RATE_HZ) :]
        return replace(state, gained=state.depth - self._depths[0])

    def _two_sides(self, i: int) -> bool:
        """Whether the peg of world i touches opposite walls of the hole at different depths."""
        data = self._physics.data[i]
        contact = data.contact
        touching = np.isin(contact.geom, list(self._geoms)).all(axis=1) & (contact.dist < 0)
        if touching.sum() < 2:
            return False
        turn = data.xmat[self._hole].reshape(3, 3)
        normal = contact.frame[touching, :3] @ turn
        depth = -(contact.pos[touching] - data.xpos[self._hole]) @ turn[:, 2]
        level = np.abs(normal[:, 2]) < 0.5
        normal, depth = normal[level], depth[level]
        opposite = normal[:, :2] @ normal[:, :2].T < -0.25
        apart = np.abs(depth[:, None] - depth) > _SAME_DEPTH_M
        return bool((opposite & apart).any())

    def positions(self) -> Array:
        """The tools' poses, (N, 6) m and rad."""
        pairs = zip(self._physics.models, self._physics.data, strict=True)
        return np.stack([ur5e.tool_pose(model, data) for model, data in pairs])

    def wrench(self) -> Floats:
        """Force (N) and torque (Nm) on the tool since the last control step, (N, S, 6)."""
        return self._window.astype(np.float32)

    def hit_n(self) -> Array:
        """Largest force at the wrist over the last control step, (N,)."""
        peak: Array = self._state.peak_n
        return peak

    def state(self) -> PegState:
        """Exact values that tasks judge and experts act by."""
        return self._state

    def privileged(self) -> PegPrivileged:
        """Exact values for scripted operators."""
        position, matrix = self._physics.body_poses()
        hole = matrix[:, self._hole]
        return PegPrivileged(
            state=self._state,
            tool=self.positions(),
            tip=position[:, self._object],
            axis=matrix[:, self._object, :, 2],
            reach=self._state.width / 2 * (np.sqrt(2.0) if self.peg.shape == "square" else 1.0),
            mouth=position[:, self._hole],
            normal=hole[:, :, 2],
            yaw=np.arctan2(hole[:, 1, 0], hole[:, 0, 0]),
            wrench=self._window.mean(axis=1),
            offset=self._offset,
        )


def _clearance(settings: Settings, condition: Condition) -> float:
    """Diametral clearance of one world's hole, m."""
    given = condition.reset["clearance_m"] + float(settings.value("control.clearance_m")[0])
    return max(given, 0.0)


def _start_pose(mouth: Array, yaw: float, reset: Mapping[str, float]) -> Array:
    """The tool (6,) above a hole: turned with it, then by the start's own rotation vector."""
    turn = np.array([reset[f"start_r{axis}_rad"] for axis in "xyz"])
    angle = float(np.linalg.norm(turn))
    own, heading, quat, vector = np.empty(4), np.empty(4), np.empty(4), np.empty(3)
    mujoco.mju_axisAngle2Quat(own, turn / angle if angle else np.eye(3)[0], angle)
    mujoco.mju_axisAngle2Quat(heading, np.array([0.0, 0.0, 1.0]), yaw)
    mujoco.mju_mulQuat(quat, own, heading)
    mujoco.mju_quat2Vel(vector, quat, 1.0)
    above = np.array([reset[f"start_{axis}_m"] for axis in "xyz"])
    return np.concatenate([mouth + above, vector])


def to_boundary(si: Array) -> Floats:
    """Channels (..., 6) in m and rad to mm and degrees."""
    return np.asarray(si * _UNITS, dtype=np.float32)


def to_si(boundary: npt.NDArray[np.floating]) -> Array:
    """The inverse of `to_boundary`."""
    si: Array = np.asarray(boundary, dtype=np.float64) / _UNITS
    return si


def _unsolvable(task: Task[Any], settings: Settings) -> str | None:
    """Why no operator could do it under these settings, or None."""
    offset = float(np.hypot(*settings.value("control.hole_offset_m")[:2]))
    if offset > 0.02:
        return f"hole moved by {1e3 * offset:.0f} mm, limit 20 mm"
    sunk = -float(settings.value("control.hole_offset_m")[2])
    if sunk > 0.02:
        return f"hole sunk by {1e3 * sunk:.0f} mm, limit 20 mm: the table is in the way"
    tilt = float(np.rad2deg(np.hypot(*settings.value("control.hole_tilt_rad"))))
    return f"hole tilted by {tilt:.0f} degrees, limit 30 degrees" if tilt > 30 else None


def ur5e_with(peg: PegHole) -> Robot:
    """The UR5e that inserts `peg`."""
    terms = (*DYNAMICS_PEG, *VISUAL_PEG)
    written = {f for t in DYNAMICS_PEG for f in t.writes if f.startswith("physics.")}
    return Robot(
        name="ur5e",
        robot_type="ur5e_2f85",
        units="tool position in mm (base frame), rotation vector in degrees",
        channels=ur5e.CHANNELS,
        joints=ur5e.ur5e().joints,
        to_boundary=to_boundary,
        to_si=to_si,
        spec=ur5e.arm_spec,
        looks=add_robot_looks,
        finish=lambda spec: None,
        view=View(position=(0.62, -0.26, 0.16), aim=(0.45, 0.0, 0.05), fovy_deg=30),
        terms={term.name: term for term in terms},
        profiles={
            "none": (),
            "visual": VISUAL_PEG_AXES,
            "dynamics": DYNAMICS_PEG_AXES,
            "full": (*DYNAMICS_PEG_AXES, *VISUAL_PEG_AXES),
        },
        writes=frozenset(written | {f"physics.{name}" for name in _PLACED}),
        rig=partial(PegRig, peg),
        unsolvable=_unsolvable,
        wrench=True,
    )
