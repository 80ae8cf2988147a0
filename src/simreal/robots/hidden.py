"""The hidden parameters of a twin: one draw of reality.

A twin stands in for a real robot, so nothing that trains, mixes or simulates may see what is drawn
here; only the twin's server does. `TwinParameters.world` says how the draw acts on a world, in the
words of a randomization profile; `servo` and the two cameras hold the effects that randomization
does not know.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from simreal.core.errors import unknown
from simreal.core.seeds import generator
from simreal.robots.effects import CameraParameters
from simreal.robots.ranges import COUNTS, RANGES, SEVERITIES
from simreal.robots.servo import COUNT_RAD, JOINTS, REAL_ARM, ServoParameters

#: Lights and distractors a scene holds (as in `worlds.scene`, which this file may not import); a
#: twin uses some of them.
LIGHTS = 3
CLUTTER = 6

Numbers = tuple[float, ...]


@dataclass(frozen=True)
class TwinParameters:
    """One draw of reality. Six numbers a joint in joint order; `camera_fov_deg`: scene, wrist.

    Ratios multiply the nominal value, `_shift`, `_turn`, offsets and heights are added to it,
    frictions and textures replace it. Camera shifts (3,) are in the frame of the camera's parent,
    turns (3,) are rotation vectors in the camera's own frame. light_direction_deg: tilt about x
    and y of each light; light_colour: R, G, B of each. clutter_place: per distractor depth and
    side, each 0 to 1; clutter_size: three factors each, clutter_colour: R, G, B each.
    """

    seed: int
    severity: str
    object_mass_ratio: float
    object_friction: float
    table_friction: float
    finger_friction: float
    table_height_m: float
    table_tilt_deg: Numbers
    joint_offset_deg: Numbers
    encoder_noise_deg: float
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
    servo: ServoParameters
    scene_camera: CameraParameters
    wrist_camera: CameraParameters

    def to_json(self) -> dict[str, Any]:
        """All parameters as a JSON value."""
        return asdict(self)

    def world(self) -> tuple[tuple[str, str, Numbers], ...]:
        """(axis, operation, values) of everything a randomization profile could also say."""
        return (
            ("object_mass", "scale", (self.object_mass_ratio,)),
            ("object_friction", "set", (self.object_friction,)),
            ("gripper_friction", "set", (self.finger_friction,)),
            ("table_friction", "set", (self.table_friction,)),
            ("table_height", "add", (self.table_height_m,)),
            ("table_tilt", "add", self.table_tilt_deg),
            ("joint_offset", "add", self.joint_offset_deg),
            ("encoder_noise", "set", (self.encoder_noise_deg,)),
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


def draw(seed: int, severity: str) -> TwinParameters:
    """The twin (seed, severity). Each quantity has a generator of its own.

    Raises:
        UsageError: for an unknown severity.
    """
    if severity not in SEVERITIES:
        raise unknown("severity", severity, SEVERITIES)
    source = _Source(seed, severity)
    one, several, whole = source.one, source.several, source.whole
    return TwinParameters(
        seed=seed,
        severity=severity,
        object_mass_ratio=one("object_mass_ratio"),
        object_friction=one("object_friction"),
        table_friction=one("table_friction"),
        finger_friction=one("finger_friction"),
        table_height_m=one("table_height_m"),
        table_tilt_deg=several("table_tilt_deg", 2),
        joint_offset_deg=several("joint_offset_deg", JOINTS),
        encoder_noise_deg=one("encoder_noise_deg"),
        observation_delay_steps=whole("observation_delay_steps"),
        scene_camera_shift_m=source.vector("scene_camera_shift_m"),
        scene_camera_turn_deg=source.vector("scene_camera_turn_deg"),
        wrist_camera_shift_m=source.vector("wrist_camera_shift_m"),
        wrist_camera_turn_deg=source.vector("wrist_camera_turn_deg"),
        camera_fov_deg=several("camera_fov_deg", 2),
        **_looks(source),
        servo=_servo(source),
        scene_camera=_camera(source, "scene"),
        wrist_camera=_camera(source, "wrist"),
    )


class _Source:
    """Draws by name from the ranges of one severity."""

    def __init__(self, seed: int, severity: str) -> None:
        self.seed, self.severity = seed, severity

    def rng(self, purpose: str) -> np.random.Generator:
        return generator(self.seed, f"twin parameters/{self.severity}/{purpose}")

    def several(self, name: str, size: int, purpose: str = "") -> Numbers:
        return RANGES[name].draw(self.rng(f"{name}{purpose}"), self.severity, size)

    def one(self, name: str, purpose: str = "") -> float:
        return self.several(name, 1, purpose)[0]

    def whole(self, name: str, purpose: str = "") -> int:
        low, high = COUNTS[name][self.severity]
        return int(self.rng(f"{name}{purpose}").integers(low, high, endpoint=True))

    def shares(self, name: str, size: int) -> Numbers:
        return tuple(float(x) for x in self.rng(name).random(size))

    def vector(self, name: str) -> Numbers:
        """A random direction with a length from the range."""
        axis = self.rng(f"{name} direction").standard_normal(3)
        return tuple(float(x) for x in self.one(name) * axis / np.linalg.norm(axis))


def _looks(source: _Source) -> dict[str, Any]:
    return {
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
    }


def _servo(source: _Source) -> ServoParameters:
    """A servo around the fitted real arm."""

    def scaled(values: Numbers, name: str) -> Numbers:
        factors = source.several(name, JOINTS)
        return tuple(v * f for v, f in zip(values, factors, strict=True))

    supply = source.one("supply_ratio")
    shifts = source.several("servo_bias_rad", JOINTS)
    return ServoParameters(
        gain_ratio=tuple(supply * g for g in scaled(REAL_ARM.gain_ratio, "servo_gain_ratio")),
        bias_rad=tuple(b + s for b, s in zip(REAL_ARM.bias_rad, shifts, strict=True)),
        play_rad=scaled(REAL_ARM.play_rad, "play_ratio"),
        dead_band_rad=tuple(COUNT_RAD * c for c in source.several("dead_band_counts", JOINTS)),
        friction_nm=scaled(REAL_ARM.friction_nm, "servo_friction_ratio"),
        stiction_ratio=source.several("stiction_ratio", JOINTS),
        stribeck_rad_s=REAL_ARM.stribeck_rad_s,
        max_speed_rad_s=source.one("max_speed_rad_s"),
        latency_s=source.one("servo_latency_s"),
        jitter_s=source.one("servo_jitter_s"),
    )


def _camera(source: _Source, name: str) -> CameraParameters:
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
