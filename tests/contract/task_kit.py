"""Test-kit: is a task whole, solvable and fairly judged?

    from task_kit import check_task
    def test_mine():
        check_task(MY_TASK)

The task need not be registered. A failure is an AssertionError that says what is wrong with it.
Takes some seconds: its scripted expert plays `episodes` nominal episodes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from simreal.core.loop import run_episodes
from simreal.core.seeds import generator
from simreal.core.types import RATE_HZ, Condition, Observation, Outcome, TargetSpec
from simreal.demos.experts import EXPERT
from simreal.demos.operators import make_operator
from simreal.worlds.names import CAMERAS, OBJECT, TABLE, TABLE_PLANE
from simreal.worlds.peg_state import PegState
from simreal.worlds.peghole import HOLE
from simreal.worlds.randomize import Profile, draw, profile
from simreal.worlds.scene import build
from simreal.worlds.settings import Settings
from simreal.worlds.task import Task, TaskState
from simreal.worlds.world import World

EPISODES = 60
#: Share of nominal episodes that the scripted expert must solve.
EXPERT_RATE = 0.97
#: All but one in twenty of them must end within this share of the horizon.
HORIZON_SHARE = 0.75
DRAWS = 200
#: Pixels of the 64 x 64 scene picture that the object must cover at the start.
SEEN_PX = 6


def check_task(task: Task[Any], episodes: int = EPISODES) -> None:
    """Run every check. episodes: how many the expert plays, at least 50."""
    kit = _Kit(task, max(50, episodes))
    kit.check_words()
    kit.check_failures()
    kit.check_scene()
    kit.check_draws()
    kit.check_start()
    kit.check_the_object_is_seen()
    kit.check_expert()
    kit.check_stages()
    kit.check_horizon()
    kit.check_independence()


@dataclass
class _Watch:
    """An observer that keeps every state of N episodes."""

    world: World
    states: list[Any] = field(default_factory=list)
    joints: list[np.ndarray] = field(default_factory=list)

    def on_reset(self, conditions: Sequence[Condition]) -> None:
        self.states, self.joints = [], []

    def on_step(self, step: int, observation: Observation, actions: np.ndarray) -> None:
        self.states.append(self.world.state())
        self.joints.append(observation.joint_pos)

    def on_end(self, outcome: Outcome) -> None:
        self.states.append(self.world.state())


def _place(state: TaskState | PegState) -> np.ndarray:
    """Where the object is: on the table, or in the hole's frame."""
    return state.tip if isinstance(state, PegState) else state.object_pos


