"""Profiles: named sets of randomized axes, the scenarios drawn from them, and their application.

A scenario depends on (profile, seed, index) alone. Each axis draws from a generator of its own, so
that adding an axis to a profile leaves the others' values as they were.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from simreal.core.errors import UsageError, unknown
from simreal.core.seeds import generator
from simreal.core.types import Scenario
from simreal.worlds.scene import Scene
from simreal.worlds.settings import Settings
from simreal.worlds.terms import DYNAMICS, Term
from simreal.worlds.terms_visual import VISUAL
from simreal.worlds.variation import (
    OPERATIONS,
    Axis,
    Integers,
    LogUniform,
    Operation,
    Uniform,
    axis_from_json,
)

#: Every term, in the order of application.
TERMS: Mapping[str, Term] = {term.name: term for term in (*DYNAMICS, *VISUAL)}

#: Names of the terms that change only what cameras see.
_LOOKS = frozenset(term.name for term in VISUAL)

#: Draws after which a profile is called unsolvable.
RETRIES = 50


@dataclass(frozen=True)
class Profile:
    """A named set of axes, one a term."""

    name: str
    axes: tuple[Axis, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """A JSON value that `profile_from_json` turns back into an equal profile."""
        return {"name": self.name, "axes": {axis.term: axis.to_json() for axis in self.axes}}


def profile_from_json(content: Mapping[str, Any]) -> Profile:
    """Read a profile.

    Raises:
        UsageError: naming an unknown axis, distribution or operation, or an impossible range.
    """
    for key in content:
        if key not in ("name", "axes"):
            raise unknown("entry of a profile", key, ("name", "axes"))
    axes = content.get("axes", {})
    if not isinstance(axes, Mapping) or not all(isinstance(a, Mapping) for a in axes.values()):
        raise UsageError(
            "Each axis of a profile is a table [axes.NAME] with operation, distribution and its "
            f"numbers; got axes = {axes!r}."
        )
    for term in axes:
        if term not in TERMS:
            raise unknown("axis", term, TERMS)
    return Profile(
        str(content.get("name", "unnamed")),
        tuple(axis_from_json(term, axis) for term, axis in axes.items()),
    )


#: Sources: grasping and insertion ranges of published sim-to-real systems as gathered in the
#: design notes (camera 25-50 mm and up to 10 degrees, field of view 2 degrees, light direction 20
#: degrees, mass x0.8-1.2 and wide x0.5-1.5, joint offset 0.05 rad, latency 0-3 steps).
_DYNAMICS = (
    Axis("object_size", "scale", Uniform(0.88, 1.12)),
    Axis("object_mass", "scale", Uniform(0.5, 1.5)),
    Axis("object_inertia", "scale", Uniform(0.8, 1.2)),
    Axis("object_friction", "set", LogUniform(0.4, 1.2)),
    Axis("gripper_friction", "set", LogUniform(0.6, 1.4)),
    Axis("table_friction", "set", LogUniform(0.3, 1.0)),
    Axis("object_position", "add", Uniform(-0.005, 0.005)),
    Axis("object_yaw", "add", Uniform(-0.3, 0.3)),
    Axis("table_height", "add", Uniform(-0.006, 0.006)),
    Axis("table_tilt", "add", Uniform(-1.0, 1.0)),
    Axis("actuator_gain", "scale", Uniform(0.8, 1.25)),
    Axis("joint_damping", "scale", Uniform(0.8, 1.3)),
    Axis("joint_friction", "scale", Uniform(0.5, 1.5)),
    Axis("joint_offset", "add", Uniform(-2.0, 2.0)),
    Axis("action_latency", "set", Uniform(0.0, 0.06)),
    Axis("observation_delay", "set", Integers(0, 1)),
    Axis("encoder_noise", "set", Uniform(0.0, 0.2)),
)
_VISUAL = (
    Axis("scene_camera_position", "add", Uniform(-0.025, 0.025)),
    Axis("scene_camera_rotation", "add", Uniform(-4.0, 4.0)),
    Axis("wrist_camera_position", "add", Uniform(-0.005, 0.005)),
    Axis("wrist_camera_rotation", "add", Uniform(-3.0, 3.0)),
    Axis("camera_fov", "add", Uniform(-2.0, 2.0)),
    Axis("exposure", "add", Uniform(-0.6, 0.6)),
    Axis("colour_cast", "scale", Uniform(0.88, 1.12)),
    Axis("image_noise", "set", Uniform(0.0, 0.03)),
    Axis("light_count", "set", Integers(1, 3)),
    Axis("light_direction", "add", Uniform(-25.0, 25.0)),
    Axis("light_intensity", "scale", Uniform(0.5, 1.6)),
    Axis("light_colour", "scale", Uniform(0.85, 1.15)),
    Axis("light_ambient", "scale", Uniform(0.5, 2.0)),
    Axis("light_shadow", "set", Integers(0, 1)),
    Axis("table_colour", "set", Uniform(0.1, 0.95)),
    Axis("background_colour", "set", Uniform(0.1, 0.95)),
    Axis("object_colour", "add", Uniform(-0.1, 0.1)),
    Axis("robot_colour", "add", Uniform(-0.12, 0.12)),
    Axis("table_texture", "set", Integers(0, 24)),
    Axis("background_texture", "set", Integers(0, 24)),
    Axis("texture_repeat", "scale", Uniform(0.5, 4.0)),
    Axis("clutter_count", "set", Integers(0, 5)),
    Axis("clutter_size", "scale", Uniform(0.5, 1.8)),
    Axis("clutter_colour", "set", Uniform(0.0, 1.0)),
    Axis("clutter_place", "set", Uniform(0.0, 1.0)),
)

_BUILT_IN: Mapping[str, tuple[Axis, ...]] = {
    "none": (),
    "visual": _VISUAL,
    "dynamics": _DYNAMICS,
    "full": (*_DYNAMICS, *_VISUAL),
}


def profile(name: str) -> Profile:
    """A built-in profile (`none`, `visual`, `dynamics`, `full`), or one from a TOML file.

    Raises:
        UsageError: for an unknown name, a missing or broken file, or a bad axis.
    """
    if name in _BUILT_IN:
        return Profile(name, _BUILT_IN[name])
    path = Path(name)
    if not path.is_file():
        raise unknown("randomization profile (and no such file)", name, _BUILT_IN)
    try:
        content = tomllib.loads(path.read_text())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"Profile {path} is not valid TOML: {error}.") from error
    return profile_from_json({"name": path.stem, **content})


Solvable = Callable[[Settings], str | None]


def draw(
    scene: Scene,
    chosen: Profile,
    seed: int,
    index: int,
    solvable: Solvable | None = None,
    appearances: int = 1,
) -> tuple[Scenario, Settings]:
    """The scenario (profile, seed, index) and its settings.

    appearances: this many consecutive indices share their dynamics and differ in their looks.
    solvable: says why a draw cannot be solved, or None; such draws are redrawn and counted in
    `Scenario.rejected`.

    Raises:
        UsageError: when no solvable draw came up in `RETRIES` attempts, with the last reason.
    """
    reason: str | None = None
    for attempt in range(RETRIES):
        values = {
            axis.term: _values(
                axis, seed, index if axis.term in _LOOKS else index // appearances, attempt
            )
            for axis in chosen.axes
        }
        scenario = Scenario(chosen.name, seed, index, values, rejected=attempt)
        settings = settings_of(scene, chosen, scenario)
        reason = impossible(settings) or (solvable(settings) if solvable else None)
        if reason is None:
            return scenario, settings
    raise UsageError(
        f"Profile {chosen.name!r}: no solvable draw in {RETRIES} attempts at seed {seed}, index "
        f"{index} (last: {reason}). Narrow its ranges."
    )


#: Fields that no world has below zero.
_NOT_NEGATIVE = (
    "physics.geom_size",
    "physics.geom_friction",
    "physics.body_mass",
    "physics.body_inertia",
    "physics.dof_damping",
    "physics.dof_frictionloss",
    "physics.actuator_gainprm",
    "look.geom_size",
    "look.cam_fovy",
    "look.light_diffuse",
    "look.light_ambient",
    "control.action_latency_s",
    "control.observation_delay_steps",
    "control.encoder_noise_deg",
    "image.colour_gain",
    "image.noise_std",
)


def impossible(settings: Settings) -> str | None:
    """Which quantity no world can have, or None."""
    for name in _NOT_NEGATIVE:
        if name in settings.edited and float(settings.value(name).min()) < 0:
            return f"{name} below zero"
    return None


def _values(axis: Axis, seed: int, index: int, attempt: int) -> tuple[float, ...]:
    rng = generator(seed, f"axis/{axis.term}/{attempt}", index)
    return tuple(float(x) for x in axis.distribution.draw(rng, TERMS[axis.term].size))


def settings_of(scene: Scene, chosen: Profile, scenario: Scenario) -> Settings:
    """Turn a saved scenario back into settings; bit for bit those it was drawn with."""
    operations = {axis.term: OPERATIONS[axis.operation] for axis in chosen.axes}
    if missing := sorted(scenario.values.keys() - operations.keys()):
        raise UsageError(
            f"The scenario has values for {', '.join(missing)}, which profile {chosen.name!r} does "
            "not randomize; give the profile it was drawn from."
        )
    return edited(scene, {k: (operations[k], v) for k, v in scenario.values.items()})


def edited(scene: Scene, values: Mapping[str, tuple[Operation, Sequence[float]]]) -> Settings:
    """Nominal settings with axes at fixed values: axis -> (operation, numbers)."""
    settings = Settings(scene)
    for term in TERMS.values():
        if term.name in values:
            operation, numbers = values[term.name]
            term.apply(settings, operation, np.array(numbers))
    return settings
