"""A tiny target that keeps the contract: joints that follow their commands, and grey pictures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from simreal.core.seeds import generator
from simreal.core.types import Action, Condition, Observation, Outcome, TargetSpec

JOINTS = ("shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll", "gripper")
HOME = np.array([0, -50, 35, 75, 0, 40], dtype=np.float32)


class FakeTarget:
    """Half of the way to the target is made each step; success is a pan beyond 20 degrees."""

    def __init__(self, batch: int = 8) -> None:
        self.spec = TargetSpec(
            "fake", "sim", "fake", batch, JOINTS, {"scene": (8, 10)}, 20.0, "pan"
        )
        self.commands: list[Action] = []

    def reset(self, conditions: Sequence[Condition]) -> None:
        if not 1 <= len(conditions) <= self.spec.batch:
            raise ValueError(f"{len(conditions)} conditions; a batch takes 1 to {self.spec.batch}")
        starts = [generator(c.seed, "fake start").uniform(-1, 1, len(JOINTS)) for c in conditions]
        self.position = (HOME + np.array(starts)).astype(np.float32)
        self.seeds, self.step = [c.seed for c in conditions], 0
        self.success = np.zeros(len(conditions), dtype=bool)
        self.commands = []

    def observe(self, images: bool = True) -> Observation:
        noise = [generator(s, "fake encoder", self.step).normal(0, 0.05, 6) for s in self.seeds]
        measured = (self.position + np.array(noise)).astype(np.float32)
        levels = np.clip(128 + self.position[:, :1, None, None], 0, 255).astype(np.uint8)
        pictures = {"scene": np.tile(levels, (1, 8, 10, 3))} if images else {}
        return Observation(measured, pictures, self.step / self.spec.rate_hz)

    def act(self, actions: Action) -> None:
        actions = np.asarray(actions)
        if actions.shape != self.position.shape or not np.isfinite(actions).all():
            raise ValueError(f"actions must be finite and {self.position.shape}")
        self.commands.append(actions.copy())
        self.position = self.position + np.float32(0.5) * (actions - self.position)
        self.step += 1
        self.success |= self.position[:, 0] > 20

    def outcome(self) -> Outcome:
        n = len(self.success)
        return Outcome(
            success=self.success.copy(),
            done=self.success.copy(),
            score=self.success.astype(np.float32),
            failure=tuple(None if s else "never panned" for s in self.success),
            steps=np.full(n, self.step),
            collisions=np.zeros(n, dtype=np.int64),
            peak_force_n=np.full(n, np.nan, dtype=np.float32),
        )

    def close(self) -> None:
        """Nothing is held."""


def conditions(n: int = 3) -> list[Condition]:
    """Conditions that the fake target takes."""
    return [Condition(i, "nominal", {}, seed=100 + i) for i in range(n)]
