"""Stages, hold, failure kinds and latching, on states made by hand."""

import dataclasses

import numpy as np
import pytest

from simreal.worlds.judge import COLLIDED_N, Judge
from simreal.worlds.task import Task, TaskState
from simreal.worlds.tasks.lift import LIFT
from simreal.worlds.tasks.push import PUSH

FAR, NEAR, GRASPED, RAISED, LIFTED = "far", "near", "grasped", "raised", "lifted"


def state(*moments: str) -> TaskState:
    """Worlds of `lift`, each at one of the moments named above."""
    n = len(moments)
    start = np.tile(np.float32([0.2, 0, 0.0125]), (n, 1))
    rise = {RAISED: 0.03, LIFTED: 0.09}
    place = start + np.float32([[0, 0, rise.get(m, 0.0)] for m in moments])
    tool = place + np.float32([[0, 0, 0.2 if m == FAR else 0.01] for m in moments])
    held = np.array([m in (GRASPED, RAISED, LIFTED) for m in moments])
    return TaskState(
        object_pos=place,
        object_start=start,
        object_half=np.full((n, 3), 0.0125, np.float32),
        tool_pos=tool,
        goal_xy=np.full((n, 2), np.nan, np.float32),
        on_fixed=held,
        on_moving=held,
        table_z=np.zeros(n, np.float32),
    )


def judged(*worlds: list[str], diverged=None, force=None) -> Judge:
    """A judge that saw each world's list of moments, all equally long."""
    n = len(worlds)
    judge = Judge(LIFT, n)
    judge.start(state(*[FAR] * n))
    for step, moments in enumerate(zip(*worlds, strict=True)):
        lost = np.array([diverged is not None and diverged.get(i) == step for i in range(n)])
        pressed = np.zeros(n) if force is None else np.array([f[step] for f in force], float)
        judge.update(state(*moments), lost, pressed)
    return judge


def test_the_score_is_the_share_of_stages_reached():
    outcome = judged([FAR], [NEAR], [GRASPED], [RAISED], [LIFTED]).outcome()
    assert outcome.score.tolist() == [0, 0.25, 0.5, 0.75, 0.75]
    assert outcome.failure == ("never reached", "missed", "slipped", "dropped", "timed out")
    assert not outcome.success.any()
    assert not outcome.done.any()
    assert outcome.steps.tolist() == [1] * 5


def test_a_stage_once_reached_stays_reached():
    outcome = judged([FAR, NEAR, FAR], [GRASPED, FAR, FAR], [RAISED, FAR, NEAR]).outcome()
    assert outcome.score.tolist() == [0.25, 0.5, 0.75]
    assert outcome.failure == ("missed", "slipped", "dropped")


def test_success_needs_the_last_stage_held_without_a_break():
    hold = LIFT.hold_steps
    short = [LIFTED] * (hold - 1) + [RAISED] + [LIFTED] * (hold - 1)
    long = [FAR] * hold + [LIFTED] * hold
    long = long[-len(short) :] if len(long) > len(short) else long + [LIFTED] * 9
    outcome = judged(short, long[: len(short)]).outcome()
    assert outcome.success.tolist() == [False, True]
    assert outcome.score.tolist() == [0.75, 1.0]
    assert outcome.failure == ("timed out", None)


def test_success_comes_in_the_step_that_completes_the_hold():
    judge = judged([NEAR, *[LIFTED] * (LIFT.hold_steps - 1)])
    assert not judge.outcome().done.any()
    judge.update(state(LIFTED), np.array([False]), np.zeros(1))
    assert judge.outcome().done.all()
    assert judge.outcome().steps.tolist() == [LIFT.hold_steps + 1]


def test_a_decided_episode_no_longer_changes():
    judge = judged([LIFTED] * LIFT.hold_steps, [NEAR] * LIFT.hold_steps, diverged={1: 2})
    before = judge.outcome()
    assert before.done.tolist() == [True, True]
    for moment in (FAR, LIFTED, GRASPED):
        judge.update(state(moment, moment), np.array([True, True]), np.array([99.0, 99.0]))
    after = judge.outcome()
    for field in dataclasses.fields(before):
        assert np.array_equal(getattr(before, field.name), getattr(after, field.name))


