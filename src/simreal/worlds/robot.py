"""What a robot is to a world: its model, channels, sensors, randomization, and how it is run.

`Robot` is a value a task names; `Rig` runs N copies of it. Everything a world does that depends on
the robot goes through these two, so `world.py` knows no joint, no unit and no sensor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

import mujoco
import numpy as np
import numpy.typing as npt

from simreal.core.types import Condition, Floats

if TYPE_CHECKING:
    from simreal.worlds.physics import Physics
    from simreal.worlds.scene import Scene
    from simreal.worlds.settings import Settings
    from simreal.worlds.task import Task
    from simreal.worlds.terms import Term
    from simreal.worlds.variation import Axis

Array = npt.NDArray[np.float64]


class Rig(Protocol):
    """N copies of a robot at its task. SI units; positions and targets are (N, J) in channels."""

    def start(
        self, physics: Physics, settings: Sequence[Settings], conditions: Sequence[Condition]
    ) -> None:
        """Bring N worlds to their conditions and remember how they began.

        Raises:
            UsageError: for a condition that the robot cannot take up.
        """
        ...

    def stepped(self) -> None:
        """Take in what happened over a control step that has just been played."""
        ...

    def positions(self) -> Array:
        """True positions of the channels."""
        ...

    def state(self) -> Any:
        """What the task judges by (see its module)."""
        ...

    def privileged(self) -> Any:
        """What a scripted expert may know."""
        ...

    def hit_n(self) -> Array:
        """(N,) force with which the robot meets what it should not, or that its wrist feels where
        it is to touch things, over the last control step.
        """
        ...

    def wrench(self) -> Floats | None:
        """The force/torque window (see `Observation.wrench`) before noise; None: no sensor."""
        ...


@dataclass(frozen=True)
class View:
    """Where the scene camera stands: position and point looked at, m, world frame; degrees."""

    position: tuple[float, float, float]
    aim: tuple[float, float, float]
    fovy_deg: float


@dataclass(frozen=True)
class Robot:
    """A robot.

    channels: what is measured and commanded, in order. joints: of the model, in the same number or
    more. to_boundary, to_si: between channel values in SI units and those at every boundary.
    spec: the bare robot; looks: gives it a form in place; finish: adds what refers to the task's
    bodies (sensors). terms: everything about it that can be randomized, in the order of
    application. profiles: the built-in ones. writes: physics fields that its rig or terms write,
    restored at every reset. unsolvable: why it could not do the task under settings, or None.
    """

    name: str
    robot_type: str
    units: str
    channels: tuple[str, ...]
    joints: tuple[str, ...]
    to_boundary: Callable[[Array], Floats]
    to_si: Callable[[npt.NDArray[np.floating]], Array]
    spec: Callable[[], mujoco.MjSpec]
    looks: Callable[[mujoco.MjSpec, Literal["physics", "primitive", "mesh"]], None]
    finish: Callable[[mujoco.MjSpec], None]
    view: View
    terms: Mapping[str, Term]
    profiles: Mapping[str, tuple[Axis, ...]]
    writes: frozenset[str]
    rig: Callable[[Task[Any], Scene], Rig]
    unsolvable: Callable[[Task[Any], Settings], str | None]
    wrench: bool = False
