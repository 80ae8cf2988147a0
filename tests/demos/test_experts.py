"""The scripted operators: how often they succeed, what they label, and what chance they use."""

import mujoco
import numpy as np
import pytest
from tests.worlds import kit

from simreal.core.loop import run_episodes
from simreal.core.types import Outcome
from simreal.demos.experts import EXPERT, HUMAN, STEADY, ScriptedOperator, Style
from simreal.demos.ik import ToolIk
from simreal.demos.record import conditions_for
from simreal.verdicts.rates import wilson
from simreal.worlds import so101
from simreal.worlds.randomize import Profile, profile
from simreal.worlds.simulated import SimConfig, simulated_world
from simreal.worlds.so101_rig import SO101
from simreal.worlds.variation import Axis, Uniform

GRIPPER = so101.GRIPPER


class Notes:
    """An observer that keeps executed targets, labels and true joints."""

    def __init__(self, operator: ScriptedOperator) -> None:
        self.operator = operator

    def on_reset(self, conditions) -> None:
        self.executed, self.labels, self.seen = [], [], []

    def on_step(self, step, observation, actions) -> None:
        self.executed.append(actions)
        self.labels.append(self.operator.labels)
        self.seen.append(observation.joint_pos)

    def on_end(self, outcome) -> None:
        self.tracks = tuple(np.stack(x) for x in (self.executed, self.labels, self.seen))


def play(
    chosen: str | Profile, style: Style, first: int, count: int, task: str = "lift"
) -> tuple[Outcome, Notes]:
    picked = profile(chosen, SO101) if isinstance(chosen, str) else chosen
    config = SimConfig(task=task, profile=picked, batch=count)
    world = simulated_world(config)
    operator = ScriptedOperator(world.task, world.privileged, style, config.seed)
    operator.start_at(first)
    notes = Notes(operator)
    conditions = conditions_for(config, first, count)
    return run_episodes(world, operator, conditions, world.task.horizon, [notes]), notes


@pytest.mark.parametrize("task", ["lift", pytest.param("push", marks=pytest.mark.slow)])
def test_the_expert_solves_what_full_randomization_draws(task):
    n = 200
    outcome, _ = play("full", EXPERT, 0, n, task)
    solved = int(outcome.success.sum())
    failed = {i: kind for i, kind in enumerate(outcome.failure) if kind is not None}
    lower, upper = wilson(solved, n)
    print(f"{task}, full: {solved} of {n} (95 % interval {lower:.3f} to {upper:.3f}); {failed}")
    assert solved >= 0.97 * n
    assert "diverged" not in failed.values()


def test_executed_targets_are_noisy_and_labels_are_not():
    _, notes = play("none", EXPERT, 0, 12)
    executed, labels, _ = notes.tracks
    noise = executed - labels
    assert noise[..., :GRIPPER].std() == pytest.approx(np.degrees(EXPERT.noise_rad), rel=0.05)
    assert abs(noise[..., :GRIPPER].mean()) < 0.05
    assert (noise[..., GRIPPER] == 0).all()
    # Noise is white: that of one step says nothing of the next, nor of other joints and worlds.
    assert np.corrcoef(noise[1:, 0, 0], noise[:-1, 0, 0])[0, 1] < 0.5
    flat = noise[:25, :, :GRIPPER].reshape(25, -1).T
    assert len({row.tobytes() for row in flat}) == len(flat)


@pytest.mark.parametrize("style", [STEADY, HUMAN])
def test_operators_without_noise_execute_their_labels(style):
    _, notes = play("none", style, 0, 4)
    executed, labels, _ = notes.tracks
    assert np.array_equal(executed, labels)


def test_labels_answer_the_state_and_not_the_noise():
    """From one state, all of an expert's labels are the same, whatever noise it draws."""
    world = simulated_world(SimConfig(batch=1))
    labels, executed = [], []
    for seed in range(3):
        world.reset(kit.conditions(1))
        operator = ScriptedOperator(world.task, world.privileged, EXPERT, seed)
        operator.reset(1)
        executed.append(operator.act(world.observe(images=False)))
        labels.append(operator.labels)
    assert np.array_equal(labels[0], labels[1])
    assert np.array_equal(labels[0], labels[2])
    assert not np.array_equal(executed[0], executed[1])


def test_labels_are_in_the_zero_of_the_measured_joints():
    """With joint offsets the arm does the same, and both measured and commanded shift by them."""
    shift = 2.0
    chosen = Profile("offset", (Axis("joint_offset", "add", Uniform(shift, shift)),))
    true, shifted = (play(c, STEADY, 0, 3) for c in ("none", chosen))
    assert shifted[0].success.all()
    for plain, moved in zip(true[1].tracks, shifted[1].tracks, strict=True):
        steps = min(len(plain), len(moved), 10)
        assert moved[:steps] - plain[:steps] == pytest.approx(shift, abs=0.05)


