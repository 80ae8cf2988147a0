"""Target profiles: how a target looks and behaves, as data in four factors.

A profile says in which way a target differs from the nominal simulation. Everything it can say
belongs to exactly one factor: `visual`, `dynamics`, `sensing` or `actuation`; what it does not say
is nominal. It may be written by hand, come from a calibration, or be that of a known target.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from simreal.core.errors import unknown
from simreal.robots.effects import CameraParameters
from simreal.robots.servo import BASE_FRICTION_NM, JOINTS, ServoParameters
from simreal.worlds.so101_rig import SO101
from simreal.worlds.terms_visual import VISUAL

#: The factors, in the order in which they are shown.
FACTORS = ("visual", "dynamics", "sensing", "actuation")

_VISUAL = frozenset(term.name for term in VISUAL)
_SENSING = frozenset({"joint_offset", "observation_delay", "encoder_noise"})
_ACTUATION = frozenset({"actuator_gain", "joint_damping", "joint_friction", "action_latency"})


def _factor(axis: str) -> str:
    for factor, axes in (("visual", _VISUAL), ("sensing", _SENSING), ("actuation", _ACTUATION)):
        if axis in axes:
            return factor
    return "dynamics"


#: Axis of randomization -> its factor.
AXES: Mapping[str, str] = {name: _factor(name) for name in SO101.terms}
#: What else a profile can say (a field of `TargetProfile`) -> its factor.
EXTRAS: Mapping[str, str] = {
    "textures": "visual",
    "clutter_shapes": "visual",
    "scene_camera": "visual",
    "wrist_camera": "visual",
    "encoder_counts": "sensing",
    "servo": "actuation",
}
#: Banks of textures by name; anything else is a folder of pictures.
TEXTURES = ("train", "twin")
CLUTTER_SHAPES = ("training", "unseen")

#: The simulation's own servo, in the words of the servo model: what a table does not name.
NOMINAL_SERVO = ServoParameters(
    gain_ratio=(1.0,) * JOINTS,
    bias_rad=(0.0,) * JOINTS,
    play_rad=(0.0,) * JOINTS,
    dead_band_rad=(0.0,) * JOINTS,
    friction_nm=(BASE_FRICTION_NM,) * JOINTS,
    stiction_ratio=(1.0,) * JOINTS,
    stribeck_rad_s=0.1,
    max_speed_rad_s=1000.0,
    latency_s=0.0,
    jitter_s=0.0,
)


@dataclass(frozen=True)
class Setting:
    """One axis at a fixed value: `operation(nominal, values)`, units as the axis says."""

    axis: str
    operation: str
    values: tuple[float, ...]


@dataclass(frozen=True)
class TargetProfile:
    """A target described. What is left at its default is as in the nominal simulation.

    source: where the description comes from. task: the task it was made for, None for any. seed:
    feeds the noise of servo and cameras. textures: the bank that texture numbers count in.
    """

    name: str
    source: str = "by hand"
    task: str | None = None
    seed: int = 0
    axes: tuple[Setting, ...] = ()
    textures: str = "train"
    clutter_shapes: str = "training"
    scene_camera: CameraParameters | None = None
    wrist_camera: CameraParameters | None = None
    encoder_counts: bool = False
    servo: ServoParameters | None = None

    def only(self, factors: Iterable[str]) -> TargetProfile:
        """The same target with every other factor nominal."""
        kept = frozenset(factors)
        for factor in kept:
            if factor not in FACTORS:
                raise unknown("factor", factor, FACTORS)
        defaults = {f.name: f.default for f in fields(self)}
        masked: dict[str, Any] = {
            name: defaults[name] for name, factor in EXTRAS.items() if factor not in kept
        }
        axes = tuple(setting for setting in self.axes if AXES[setting.axis] in kept)
        return replace(self, axes=axes, **masked)

    @property
    def said(self) -> tuple[str, ...]:
        """The factors it says anything about."""
        nothing = self.only(())
        return tuple(f for f in FACTORS if self.only([f]) != nothing)

    def content(self) -> dict[str, Any]:
        """What decides the simulation, as a JSON value: all but name and source."""
        return {k: v for k, v in asdict(self).items() if k not in ("name", "source", "task")}
