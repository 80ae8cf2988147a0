"""Recording on a target as an operator drives it: what is stored is what the target showed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from simreal.core.loop import run_episodes
from simreal.core.protocols import Policy, Target
from simreal.core.types import (
    Action,
    Condition,
    Episode,
    Floats,
    Images,
    Observation,
    Outcome,
    TargetSpec,
)

#: Control steps kept after success, so that a policy learns to hold.
TAIL = 4


@dataclass(frozen=True)
class Attempt:
    """One try of an operator: what it cost in robot time, and the episode if it is worth keeping.

    seconds: from the first command to success or giving up. episode: None where it failed.
    """

    condition: int
    success: bool
    failure: str | None
    seconds: float
    episode: Episode | None


@dataclass
class LiveTape:
    """An `Observer` that keeps all N episodes as the target showed them."""

    joints: list[npt.NDArray[np.float32]] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)
    images: list[Images] = field(default_factory=list)
    wrench: list[Floats | None] = field(default_factory=list)

    def on_reset(self, conditions: Sequence[Condition]) -> None:
        """Start a fresh tape."""
        self.joints, self.actions, self.images, self.wrench = [], [], [], []

    def on_step(self, step: int, observation: Observation, actions: Action) -> None:
        """Keep one frame of every world."""
        self.joints.append(observation.joint_pos)
        self.actions.append(actions)
        self.images.append(observation.images)
        self.wrench.append(observation.wrench)

    def on_end(self, outcome: Outcome) -> None:
        """Nothing is left to do."""

    def episode(self, i: int, length: int, text: str, provenance: Mapping[str, Any]) -> Episode:
        """The first `length` frames of world i."""
        cameras = self.images[0]
        return Episode(
            joint_pos=np.stack([j[i] for j in self.joints[:length]]),
            actions=np.stack([a[i] for a in self.actions[:length]]),
            images={c: np.stack([f[c][i] for f in self.images[:length]]) for c in cameras},
            task=text,
            success=True,
            source="real",
            provenance=provenance,
            wrench=window_of(self.wrench[:length], i),
        )


def window_of(wrench: Sequence[Floats | None], i: int) -> Floats | None:
    """The force/torque windows (T, S, 6) of world i, or None where there is no sensor."""
    kept = [w[i] for w in wrench if w is not None]
    return np.stack(kept) if kept else None


class Watching:
    """A policy that also has its target take pictures at every step (for recording)."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy

    def reset(self, n: int) -> None:
        """Start N episodes."""
        self._policy.reset(n)

    def looks(self) -> bool:
        """Always: every frame is stored."""
        return True

    def act(self, observation: Observation) -> Action:
        """What the wrapped policy does."""
        return self._policy.act(observation)


def record_live(
    target: Target, operator: Policy, conditions: Sequence[Condition], horizon: int, text: str
) -> list[Attempt]:
    """Let an operator try every condition once; successes become episodes.

    horizon: control steps after which the operator gives up. text: the task in words.
    """
    tape = LiveTape()
    outcome = run_episodes(target, Watching(operator), conditions, horizon, [tape], tail=TAIL)
    rate = target.spec.rate_hz
    attempts = []
    for i, condition in enumerate(conditions):
        success = bool(outcome.success[i])
        length = min(int(outcome.steps[i]) + TAIL, len(tape.joints))
        provenance = _provenance(target.spec, condition)
        episode = tape.episode(i, length, text, provenance) if success else None
        seconds = float(outcome.steps[i]) / rate
        attempts.append(Attempt(condition.index, success, outcome.failure[i], seconds, episode))
    return attempts


def _provenance(spec: TargetSpec, condition: Condition) -> dict[str, Any]:
    """Where an episode comes from; the label says when that was a stand-in for a robot."""
    return {
        "condition": condition.to_json(),
        "operator": "human-like",
        "target": spec.name,
        "label": spec.label,
    }
