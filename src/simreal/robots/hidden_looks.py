"""What every twin hides, whatever its robot: cameras, light, textures, clutter.

Also how twins are drawn. Nothing that trains, mixes or simulates may see what is drawn here; only
the twin's server does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from simreal.core.errors import unknown
from simreal.core.seeds import generator
from simreal.robots.effects import CameraParameters
from simreal.robots.ranges import COUNTS, RANGES, SEVERITIES, Range

#: Lights and distractors a scene holds (as in `worlds.scene`, which this file may not import); a
#: twin uses some of them.
LIGHTS = 3
CLUTTER = 6

Numbers = tuple[float, ...]
#: (axis, operation, values) in the words of a randomization profile.
Said = tuple[str, str, Numbers]


@dataclass(frozen=True, kw_only=True)
class Looks:
    """The seen part of one draw of reality. `camera_fov_deg`: scene, wrist.

    `_shift`, `_turn` and colours are added to the nominal value, textures and clutter replace it.
    Camera shifts (3,) are in the frame of the camera's parent, turns (3,) are rotation vectors in
    the camera's own frame. light_direction_deg: tilt about x and y of each light; light_colour: R,
    G, B of each. clutter_place: per distractor depth and side, each 0 to 1; clutter_size: three
    factors each, clutter_colour: R, G, B each. observation_delay_steps: of joints and pictures.
    """

    seed: int
    severity: str
    observation_delay_steps: int
    scene_camera_shift_m: Numbers
    scene_camera_turn_deg: Numbers
    wrist_camera_shift_m: Numbers
    wrist_camera_turn_deg: Numbers
    camera_fov_deg: Numbers
    light_count: int
    light_direction_deg: Numbers
    light_intensity: Numbers
    light_colour: Numbers
    light_ambient: float
    table_texture: int
    background_texture: int
    object_texture: int
    texture_repeat: Numbers
    object_colour: Numbers
    robot_colour: Numbers
    clutter_count: int
    clutter_place: Numbers
    clutter_size: Numbers
    clutter_colour: Numbers
    scene_camera: CameraParameters
    wrist_camera: CameraParameters

    def to_json(self) -> dict[str, Any]:
        """All parameters as a JSON value."""
        return asdict(self)

    def world(self) -> tuple[Said, ...]:
        """Everything that a randomization profile could also say."""
        return (
            ("observation_delay", "set", (float(self.observation_delay_steps),)),
            ("scene_camera_position", "add", self.scene_camera_shift_m),
            ("scene_camera_rotation", "add", self.scene_camera_turn_deg),
            ("wrist_camera_position", "add", self.wrist_camera_shift_m),
            ("wrist_camera_rotation", "add", self.wrist_camera_turn_deg),
            ("camera_fov", "add", self.camera_fov_deg),
            ("light_count", "set", (float(self.light_count),)),
            ("light_direction", "add", self.light_direction_deg),
            ("light_intensity", "scale", self.light_intensity),
            ("light_colour", "scale", self.light_colour),
            ("light_ambient", "scale", (self.light_ambient,)),
            ("object_colour", "add", self.object_colour),
            ("robot_colour", "add", self.robot_colour),
            ("table_texture", "set", (float(self.table_texture),)),
            ("background_texture", "set", (float(self.background_texture),)),
            ("object_texture", "set", (float(self.object_texture),)),
            ("texture_repeat", "scale", self.texture_repeat),
            ("clutter_size", "scale", self.clutter_size),
            ("clutter_colour", "set", self.clutter_colour),
            ("clutter_count", "set", (float(self.clutter_count),)),
            ("clutter_place", "set", self.clutter_place),
        )


class Source:
    """Draws by name from the ranges of one severity; each quantity has a generator of its own.

    Raises:
        UsageError: for an unknown severity.
    """

    def __init__(
        self,
        seed: int,
        severity: str,
        ranges: Mapping[str, Range] = RANGES,
        counts: Mapping[str, Mapping[str, tuple[int, int]]] = COUNTS,
    ) -> None:
        if severity not in SEVERITIES:
            raise unknown("severity", severity, SEVERITIES)
        self.seed, self.severity = seed, severity
        self._ranges, self._counts = ranges, counts

    def rng(self, purpose: str) -> np.random.Generator:
        """The generator of one quantity."""
        return generator(self.seed, f"twin parameters/{self.severity}/{purpose}")

    def several(self, name: str, size: int, purpose: str = "") -> Numbers:
        """`size` independent numbers of a range; `purpose` tells two uses of it apart."""
        return self._ranges[name].draw(self.rng(f"{name}{purpose}"), self.severity, size)

    def one(self, name: str, purpose: str = "") -> float:
        """One number of a range."""
        return self.several(name, 1, purpose)[0]

    def whole(self, name: str, purpose: str = "") -> int:
        """A whole number."""
        low, high = self._counts[name][self.severity]
        return int(self.rng(f"{name}{purpose}").integers(low, high, endpoint=True))

    def shares(self, name: str, size: int) -> Numbers:
        """Numbers in [0, 1)."""
        return tuple(float(x) for x in self.rng(name).random(size))

    def vector(self, name: str) -> Numbers:
        """A random direction with a length from the range."""
        axis = self.rng(f"{name} direction").standard_normal(3)
        return tuple(float(x) for x in self.one(name) * axis / np.linalg.norm(axis))


def draw_looks(source: Source) -> dict[str, Any]:
    """The fields of `Looks`."""
    return {
        "seed": source.seed,
        "severity": source.severity,
        "observation_delay_steps": source.whole("observation_delay_steps"),
        "scene_camera_shift_m": source.vector("scene_camera_shift_m"),
        "scene_camera_turn_deg": source.vector("scene_camera_turn_deg"),
        "wrist_camera_shift_m": source.vector("wrist_camera_shift_m"),
        "wrist_camera_turn_deg": source.vector("wrist_camera_turn_deg"),
        "camera_fov_deg": source.several("camera_fov_deg", 2),
        "light_count": source.whole("light_count"),
        "light_direction_deg": source.several("light_direction_deg", 2 * LIGHTS),
        "light_intensity": source.several("light_intensity", LIGHTS),
        "light_colour": source.several("light_colour", 3 * LIGHTS),
        "light_ambient": source.one("light_ambient"),
        "table_texture": source.whole("table_texture"),
        "background_texture": source.whole("background_texture"),
        "object_texture": source.whole("object_texture"),
        "texture_repeat": source.several("texture_repeat", 3),
        "object_colour": source.several("object_colour", 3),
        "robot_colour": source.several("robot_colour", 6),
        "clutter_count": source.whole("clutter_count"),
        "clutter_place": source.shares("clutter_place", 2 * CLUTTER),
        "clutter_size": source.several("clutter_size", 3 * CLUTTER),
        "clutter_colour": source.shares("clutter_colour", 3 * CLUTTER),
        "scene_camera": _camera(source, "scene"),
        "wrist_camera": _camera(source, "wrist"),
    }


def _camera(source: Source, name: str) -> CameraParameters:
    purpose = f"/{name}"
    red, green, blue = source.several("white_balance", 3, purpose)
    return CameraParameters(
        k1=source.one("lens_k1", purpose),
        k2=source.one("lens_k2", purpose),
        defocus_px=source.one("defocus_px", purpose),
        motion_px=source.one("motion_px", purpose),
        vignette=source.one("vignette", purpose),
        exposure_target=source.one("exposure_target", purpose),
        exposure_lag_s=source.one("exposure_lag_s", purpose),
        flicker=source.one("flicker", purpose),
        white_balance=(red, green, blue),
        drift=source.one("drift", purpose),
        noise_std=source.one("noise_std", purpose),
        subsampling=bool(source.whole("subsampling", purpose)),
    )
