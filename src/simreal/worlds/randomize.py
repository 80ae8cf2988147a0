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
from simreal.worlds.robot import Robot
from simreal.worlds.scene import Scene
from simreal.worlds.settings import Settings
from simreal.worlds.starts import Starts, starts_from_json
from simreal.worlds.terms_visual import VISUAL
from simreal.worlds.variation import OPERATIONS, Axis, Operation, axis_from_json

#: Names of the terms that change only what cameras see.
_LOOKS = frozenset(term.name for term in VISUAL)

#: Draws after which a profile is called unsolvable.
RETRIES = 50


@dataclass(frozen=True)
class Profile:
    """A named set of axes, one a term, and how often initial values lie within which bounds."""

    name: str
    axes: tuple[Axis, ...] = ()
    starts: tuple[Starts, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """A JSON value that `profile_from_json` turns back into an equal profile."""
        content = {"name": self.name, "axes": {axis.term: axis.to_json() for axis in self.axes}}
        return content | ({"starts": [s.to_json() for s in self.starts]} if self.starts else {})


def profile_from_json(content: Mapping[str, Any], robot: Robot) -> Profile:
    """Read a profile of what can be randomized about a robot and its task.

    Raises:
        UsageError: naming an unknown axis, distribution or operation, or an impossible range.
    """
    for key in content:
        if key not in ("name", "axes", "starts"):
            raise unknown("entry of a profile", key, ("name", "axes", "starts"))
    axes = content.get("axes", {})
    if not isinstance(axes, Mapping) or not all(isinstance(a, Mapping) for a in axes.values()):
        raise UsageError(
            "Each axis of a profile is a table [axes.NAME] with operation, distribution and its "
            f"numbers; got axes = {axes!r}."
        )
    for term in axes:
        if term not in robot.terms:
            raise unknown("axis", term, robot.terms)
    return Profile(
        str(content.get("name", "unnamed")),
        tuple(axis_from_json(term, axis) for term, axis in axes.items()),
        starts_from_json(content.get("starts", ())),
    )


def profile(name: str, robot: Robot) -> Profile:
    """A robot's built-in profile (`none`, `visual`, `dynamics`, `full`), or one from a TOML file.

    Raises:
        UsageError: for an unknown name, a missing or broken file, or a bad axis.
    """
    if name in robot.profiles:
        return Profile(name, robot.profiles[name])
    path = Path(name)
    if not path.is_file():
        raise unknown("randomization profile (and no such file)", name, robot.profiles)
    try:
        content = tomllib.loads(path.read_text())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"Profile {path} is not valid TOML: {error}.") from error
    return profile_from_json({"name": path.stem, **content}, robot)


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
                axis,
                scene.robot.terms[axis.term].size,
                seed,
                index if axis.term in _LOOKS else index // appearances,
                attempt,
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
    "physics.jnt_stiffness",
    "physics.actuator_gainprm",
    "physics.actuator_dynprm",
    "look.geom_size",
    "look.cam_fovy",
    "look.light_diffuse",
    "look.light_ambient",
    "control.action_latency_s",
    "control.observation_delay_steps",
    "control.encoder_noise_deg",
    "control.wrench_noise",
    "control.wrench_cutoff_hz",
    "image.colour_gain",
    "image.noise_std",
)

#: What is added to a force/torque reading, and the most that a reading, a float32, can hold safely.
_READINGS = (
    ("control.wrench_noise", "N or Nm"),
    ("control.wrench_bias", "N or Nm"),
    ("control.wrench_drift", "N/s or Nm/s"),
)
MOST_READING = 1e6


def impossible(settings: Settings) -> str | None:
    """Which quantity no world can have, or None."""
    for name in _NOT_NEGATIVE:
        if name in settings.edited and float(settings.value(name).min()) < 0:
            return f"{name} below zero"
    for name, unit in _READINGS:
        largest = float(np.abs(settings.value(name)).max())
        if name in settings.edited and not largest <= MOST_READING:
            return f"{name} of {largest:.3g} {unit}, limit {MOST_READING:.0e}"
    return None


def _values(axis: Axis, size: int, seed: int, index: int, attempt: int) -> tuple[float, ...]:
    rng = generator(seed, f"axis/{axis.term}/{attempt}", index)
    return tuple(float(x) for x in axis.distribution.draw(rng, size))


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
    for term in scene.robot.terms.values():
        if term.name in values:
            operation, numbers = values[term.name]
            term.apply(settings, operation, np.array(numbers))
    return settings
