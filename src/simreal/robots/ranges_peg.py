"""From what ranges a twin of an insertion is drawn; looks and cameras are those of `ranges`.

Sources: "design" are the ranges of published insertion systems gathered in the design notes
(friction x0.33-1.67, gains x0.75-1.5, dead zone to 5 N, force noise to 1 N); "assumed" are
judgements that no measurement stands behind.
"""

from __future__ import annotations

from collections.abc import Mapping

from simreal.robots.ranges import COUNTS, RANGES, Range, amount, ratio, shift

#: What an insertion has instead of an object on a table and servos: name -> range.
PEG_RANGES: Mapping[str, Range] = {
    # peg and hole
    "hole_friction": ratio(0.14, 0.32, "-", "design", centre=0.2),
    "peg_tolerance_m": shift(8e-6, "m", "ISO 286: h7 of 8 mm is 15 um wide"),
    "hole_tolerance_m": shift(8e-6, "m", "ISO 286: H7 of 8 mm is 15 um wide"),
    "chamfer_m": amount(0.00002, 0.00015, "m", "assumed: a broken edge", most=0.001),
    "hole_tilt_rad": shift(0.006, "rad", "assumed: a vice set by eye"),
    "hole_height_m": shift(0.001, "m", "assumed: a plate measured with a ruler"),
    "stribeck_ratio": Range(
        1.15, 1.6, 1.0, "at rest over sliding", "assumed: dry steel", limit=(1.0, 3.0)
    ),
    "stribeck_m_s": ratio(0.001, 0.006, "m/s", "assumed: dry metal", centre=0.0025),
    "out_ratio": ratio(0.8, 1.3, "pulling over pushing", "assumed"),
    "lay_ratio": ratio(0.8, 1.25, "across over along the lay", "assumed: machined surfaces"),
    "mark_depth": amount(0.05, 0.25, "of the friction", "assumed", most=0.8),
    "mark_pitch_m": ratio(0.0001, 0.0004, "m", "assumed: feed of a drill or a mill", centre=0.0002),
    "fixture_stiffness_ratio": ratio(0.4, 2.0, "x nominal", "assumed"),
    "fixture_play_m": amount(5e-6, 4e-5, "m, to each side", "assumed: a part set down in a vice"),
    "fixture_soft_share": Range(
        0.1, 0.4, 1.0, "of the stiffness, within the play", "assumed", log=True, limit=(0.02, 1.0)
    ),
    # hand
    "grasp_stiffness_ratio": ratio(0.6, 1.5, "x nominal", "assumed: rubber pads"),
    "grip_ratio": ratio(0.8, 1.25, "x nominal", "assumed: force, dust on the pads"),
    # arm
    "impedance_stiffness_ratio": ratio(0.85, 1.2, "x nominal", "design: half of x0.75-1.5"),
    "impedance_damping_ratio": ratio(0.8, 1.3, "x nominal", "design: half of x0.75-1.5"),
    "target_smoothing_ratio": ratio(0.6, 1.6, "x nominal", "assumed: the driver's filter"),
    "joint_friction_ratio": Range(
        1.0, 5.0, 1.0, "x nominal", "design: dead zone, 0.1-0.6 N at the tool", limit=(0.0, 10.0)
    ),
    "joint_stiction_ratio": Range(
        1.1, 1.6, 1.0, "at rest over moving", "assumed: harmonic drives", limit=(1.0, 3.0)
    ),
    "joint_stribeck_rad_s": ratio(0.005, 0.03, "rad/s", "assumed", centre=0.012),
    "tool_play_m": amount(
        1e-5, 6e-5, "m, to each side", "data sheet: repeats within 0.03 mm; with the payload more"
    ),
    "tool_play_rad": amount(0.0001, 0.0005, "rad, to each side", "assumed: of the joints, 1-2'"),
    "command_latency_s": Range(
        0.002, 0.012, 0.004, "s", "assumed: RTDE at 500 Hz, host", limit=(0.0, 0.2)
    ),
    "command_jitter_s": Range(0.0, 0.01, 0.002, "s", "assumed: host", limit=(0.0, 0.2)),
    "max_speed_m_s": ratio(0.12, 0.4, "m/s", "assumed: reduced mode is 0.25 m/s", centre=0.25),
    "max_turn_rad_s": ratio(0.5, 2.0, "rad/s", "assumed"),
    "tool_offset_mm": shift(0.5, "mm", "design: half of 1 mm; calibration by hand"),
    "tool_offset_deg": shift(0.4, "deg", "assumed: calibration by hand"),
    "pose_noise_mm_deg": amount(0.005, 0.03, "mm and deg", "assumed"),
    # force/torque sensor; torques are 0.057 Nm for each newton
    "wrench_noise_n": amount(0.1, 0.5, "N", "design: half of 1 N"),
    "wrench_bias_n": shift(0.8, "N", "assumed: taring while something moves"),
    "wrench_drift_n_s": shift(0.03, "N/s", "assumed: warming up"),
    "wrench_gain": ratio(0.95, 1.05, "x true", "assumed: a data sheet's 5 %"),
    "crosstalk": shift(0.02, "of another channel", "assumed: a data sheet's 2 %"),
    "hysteresis_n": amount(0.05, 0.3, "N, to each side", "assumed"),
    "quantum_n": amount(0.01, 0.1, "N", "assumed"),
    "wrench_cutoff_hz": ratio(70.0, 200.0, "Hz", "assumed: the sensor's own filter", centre=120.0),
    "resonance_hz": Range(
        55.0, 100.0, 75.0, "Hz", "assumed: gripper on its sensor", log=True, limit=(40.0, 120.0)
    ),
    "resonance_damping": ratio(0.02, 0.06, "of critical", "assumed: bolted steel", centre=0.035),
    "resonance_share": amount(0.15, 0.5, "of the force", "assumed", most=0.9),
    # looks
    "hole_colour": shift(0.1, "rgb 0-1", "assumed: material and light oil"),
}

#: Whole numbers: name -> severity -> lowest and highest.
PEG_COUNTS: Mapping[str, Mapping[str, tuple[int, int]]] = {
    "observation_delay_steps": {"mild": (0, 0), "moderate": (0, 1), "harsh": (0, 2)},
}

#: Everything that an insertion's twin is drawn from.
ALL_RANGES: Mapping[str, Range] = {**RANGES, **PEG_RANGES}
ALL_COUNTS: Mapping[str, Mapping[str, tuple[int, int]]] = {**COUNTS, **PEG_COUNTS}
