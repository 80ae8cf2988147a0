"""The scene a task plays in: table, room, lights, cameras, clutter, and the robot.

One MjSpec is compiled twice: `physics` (no visual geoms) and a look (`primitive` or `mesh`). Both
have the same bodies, joints, actuators, cameras and collision geoms in the same order, so body
poses computed by one place the geoms of the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import mujoco
import numpy as np

from simreal.core.types import Form
from simreal.worlds.names import OBJECT, TABLE, TABLE_PLANE
from simreal.worlds.robot import Robot, View
from simreal.worlds.task import Task
from simreal.worlds.textures import Texture, add_to

LIGHTS = 3
#: Distractors a scene holds; a scenario shows some of them and places them.
CLUTTER = 6
#: Their shapes in training, and in twins, whose clutter no policy has seen.
TRAINING_SHAPES = ("box", "sphere", "cylinder", "box", "sphere", "cylinder")
UNSEEN_SHAPES = ("capsule", "ellipsoid", "capsule", "ellipsoid", "capsule", "ellipsoid")
#: Where hidden clutter waits, m (below the floor, outside every view).
HIDDEN = (0.0, 0.0, -3.0)

_SHAPES = {
    "box": mujoco.mjtGeom.mjGEOM_BOX,
    "sphere": mujoco.mjtGeom.mjGEOM_SPHERE,
    "cylinder": mujoco.mjtGeom.mjGEOM_CYLINDER,
    "capsule": mujoco.mjtGeom.mjGEOM_CAPSULE,
    "ellipsoid": mujoco.mjtGeom.mjGEOM_ELLIPSOID,
}


@dataclass(frozen=True)
class Scene:
    """The two compiled models of a task. `textures` are in the order of their ids."""

    physics: mujoco.MjModel
    look: mujoco.MjModel
    form: Form
    textures: tuple[Texture, ...]
    robot: Robot


def build(
    task: Task[Any],
    form: Form,
    textures: Sequence[Texture] = (),
    shapes: Sequence[str] = TRAINING_SHAPES,
) -> Scene:
    """Compile a task's scene.

    textures: those that randomization chooses from. shapes: of the `CLUTTER` distractors.
    """
    physics = _spec(task, "physics", (), ())
    look = _spec(task, form, textures, shapes)
    scene = Scene(physics.compile(), look.compile(), form, tuple(textures), task.robot)
    _check_same_bodies(scene)
    return scene


def _check_same_bodies(scene: Scene) -> None:
    def names(model: mujoco.MjModel) -> list[str]:
        return [model.body(i).name for i in range(model.nbody)]

    if names(scene.physics) != names(scene.look):
        raise ValueError("The physics and look models differ in their bodies.")


def _spec(
    task: Task[Any],
    form: Literal["physics", "primitive", "mesh"],
    textures: Sequence[Texture],
    shapes: Sequence[str],
) -> mujoco.MjSpec:
    spec = task.robot.spec()
    task.robot.looks(spec, form)
    add_to(spec, textures)
    _add_materials(spec)
    _add_table(spec)
    if form != "physics":
        _add_room(spec)
        _add_clutter(spec, shapes)
    _add_lights(spec)
    _add_scene_camera(spec, task.robot.view)
    task.build(spec)
    task.robot.finish(spec)
    return spec


def _add_materials(spec: mujoco.MjSpec) -> None:
    """Materials that randomization recolours. Colours are a plain laboratory: grey and wood."""
    colours = {
        "table": (0.62, 0.55, 0.46),
        "background": (0.72, 0.72, 0.70),
        OBJECT: (0.85, 0.16, 0.13),
        "goal": (0.10, 0.55, 0.25),
        **{f"clutter_{i}": (0.4, 0.4, 0.45) for i in range(CLUTTER)},
    }
    for name, (r, g, b) in colours.items():
        shine = 0.2 if name == OBJECT else 0.0
        spec.add_material(name=name, rgba=[r, g, b, 1], specular=shine, shininess=0.3)


def _add_table(spec: mujoco.MjSpec) -> None:
    table = spec.worldbody.add_body(name=TABLE, pos=[0.25, 0, 0])
    table.add_geom(
        name=TABLE_PLANE,
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        size=[1, 1, 0.1],
        group=3,
        contype=3,
        conaffinity=1,
        condim=4,
        friction=[0.6, 0.005, 0.0001],
        solref=[0.01, 1.0],
    )
    table.add_geom(
        name="table_top",
        type=mujoco.mjtGeom.mjGEOM_BOX,
        pos=[0.05, 0, -0.015],
        size=[0.42, 0.45, 0.015],
        material="table",
        contype=0,
        conaffinity=0,
        mass=0,
        group=1,
    )


def _add_room(spec: mujoco.MjSpec) -> None:
    """Floor and three walls: what the scene camera sees behind the table."""
    walls = {
        "floor": ((0.2, 0, -0.72), (1.6, 1.6, 0.01)),
        "wall_back": ((-0.75, 0, 0.0), (0.01, 1.6, 0.72)),
        "wall_left": ((0.2, 1.0, 0.0), (1.6, 0.01, 0.72)),
        "wall_right": ((0.2, -1.0, 0.0), (1.6, 0.01, 0.72)),
    }
    for name, (pos, size) in walls.items():
        spec.worldbody.add_geom(
            name=name,
            type=mujoco.mjtGeom.mjGEOM_BOX,
            pos=list(pos),
            size=list(size),
            material="background",
            contype=0,
            conaffinity=0,
            group=1,
        )


def _add_clutter(spec: mujoco.MjSpec, shapes: Sequence[str]) -> None:
    """Distractors are seen, not touched: they stand where the arm does not sweep."""
    for i, shape in enumerate(shapes):
        spec.worldbody.add_geom(
            name=f"clutter_{i}",
            type=_SHAPES[shape],
            pos=list(HIDDEN),
            size=[0.02, 0.02, 0.02],
            material=f"clutter_{i}",
            contype=0,
            conaffinity=0,
            group=1,
        )


def _add_lights(spec: mujoco.MjSpec) -> None:
    """Three directional lights; the first casts shadows. Walls are too low to shade the table."""
    poses = (((0.3, -0.4, 1.2), 0.55), ((0.1, 0.7, 1.0), 0.3), ((0.8, 0.2, 0.9), 0.2))
    for i, (pos, level) in enumerate(poses):
        aim = np.array([0.22, 0.0, 0.0]) - np.array(pos)
        spec.worldbody.add_light(
            name=f"light_{i}",
            pos=list(pos),
            dir=list(aim / np.linalg.norm(aim)),
            type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL,
            diffuse=[level] * 3,
            ambient=[0.12] * 3,
            specular=[0.1] * 3,
            castshadow=i == 0,
            active=True,
        )


def _add_scene_camera(spec: mujoco.MjSpec, view: View) -> None:
    """The camera that stands beside the table; the robot brings the wrist camera."""
    pos, aim = np.array(view.position), np.array(view.aim)
    back = (pos - aim) / np.linalg.norm(pos - aim)
    right = np.cross([0, 0, 1], back)
    right /= np.linalg.norm(right)
    up = np.cross(back, right)
    spec.worldbody.add_camera(name="scene", pos=list(pos), xyaxes=[*right, *up], fovy=view.fovy_deg)


def add_box_object(spec: mujoco.MjSpec, half_m: tuple[float, float, float], mass_kg: float) -> None:
    """The object of a task: a box on a free joint, half-sizes in m, mass in kg."""
    body = spec.worldbody.add_body(name=OBJECT, pos=[0.22, 0, half_m[2]])
    body.add_freejoint(name=OBJECT)
    body.add_geom(
        name=OBJECT,
        type=mujoco.mjtGeom.mjGEOM_BOX,
        size=list(half_m),
        mass=mass_kg,
        material=OBJECT,
        contype=1,
        conaffinity=1,
        condim=4,
        friction=[0.8, 0.005, 0.0001],
        priority=1,
        solref=[0.01, 1.0],
        group=1,
    )


def add_goal_marker(spec: mujoco.MjSpec, radius_m: float) -> None:
    """A flat disc that marks a goal on the table; it touches nothing."""
    body = spec.worldbody.add_body(name="goal", pos=[0.22, 0.06, 0.0005], mocap=True)
    body.add_geom(
        name="goal",
        type=mujoco.mjtGeom.mjGEOM_CYLINDER,
        size=[radius_m, 0.0005, 0],
        material="goal",
        contype=0,
        conaffinity=0,
        group=1,
    )
