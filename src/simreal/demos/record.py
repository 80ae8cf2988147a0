"""Recording: physics first, pictures later.

A shard of episodes is played in lockstep without images; then every kept trajectory is rendered
under as many appearances as wanted, in large batches.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from simreal.core.loop import run_episodes
from simreal.core.protocols import Policy
from simreal.core.seeds import generator, integer
from simreal.core.types import (
    Action,
    Bools,
    Condition,
    Episode,
    Floats,
    Observation,
    Outcome,
    Scenario,
)
from simreal.demos.experts import EXPERT, Style
from simreal.demos.leading import Led
from simreal.demos.live import TAIL, window_of
from simreal.demos.operators import Operator, make_operator
from simreal.worlds.simulated import SimConfig, draw_scenario, simulated_world
from simreal.worlds.starts import starting
from simreal.worlds.tasks import task as find_task
from simreal.worlds.views import Taken
from simreal.worlds.world import World


@dataclass(frozen=True)
class SimShard:
    """One unit of simulated collection: demonstrations `first` to `first + count - 1`."""

    config: SimConfig
    first: int
    count: int
    style: Style = EXPERT


@dataclass(frozen=True)
class Failed:
    """A demonstration that was not stored, and under what it failed."""

    index: int
    failure: str
    scenario: Scenario


@dataclass(frozen=True)
class ShardResult:
    """What a shard made. Seconds are wall time of one process.

    collisions: how often the arm hit what it should not, failed episodes included.
    """

    episodes: tuple[Episode, ...]
    failed: tuple[Failed, ...]
    control_steps: int
    physics_s: float
    render_s: float
    rejected: int
    collisions: int = 0


@dataclass
class Tape:
    """An `Observer` that keeps what is needed to render and store N episodes later."""

    world: World
    operator: Operator
    joints: list[npt.NDArray[np.float32]] = field(default_factory=list)
    labels: list[Action] = field(default_factory=list)
    taken: list[Taken] = field(default_factory=list)
    diverged: list[Bools] = field(default_factory=list)
    wrench: list[Floats | None] = field(default_factory=list)

    def on_reset(self, conditions: Sequence[Condition]) -> None:
        """Start a fresh tape."""
        self.joints, self.labels, self.taken, self.diverged = [], [], [], []
        self.wrench = []

    def on_step(self, step: int, observation: Observation, actions: Action) -> None:
        """Keep measured joints, intended targets, and where everything was in the pictures."""
        self.joints.append(observation.joint_pos)
        self.labels.append(self.operator.labels)
        self.wrench.append(observation.wrench)
        self.taken.append(self.world.seen())
        self.diverged.append(self.world.physics.diverged.copy())

    def on_end(self, outcome: Outcome) -> None:
        """Nothing is left to do."""

    def failure(self, i: int, outcome: Outcome) -> str | None:
        """Why episode i is not stored, or None. The tail of a success may diverge as well."""
        if not outcome.success[i]:
            return str(outcome.failure[i])
        return "diverged" if self.diverged[int(outcome.steps[i]) + TAIL - 1][i] else None


def conditions_for(config: SimConfig, first: int, count: int) -> list[Condition]:
    """Initial conditions of demonstrations; drawn apart from those of trials."""
    drawn = starting(find_task(config.task), config.profile.starts)
    return [
        Condition(
            index=i * config.appearances,
            suite="demonstrations",
            reset=drawn(generator(config.seed, "demonstration/reset", i)),
            seed=integer(config.seed, "demonstration/noise", i),
        )
        for i in range(first, first + count)
    ]


def simulate_shard(shard: SimShard, leader: Policy | None = None) -> ShardResult:
    """Play and render one shard. Depends on its arguments alone, not on who runs it.

    leader: acts in turns with the expert, whose labels are stored (`Led`).
    """
    config = shard.config
    task = find_task(config.task)
    world = _world(replace(config, batch=max(config.batch, shard.count)))
    operator = make_operator(task, world.privileged, shard.style, config.seed)
    if leader is not None:
        operator = Led(operator, leader, config.seed)
    operator.start_at(shard.first)
    tape = Tape(world, operator)
    conditions = conditions_for(config, shard.first, shard.count)
    started = time.perf_counter()
    outcome = run_episodes(world, operator, conditions, task.horizon, [tape], tail=TAIL)
    played = time.perf_counter()
    episodes: list[Episode] = []
    failed: list[Failed] = []
    for i in range(shard.count):
        failure = tape.failure(i, outcome)
        if failure is None:
            found = _appearances(shard, world, tape, i, conditions[i], outcome)
            episodes += [_led(e) for e in found] if leader is not None else found
        else:
            scenario = draw_scenario(config, conditions[i].index)[0]
            failed.append(Failed(shard.first + i, failure, scenario))
    steps = int(outcome.steps[outcome.success].sum())
    return ShardResult(
        tuple(episodes),
        tuple(failed),
        steps,
        played - started,
        time.perf_counter() - played,
        sum(draw_scenario(config, c.index)[0].rejected for c in conditions),
        int(outcome.collisions.sum()),
    )


_worlds: dict[SimConfig, World] = {}


def _world(config: SimConfig) -> World:
    """One world a process: its compiled renderer is worth keeping between shards."""
    if config not in _worlds:
        for old in _worlds.values():
            old.close()
        _worlds.clear()
        _worlds[config] = simulated_world(config)
    return _worlds[config]


def _appearances(
    shard: SimShard, world: World, tape: Tape, i: int, condition: Condition, outcome: Outcome
) -> list[Episode]:
    """Episode i of the tape under each of its appearances."""
    config = shard.config
    length = int(outcome.steps[i]) + TAIL
    joints = np.stack([tape.joints[t][i] for t in range(length)])
    actions = np.stack([tape.labels[t][i] for t in range(length)])
    taken = [tape.taken[t].row(i) for t in range(length)]
    episodes = []
    for k in range(config.appearances):
        scenario, settings = draw_scenario(config, condition.index + k)
        images = world.photograph(taken, settings, condition.seed + k)
        episodes.append(
            Episode(
                joint_pos=joints,
                actions=actions,
                images=images,
                task=find_task(config.task).text,
                success=True,
                source="sim",
                scenario=scenario,
                provenance=_provenance(shard, condition, int(outcome.steps[i])),
                wrench=window_of(tape.wrench[:length], i),
            )
        )
    return episodes


def _led(episode: Episode) -> Episode:
    """Its provenance says that a policy acted at times."""
    return replace(episode, provenance={**episode.provenance, "led": True})


def _provenance(shard: SimShard, condition: Condition, steps: int) -> dict[str, Any]:
    config = shard.config
    return {
        "operator": shard.style.name,
        "seed": config.seed,
        "form": config.form,
        "shadows": config.shadows,
        "appearances": config.appearances,
        "condition": condition.to_json(),
        "steps": steps,
    }
