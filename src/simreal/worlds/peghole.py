"""A peg in the gripper's fingers and the hole it goes into: geometry, compliance, slip, contact.

The hole's frame: origin in the middle of the mouth, z out of the hole, so the bottom is at
-depth. The peg's frame: origin in the middle of its tip, z along its axis towards the hand. Both
are parallel to the base frame when nominal. Peg and hole stand on springs: the grasp's rubber, in
series with Coulomb slip, and the fixture's. Everything that varies from world to world is an array
of the compiled model; `pegfields` says which rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import mujoco
import numpy as np

from simreal.core.errors import UsageError, unknown
from simreal.worlds.gripper import FINGERS, GRIP_LENGTH_M, GRIP_M, GRIPPER, STICK_OUT_M, TIP_M
from simreal.worlds.mouth import BLOCK_M, FLOOR_M, SHAPES, Contact, Mouth, Shape
from simreal.worlds.names import OBJECT

HOLE = "hole"
SLIP, GRASP = "slip", "grasp"
#: Joints of the peg in the hand: Coulomb slip, then rubber (m, rad; zero where it was grasped).
SLIP_SLIDE, SLIP_TURN = "slip_z", "slip_ry"
GIVE = ("give_x", "give_y", "give_z", "give_rx", "give_ry", "give_rz")
#: Joints of the fixture that carries the hole.
FIXTURE = ("fixture_x", "fixture_y", "fixture_rx", "fixture_ry")
#: Contact sensors, [found, force (3) N in the base frame]: the peg against the hole and its block,
#: the fingers against the block.
PEG_CONTACT, FINGER_CONTACT = "peg_hole", "fingers_hole"

#: Radial thickness of the boxes around the mouth beyond the chamfer, m.
_RING_M = 0.003
#: Length of the peg inside the fingers and outside, m.
_LENGTH_M = STICK_OUT_M + GRIP_LENGTH_M

_COLOURS = {
    OBJECT: (0.75, 0.76, 0.78, 1.0),
    HOLE: (0.30, 0.33, 0.40, 1.0),
    "hole_mouth": (0.03, 0.03, 0.03, 1.0),
}


@dataclass(frozen=True)
class Grasp:
    """Rubber pads around the peg, and when it slips.

    stiffness: give along x, y, z (N/m) and about them (Nm/rad), the same for each three (assumed).
    inertia: what moves with the peg besides itself (kg, kg m^2; assumed). damping_ratio: of these
    springs against the inertia of what they carry (assumed). slip_n, slip_nm: axial force and
    torque about the closing axis beyond which the peg slips: 45 N of grip at a friction of 0.5 on
    two pads; the same grip over the 20 mm of a groove along the peg.
    """

    stiffness: tuple[float, float] = (8000.0, 20.0)
    inertia: tuple[float, float] = (0.05, 1.2e-4)
    damping_ratio: float = 0.5
    slip_n: float = 45.0
    slip_nm: float = 0.9


@dataclass(frozen=True)
class Fixture:
    """What the hole's block stands on: sideways stiffness (N/m) and about x and y (Nm/rad).

    All numbers are assumed.
    """

    stiffness: tuple[float, float] = (100_000.0, 1000.0)
    damping_ratio: float = 0.3
    mass_kg: float = 1.0


@dataclass(frozen=True)
class PegHole:
    """A peg of `width_m` (diameter, or edge) and a hole wider by the diametral `clearance_m`.

    chamfer_m: width of a chamfer of 45 degrees at the mouth. hole_m: where the hole's frame stands
    in the base frame when nominal.
    """

    shape: Shape = "round"
    width_m: float = 0.008
    clearance_m: float = 0.0002
    depth_m: float = 0.020
    chamfer_m: float = 0.0
    hole_m: tuple[float, float, float] = (0.45, 0.0, 0.03)
    peg_kg: float = 0.05
    contact: Contact = field(default_factory=Contact)
    grasp: Grasp = field(default_factory=Grasp)
    fixture: Fixture = field(default_factory=Fixture)

    def __post_init__(self) -> None:
        """Refuse what cannot be simulated."""
        if self.shape not in SHAPES:
            raise unknown("shape of a peg", self.shape, SHAPES)
        check_clearance(self.clearance_m, self.width_m, self.contact.resolves_m)
        if not 0.0 <= self.chamfer_m <= 0.002:
            raise UsageError(
                f"A chamfer of {1e3 * self.chamfer_m:g} mm is outside what the hole's geometry "
                "holds; choose 0 to 2 mm."
            )
        if not 0.002 <= self.depth_m <= STICK_OUT_M - 0.010:
            raise UsageError(
                f"A hole {1e3 * self.depth_m:g} mm deep does not fit a peg that sticks out "
                f"{1e3 * STICK_OUT_M:g} mm; choose 2 to {1e3 * STICK_OUT_M - 10:g} mm."
            )

    @property
    def mouth(self) -> Mouth:
        """The hole's geometry."""
        return Mouth(
            planes=self.contact.planes if self.shape == "round" else 4,
            bore_m=self.width_m + self.clearance_m,
            depth_m=self.depth_m,
            chamfer_m=self.chamfer_m,
            ring_m=_RING_M + 2 * self.chamfer_m,
        )