class _Kit:
    def __init__(self, task: Task[Any], episodes: int) -> None:
        self.task, self.episodes = task, episodes
        self.scene = build(task, "primitive")
        self.played: tuple[Outcome, _Watch] | None = None

    @property
    def inserts(self) -> bool:
        """Whether the object is held over a hole, not put on a table."""
        return HOLE in [self.scene.physics.body(i).name for i in range(self.scene.physics.nbody)]

    def conditions(self, first: int, count: int) -> list[Condition]:
        draws = [generator(0, "task kit", i) for i in range(first, first + count)]
        return [
            Condition(first + i, "nominal", self.task.draw(rng), first + i)
            for i, rng in enumerate(draws)
        ]

    def world(self, chosen: Profile, batch: int) -> World:
        spec = TargetSpec(
            name="task kit",
            kind="sim",
            label="simulation",
            batch=batch,
            joint_names=self.task.robot.channels,
            cameras=dict.fromkeys(CAMERAS, (64, 64)),
            rate_hz=RATE_HZ,
            task=self.task.name,
        )

        def prepare(condition: Condition) -> Settings:
            reason = lambda settings: self.task.robot.unsolvable(self.task, settings)  # noqa: E731
            return draw(self.scene, chosen, 0, condition.index, reason)[1]

        return World(self.task, self.scene, spec, prepare)

    def play(self, world: World, first: int, count: int) -> tuple[Outcome, _Watch]:
        operator = make_operator(self.task, world.privileged, EXPERT, seed=0)
        operator.start_at(first)
        watch = _Watch(world)
        conditions = self.conditions(first, count)
        return run_episodes(world, operator, conditions, self.task.horizon, [watch]), watch

    @property
    def nominal(self) -> tuple[Outcome, _Watch]:
        """The expert's nominal episodes, played once."""
        if self.played is None:
            world = self.world(profile("none", self.task.robot), self.episodes)
            self.played = self.play(world, 0, self.episodes)
        return self.played

    def check_words(self) -> None:
        task = self.task
        assert task.name.isidentifier(), f"the name {task.name!r} must be a plain word"
        assert task.name == task.name.lower(), f"the name {task.name!r} must be in lower case"
        assert task.text.strip(), "the task needs a sentence that says what to do (`text`)"
        assert 1 <= task.hold_steps < task.horizon, "success must be held within the horizon"
        assert task.judge, "the task needs at least one stage"
        if not self.inserts:
            assert task.phases, "the task needs phases for its expert"
        names = [phase.name for phase in task.phases]
        assert len(set(names)) == len(names), f"phase names must differ: {names}"

    def check_failures(self) -> None:
        wanted, given = {None, *self.task.judge}, set(self.task.failures)
        assert given == wanted, (
            f"failures must name every stage and None: missing {sorted(map(str, wanted - given))}, "
            f"unknown {sorted(map(str, given - wanted))}"
        )
        for stage, kind in self.task.failures.items():
            assert kind.strip(), f"the failure after stage {stage!r} has no name"
            assert kind != "diverged", "'diverged' is the judge's own failure kind"
        told = [*self.task.stops, *self.task.symptoms]
        assert "diverged" not in told, "'diverged' is the judge's own failure kind"
        assert len(set(told)) == len(told), f"a failure is a stop or a symptom, not both: {told}"

    def check_scene(self) -> None:
        physics, look = self.scene.physics, self.scene.look
        bodies = [physics.body(i).name for i in range(physics.nbody)]
        for name in (OBJECT, HOLE if self.inserts else TABLE):
            assert name in bodies, f"the scene has no body named {name!r}"
        touched = (OBJECT,) if self.inserts else (OBJECT, TABLE_PLANE)
        for model, geoms in ((physics, touched), (look, (OBJECT,))):
            named = [model.geom(i).name for i in range(model.ngeom)]
            for name in geoms:
                assert name in named, f"the scene has no geom named {name!r}"
        joints = [physics.joint(i).name for i in range(physics.njnt)]
        if not self.inserts:
            assert OBJECT in joints, f"the object needs a free joint named {OBJECT!r}"
        assert physics.body(OBJECT).mass[0] > 0, "the object has no mass"
        has_goal = "goal" in bodies
        named = {"goal_x_m", "goal_y_m"} <= set(self.task.reset_names)
        assert has_goal == named, "a goal needs a body `goal` and the resets goal_x_m, goal_y_m"

    def check_draws(self) -> None:
        what = "hole" if self.inserts else "object"
        needed = {f"{what}_x_m", f"{what}_y_m", f"{what}_yaw_rad"}
        assert needed <= set(self.task.reset_names), f"reset_names must hold {sorted(needed)}"
        near, far = self.task.reach_m
        seen = []
        for i in range(DRAWS):
            drawn, again = (self.task.draw(generator(1, "task kit draws", i)) for _ in range(2))
            assert drawn == again, "draw() must take all its chance from the generator"
            assert set(drawn) == set(self.task.reset_names), (
                f"draw() gives {sorted(drawn)}, reset_names are {sorted(self.task.reset_names)}"
            )
            for name, value in drawn.items():
                assert isinstance(value, float), f"draw() gives {name} as {type(value).__name__}"
                assert math.isfinite(value), f"draw() gives {name} = {value}"
            for what in ("object", "goal", "hole"):
                if f"{what}_x_m" in drawn:
                    away = math.hypot(drawn[f"{what}_x_m"], drawn[f"{what}_y_m"])
                    assert near <= away <= far, (
                        f"draw() puts the {what} {away:.3f} m away, reach is {near}-{far} m"
                    )
            seen.append(tuple(drawn.values()))
        assert len(set(seen)) == DRAWS, "draw() repeats itself"
        reason = self.task.robot.unsolvable(self.task, Settings(self.scene))
        assert reason is None, f"the nominal scene cannot be solved: {reason}"

    def check_start(self) -> None:
        """Nothing is reached at the start, and everything is at rest."""
        world = self.world(profile("none", self.task.robot), self.episodes)
        world.reset(self.conditions(0, self.episodes))
        start = world.state()
        for stage, holds in zip(self.task.judge, self.task.stages(start), strict=True):
            assert not holds.any(), f"stage {stage!r} holds at the start of some episodes"
        for kind, shows in {**self.task.stops, **self.task.symptoms}.items():
            assert not shows(start).any(), f"the failure {kind!r} shows at the start already"
        still = world.observe(images=False).joint_pos
        for _ in range(6):
            world.act(still)
        moved = np.linalg.norm(_place(world.state()) - _place(start), axis=1)
        assert moved.max() < 0.003, f"the object moves {1000 * moved.max():.1f} mm by itself"
        assert not world.physics.diverged.any(), "the scene diverges with the arm at rest"

    def check_the_object_is_seen(self) -> None:
        """A policy's scene camera shows the object in every start position."""
        world = self.world(profile("none", self.task.robot), 20)
        world.reset(self.conditions(0, 20))
        pictures = world.observe().images["scene"].astype(int)
        hidden = Settings(self.scene)
        hidden.edit("look.geom_pos")[hidden.geom("look", OBJECT)] = (0.0, 0.0, -3.0)
        for i, shown in enumerate(pictures):
            without = world.photograph([world.seen().row(i)], hidden, 0)["scene"][0].astype(int)
            covered = int((np.abs(shown - without).max(axis=-1) > 8).sum())
            assert covered >= SEEN_PX, f"the scene camera sees {covered} px of the object"

    def check_expert(self) -> None:
        outcome, _ = self.nominal
        solved, n = int(outcome.success.sum()), len(outcome.success)
        failed = [f"{i}: {kind}" for i, kind in enumerate(outcome.failure) if kind is not None]
        print(f"{self.task.name}: the expert solved {solved} of {n} nominal episodes")
        assert solved >= EXPERT_RATE * n, f"the expert solves {solved} of {n}; failures: {failed}"

    def check_stages(self) -> None:
        """Stages come in their order, and each world is judged by its own state alone."""
        outcome, watch = self.nominal
        held = np.stack([self.task.stages(state) for state in watch.states])
        assert held.shape[1:] == (len(self.task.judge), self.episodes), "a stage is not (N,) bool"
        first = np.where(held.any(axis=0), held.argmax(axis=0), len(held))[:, outcome.success]
        names = list(self.task.judge)
        for k in range(1, len(names)):
            early = int((first[k] < first[k - 1]).sum())
            assert early == 0, f"stage {names[k]!r} came before {names[k - 1]!r} {early} times"
        order = np.arange(self.episodes)[::-1]
        for state, holds in zip(watch.states[::7], held[::7], strict=True):
            turned = {f.name: getattr(state, f.name)[order] for f in fields(state)}
            backwards = self.task.stages(type(state)(**turned))
            assert np.array_equal(backwards[:, order], holds), "worlds are not judged apart"

    def check_horizon(self) -> None:
        outcome, _ = self.nominal
        late = float(np.percentile(outcome.steps[outcome.success], 95))
        print(f"{self.task.name}: 95 % done after {late:.0f} of {self.task.horizon} steps")
        assert late <= HORIZON_SHARE * self.task.horizon, (
            f"the horizon of {self.task.horizon} steps is tight: the expert needs {late:.0f}"
        )

    def check_independence(self) -> None:
        """What an episode becomes does not depend on the worker and batch that plays it."""
        n = 7
        whole, watched = self.play(self.world(profile("full", self.task.robot), n), 0, n)
        used = self.world(profile("full", self.task.robot), n)
        for first, count in ((3, 4), (0, 3)):
            part, watch = self.play(used, first, count)
            rows = slice(first, first + count)
            for name in ("success", "score", "steps", "collisions", "peak_force_n"):
                together, apart = getattr(whole, name)[rows], getattr(part, name)
                assert np.array_equal(together, apart), f"{name} depends on the batch"
            assert whole.failure[rows] == part.failure, "failure kinds depend on the batch"
            for together, apart in zip(watched.joints, watch.joints, strict=False):
                assert np.array_equal(together[rows], apart), "motions depend on the batch"
