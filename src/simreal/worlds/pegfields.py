"""What varies from world to world in an insertion: which rows of which model arrays to write.

Every function takes `fields`, the arrays to write into (name -> array of that name in the compiled
model): `of(model, NAMES)` for a model of one's own, copies where edits are kept. The matching
`..._FIELDS` says which arrays it needs. SI units, hole frame and peg frame as in `peghole`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from simreal.core.errors import UsageError
from simreal.worlds import peghole
from simreal.worlds.gripper import GRIP_M
from simreal.worlds.names import OBJECT
from simreal.worlds.peghole import FIXTURE, GIVE, HOLE, PegHole

Fields = Mapping[str, npt.NDArray[Any]]
Array = npt.NDArray[np.float64]

MOUTH_FIELDS = ("geom_pos", "geom_size", "geom_rbound", "geom_aabb", "bvh_aabb")
POSE_FIELDS = ("body_pos", "body_quat")
FRICTION_FIELDS = ("geom_friction",)
CONTACT_FIELDS = ("geom_solimp",)
SPRING_FIELDS = ("jnt_stiffness", "dof_damping")
SLIP_FIELDS = ("dof_frictionloss",)


def of(model: mujoco.MjModel, names: Iterable[str]) -> dict[str, npt.NDArray[Any]]:
    """The model's own arrays of these names: writing into them changes the model."""
    return {name: getattr(model, name) for name in names}


def write_mouth(
    fields: Fields, model: mujoco.MjModel, peg: PegHole, clearance_m: float, chamfer_m: float = 0.0
) -> None:
    """Diametral clearance and chamfer of the hole (`MOUTH_FIELDS`); the peg keeps its width.

    peg: what the model was compiled from. Works on the physics and the look model alike.
    """
    peghole.check_clearance(clearance_m, peg.width_m, peg.contact.resolves_m)
    mouth = replace(peg.mouth, bore_m=peg.width_m + clearance_m, chamfer_m=chamfer_m)
    if chamfer_m < 0 or mouth.lip_m > mouth.most_lip_m:
        most = max(0.0, mouth.most_lip_m - mouth.bore_m / 2)
        raise UsageError(
            f"A chamfer of {1e3 * chamfer_m:g} mm does not fit this hole's block; choose 0 to "
            f"{1e3 * most:.2g} mm, or build the hole with a larger PegHole.chamfer_m."
        )
    for kind, places in mouth.centres().items():
        for i, place in enumerate(places):
            row = model.geom(f"{kind}_{i}").id
            fields["geom_pos"][row] = place
            if kind == "bevel":
                fields["geom_size"][row, 2] = mouth.bevel_half_m
                fields["geom_rbound"][row] = np.linalg.norm(fields["geom_size"][row])
                fields["geom_aabb"][row, 3:] = fields["geom_size"][row]
    _write_look(fields, model, peg, mouth.lip_m)
    _write_bounds(fields, model)


def _write_look(fields: Fields, model: mujoco.MjModel, peg: PegHole, lip_m: float) -> None:
    row = model.geom("hole_mouth").id
    size = fields["geom_size"][row]
    size[: 1 if peg.shape == "round" else 2] = lip_m
    round_ = peg.shape == "round"
    box = [size[0], size[0], size[1]] if round_ else list(size)
    fields["geom_rbound"][row] = np.hypot(size[0], size[1]) if round_ else np.linalg.norm(box)
    fields["geom_aabb"][row, 3:] = box


def _write_bounds(fields: Fields, model: mujoco.MjModel) -> None:
    """The tree of bounding boxes by which MuJoCo leaves out geoms, after boxes have moved."""
    body = model.body(HOLE).id
    first, count = int(model.body_bvhadr[body]), int(model.body_bvhnum[body])
    bounds = fields["bvh_aabb"]
    for row in range(first + count - 1, first - 1, -1):
        geom = int(model.bvh_nodeid[row])
        if geom >= 0:
            turn = np.empty(9)
            mujoco.mju_quat2Mat(turn, model.geom_quat[geom])
            aabb = fields["geom_aabb"][geom]
            matrix = turn.reshape(3, 3)
            bounds[row, :3] = fields["geom_pos"][geom] + matrix @ aabb[:3]
            bounds[row, 3:] = np.abs(matrix) @ aabb[3:]
        else:
            children = [first + int(c) for c in model.bvh_child[row] if c >= 0]
            low = np.min([bounds[c, :3] - bounds[c, 3:] for c in children], axis=0)
            high = np.max([bounds[c, :3] + bounds[c, 3:] for c in children], axis=0)
            bounds[row] = [*(low + high) / 2, *(high - low) / 2]


