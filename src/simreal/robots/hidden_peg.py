"""The hidden parameters of a twin of an insertion: one draw of an arm, a peg, a hole, a sensor.

As in `hidden`: only the twin's server sees them. `PegTwinParameters.world` is what a randomization
profile could also say; `contact`, `fixture`, `arm` and `sensor` are what none can.
"""

from __future__ import annotations

from dataclasses import dataclass

from simreal.robots.hidden_looks import Looks, Numbers, Said, Source, draw_looks
from simreal.robots.peg_effects import ArmParameters, ContactParameters, FixtureParameters
from simreal.robots.ranges_peg import ALL_COUNTS, ALL_RANGES
from simreal.robots.wrench_effects import SensorParameters


@dataclass(frozen=True, kw_only=True)
class PegTwinParameters(Looks):
    """One draw of reality. Six numbers a joint or a channel, in order; two: translation, rotation.

    Ratios multiply the nominal value, offsets, tolerances and biases are added to it. A peg's
    tolerance makes the hole tighter, a hole's wider. wrench_bias_n, wrench_drift_n_s: torques in
    units of force, as in the axes of the same names.
    """

    hole_friction: float
    peg_tolerance_m: float
    hole_tolerance_m: float
    chamfer_m: float
    hole_tilt_rad: Numbers
    hole_height_m: float
    fixture_stiffness_ratio: float
    grasp_stiffness_ratio: float
    grip_ratio: float
    impedance_stiffness_ratio: Numbers
    impedance_damping_ratio: Numbers
    target_smoothing_ratio: float
    joint_friction_ratio: Numbers
    tool_offset_mm: Numbers
    tool_offset_deg: Numbers
    pose_noise_mm_deg: float
    wrench_noise_n: float
    wrench_bias_n: Numbers
    wrench_drift_n_s: Numbers
    hole_colour: Numbers
    contact: ContactParameters
    fixture: FixtureParameters
    arm: ArmParameters
    sensor: SensorParameters

    def world(self) -> tuple[Said, ...]:
        """Everything that a randomization profile could also say."""
        return (
            ("hole_friction", "set", (self.hole_friction,)),
            ("clearance", "add", (self.hole_tolerance_m - self.peg_tolerance_m,)),
            ("chamfer", "add", (self.chamfer_m,)),
            ("hole_position", "add", (0.0, 0.0, self.hole_height_m)),
            ("hole_tilt", "add", self.hole_tilt_rad),
            ("grasp_stiffness", "scale", (self.grasp_stiffness_ratio,)),
            ("fixture_stiffness", "scale", (self.fixture_stiffness_ratio,)),
            ("grip", "scale", (self.grip_ratio,)),
            ("impedance_stiffness", "scale", self.impedance_stiffness_ratio),
            ("impedance_damping", "scale", self.impedance_damping_ratio),
            ("target_smoothing", "scale", (self.target_smoothing_ratio,)),
            ("joint_friction", "scale", self.joint_friction_ratio),
            ("tool_offset", "add", (*self.tool_offset_mm, *self.tool_offset_deg)),
            ("encoder_noise", "set", (self.pose_noise_mm_deg,)),
            ("wrench_noise", "set", (self.wrench_noise_n,)),
            ("wrench_bias", "add", self.wrench_bias_n),
            ("wrench_drift", "add", self.wrench_drift_n_s),
            ("hole_colour", "add", self.hole_colour),
            *super().world(),
        )


def draw_peg(seed: int, severity: str) -> PegTwinParameters:
    """The insertion twin (seed, severity). Each quantity has a generator of its own.

    Raises:
        UsageError: for an unknown severity.
    """
    source = Source(seed, severity, ALL_RANGES, ALL_COUNTS)
    one, several = source.one, source.several
    return PegTwinParameters(
        **draw_looks(source),
        hole_friction=one("hole_friction"),
        peg_tolerance_m=one("peg_tolerance_m"),
        hole_tolerance_m=one("hole_tolerance_m"),
        chamfer_m=one("chamfer_m"),
        hole_tilt_rad=several("hole_tilt_rad", 2),
        hole_height_m=one("hole_height_m"),
        fixture_stiffness_ratio=one("fixture_stiffness_ratio"),
        grasp_stiffness_ratio=one("grasp_stiffness_ratio"),
        grip_ratio=one("grip_ratio"),
        impedance_stiffness_ratio=several("impedance_stiffness_ratio", 2),
        impedance_damping_ratio=several("impedance_damping_ratio", 2),
        target_smoothing_ratio=one("target_smoothing_ratio"),
        joint_friction_ratio=several("joint_friction_ratio", 6),
        tool_offset_mm=several("tool_offset_mm", 3),
        tool_offset_deg=several("tool_offset_deg", 3),
        pose_noise_mm_deg=one("pose_noise_mm_deg"),
        wrench_noise_n=one("wrench_noise_n"),
        wrench_bias_n=several("wrench_bias_n", 6),
        wrench_drift_n_s=several("wrench_drift_n_s", 6),
        hole_colour=several("hole_colour", 3),
        contact=_contact(source),
        fixture=FixtureParameters(
            play_m=one("fixture_play_m"), soft_share=one("fixture_soft_share")
        ),
        arm=_arm(source),
        sensor=_sensor(source),
    )


def _contact(source: Source) -> ContactParameters:
    return ContactParameters(
        stribeck_ratio=source.one("stribeck_ratio"),
        stribeck_m_s=source.one("stribeck_m_s"),
        out_ratio=source.one("out_ratio"),
        lay_ratio=source.one("lay_ratio"),
        mark_depth=source.one("mark_depth"),
        mark_pitch_m=source.one("mark_pitch_m"),
    )


def _arm(source: Source) -> ArmParameters:
    return ArmParameters(
        stiction_ratio=source.several("joint_stiction_ratio", 6),
        stribeck_rad_s=source.one("joint_stribeck_rad_s"),
        play=(source.one("tool_play_m"), source.one("tool_play_rad")),
        max_speed=(source.one("max_speed_m_s"), source.one("max_turn_rad_s")),
        latency_s=source.one("command_latency_s"),
        jitter_s=source.one("command_jitter_s"),
    )


def _sensor(source: Source) -> SensorParameters:
    return SensorParameters(
        gain=source.several("wrench_gain", 6),
        crosstalk=source.several("crosstalk", 30),
        hysteresis_n=source.one("hysteresis_n"),
        resonance_hz=source.one("resonance_hz"),
        resonance_damping=source.one("resonance_damping"),
        resonance_share=source.one("resonance_share"),
        cutoff_hz=source.one("wrench_cutoff_hz"),
        quantum_n=source.one("quantum_n"),
    )
