"""The hidden parameters of a twin of an SO-101: one draw of reality.

A twin stands in for a real robot, so nothing that trains, mixes or simulates may see what is drawn
here; only the twin's server does. `TwinParameters.world` says how the draw acts on a world, in the
words of a randomization profile; `servo` and the two cameras hold the effects that randomization
does not know.
"""

from __future__ import annotations

from dataclasses import dataclass

from simreal.robots.hidden_looks import Looks, Numbers, Said, Source, draw_looks
from simreal.robots.servo import COUNT_RAD, JOINTS, REAL_ARM, ServoParameters


@dataclass(frozen=True, kw_only=True)
class TwinParameters(Looks):
    """One draw of reality. Six numbers a joint in joint order.

    Ratios multiply the nominal value, offsets and heights are added to it, frictions replace it.
    """

    object_mass_ratio: float
    object_friction: float
    table_friction: float
    finger_friction: float
    table_height_m: float
    table_tilt_deg: Numbers
    joint_offset_deg: Numbers
    encoder_noise_deg: float
    servo: ServoParameters

    def world(self) -> tuple[Said, ...]:
        """Everything that a randomization profile could also say."""
        return (
            ("object_mass", "scale", (self.object_mass_ratio,)),
            ("object_friction", "set", (self.object_friction,)),
            ("gripper_friction", "set", (self.finger_friction,)),
            ("table_friction", "set", (self.table_friction,)),
            ("table_height", "add", (self.table_height_m,)),
            ("table_tilt", "add", self.table_tilt_deg),
            ("joint_offset", "add", self.joint_offset_deg),
            ("encoder_noise", "set", (self.encoder_noise_deg,)),
            *super().world(),
        )


def draw(seed: int, severity: str) -> TwinParameters:
    """The twin (seed, severity). Each quantity has a generator of its own.

    Raises:
        UsageError: for an unknown severity.
    """
    source = Source(seed, severity)
    one, several = source.one, source.several
    return TwinParameters(
        **draw_looks(source),
        object_mass_ratio=one("object_mass_ratio"),
        object_friction=one("object_friction"),
        table_friction=one("table_friction"),
        finger_friction=one("finger_friction"),
        table_height_m=one("table_height_m"),
        table_tilt_deg=several("table_tilt_deg", 2),
        joint_offset_deg=several("joint_offset_deg", JOINTS),
        encoder_noise_deg=one("encoder_noise_deg"),
        servo=_servo(source),
    )


def _servo(source: Source) -> ServoParameters:
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