def test_the_human_style_is_slower_and_tries_again():
    n = 60
    (fast, expert), (slow, human) = (play("none", style, 0, n) for style in (STEADY, HUMAN))
    solved = int(slow.success.sum())
    print(f"human-like on lift: {solved} of {n}, median {np.median(slow.steps):.0f} steps")
    assert solved >= 0.8 * n
    both = fast.success & slow.success
    assert np.median(slow.steps[both]) > 1.1 * np.median(fast.steps[both])
    assert expert.operator.retries.sum() <= 0.05 * n
    retried = human.operator.retries > 0
    assert 0.05 * n <= retried.sum()
    assert slow.success[retried].any()  # some get it the second time
    step = np.abs(np.diff(human.tracks[2][:25, :, :GRIPPER], axis=0)).max()
    assert step < np.degrees(0.15)


def test_the_human_style_pauses_and_varies():
    outcome, notes = play("none", HUMAN, 0, 20)
    moved = np.abs(np.diff(notes.tracks[2][..., :GRIPPER], axis=0)).max(axis=-1)
    steady = play("none", STEADY, 0, 20)
    steadily = np.abs(np.diff(steady[1].tracks[2][..., :GRIPPER], axis=0)).max(axis=-1)

    def paused(speed, steps) -> int:
        """Steps on the way to the object (the first 12) in which the arm almost stands."""
        return int((speed[3:12] < 0.5).sum())

    assert paused(moved, outcome.steps) > paused(steadily, steady[0].steps)
    # Two episodes with the same start differ in their way.
    config = SimConfig(batch=2)
    world = simulated_world(config)
    same = [conditions_for(config, 0, 1)[0]] * 2
    for style, differ in ((HUMAN, True), (STEADY, False)):
        operator = ScriptedOperator(world.task, world.privileged, style, 0)
        watch = Notes(operator)
        run_episodes(world, operator, same, 15, [watch])
        executed = watch.tracks[0]
        assert (not np.array_equal(executed[:, 0], executed[:, 1])) == differ


@pytest.mark.parametrize("style", [EXPERT, HUMAN])
def test_an_episode_does_not_depend_on_the_shard_it_is_in(style):
    whole, notes = play("full", style, 0, 6)
    for first, count in ((4, 2), (2, 1), (0, 3)):
        part, watch = play("full", style, first, count)
        rows = slice(first, first + count)
        assert np.array_equal(part.steps, whole.steps[rows])
        assert part.failure == whole.failure[rows]
        for together, apart in zip(notes.tracks, watch.tracks, strict=True):
            steps = min(len(together), len(apart))
            assert np.array_equal(together[:steps, rows], apart[:steps])


def test_seed_and_number_select_the_chance():
    world = simulated_world(SimConfig(batch=1))
    first = []
    for seed, number in ((0, 0), (0, 1), (1, 0), (0, 0)):
        world.reset(kit.conditions(1))
        operator = ScriptedOperator(world.task, world.privileged, EXPERT, seed)
        operator.start_at(number)
        operator.reset(1)
        first.append(operator.act(world.observe(images=False)).tobytes())
    assert first[0] == first[3]
    assert len(set(first)) == 3


def test_operators_never_look():
    world = simulated_world(SimConfig(batch=1))
    operator = ScriptedOperator(world.task, world.privileged, HUMAN, 0)
    assert operator.looks() is False


def test_phases_come_in_their_order():
    world = simulated_world(SimConfig(batch=1))
    operator = ScriptedOperator(world.task, world.privileged, STEADY, 0)
    world.reset(kit.conditions(1))
    operator.reset(1)
    seen = []
    for _ in range(60):
        world.act(operator.act(world.observe(images=False)))
        if operator.phases[0] not in seen:
            seen.append(operator.phases[0])
    assert seen == [phase.name for phase in world.task.phases]


def distance(joints: np.ndarray, point: np.ndarray) -> float:
    """Of the tool from a point, m, by the scene's own kinematics."""
    model = kit.scene().physics
    data = mujoco.MjData(model)
    for value, name in zip(joints, so101.JOINTS, strict=True):
        data.joint(name).qpos[0] = value
    mujoco.mj_forward(model, data)
    return float(np.linalg.norm(data.site(so101.TOOL_SITE).xpos - point))


@pytest.mark.parametrize("point", [(0.2, 0.0, 0.05), (0.17, 0.12, 0.02), (0.23, -0.08, 0.1)])
def test_inverse_kinematics_reaches_the_workspace(point):
    ik = ToolIk()
    target = np.array(point)
    heading = float(np.arctan2(point[1], point[0]) + np.pi)
    joints = ik.solve(target, heading, so101.HOME_RAD)
    assert distance(joints, target) < 0.004
    model = kit.scene().physics
    for value, name in zip(joints, so101.JOINTS, strict=True):
        low, high = model.joint(name).range
        assert low <= value <= high
    assert joints[GRIPPER] == pytest.approx(so101.HOME_RAD[GRIPPER])
    again = ik.solve(np.array([0.2, 0.1, 0.08]), 3.0, so101.HOME_RAD)
    assert not np.array_equal(again, joints)
    assert np.array_equal(ik.solve(target, heading, so101.HOME_RAD), joints)


def test_a_point_out_of_reach_gives_the_nearest_pose():
    ik = ToolIk()
    joints = ik.solve(np.array([0.9, 0.0, 0.1]), np.pi, so101.HOME_RAD)
    assert np.isfinite(joints).all()
    assert distance(joints, np.array([0.9, 0.0, 0.1])) > 0.2
