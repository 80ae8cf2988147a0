"""One world of arm, peg and hole without a task around it, for tests and benchmarks of its physics.

Forces are on the peg, positions of its tip in the hole's frame, SI units.
"""

from __future__ import annotations

import mujoco
import numpy as np
import numpy.typing as npt

from simreal.worlds import pegfields, ur5e
from simreal.worlds.forms import add_robot_looks
from simreal.worlds.gripper import GRIPPER, TIP_M
from simreal.worlds.names import OBJECT
from simreal.worlds.peghole import FINGER_CONTACT, HOLE, PegHole, add_to

Array = npt.NDArray[np.float64]
CONTROL_S = 0.05


def arm_spec(peg: PegHole) -> mujoco.MjSpec:
    """The physics of the UR5e with a peg and its hole."""
    spec = ur5e.arm_spec()
    add_robot_looks(spec, "physics")
    add_to(spec, peg)
    return spec


def arm_model(peg: PegHole) -> mujoco.MjModel:
    """`arm_spec`, compiled."""
    return arm_spec(peg).compile()


class World:
    """An arm with a peg above its hole."""

    def __init__(
        self, peg: PegHole, model: mujoco.MjModel | None = None, *, joint_friction: bool = True
    ) -> None:
        self.peg = peg
        self.model = model or arm_model(peg)
        if not joint_friction:
            _, speeds = ur5e.joint_rows(self.model)
            self.model.dof_frictionloss[speeds] = 0.0
        self.data = mujoco.MjData(self.model)
        self.substeps = round(CONTROL_S / self.model.opt.timestep)

    def start(self, pose: npt.ArrayLike, grasp: tuple[Array, tuple[float, float]] | None = None):
        """At rest with the tool's tip at `pose` (6,), m and rad in the hole's nominal frame."""
        if grasp is not None:
            pegfields.write_grasp(
                pegfields.of(self.model, pegfields.POSE_FIELDS), self.model, *grasp
            )
        mujoco.mj_resetData(self.model, self.data)
        joints = ur5e.start_joints(self.model, self.data, self.in_base(pose))
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[ur5e.joint_rows(self.model)[0]] = joints
        mujoco.mj_forward(self.model, self.data)
        self.data.ctrl[:] = self.data.act[:] = ur5e.tool_pose(self.model, self.data)

    def in_base(self, pose: npt.ArrayLike) -> Array:
        """A pose given in the hole's nominal frame, as channels."""
        return np.asarray(pose, dtype=float) + np.array([*self.peg.hole_m, 0.0, 0.0, 0.0])

    def command(self, pose: npt.ArrayLike, steps: int = 1) -> None:
        """Hold a target pose (hole's nominal frame) for some control periods."""
        self.data.ctrl[:] = self.in_base(pose)
        mujoco.mj_step(self.model, self.data, steps * self.substeps)

    def tool(self) -> Array:
        """The tool's pose (6,) in the hole's nominal frame."""
        return ur5e.tool_pose(self.model, self.data) - self.in_base(np.zeros(6))

    def push(self, body: str, force: npt.ArrayLike, at: Array, torque=(0.0, 0.0, 0.0)) -> None:
        """A force and torque on a body from now on, at a point of the base frame."""
        push(self.model, self.data, body, force, at, torque)

    def tip(self) -> Array:
        """Middle of the peg's tip in the hole's frame."""
        return tip(self.data)

    def overlap_m(self) -> float:
        """How deep the peg's surface is in the ideal hole's block (negative: a gap)."""
        return overlap_m(self.data, self.peg)

    def contact_n(self) -> Array:
        """(3,) force of the hole on the peg, base frame."""
        return -np.array(self.data.sensor("peg_hole").data[1:4])

    def warnings(self) -> int:
        """How many warnings MuJoCo raised since the start."""
        return sum(int(w.number) for w in self.data.warning)


def push(model, data, body, force, at, torque=(0.0, 0.0, 0.0)) -> None:
    """See `World.push`."""
    row = model.body(body).id
    force = np.asarray(force, dtype=float)
    data.xfrc_applied[row, :3] = force
    data.xfrc_applied[row, 3:] = np.cross(at - data.xipos[row], force) + torque


def tip(data: mujoco.MjData) -> Array:
    """Middle of the peg's tip in the hole's frame."""
    hole = data.body(HOLE)
    return hole.xmat.reshape(3, 3).T @ (data.body(OBJECT).xpos - hole.xpos)


def tilt(data: mujoco.MjData) -> float:
    """Angle between the axes of peg and hole, rad."""
    axes = [data.body(name).xmat.reshape(3, 3)[:, 2] for name in (HOLE, OBJECT)]
    return float(np.arctan2(np.linalg.norm(np.cross(*axes)), axes[0] @ axes[1]))


