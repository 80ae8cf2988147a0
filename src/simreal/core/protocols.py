"""The seams: what a target, a policy and an observer promise. Structural types, no base classes.

Each has a test-kit under `tests/contract/` that proves that an implementation keeps the promise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from simreal.core.types import Action, Condition, Observation, Outcome, TargetSpec


class Target(Protocol):
    """Something a policy can be tried on: a simulator, a twin, a robot; N >= 1 in lockstep.

    Calls go `reset`, then `observe`/`act` alternating, then `outcome`; `reset` starts anew.
    """

    @property
    def spec(self) -> TargetSpec:
        """What this target is; constant over its life."""
        ...

    def reset(self, conditions: Sequence[Condition]) -> None:
        """Bring N = len(conditions) worlds to their initial conditions, 1 <= N <= spec.batch."""
        ...

    def observe(self, images: bool = True) -> Observation:
        """The present observation; with `images=False` none is rendered or read."""
        ...

    def act(self, actions: Action) -> None:
        """Command absolute joint targets (N, J) and let one control period pass.

        Non-finite or wrongly shaped actions raise ValueError and move nothing.
        """
        ...

    def outcome(self) -> Outcome:
        """How the N episodes stand now."""
        ...

    def close(self) -> None:
        """Let go of processes, devices and memory. Calling it twice is allowed."""
        ...


class Policy(Protocol):
    """Maps observations to actions for N worlds in lockstep."""

    def reset(self, n: int) -> None:
        """Forget all episodes; the next `act` starts N new ones."""
        ...

    def looks(self) -> bool:
        """Whether the next `act` reads images (a policy in the middle of a chunk does not)."""
        ...

    def act(self, observation: Observation) -> Action:
        """Absolute joint targets (N, J), LeRobot units."""
        ...


class Observer(Protocol):
    """Watches episodes as they run: recorders, meters, film makers."""

    def on_reset(self, conditions: Sequence[Condition]) -> None:
        """N episodes are about to start."""
        ...

    def on_step(self, step: int, observation: Observation, actions: Action) -> None:
        """`actions` answer `observation` and are about to be executed."""
        ...

    def on_end(self, outcome: Outcome) -> None:
        """All N episodes are over."""
        ...
