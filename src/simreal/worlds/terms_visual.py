"""Randomization terms of what cameras see: cameras, lights, colours, textures, clutter."""

from __future__ import annotations

import mujoco
import numpy as np

from simreal.worlds.names import OBJECT
from simreal.worlds.scene import CLUTTER, HIDDEN, LIGHTS
from simreal.worlds.settings import Settings
from simreal.worlds.terms import Apply, Term, whole_field
from simreal.worlds.variation import Numbers, Operation

_RGB = 1  # mjTEXROLE_RGB: the role of a colour texture in mat_texid


def _camera(settings: Settings, name: str) -> int:
    return int(settings.scene.look.camera(name).id)


def _camera_position(name: str) -> Term:
    def apply(settings: Settings, op: Operation, values: Numbers) -> None:
        position = settings.edit("look.cam_pos")
        camera = _camera(settings, name)
        position[camera] = op(position[camera], values)

    return Term(f"{name}_camera_position", 3, "m", ("look.cam_pos",), apply)


def _camera_rotation(name: str) -> Term:
    """A rotation vector in the camera's own frame, degrees."""

    def apply(settings: Settings, op: Operation, values: Numbers) -> None:
        vector = np.radians(op(np.zeros(3), values))
        angle = float(np.linalg.norm(vector))
        turn, out = np.zeros(4), np.zeros(4)
        axis = vector / angle if angle > 0 else np.array([0.0, 0.0, 1.0])
        mujoco.mju_axisAngle2Quat(turn, axis, angle)
        quat = settings.edit("look.cam_quat")
        camera = _camera(settings, name)
        mujoco.mju_mulQuat(out, quat[camera].astype(float), turn)
        if angle > 0:
            quat[camera] = out

    return Term(f"{name}_camera_rotation", 3, "deg", ("look.cam_quat",), apply)


def _camera_fov(settings: Settings, op: Operation, values: Numbers) -> None:
    fovy = settings.edit("look.cam_fovy")
    fovy[:] = op(fovy, values)


def _light_count(settings: Settings, op: Operation, values: Numbers) -> None:
    """How many of the lights are on, 1 to 3; the total level is kept."""
    active = settings.edit("look.light_active")
    count = int(np.clip(round(float(op(LIGHTS, values[0]))), 1, LIGHTS))
    diffuse = settings.edit("look.light_diffuse")
    total = diffuse.sum(axis=0)
    active[count:] = 0
    diffuse *= total / diffuse[:count].sum(axis=0)


def _light_direction(settings: Settings, op: Operation, values: Numbers) -> None:
    """Tilt of each light's direction about x and y, degrees."""
    direction = settings.edit("look.light_dir")
    tilts = np.radians(op(np.zeros(2 * LIGHTS), values)).reshape(LIGHTS, 2)
    for light, (x, y) in enumerate(tilts):
        if x == 0.0 and y == 0.0:
            continue
        quat, out = np.zeros(4), np.zeros(3)
        mujoco.mju_euler2Quat(quat, np.array([x, y, 0.0]), "xyz")
        mujoco.mju_rotVecQuat(out, direction[light].astype(float), quat)
        direction[light] = out


def _light_intensity(settings: Settings, op: Operation, values: Numbers) -> None:
    diffuse = settings.edit("look.light_diffuse")
    diffuse[:] = op(diffuse, values[:, None])


def _light_colour(settings: Settings, op: Operation, values: Numbers) -> None:
    diffuse = settings.edit("look.light_diffuse")
    diffuse[:] = op(diffuse, values.reshape(LIGHTS, 3))


def _light_ambient(settings: Settings, op: Operation, values: Numbers) -> None:
    ambient = settings.edit("look.light_ambient")
    ambient[:] = op(ambient, values[0])


def _light_shadow(settings: Settings, op: Operation, values: Numbers) -> None:
    """Whether each light casts shadows (value at least 0.5); seen only by a shadowed renderer."""
    shadow = settings.edit("look.light_castshadow")
    shadow[:] = op(shadow.astype(float), values) >= 0.5


def colour(name: str, material: str) -> Term:
    """The colour of a material of the look model."""

    def apply(settings: Settings, op: Operation, values: Numbers) -> None:
        row = int(settings.scene.look.material(material).id)
        rgba = settings.edit("look.mat_rgba")
        rgba[row, :3] = np.clip(op(rgba[row, :3], values), 0, 1)

    return Term(name, 3, "rgb 0-1", ("look.mat_rgba",), apply)


def _robot_colour(settings: Settings, op: Operation, values: Numbers) -> None:
    """Colour of the printed parts and, with the second triple, of the servos."""
    rgba = settings.edit("look.mat_rgba")
    look = settings.scene.look
    for row in range(look.nmat):
        name = look.material(row).name
        if name.endswith(("_v1_material", "_v2_material")):
            triple = values[3:] if name.startswith("sts3215") else values[:3]
            rgba[row, :3] = np.clip(op(rgba[row, :3], triple), 0, 1)


