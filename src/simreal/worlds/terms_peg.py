"""Randomization terms of an insertion: contact, grasp, fixture, impedance, force sensing, looks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from simreal.worlds import pegfields, peghole
from simreal.worlds.gripper import GRIPPER
from simreal.worlds.names import OBJECT
from simreal.worlds.settings import Settings
from simreal.worlds.terms import Term, arm_field, whole_field
from simreal.worlds.terms_visual import colour, visual_terms
from simreal.worlds.variation import Numbers, Operation

#: What a torque reading's noise is to that of a force, m: the precision of a UR5e's sensor is
#: 3.5 N and 0.2 Nm (data sheet), 0.057 m.
TORQUE_ARM_M = 0.057
#: Materials that are not the robot's.
_SCENE = ("table", "background", "goal", OBJECT, peghole.HOLE, "hole_mouth")


def fields(settings: Settings, space: str, names: tuple[str, ...]) -> Mapping[str, Any]:
    """Arrays to write into, as `pegfields` takes them."""
    return {name: settings.edit(f"{space}.{name}") for name in names}


def _physics(
    name: str,
    size: int,
    unit: str,
    names: tuple[str, ...],
    write: Callable[[Settings, Mapping[str, Any], Operation, Numbers], None],
) -> Term:
    def apply(settings: Settings, op: Operation, values: Numbers) -> None:
        write(settings, fields(settings, "physics", names), op, values)

    return Term(name, size, unit, tuple(f"physics.{n}" for n in names), apply)


def _friction(settings: Settings, into: Mapping[str, Any], op: Operation, values: Numbers) -> None:
    model = settings.scene.physics
    row = pegfields.contact_geoms(model)[0]
    pegfields.write_friction(into, model, float(op(into["geom_friction"][row, 0], values[0])))


def _springs(
    scale: Callable[[Mapping[str, Any], Any, float], None],
) -> Callable[[Settings, Mapping[str, Any], Operation, Numbers], None]:
    def write(settings: Settings, into: Mapping[str, Any], op: Operation, values: Numbers) -> None:
        scale(into, settings.scene.physics, float(op(1.0, values[0])))

    return write


def _grip(settings: Settings, into: Mapping[str, Any], op: Operation, values: Numbers) -> None:
    """Force and torque at which the peg slips, by one factor."""
    loss, model = into["dof_frictionloss"], settings.scene.physics
    rows = [int(model.joint(j).dofadr[0]) for j in (peghole.SLIP_SLIDE, peghole.SLIP_TURN)]
    slip_n, slip_nm = (float(op(loss[row], values[0])) for row in rows)
    pegfields.write_slip(into, model, slip_n, slip_nm)


def _stiffness(settings: Settings, into: Mapping[str, Any], op: Operation, values: Numbers) -> None:
    """Translation and rotation; gain and bias together, and the force clip with them."""
    gain, bias, limit = (into[f"actuator_{n}"] for n in ("gainprm", "biasprm", "forcerange"))
    for row in range(6):
        new = op(gain[row, 0], values[row // 3])
        limit[row] *= new / gain[row, 0]
        gain[row, 0] = new
        bias[row, 1] = -new


def _damping(settings: Settings, into: Mapping[str, Any], op: Operation, values: Numbers) -> None:
    bias = into["actuator_biasprm"]
    for row in range(6):
        bias[row, 2] = op(bias[row, 2], values[row // 3])


def _smoothing(settings: Settings, into: Mapping[str, Any], op: Operation, values: Numbers) -> None:
    dynamics = into["actuator_dynprm"]
    dynamics[:6, 0] = op(dynamics[:6, 0], values[0])


def _wrench_noise(settings: Settings, op: Operation, values: Numbers) -> None:
    """Noise of each sample: of force, N; that of torque follows (`TORQUE_ARM_M`)."""
    noise = settings.edit("control.wrench_noise")
    force = float(op(noise[0], values[0]))
    noise[:] = (force, TORQUE_ARM_M * force)


def _scaled_six(name: str, field: str, unit: str) -> Term:
    """Six values in units of force; those of torque are shortened by `TORQUE_ARM_M`."""

    def apply(settings: Settings, op: Operation, values: Numbers) -> None:
        array: npt.NDArray[Any] = settings.edit(field)
        array[...] = op(array, values * np.repeat([1.0, TORQUE_ARM_M], 3))

    return Term(name, 6, unit, (field,), apply)


def _robot_colour(settings: Settings, op: Operation, values: Numbers) -> None:
    """Colour of the arm and, with the second triple, of the gripper."""
    rgba, look = settings.edit("look.mat_rgba"), settings.scene.look
    for row in range(look.nmat):
        name = look.material(row).name
        triple = values[3:] if name.startswith(GRIPPER) else values[:3]
        if name not in _SCENE and not name.startswith("clutter_"):
            rgba[row, :3] = np.clip(op(rgba[row, :3], triple), 0, 1)


_GAINS = ("actuator_gainprm", "actuator_biasprm", "actuator_forcerange")

DYNAMICS_PEG: tuple[Term, ...] = (
    _physics("hole_friction", 1, "-", pegfields.FRICTION_FIELDS, _friction),
    whole_field("clearance", "control.clearance_m", 1, "m (diametral, added)"),
    whole_field("chamfer", "control.chamfer_m", 1, "m"),
    whole_field("hole_position", "control.hole_offset_m", 3, "m"),
    whole_field("hole_tilt", "control.hole_tilt_rad", 2, "rad"),
    _physics("grasp_stiffness", 1, "x", pegfields.SPRING_FIELDS, _springs(pegfields.scale_grasp)),
    _physics(
        "fixture_stiffness", 1, "x", pegfields.SPRING_FIELDS, _springs(pegfields.scale_fixture)
    ),
    _physics("grip", 1, "N and Nm", pegfields.SLIP_FIELDS, _grip),
    _physics("impedance_stiffness", 2, "N/m and Nm/rad", _GAINS, _stiffness),
    _physics("impedance_damping", 2, "Ns/m and Nms/rad", ("actuator_biasprm",), _damping),
    _physics("target_smoothing", 1, "s", ("actuator_dynprm",), _smoothing),
    arm_field("joint_friction", "physics.dof_frictionloss", "Nm", 6),
    whole_field("tool_offset", "control.joint_offset_deg", 6, "mm and deg"),
    whole_field("action_latency", "control.action_latency_s", 1, "s"),
    whole_field("observation_delay", "control.observation_delay_steps", 1, "control steps"),
    whole_field("encoder_noise", "control.encoder_noise_deg", 1, "mm and deg"),
    Term("wrench_noise", 1, "N", ("control.wrench_noise",), _wrench_noise),
    _scaled_six("wrench_bias", "control.wrench_bias", "N"),
    _scaled_six("wrench_drift", "control.wrench_drift", "N/s"),
    whole_field("wrench_cutoff", "control.wrench_cutoff_hz", 1, "Hz"),
)

VISUAL_PEG: tuple[Term, ...] = (*visual_terms(_robot_colour), colour("hole_colour", "hole"))