def check_clearance(clearance_m: float, width_m: float, resolves_m: float) -> None:
    """Raise UsageError for a diametral clearance that cannot be simulated."""
    if not clearance_m > 0:
        raise UsageError(
            f"The peg ({1e3 * width_m:g} mm) is not smaller than the hole "
            f"({1e3 * (width_m + clearance_m):g} mm); make the hole wider or the peg thinner by "
            f"{1e3 * (resolves_m - clearance_m):.3g} mm or more."
        )
    if clearance_m < resolves_m * (1 - 1e-9):
        raise UsageError(
            f"A clearance of {1e3 * clearance_m:g} mm is under what the contact solver resolves; "
            f"choose {1e3 * resolves_m:g} mm or more."
        )
    if clearance_m > 0.5 * width_m:
        raise UsageError(
            f"A clearance of {1e3 * clearance_m:g} mm is more than half of the peg's width "
            f"({1e3 * width_m:g} mm); give it in metres and choose less."
        )


def add_to(spec: mujoco.MjSpec, peg: PegHole) -> None:
    """Add the peg in the gripper, the hole on its fixture, and their contact sensors."""
    spec.option.timestep = peg.contact.timestep_s
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_NATIVECCD
    spec.option.ccd_tolerance, spec.option.ccd_iterations = 1e-10, 200
    for name, rgba in _COLOURS.items():
        if spec.material(name) is None:
            spec.add_material(name=name, rgba=rgba)
    _add_peg(spec, peg)
    _add_hole(spec, peg)
    _add_sensors(spec)


def _touching(geom: Any, contact: Contact) -> None:
    geom.condim = 3
    geom.friction = [contact.friction, 0.005, 0.0001]
    geom.solref = [contact.stiffness_s, contact.damping_ratio]
    geom.solimp = [*contact.impedance, contact.width_m, 0.5, contact.power]


