"""From what ranges a twin is drawn, each with its unit and where it comes from.

A range states a moderate twin. A mild one reaches half as far from the centre and a harsh one twice
as far (in the logarithm for ratios), up to `limit`. Sources: "design" are the ranges of published
sim-to-real systems gathered in the design notes (camera 10-50 mm and up to 10 degrees, field of
view 2 degrees, light direction 20 degrees, mass x0.8-1.2 and wide x0.5-1.5, friction 0.3-1.5,
joint offset up to 0.05 rad, latency 0-3 steps); "logs" are the motion logs of a real SO-101 that
`REAL_ARM` was fitted to; "assumed" are judgements that no measurement stands behind.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

SEVERITIES: Mapping[str, float] = {"mild": 0.5, "moderate": 1.0, "harsh": 2.0}


@dataclass(frozen=True)
class Range:
    """Uniform numbers between low and high (moderate), scaled about `centre` by severity.

    log: uniform in the logarithm, and scaled there. limit: values never leave it.
    """

    low: float
    high: float
    centre: float
    unit: str
    source: str
    log: bool = False
    limit: tuple[float, float] = (-math.inf, math.inf)

    def at(self, severity: str) -> tuple[float, float]:
        """Lowest and highest value at this severity."""
        reach = SEVERITIES[severity]
        if self.log:
            ends = [self.centre * (end / self.centre) ** reach for end in (self.low, self.high)]
        else:
            ends = [self.centre + reach * (end - self.centre) for end in (self.low, self.high)]
        low, high = np.clip(ends, *self.limit)
        return float(low), float(high)

    def draw(self, rng: np.random.Generator, severity: str, size: int) -> tuple[float, ...]:
        """`size` independent values."""
        low, high = self.at(severity)
        share = rng.random(size)
        values = low * (high / low) ** share if self.log else low + (high - low) * share
        return tuple(float(v) for v in values)


def shift(reach: float, unit: str, source: str) -> Range:
    """A symmetric deviation from nominal."""
    return Range(-reach, reach, 0.0, unit, source)


def ratio(low: float, high: float, unit: str, source: str, centre: float = 1.0) -> Range:
    """A factor, or a positive number about `centre`: uniform in the logarithm."""
    return Range(low, high, centre, unit, source, log=True)


def amount(low: float, high: float, unit: str, source: str, most: float = math.inf) -> Range:
    """A size of an effect; no effect is the centre, so a mild twin has about half of it."""
    return Range(low, high, 0.0, unit, source, limit=(0.0, most))


#: Of twins of an SO-101: name -> range; cameras, light and looks are those of every twin. Those of
#: cameras apply to the scene camera and the wrist camera separately.
RANGES: Mapping[str, Range] = {
    # bodies and table
    "object_mass_ratio": ratio(0.7, 1.4, "x nominal", "design"),
    "object_friction": ratio(0.5, 1.2, "-", "design", centre=0.8),
    "table_friction": ratio(0.4, 1.1, "-", "design", centre=0.7),
    "finger_friction": ratio(0.65, 1.25, "-", "design", centre=0.9),
    "table_height_m": shift(0.003, "m", "assumed: a sheet of card to a desk mat"),
    "table_tilt_deg": shift(0.6, "deg", "assumed: 1 cm over a metre of desk"),
    # joints
    "joint_offset_deg": shift(1.5, "deg", "design: half of 0.05 rad; calibration by hand"),
    "encoder_noise_deg": amount(0.03, 0.12, "deg", "logs: one count of 4096 is 0.088 deg"),
    "servo_gain_ratio": ratio(0.93, 1.08, "x fitted", "assumed: motor spread"),
    "supply_ratio": ratio(0.95, 1.04, "x fitted", "assumed: 12 V supply, 11.4-12.5 V at the servo"),
    "servo_bias_rad": shift(0.004, "rad", "logs: a quarter of the largest fitted shift"),
    "play_ratio": ratio(0.7, 1.2, "x fitted", "assumed: wear; the fitted arm is a used one"),
    "dead_band_counts": Range(1, 3, 1, "encoder counts", "assumed: servo default 1", limit=(0, 8)),
    "servo_friction_ratio": ratio(0.85, 1.2, "x published", "assumed: grease, temperature"),
    "stiction_ratio": Range(1.0, 1.4, 1.15, "x Coulomb", "assumed", limit=(1.0, 3.0)),
    "max_speed_rad_s": ratio(3.8, 5.2, "rad/s", "data sheet: 45 rpm no load", centre=4.7),
    "servo_latency_s": Range(0.0, 0.012, 0.005, "s", "logs: 0-18 ms by joint", limit=(0.0, 0.2)),
    "servo_jitter_s": Range(0.0, 0.02, 0.01, "s", "assumed: bus, host", limit=(0.0, 0.2)),
    # cameras
    "scene_camera_shift_m": amount(0.010, 0.025, "m, length of a vector", "design"),
    "scene_camera_turn_deg": amount(1.0, 4.0, "deg, angle", "design"),
    "wrist_camera_shift_m": amount(0.001, 0.005, "m, length of a vector", "assumed: printed mount"),
    "wrist_camera_turn_deg": amount(0.5, 3.0, "deg, angle", "assumed: printed mount"),
    "camera_fov_deg": shift(2.0, "deg", "design"),
    "lens_k1": Range(-0.02, 0.12, 0.0, "-", "assumed: up to 12 % at half the width"),
    "lens_k2": shift(0.02, "-", "assumed"),
    "defocus_px": amount(0.2, 0.6, "px of 64", "assumed"),
    "motion_px": amount(0.0, 1.5, "px of 64", "assumed: 1/60 s at 20 deg/s and more"),
    "vignette": amount(0.05, 0.3, "share lost in the corner", "assumed", most=0.9),
    "exposure_target": Range(
        0.4, 0.58, 0.5, "of full scale", "assumed: mid grey", limit=(0.2, 0.8)
    ),
    "exposure_lag_s": ratio(0.15, 0.8, "s", "assumed: 3-15 frames at 20 Hz", centre=0.35),
    "flicker": amount(0.0, 0.03, "of the level", "assumed: mains light", most=0.3),
    "white_balance": ratio(0.92, 1.09, "gain", "assumed"),
    "drift": amount(0.0, 0.04, "of the gain", "assumed", most=0.3),
    "noise_std": amount(0.004, 0.02, "of full scale", "assumed: 1-5 grey levels"),
    # light and looks
    "light_direction_deg": shift(20.0, "deg", "design"),
    "light_intensity": ratio(0.65, 1.4, "x nominal", "assumed"),
    "light_colour": ratio(0.88, 1.12, "x nominal", "assumed: warm to cold white"),
    "light_ambient": ratio(0.6, 1.7, "x nominal", "assumed"),
    "object_colour": shift(0.08, "rgb 0-1", "assumed: filament and print"),
    "robot_colour": shift(0.10, "rgb 0-1", "assumed: filament and print"),
    "texture_repeat": ratio(0.6, 2.5, "x nominal", "assumed"),
    "clutter_size": ratio(0.6, 1.6, "x nominal", "assumed"),
}

#: Whole numbers: name -> severity -> lowest and highest.
COUNTS: Mapping[str, Mapping[str, tuple[int, int]]] = {
    # control steps of 50 ms; design: 0-3
    "observation_delay_steps": {"mild": (0, 1), "moderate": (0, 2), "harsh": (0, 3)},
    "light_count": {"mild": (2, 3), "moderate": (1, 3), "harsh": (1, 3)},
    "clutter_count": {"mild": (0, 2), "moderate": (1, 4), "harsh": (3, 6)},
    # index into the twin's own bank, 0 is plain. A textured object loses its colour, which no
    # randomization prepares for: every second harsh twin.
    "table_texture": {"mild": (1, 9999), "moderate": (1, 9999), "harsh": (1, 9999)},
    "background_texture": {"mild": (1, 9999), "moderate": (1, 9999), "harsh": (1, 9999)},
    "object_texture": {"mild": (0, 0), "moderate": (0, 0), "harsh": (0, 1)},
    # 1: the camera sends chroma at half resolution, as most USB cameras do
    "subsampling": {"mild": (0, 1), "moderate": (1, 1), "harsh": (1, 1)},
}
