"""The one episode loop. Simulation, twin, robot, recording and evaluation all run through it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from simreal.core.protocols import Observer, Policy, Target
from simreal.core.types import Condition, Outcome


def run_episodes(
    target: Target,
    policy: Policy,
    conditions: Sequence[Condition],
    horizon: int,
    observers: Sequence[Observer] = (),
    tail: int = 0,
) -> Outcome:
    """Run N = len(conditions) episodes in lockstep until all are done or `horizon` steps passed.

    Finished episodes stay in the batch as padding, so that what the policy computes for one never
    depends on when another ends. Images are asked for only when the policy looks.

    tail: steps played on afterwards, for observers that keep what follows an end; they do not
    change the outcome.
    """
    target.reset(conditions)
    policy.reset(len(conditions))
    for observer in observers:
        observer.on_reset(conditions)
    played = 0
    for step in range(horizon):
        _step(step, target, policy, observers)
        played += 1
        if target.outcome().done.all():
            break
    outcome = target.outcome()
    for step in range(played, played + tail):
        _step(step, target, policy, observers)
    for observer in observers:
        observer.on_end(outcome)
    return outcome


def _step(step: int, target: Target, policy: Policy, observers: Sequence[Observer]) -> None:
    observation = target.observe(images=policy.looks())
    actions = np.asarray(policy.act(observation), dtype=np.float32)
    for observer in observers:
        observer.on_step(step, observation, actions)
    target.act(actions)