def test_divergence_is_a_failure_of_its_own():
    lifted = [LIFTED] * LIFT.hold_steps
    outcome = judged(lifted, lifted, diverged={0: LIFT.hold_steps - 1}).outcome()
    assert outcome.failure == ("diverged", None)
    assert outcome.success.tolist() == [False, True]
    assert outcome.done.tolist() == [True, True]
    assert outcome.score[0] == 0.75  # stages reached before it diverged


def test_what_a_diverged_state_says_is_not_believed():
    outcome = judged([FAR, LIFTED], diverged={0: 1}).outcome()
    assert outcome.score.tolist() == [0.0]


def test_worlds_are_judged_apart():
    worlds = ([FAR] * 6, [NEAR] * 6, [LIFTED] * 6, [GRASPED, FAR] * 3)
    together = judged(*worlds).outcome()
    for i, world in enumerate(worlds):
        alone = judged(world).outcome()
        assert alone.success[0] == together.success[i]
        assert alone.score[0] == together.score[i]
        assert alone.failure[0] == together.failure[i]
        assert alone.steps[0] == together.steps[i]


def test_a_collision_is_the_beginning_of_a_press():
    light, hard = 0.5 * LIFT.collision_n, 3 * LIFT.collision_n
    force = [[0, hard, hard, light, hard, 0], [light] * 6]
    outcome = judged([NEAR] * 6, [NEAR] * 6, force=force).outcome()
    assert outcome.collisions.tolist() == [2, 0]
    assert outcome.peak_force_n.tolist() == [hard, light]


def test_presses_after_the_end_do_not_count():
    hold = LIFT.hold_steps
    force = [[0.0] * hold + [50.0] * 2]
    outcome = judged([LIFTED] * (hold + 2), force=force).outcome()
    assert outcome.collisions.tolist() == [0]
    assert outcome.peak_force_n.tolist() == [0]


def test_a_start_begins_anew():
    judge = judged([LIFTED] * LIFT.hold_steps, [GRASPED] * LIFT.hold_steps)
    judge.start(state(FAR, FAR))
    outcome = judge.outcome()
    assert outcome.score.tolist() == [0, 0]
    assert outcome.steps.tolist() == [0, 0]
    assert not outcome.done.any()
    assert outcome.failure == ("never reached",) * 2


def test_an_outcome_is_a_copy():
    judge = judged([NEAR])
    outcome = judge.outcome()
    judge.update(state(LIFTED), np.array([False]), np.array([20.0]))
    assert outcome.score.tolist() == [0.25]
    assert outcome.steps.tolist() == [1]
    assert outcome.collisions.tolist() == [0]


@pytest.mark.parametrize("held", [(False, False), (True, False), (False, True)])
def test_one_finger_is_no_grasp(held):
    one = dataclasses.replace(
        state(GRASPED), on_fixed=np.array([held[0]]), on_moving=np.array([held[1]])
    )
    judge = Judge(LIFT, 1)
    judge.start(one)
    judge.update(one, np.array([False]), np.zeros(1))
    assert judge.outcome().failure == ("missed",)


def push_state(x: float, touched: bool) -> TaskState:
    start = np.float32([[0.2, 0.0, 0.02]])
    return TaskState(
        object_pos=start + np.float32([[x, 0, 0]]),
        object_start=start,
        object_half=np.full((1, 3), 0.02, np.float32),
        tool_pos=start,
        goal_xy=np.float32([[0.28, 0.0]]),
        on_fixed=np.array([touched]),
        on_moving=np.array([False]),
        table_z=np.zeros(1, np.float32),
    )