def _texture(name: str, material: str) -> Term:
    """Texture by number: 0 is plain, k is the k-th texture of the bank (modulo its size)."""

    def apply(settings: Settings, op: Operation, values: Numbers) -> None:
        number = round(float(op(0.0, values[0])))
        row = int(settings.scene.look.material(material).id)
        count = len(settings.scene.textures)
        chosen = (number - 1) % count if number > 0 and count else -1
        settings.edit("look.mat_texid")[row, _RGB] = chosen
        if chosen >= 0:
            settings.edit("look.mat_rgba")[row, :3] = 1.0

    return Term(name, 1, "index", ("look.mat_texid", "look.mat_rgba"), apply)


def _texture_repeat(settings: Settings, op: Operation, values: Numbers) -> None:
    repeat = settings.edit("look.mat_texrepeat")
    for material, value in zip(("table", "background", OBJECT), values, strict=True):
        row = int(settings.scene.look.material(material).id)
        repeat[row] = op(repeat[row], value)


def _clutter_rows(settings: Settings) -> list[int]:
    return [settings.geom("look", f"clutter_{i}") for i in range(CLUTTER)]


def _place_clutter(settings: Settings, row: int, along: float, out: float) -> None:
    """Stand one distractor on the table, 0.17-0.34 m to a side, where the arm does not sweep.

    along in [0, 1] is the depth from -0.05 to 0.33 m; out below 0.5 is the right side, above the
    left, and its distance from 0.5 how far out.
    """
    side = 1.0 if out >= 0.5 else -1.0
    reach = 2 * abs(out - 0.5)
    height = float(np.max(settings.value("look.geom_size")[row]))
    place = (-0.05 + 0.38 * along, side * (0.17 + 0.17 * reach), height)
    settings.edit("look.geom_pos")[row] = place


def _clutter_count(settings: Settings, op: Operation, values: Numbers) -> None:
    """How many of the pool stand on the table, at fixed places until `clutter_place` moves them."""
    count = int(np.clip(round(float(op(0.0, values[0]))), 0, CLUTTER))
    settings.edit("look.geom_pos")
    for i, row in enumerate(_clutter_rows(settings)[:count]):
        _place_clutter(settings, row, along=(i + 0.5) / CLUTTER, out=0.2 + 0.6 * (i % 2))


def _clutter_place(settings: Settings, op: Operation, values: Numbers) -> None:
    """Where the distractors that are shown stand: two numbers in [0, 1] for each of the pool."""
    position = settings.edit("look.geom_pos")
    places = op(0.5, values).reshape(-1, 2)
    for row, (along, out) in zip(_clutter_rows(settings), places, strict=True):
        if position[row, 2] > HIDDEN[2]:
            _place_clutter(settings, row, float(along), float(out))


def _clutter_size(settings: Settings, op: Operation, values: Numbers) -> None:
    size = settings.edit("look.geom_size")
    rows = _clutter_rows(settings)
    size[rows] = op(size[rows], values.reshape(len(rows), 3))


def _clutter_colour(settings: Settings, op: Operation, values: Numbers) -> None:
    rgba = settings.edit("look.mat_rgba")
    for i, value in enumerate(values.reshape(CLUTTER, 3)):
        row = int(settings.scene.look.material(f"clutter_{i}").id)
        rgba[row, :3] = np.clip(op(rgba[row, :3], value), 0, 1)


def visual_terms(robot_colour: Apply) -> tuple[Term, ...]:
    """What can be randomized in the pictures of any robot; `robot_colour` knows its materials."""
    return (
        _camera_position("scene"),
        _camera_rotation("scene"),
        _camera_position("wrist"),
        _camera_rotation("wrist"),
        Term("camera_fov", 2, "deg", ("look.cam_fovy",), _camera_fov),
        whole_field("exposure", "image.exposure_stops", 1, "stops"),
        whole_field("colour_cast", "image.colour_gain", 3, "gain"),
        whole_field("image_noise", "image.noise_std", 1, "of full scale"),
        Term("light_count", 1, "count", ("look.light_active", "look.light_diffuse"), _light_count),
        Term("light_direction", 2 * LIGHTS, "deg", ("look.light_dir",), _light_direction),
        Term("light_intensity", LIGHTS, "-", ("look.light_diffuse",), _light_intensity),
        Term("light_colour", 3 * LIGHTS, "-", ("look.light_diffuse",), _light_colour),
        Term("light_ambient", 1, "-", ("look.light_ambient",), _light_ambient),
        Term("light_shadow", LIGHTS, "0 or 1", ("look.light_castshadow",), _light_shadow),
        colour("table_colour", "table"),
        colour("background_colour", "background"),
        colour("object_colour", OBJECT),
        Term("robot_colour", 6, "rgb 0-1", ("look.mat_rgba",), robot_colour),
        _texture("table_texture", "table"),
        _texture("background_texture", "background"),
        _texture("object_texture", OBJECT),
        Term("texture_repeat", 3, "-", ("look.mat_texrepeat",), _texture_repeat),
        Term("clutter_size", 3 * CLUTTER, "m (half)", ("look.geom_size",), _clutter_size),
        Term("clutter_colour", 3 * CLUTTER, "rgb 0-1", ("look.mat_rgba",), _clutter_colour),
        Term("clutter_count", 1, "count", ("look.geom_pos",), _clutter_count),
        Term("clutter_place", 2 * CLUTTER, "0-1", ("look.geom_pos",), _clutter_place),
    )


VISUAL: tuple[Term, ...] = visual_terms(_robot_colour)
