"""Test-kit: one hand-made episode of an insertion for each kind of failure.

    from insert_episodes import HAND_MADE, play
    outcome = play("wedged")

Each is a start over the hole, what is peculiar about this world, and tool poses held for a while;
another target of the same task (another engine, a rig with a person at it) must call them the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from simreal.core.types import Condition, Outcome
from simreal.worlds.peg_rig import to_boundary
from simreal.worlds.randomize import Profile
from simreal.worlds.simulated import SimConfig, simulated_world
from simreal.worlds.tasks import task
from simreal.worlds.variation import Axis, Uniform

#: A hole straight ahead, the peg straight in the hand, 12 mm above it.
CENTRED = dict.fromkeys(task("insert").reset_names, 0.0) | {
    "hole_x_m": 0.45,
    "start_z_m": 0.012,
    "clearance_m": 0.0002,
}
HOLE_M = np.array([0.45, 0.0, 0.03])


@dataclass(frozen=True)
class Held:
    """A target of the tool held for `steps` control steps.

    aside_mm, up_mm: from the middle of the mouth, along x and z. lean_deg: about y.
    """

    aside_mm: float
    up_mm: float
    lean_deg: float
    steps: int

    @property
    def target(self) -> np.ndarray:
        """The channels, (1, 6) mm and degrees."""
        pose = np.zeros(6)
        pose[:3] = HOLE_M + np.array([self.aside_mm, 0.0, self.up_mm]) / 1e3
        pose[4] = np.deg2rad(self.lean_deg)
        return to_boundary(pose[None])


@dataclass(frozen=True)
class HandMade:
    """What happens, in order; and, by the name of its randomization term, what is peculiar."""

    why: str
    moves: tuple[Held, ...]
    world: dict[str, tuple[str, float]] = field(default_factory=dict)
    start: dict[str, float] = field(default_factory=dict)


HAND_MADE = {
    "missed hole": HandMade(
        "pressed on the plate, two centimetres beside the hole",
        (Held(20, 4, 0, 15), Held(20, -3, 0, 40)),
    ),
    "wedged": HandMade(
        "leaning on both sides at less than friction times diameter, and pushed",
        (Held(0, -1.5, 0, 25), Held(0, -1.5, 8, 15), Held(0, -12, 9, 40)),
        {"hole_friction": ("set", 0.5)},
    ),
    "jammed": HandMade(
        "leaning on both sides, deeper than that, and pushed",
        (Held(0, 6, 3, 20), Held(0, -4, 3, 30), Held(0, -12, 3, 30)),
        {"hole_friction": ("set", 0.2)},
    ),
    "slipped in hand": HandMade(
        "a loose grip, and pressed on the plate",
        (Held(20, 4, 0, 15), Held(20, -12, 0, 30)),
        {"grip": ("scale", 0.15)},
    ),
    "dropped": HandMade(
        "a grip that holds nothing, and pressed on the plate",
        (Held(20, 4, 0, 15), Held(20, -20, 0, 40)),
        {"grip": ("scale", 0.1)},
    ),
    "force stop": HandMade(
        "onto the plate at full speed",
        (Held(20, 20, 0, 10), Held(20, -200, 0, 20)),
        start={"start_z_m": 0.02},
    ),
    "timed out": HandMade(
        "in by a quarter, and left there",
        (Held(0, -6, 0, 30), Held(0, -5.5, 0, 30)),
    ),
}


def play(kind: str) -> Outcome:
    """How the hand-made episode of a kind of failure is judged."""
    made = HAND_MADE[kind]
    axes = tuple(Axis(term, op, Uniform(x, x)) for term, (op, x) in made.world.items())  # type: ignore[arg-type]
    world = simulated_world(SimConfig(task="insert", profile=Profile(kind, axes), batch=1))
    world.reset([Condition(0, "demonstrations", CENTRED | made.start, seed=0)])
    for held in made.moves:
        for _ in range(held.steps):
            world.act(held.target)
    return world.outcome()