@pytest.mark.parametrize(
    ("x", "touched", "failure", "score"),
    [
        (0.0, False, "missed", 0.0),
        (0.002, True, "stuck", 1 / 3),
        (0.01, False, "stuck", 1 / 3),
        (0.04, False, "off course", 2 / 3),
        (0.12, True, "off course", 2 / 3),
        (0.07, False, "timed out", 2 / 3),
    ],
)
def test_push_names_its_failures(x, touched, failure, score):
    judge = Judge(PUSH, 1)
    judge.start(push_state(0.0, False))
    judge.update(push_state(x, touched), np.array([False]), np.zeros(1))
    assert judge.outcome().failure == (failure,)
    assert judge.outcome().score[0] == pytest.approx(score)


def test_a_hard_press_before_the_object_was_touched_is_a_collision():
    hard, light = [2 * COLLIDED_N] * 3, [0.9 * COLLIDED_N] * 3
    worlds = [[FAR] * 3, [NEAR] * 3, [GRASPED] * 3, [NEAR] * 3, [LIFTED] * 3]
    outcome = judged(*worlds, force=[hard, hard, hard, light, hard]).outcome()
    assert outcome.failure == ("collided", "collided", "slipped", "missed", "timed out")


@dataclasses.dataclass(frozen=True)
class Gauge:
    """N worlds with one number each."""

    level: np.ndarray


GAUGED = Task[Gauge](
    name="gauge",
    text="Rise above 5.",
    horizon=20,
    hold_steps=2,
    build=LIFT.build,
    draw=LIFT.draw,
    judge={"begun": lambda s: s.level > 1, "risen": lambda s: s.level > 5},
    stops={"burst": lambda s: s.level > 90, "fell": lambda s: s.level < -90},
    symptoms={"sinking": lambda s: s.level < 0, "low": lambda s: s.level < 2},
    failures={None: "never begun", "begun": "timed out", "risen": "timed out"},
    reset_names=LIFT.reset_names,
    robot=LIFT.robot,
    collision_n=7.0,
)


def gauged(*levels: list[float]) -> Judge[Gauge]:
    """A judge after the levels of its worlds, a list a step."""
    judge = Judge(GAUGED, len(levels[0]))
    judge.start(Gauge(np.zeros(len(levels[0]))))
    for row in levels:
        n = len(row)
        judge.update(Gauge(np.array(row)), np.zeros(n, bool), np.zeros(n))
    return judge


def test_a_stop_ends_the_episode_and_names_the_failure():
    judge = gauged([2, 2, 2], [95, 2, -95], [6, 6, 6], [6, 6, 6])
    outcome = judge.outcome()
    assert outcome.done.tolist() == [True, True, True]
    assert outcome.success.tolist() == [False, True, False]
    assert outcome.failure == ("burst", None, "fell")
    assert outcome.steps.tolist() == [2, 4, 2]
    assert outcome.score == pytest.approx([0.5, 1.0, 0.5])


def test_a_stop_in_the_step_of_success_is_a_failure():
    assert gauged([6], [95]).outcome().failure == ("burst",)


def test_a_symptom_that_lasts_names_the_failure_before_the_stage_does():
    judge = gauged([3, 3, 3, 0], [-1, 1, -1, 0], [-1, 1, 3, 0], [-1, 1, -1, 3])
    assert not judge.done.any()
    assert judge.outcome().failure == ("sinking", "low", "timed out", "timed out")


def test_a_symptom_that_goes_away_is_forgotten_and_success_has_none():
    judge = gauged([-1, -1], [-1, -1], [3, 6], [3, 6])
    assert judge.outcome().failure == ("timed out", None)


def test_kinds_are_listed_once_in_the_order_they_are_looked_for():
    wanted = ("burst", "fell", "sinking", "low", "never begun", "timed out")
    assert GAUGED.kinds == wanted


def test_collisions_are_counted_from_the_task_s_own_force():
    judge = Judge(GAUGED, 1)
    judge.start(Gauge(np.zeros(1)))
    for force in (6.9, 7.1, 7.2, 3.0, 8.0):
        judge.update(Gauge(np.zeros(1)), np.zeros(1, bool), np.array([force]))
    assert judge.outcome().collisions.tolist() == [2]
    assert judge.outcome().peak_force_n == pytest.approx([8.0])