def _add_peg(spec: mujoco.MjSpec, peg: PegHole) -> None:
    """Bodies `slip` and `grasp` at the middle of the pads, and the peg fixed to the second."""
    grasp = peg.grasp
    slip = spec.body(GRIPPER).add_body(name=SLIP, pos=[0, 0, GRIP_M - TIP_M])
    body = slip.add_body(name=GRASP)
    for part in (slip, body):
        part.explicitinertial = True
        part.mass, part.ipos, part.inertia = 0.005, [0, 0, 0], [1e-6] * 3
    _joint(slip, SLIP_SLIDE, [0, 0, 1], slip=grasp.slip_n, armature=0.5)
    _joint(slip, SLIP_TURN, [0, 1, 0], turn=True, slip=grasp.slip_nm, armature=2e-3)
    turning = peg.peg_kg * (GRIP_M**2 / 4 + _LENGTH_M**2 / 12)
    carried = (grasp.inertia[0] + peg.peg_kg, grasp.inertia[1] + turning)
    for i, name in enumerate(GIVE):
        k, armature = grasp.stiffness[i // 3], grasp.inertia[i // 3]
        damping = 2 * grasp.damping_ratio * np.sqrt(k * carried[i // 3])
        axis = list(np.eye(3)[i % 3])
        _joint(body, name, axis, turn=i > 2, k=k, damping=damping, armature=armature)
    held = body.add_body(name=OBJECT, pos=[0, 0, -GRIP_M])
    held.explicitinertial = True
    held.mass, held.ipos = peg.peg_kg, [0, 0, _LENGTH_M / 2]
    side = peg.peg_kg * (_LENGTH_M**2 / 12 + peg.width_m**2 / 16)
    held.inertia = [side, side, peg.peg_kg * peg.width_m**2 / 8]
    half = peg.width_m / 2
    round_ = peg.shape == "round"
    geom = held.add_geom(
        name=OBJECT,
        type=mujoco.mjtGeom.mjGEOM_CYLINDER if round_ else mujoco.mjtGeom.mjGEOM_BOX,
        pos=[0, 0, _LENGTH_M / 2],
        size=[half, _LENGTH_M / 2, 0] if round_ else [half, half, _LENGTH_M / 2],
        material=OBJECT,
        group=1,
        contype=5,
        conaffinity=0,
    )
    _touching(geom, peg.contact)


def _joint(
    body: mujoco.MjsBody,
    name: str,
    axis: list[float],
    *,
    armature: float,
    turn: bool = False,
    k: float = 0.0,
    damping: float = 0.0,
    slip: float = 0.0,
) -> None:
    joint = body.add_joint(
        name=name,
        type=mujoco.mjtJoint.mjJNT_HINGE if turn else mujoco.mjtJoint.mjJNT_SLIDE,
        axis=axis,
    )
    joint.stiffness, joint.damping = [k, 0, 0], [damping, 0, 0]
    joint.armature, joint.frictionloss = armature, slip
    if slip:
        joint.solref_friction, joint.solimp_friction = [0.004, 1.0], [0.9999, 0.9999, 1e-3, 0.5, 2]


def _add_hole(spec: mujoco.MjSpec, peg: PegHole) -> None:
    """The block: boxes that touch (group 3, not drawn), and a plain block with a dark mouth."""
    body = spec.worldbody.add_body(name=HOLE, pos=list(peg.hole_m))
    body.explicitinertial = True
    mass = peg.fixture.mass_kg
    body.mass, body.ipos, body.inertia = mass, [0, 0, 0], [mass * 1e-3] * 3
    inertia = (mass, mass * 1e-3)
    for i, name in enumerate(FIXTURE):
        k = peg.fixture.stiffness[i // 2]
        damping = 2 * peg.fixture.damping_ratio * np.sqrt(k * inertia[i // 2])
        _joint(body, name, list(np.eye(3)[i % 2]), turn=i > 1, k=k, damping=damping, armature=0.0)
    for box in peg.mouth.boxes():
        geom = body.add_geom(
            name=box.name,
            type=mujoco.mjtGeom.mjGEOM_BOX,
            pos=box.centre,
            size=box.half,
            quat=box.quat,
            group=3,
            contype=0,
            conaffinity=12 if box.fingers else 4,
            mass=0,
        )
        _touching(geom, peg.contact)
    _add_hole_looks(body, peg)


def _add_hole_looks(body: mujoco.MjsBody, peg: PegHole) -> None:
    thick = peg.depth_m + FLOOR_M
    looks: dict[str, Any] = {"group": 1, "contype": 0, "conaffinity": 0, "mass": 0}
    body.add_geom(
        name="hole_block",
        type=mujoco.mjtGeom.mjGEOM_BOX,
        pos=[0, 0, -thick / 2 - 1e-4],
        size=[BLOCK_M, BLOCK_M, thick / 2],
        material=HOLE,
        **looks,
    )
    half = peg.mouth.lip_m
    round_ = peg.shape == "round"
    body.add_geom(
        name="hole_mouth",
        type=mujoco.mjtGeom.mjGEOM_CYLINDER if round_ else mujoco.mjtGeom.mjGEOM_BOX,
        pos=[0, 0, -1e-4],
        size=[half, 1e-4, 0] if round_ else [half, half, 1e-4],
        material="hole_mouth",
        **looks,
    )


def _add_sensors(spec: mujoco.MjSpec) -> None:
    kinds = mujoco.mjtConDataField
    fields = sum(1 << int(k) for k in (kinds.mjCONDATA_FOUND, kinds.mjCONDATA_FORCE))
    netforce = 3
    body, geom = mujoco.mjtObj.mjOBJ_BODY, mujoco.mjtObj.mjOBJ_GEOM
    for name, touching in ((PEG_CONTACT, OBJECT), (FINGER_CONTACT, FINGERS)):
        spec.add_sensor(
            name=name,
            type=mujoco.mjtSensor.mjSENS_CONTACT,
            objtype=geom,
            objname=touching,
            reftype=body,
            refname=HOLE,
            intprm=[fields, netforce, 1],
        )