def overlap_m(data: mujoco.MjData, peg: PegHole) -> float:
    """Depth of the peg's surface in the ideal block around the hole, from poses alone, m.

    Ideal: a round hole is a cylinder, not the planes that the simulation has in its place.
    """
    hole, held = data.body(HOLE), data.body(OBJECT)
    half = peg.width_m / 2
    along = np.linspace(0.0, 2 * peg.depth_m, 81)
    around = np.linspace(0, 2 * np.pi, 180, endpoint=False)
    rim = half * np.stack([np.cos(around), np.sin(around)], axis=1)
    if peg.shape == "square":
        rim /= np.abs(rim).max(1, keepdims=True) / half
    points = np.concatenate([np.column_stack([rim, np.full(len(rim), z)]) for z in along])
    seen = points @ held.xmat.reshape(3, 3).T + held.xpos - hole.xpos
    seen = seen @ hole.xmat.reshape(3, 3)
    seen = seen[(seen[:, 2] < 0) & (seen[:, 2] > -peg.depth_m)]
    if not len(seen):
        return -np.inf
    away = np.hypot(*seen[:, :2].T) if peg.shape == "round" else np.abs(seen[:, :2]).max(1)
    return float(np.minimum(away - (peg.width_m + peg.clearance_m) / 2, -seen[:, 2]).max())


def push_aside(world: World, direction_deg: float, force: float = 20.0) -> float:
    """Overlap (m) of peg and ideal hole at rest, 12 mm deep, under a side force at the tip."""
    world.start([0, 0, -0.012, 0, 0, 0])
    angle = np.deg2rad(direction_deg)
    side = force * np.array([np.cos(angle), np.sin(angle), 0.0])
    for _ in range(25 * world.substeps):
        world.push(OBJECT, side, np.array(world.data.body(OBJECT).xpos))
        mujoco.mj_step(world.model, world.data)
    return world.overlap_m()


def sink(world: World, offset_m: float, angle: float, to_m: float, speed: float = 0.005) -> Array:
    """Insert slowly with a commanded offset and tilt; rows of [depth, axial force, angle].

    The peg starts straight, 1 mm deep, and is brought to its error within the hole.
    """
    begin = 0.001
    world.start([0, 0, -begin, 0, 0, 0])
    for share in np.clip(np.arange(1, 41) / 20, 0, 1):
        world.command([offset_m * share, 0, -begin, 0, angle * share, 0])
    rows = []
    for k in range(round((to_m - begin) / (speed * CONTROL_S)) + 40):
        world.command([offset_m, 0, -begin - speed * CONTROL_S * k, 0, angle, 0])
        turn = world.data.body(OBJECT).xmat.reshape(3, 3)
        rows.append([-world.tip()[2], world.contact_n()[2], np.arctan2(turn[0, 2], turn[2, 2])])
        if rows[-1][0] > to_m:
            break
    return np.array(rows)


class Loose:
    """The peg alone on frictionless, slowly moving rails (x, z, about y), pushed by a wrench.

    It weighs half a kilogram: what is lighter does not come to rest under a jamming moment at this
    time step (in the hand the grasp's springs see to that).
    """

    def __init__(self, peg: PegHole) -> None:
        spec = mujoco.MjSpec()
        spec.option.gravity = [0, 0, 0]
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
        spec.option.impratio = 10.0
        spec.compiler.degree = False
        body = spec.worldbody.add_body(name=GRIPPER, pos=np.add(peg.hole_m, [0, 0, TIP_M]))
        body.explicitinertial = True
        body.mass, body.ipos, body.inertia = 0.5, [0, 0, -TIP_M], [5e-4] * 3
        for name, kind, axis in (
            ("x", mujoco.mjtJoint.mjJNT_SLIDE, [1, 0, 0]),
            ("z", mujoco.mjtJoint.mjJNT_SLIDE, [0, 0, 1]),
            ("ry", mujoco.mjtJoint.mjJNT_HINGE, [0, 1, 0]),
        ):
            joint = body.add_joint(name=name, type=kind, axis=axis, pos=[0, 0, -TIP_M])
            joint.damping = [1.0 if name == "ry" else 500.0, 0, 0]
        add_to(spec, peg)
        for joint in spec.joints:
            if joint.name not in ("x", "z", "ry"):
                spec.delete(joint)
        spec.delete(spec.sensor(FINGER_CONTACT))
        self.peg, self.model = peg, spec.compile()
        self.data = mujoco.MjData(self.model)

    def place(self, x: float, depth: float, angle: float) -> None:
        """At rest with the tip at x, -depth and the axis turned by `angle` about y."""
        mujoco.mj_resetData(self.model, self.data)
        for name, value in (("x", x), ("z", -depth), ("ry", angle)):
            self.data.joint(name).qpos[0] = value
        mujoco.mj_forward(self.model, self.data)

    def lean(self, side: float, moment: float, depth: float) -> None:
        """Touching as a wrench of that sign will hold it: two points, or flat on one side if the
        side force is more than friction makes of the push.
        """
        room = self.peg.clearance_m
        if abs(side) * self.peg.contact.friction > 1:
            self.place(np.sign(side) * room / 2, depth, 0.0)
        else:
            way = np.sign(moment) or 1.0
            self.place(-way * room / 2, depth, way * room / depth)

    def press(self, fx: float, fz: float, moment: float, seconds: float) -> None:
        """Push with fx along x, fz down, and a moment about y at the tip."""
        for _ in range(round(seconds / self.model.opt.timestep)):
            at = np.array(self.data.body(OBJECT).xpos)
            push(self.model, self.data, OBJECT, [fx, 0, -fz], at, [0, moment, 0])
            mujoco.mj_step(self.model, self.data)

    def depth(self) -> float:
        """How far the tip is below the mouth, m."""
        return -float(tip(self.data)[2])

    def normal_n(self) -> float:
        """Sum of the normal forces of all contacts."""
        return float(sum(self.data.efc_force[c.efc_address] for c in self.data.contact))
