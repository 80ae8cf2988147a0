"""Randomization terms of dynamics, sensing and actuation.

A term declares the fields it writes, derived ones included; `tests/worlds/test_terms.py` proves
that it writes no other. `apply(settings, operation, values)` starts from the nominal value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import mujoco
import numpy as np

from simreal.worlds import so101
from simreal.worlds.names import OBJECT, TABLE, TABLE_PLANE
from simreal.worlds.settings import Settings
from simreal.worlds.task import cube_inertia
from simreal.worlds.variation import Numbers, Operation

Apply = Callable[[Settings, Operation, Numbers], None]


@dataclass(frozen=True)
class Term:
    """One thing that can be randomized.

    size: how many numbers it takes. unit: of the value after the operation. writes: the fields.
    """

    name: str
    size: int
    unit: str
    writes: tuple[str, ...]
    apply: Apply


def _field(
    name: str, field: str, unit: str, rows: Callable[[Settings], list[int]], size: int = 1
) -> Term:
    """A term that changes column 0 (or the only column) of some rows of one field.

    With size 1 all rows share one value; otherwise there is one value a row.
    """

    def apply(settings: Settings, op: Operation, values: Numbers) -> None:
        array = settings.edit(field)
        target = array if array.ndim == 1 else array[:, 0]
        index = rows(settings)
        target[index] = op(target[index], values)

    return Term(name, size, unit, (field,), apply)


def _object_geom(settings: Settings) -> list[int]:
    return [settings.geom("physics", OBJECT)]


def _pads(settings: Settings) -> list[int]:
    return [settings.geom("physics", n) for n in (so101.FIXED_PAD, so101.MOVING_PAD)]


def _plane(settings: Settings) -> list[int]:
    return [settings.geom("physics", TABLE_PLANE)]


def _object_body(settings: Settings) -> int:
    return int(settings.scene.physics.body(OBJECT).id)


def _object_size(settings: Settings, op: Operation, values: Numbers) -> None:
    """Edge lengths; the inertia tensor follows at equal mass."""
    physics = settings.geom("physics", OBJECT)
    before = settings.nominal("physics.geom_size")[physics]
    after = op(before, values[0])
    settings.edit("physics.geom_size")[physics] = after
    settings.edit("look.geom_size")[settings.geom("look", OBJECT)] = after
    settings.edit("physics.geom_rbound")[physics] = np.linalg.norm(after)
    settings.edit("physics.geom_aabb")[physics, 3:] = after
    ratio = cube_inertia(1.0, after) / cube_inertia(1.0, before)
    settings.edit("physics.body_inertia")[_object_body(settings)] *= ratio


def _object_mass(settings: Settings, op: Operation, values: Numbers) -> None:
    body, mass = _object_body(settings), settings.edit("physics.body_mass")
    ratio = float(op(mass[body], values[0]) / mass[body])
    mass[body] *= ratio
    settings.edit("physics.body_inertia")[body] *= ratio


def _object_inertia(settings: Settings, op: Operation, values: Numbers) -> None:
    body, inertia = _object_body(settings), settings.edit("physics.body_inertia")
    inertia[body] = op(inertia[body], values[0])


def _table_height(settings: Settings, op: Operation, values: Numbers) -> None:
    table = int(settings.scene.physics.body(TABLE).id)
    position = settings.edit("physics.body_pos")
    position[table, 2] = op(position[table, 2], values[0])


def _table_tilt(settings: Settings, op: Operation, values: Numbers) -> None:
    """Rotation about the world's x and y axes, degrees."""
    table = int(settings.scene.physics.body(TABLE).id)
    vector = np.array([*np.radians(op(np.zeros(2), values)), 0.0])
    angle = float(np.linalg.norm(vector))
    axis = vector / angle if angle > 0 else np.array([0.0, 0.0, 1.0])
    quat = np.zeros(4)
    mujoco.mju_axisAngle2Quat(quat, axis, angle)
    settings.edit("physics.body_quat")[table] = quat


def _actuator_gain(settings: Settings, op: Operation, values: Numbers) -> None:
    """Gain and bias together: scaling one alone would move the set point."""
    for joint, value in enumerate(values):
        gain = settings.edit("physics.actuator_gainprm")
        new = op(gain[joint, 0], value)
        gain[joint, 0] = new
        settings.edit("physics.actuator_biasprm")[joint, 1] = -new


def whole_field(name: str, field: str, size: int, unit: str) -> Term:
    """A term whose values act on a whole field at once (sensing, actuation, camera values)."""

    def apply(settings: Settings, op: Operation, values: Numbers) -> None:
        array = settings.edit(field)
        array[...] = op(array, values)

    return Term(name, size, unit, (field,), apply)


def arm_field(name: str, field: str, unit: str, size: int) -> Term:
    """A term of one value for each joint of the robot, a row of `field` for each."""
    return _field(name, field, unit, lambda settings: settings.arm_dofs, size)


DYNAMICS: tuple[Term, ...] = (
    Term(
        "object_size",
        1,
        "m (half edge)",
        (
            "physics.geom_size",
            "physics.geom_rbound",
            "physics.geom_aabb",
            "physics.body_inertia",
            "look.geom_size",
        ),
        _object_size,
    ),
    Term("object_mass", 1, "kg", ("physics.body_mass", "physics.body_inertia"), _object_mass),
    Term("object_inertia", 1, "kg m^2", ("physics.body_inertia",), _object_inertia),
    _field("object_friction", "physics.geom_friction", "-", _object_geom),
    _field("gripper_friction", "physics.geom_friction", "-", _pads),
    _field("table_friction", "physics.geom_friction", "-", _plane),
    whole_field("object_position", "control.object_offset_m", 2, "m"),
    whole_field("object_yaw", "control.object_yaw_rad", 1, "rad"),
    Term("table_height", 1, "m", ("physics.body_pos",), _table_height),
    Term("table_tilt", 2, "deg", ("physics.body_quat",), _table_tilt),
    Term(
        "actuator_gain",
        6,
        "Nm/rad",
        ("physics.actuator_gainprm", "physics.actuator_biasprm"),
        _actuator_gain,
    ),
    arm_field("joint_damping", "physics.dof_damping", "Nm s/rad", 6),
    arm_field("joint_friction", "physics.dof_frictionloss", "Nm", 6),
    whole_field("joint_offset", "control.joint_offset_deg", 6, "deg"),
    whole_field("action_latency", "control.action_latency_s", 1, "s"),
    whole_field("observation_delay", "control.observation_delay_steps", 1, "control steps"),
    whole_field("encoder_noise", "control.encoder_noise_deg", 1, "deg"),
)
