"""Recorded shards: what is in an episode, K appearances of one trajectory, and what is kept out."""

import dataclasses
import json

import numpy as np
import pytest
from tests.worlds import kit

from simreal.compute.executor import in_order, make_executor
from simreal.core.loop import run_episodes
from simreal.core.types import Scenario
from simreal.demos.experts import EXPERT, HUMAN, ScriptedOperator
from simreal.demos.record import TAIL, ShardResult, SimShard, conditions_for, simulate_shard
from simreal.worlds.physics import Physics
from simreal.worlds.randomize import Profile, profile, settings_of
from simreal.worlds.simulated import SimConfig, draw_scenario, simulated_world
from simreal.worlds.so101_rig import SO101
from simreal.worlds.tasks.lift import LIFT
from simreal.worlds.terms import DYNAMICS
from simreal.worlds.variation import Axis, Uniform

FULL = SimConfig(profile=profile("full", SO101), size_px=32, batch=4, appearances=2)


@pytest.fixture(scope="module")
def shard() -> ShardResult:
    """Three demonstrations under full randomization, two appearances each."""
    return simulate_shard(SimShard(FULL, first=5, count=3))


def test_episodes_have_the_shapes_of_the_contract(shard):
    assert len(shard.episodes) == 6
    assert shard.failed == ()
    for episode in shard.episodes:
        length = len(episode)
        assert 20 < length <= LIFT.horizon + TAIL
        assert episode.joint_pos.shape == episode.actions.shape == (length, 6)
        assert episode.joint_pos.dtype == episode.actions.dtype == np.float32
        assert set(episode.images) == {"scene", "wrist"}
        for pictures in episode.images.values():
            assert pictures.shape == (length, 32, 32, 3)
            assert pictures.dtype == np.uint8
        assert episode.task == LIFT.text
        assert (episode.success, episode.source) == (True, "sim")
        assert np.abs(np.diff(episode.joint_pos[:, :5], axis=0)).max() < 25


def test_provenance_is_json_and_complete(shard):
    provenance = shard.episodes[2].provenance
    assert json.loads(json.dumps(provenance)) == provenance
    assert provenance["condition"] == conditions_for(FULL, 6, 1)[0].to_json()
    assert (provenance["operator"], provenance["seed"]) == ("expert", 0)
    assert (provenance["form"], provenance["appearances"]) == ("primitive", 2)
    assert len(shard.episodes[2]) == provenance["steps"] + TAIL
    assert shard.control_steps == sum(e.provenance["steps"] for e in shard.episodes[::2])
    assert shard.physics_s > 0
    assert shard.render_s > 0


def test_what_is_stored_is_what_was_meant_and_measured(shard):
    """Actions are the operator's labels, not the noisy targets that were executed."""
    world = simulated_world(dataclasses.replace(FULL, batch=1))
    operator = ScriptedOperator(LIFT, world.privileged, EXPERT, FULL.seed)
    operator.start_at(5)
    labels, measured, executed = [], [], []

    class Notes:
        def on_reset(self, conditions) -> None: ...

        def on_step(self, step, observation, actions) -> None:
            labels.append(operator.labels[0])
            measured.append(observation.joint_pos[0])
            executed.append(actions[0])

        def on_end(self, outcome) -> None: ...

    run_episodes(world, operator, conditions_for(FULL, 5, 1), LIFT.horizon, [Notes()], TAIL)
    episode = shard.episodes[0]
    assert np.array_equal(episode.actions, np.stack(labels))
    assert np.array_equal(episode.joint_pos, np.stack(measured))
    assert not np.array_equal(episode.actions, np.stack(executed))


def test_appearances_share_the_trajectory_and_differ_in_the_pictures(shard):
    dynamics = {term.name for term in DYNAMICS}
    for k, pair in enumerate(zip(shard.episodes[::2], shard.episodes[1::2], strict=True)):
        one, two = pair
        assert np.array_equal(one.joint_pos, two.joint_pos)
        assert np.array_equal(one.actions, two.actions)
        assert one.provenance == two.provenance
        for camera in one.images:
            difference = np.abs(one.images[camera].astype(int) - two.images[camera])
            assert difference.mean() > 3
        assert (one.scenario.index, two.scenario.index) == (2 * (5 + k), 2 * (5 + k) + 1)
        for name in one.scenario.values:
            same = one.scenario.values[name] == two.scenario.values[name]
            assert same or name not in dynamics
    tracks = {episode.joint_pos.tobytes() for episode in shard.episodes}
    assert len(tracks) == 3


def test_a_saved_scenario_reproduces_the_look(shard):
    """The first frames, rendered anew from the scenario's JSON and the condition alone."""
    for episode in shard.episodes[2:4]:
        scenario = Scenario.from_json(json.loads(json.dumps(episode.scenario.to_json())))
        assert scenario == draw_scenario(FULL, scenario.index)[0]
        settings = settings_of(kit.scene(), FULL.profile, scenario)
        world = kit.fixed_world(settings, size_px=32)
        condition = conditions_for(FULL, 6, 1)[0]
        world.reset([condition])
        seed = condition.seed + scenario.index % FULL.appearances
        shown = world.photograph([world.seen()], settings, seed)
        for camera, pictures in shown.items():
            assert np.array_equal(pictures[0], episode.images[camera][0])
        assert np.array_equal(world.observe(images=False).joint_pos[0], episode.joint_pos[0])