def write_hole_pose(
    fields: Fields,
    model: mujoco.MjModel,
    position_m: Array,
    yaw_rad: float = 0.0,
    tilt_rad: tuple[float, float] = (0.0, 0.0),
) -> None:
    """Where the hole's frame stands in the base frame, and its tilt about x and y."""
    row = model.body(HOLE).id
    fields["body_pos"][row] = position_m
    fields["body_quat"][row] = _tilted(tilt_rad, yaw_rad)


def write_grasp(
    fields: Fields,
    model: mujoco.MjModel,
    offset_m: Array,
    tilt_rad: tuple[float, float] = (0.0, 0.0),
) -> None:
    """How the peg lies in the fingers: shifted (3,) and tilted about x and y at the pads' middle.

    A positive z draws the peg deeper into the hand. The fingers' closing axis is y: a real grasp
    leaves an offset along x and z only.
    """
    row = model.body(OBJECT).id
    quat = _tilted(tilt_rad, 0.0)
    down = np.array([0.0, 0.0, -GRIP_M])
    turned = np.empty(3)
    mujoco.mju_rotVecQuat(turned, down, quat)
    fields["body_pos"][row] = np.asarray(offset_m) + turned
    fields["body_quat"][row] = quat


def _tilted(tilt_rad: tuple[float, float], yaw_rad: float) -> Array:
    """A yaw, then a tilt by one rotation vector (x, y, 0); quaternion."""
    angle = float(np.hypot(*tilt_rad))
    axis = np.array([*tilt_rad, 0.0]) / angle if angle else np.array([1.0, 0.0, 0.0])
    tilt, yaw, quat = np.empty(4), np.empty(4), np.empty(4)
    mujoco.mju_axisAngle2Quat(tilt, axis, angle)
    mujoco.mju_axisAngle2Quat(yaw, np.array([0.0, 0.0, 1.0]), yaw_rad)
    mujoco.mju_mulQuat(quat, tilt, yaw)
    return quat


def contact_geoms(model: mujoco.MjModel) -> list[int]:
    """Rows of the peg and of everything of the hole that it may touch."""
    hole = model.body(HOLE).id
    walls = [g for g in range(model.ngeom) if model.geom_bodyid[g] == hole]
    return [model.geom(OBJECT).id, *(g for g in walls if model.geom_conaffinity[g])]


def write_friction(fields: Fields, model: mujoco.MjModel, friction: float) -> None:
    """Sliding friction of peg on hole and block."""
    fields["geom_friction"][contact_geoms(model), 0] = friction


def write_contact(fields: Fields, model: mujoco.MjModel, width_m: float) -> None:
    """How far contact gives way (`CONTACT_FIELDS`), m.

    Raises:
        UsageError: for less than the solver can do.
    """
    if width_m < 4e-6:
        raise UsageError(
            f"A contact that gives way only {1e6 * width_m:g} um does not come to rest at this "
            "time step; choose 4 um or more."
        )
    fields["geom_solimp"][contact_geoms(model), 2] = width_m


def scale_grasp(fields: Fields, model: mujoco.MjModel, ratio: float) -> None:
    """Stiffness of the pads times `ratio`, at an unchanged damping ratio."""
    _scale(fields, model, GIVE, ratio)


def scale_fixture(fields: Fields, model: mujoco.MjModel, ratio: float) -> None:
    """Stiffness of the fixture times `ratio`, at an unchanged damping ratio."""
    _scale(fields, model, FIXTURE, ratio)


def _scale(fields: Fields, model: mujoco.MjModel, joints: tuple[str, ...], ratio: float) -> None:
    """Stiffness times `ratio`; a negative one is left to who checks the stiffness."""
    rows = [model.joint(name).id for name in joints]
    speeds = [int(model.joint(name).dofadr[0]) for name in joints]
    fields["jnt_stiffness"][rows] *= ratio
    fields["dof_damping"][speeds] *= np.sqrt(abs(ratio))


def write_slip(fields: Fields, model: mujoco.MjModel, slip_n: float, slip_nm: float) -> None:
    """Axial force and torque about the closing axis beyond which the peg slips in the fingers."""
    for name, limit in ((peghole.SLIP_SLIDE, slip_n), (peghole.SLIP_TURN, slip_nm)):
        fields["dof_frictionloss"][int(model.joint(name).dofadr[0])] = limit