def equal(one, two) -> bool:
    """Whether two episodes are the same to the bit."""
    return (
        np.array_equal(one.joint_pos, two.joint_pos)
        and np.array_equal(one.actions, two.actions)
        and all(np.array_equal(one.images[c], two.images[c]) for c in one.images)
        and one.scenario == two.scenario
        and one.provenance == two.provenance
    )


def test_an_episode_does_not_depend_on_its_shard(shard):
    """Not even its last frames, whoever else is in the shard and whatever ran before."""
    for first, count in ((7, 1), (5, 2)):
        part = simulate_shard(SimShard(FULL, first, count))
        start = 2 * (first - 5)
        expected = shard.episodes[start : start + 2 * count]
        assert len(part.episodes) == len(expected)
        assert all(equal(a, b) for a, b in zip(part.episodes, expected, strict=True))


@pytest.mark.slow
def test_a_shard_is_the_same_in_a_process_of_its_own(shard):
    shards = [SimShard(FULL, first, 1) for first in (5, 6, 7)]
    with make_executor("processes", workers=2) as executor:
        results = list(in_order(executor.run(simulate_shard, shards)))
    episodes = [episode for result in results for episode in result.episodes]
    assert all(equal(a, b) for a, b in zip(episodes, shard.episodes, strict=True))


def test_failures_are_kept_apart_with_their_scenario():
    """A world without friction: every grasp slips."""
    slippery = Profile(
        "ice",
        tuple(
            Axis(f"{part}_friction", "set", Uniform(0.001, 0.002)) for part in ("object", "gripper")
        ),
    )
    config = dataclasses.replace(FULL, profile=slippery, appearances=1)
    result = simulate_shard(SimShard(config, first=2, count=2))
    assert result.episodes == ()
    assert result.control_steps == 0
    assert [f.index for f in result.failed] == [2, 3]
    assert {f.failure for f in result.failed} <= set(LIFT.failures.values())
    for failed in result.failed:
        assert failed.scenario == draw_scenario(config, failed.index)[0]
        assert failed.scenario.values["object_friction"][0] <= 0.002


def push_to_nan(monkeypatch, world: int, step: int) -> None:
    """Let one world's state become NaN before control step `step`."""
    plain = Physics.step
    taken = [0]

    def step_and_break(self, target_rad, servo=None):
        if taken[0] == step:
            self.data[world].qvel[:] = np.nan
        taken[0] += 1
        plain(self, target_rad, servo)

    monkeypatch.setattr(Physics, "step", step_and_break)


def test_a_diverged_demonstration_is_never_stored(shard, monkeypatch):
    push_to_nan(monkeypatch, world=1, step=4)
    result = simulate_shard(SimShard(FULL, first=5, count=3))
    assert [(f.index, f.failure) for f in result.failed] == [(6, "diverged")]
    assert result.failed[0].scenario == draw_scenario(FULL, 12)[0]
    assert len(result.episodes) == 4
    for episode, undisturbed in zip(
        result.episodes, (*shard.episodes[:2], *shard.episodes[4:]), strict=True
    ):
        assert equal(episode, undisturbed)


def test_not_even_when_it_diverges_in_its_tail(shard, monkeypatch):
    end = shard.episodes[2].provenance["steps"]
    push_to_nan(monkeypatch, world=1, step=end + 1)
    result = simulate_shard(SimShard(FULL, first=5, count=3))
    assert [(f.index, f.failure) for f in result.failed] == [(6, "diverged")]
    assert all(np.isfinite(e.joint_pos).all() for e in result.episodes)


def test_what_happens_after_the_tail_does_not_matter(shard, monkeypatch):
    lengths = [len(e) for e in shard.episodes[::2]]
    first = int(np.argmin(lengths))
    assert lengths[first] < max(lengths)
    push_to_nan(monkeypatch, world=first, step=lengths[first])
    result = simulate_shard(SimShard(FULL, first=5, count=3))
    assert result.failed == ()
    assert all(equal(a, b) for a, b in zip(result.episodes, shard.episodes, strict=True))


def test_rejected_draws_are_counted():
    wide = Profile("wide", (Axis("object_size", "scale", Uniform(1.2, 2.0)),))
    config = dataclasses.replace(FULL, profile=wide, appearances=1)
    result = simulate_shard(SimShard(config, first=0, count=4))
    stored = sum(e.scenario.rejected for e in result.episodes)
    drawn = sum(draw_scenario(config, i)[0].rejected for i in range(4))
    assert drawn > 0
    assert result.rejected == stored + sum(f.scenario.rejected for f in result.failed) == drawn


def test_the_style_is_recorded():
    config = dataclasses.replace(FULL, profile=profile("none", SO101), appearances=1)
    result = simulate_shard(SimShard(config, first=0, count=2, style=HUMAN))
    assert {e.provenance["operator"] for e in result.episodes} == {"human"}


def test_conditions_depend_on_their_number_alone():
    six = conditions_for(FULL, 0, 6)
    assert conditions_for(FULL, 4, 2) == six[4:]
    assert [c.index for c in six] == [0, 2, 4, 6, 8, 10]
    assert len({c.seed for c in six}) == 6
    other = conditions_for(dataclasses.replace(FULL, seed=1), 0, 6)
    assert all(a.reset != b.reset for a, b in zip(six, other, strict=True))
    assert len({c.reset["object_x_m"] for c in six}) == 6
