"""Each task passes the shipped kit, and the kit notices a broken one."""

import dataclasses

import numpy as np
import pytest
from tests.contract.insert_episodes import HAND_MADE, play
from tests.contract.task_kit import _Kit, check_task

from simreal.core.errors import UsageError
from simreal.worlds.scene import add_box_object
from simreal.worlds.task import Task
from simreal.worlds.tasks import TASKS, task
from simreal.worlds.tasks.lift import LIFT
from simreal.worlds.tasks.push import PUSH


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow) if name == "insert_square" else name
        for name in sorted(TASKS)
    ],
)
def test_the_task_passes_the_kit(name):
    check_task(task(name))


def test_there_is_a_hand_made_episode_of_every_failure_of_an_insertion():
    assert set(HAND_MADE) == set(task("insert").kinds) == set(task("insert_square").kinds)


@pytest.mark.parametrize("kind", sorted(HAND_MADE))
def test_failures_of_an_insertion_are_told_apart(kind):
    outcome = play(kind)
    assert outcome.failure == (kind,)
    assert not outcome.success[0]
    assert bool(outcome.done[0]) == (kind in task("insert").stops)


def test_tasks_are_found_by_name():
    assert task("lift") is LIFT
    assert task("push") is PUSH
    assert all(name == found.name for name, found in TASKS.items())
    with pytest.raises(UsageError, match=r"Unknown task 'lfit'; allowed: insert, .*'lift'"):
        task("lfit")


def altered(**changes: object) -> _Kit:
    return _Kit(dataclasses.replace(LIFT, **changes), episodes=50)  # type: ignore[arg-type]


def always(state):
    return np.ones(len(state.object_pos), dtype=bool)


def far_away(rng):
    return {**LIFT.draw(rng), "object_x_m": 0.5}


def without_a_name(rng):
    drawn = LIFT.draw(rng)
    del drawn["object_yaw_rad"]
    return drawn


def undetermined(rng):
    return {**LIFT.draw(rng), "object_yaw_rad": float(np.random.default_rng().random())}


def mixed_up(state):
    """Judges a world by its neighbour."""
    return np.roll(LIFT.judge["reached"](state), 1)


def wide_object(spec):
    add_box_object(spec, half_m=(0.03, 0.03, 0.03), mass_kg=0.03)


@pytest.mark.parametrize(
    ("check", "changes", "words"),
    [
        ("check_words", {"name": "Lift it"}, "plain word"),
        ("check_words", {"text": " "}, "sentence"),
        ("check_words", {"hold_steps": 500}, "within the horizon"),
        ("check_words", {"phases": LIFT.phases * 2}, "must differ"),
        ("check_failures", {"failures": {None: "never"}}, "missing.*grasped"),
        ("check_failures", {"failures": {**LIFT.failures, "x": "y"}}, r"unknown \['x'\]"),
        ("check_failures", {"failures": {**LIFT.failures, None: "diverged"}}, "judge's own"),
        ("check_draws", {"draw": far_away}, "0.5.* m away, reach"),
        ("check_draws", {"draw": without_a_name}, "reset_names are"),
        ("check_draws", {"draw": undetermined}, "from the generator"),
        ("check_draws", {"build": wide_object}, "60 mm wide, limit 42 mm"),
        ("check_scene", {"build": PUSH.build}, "a goal needs"),
        ("check_start", {"judge": {**LIFT.judge, "lifted": always}}, "'lifted' holds at the start"),
    ],
)
def test_the_kit_notices_a_broken_task(check, changes, words):
    with pytest.raises(AssertionError, match=words):
        getattr(altered(**changes), check)()


@pytest.fixture(scope="module")
def played():
    """Fifty nominal episodes of lift, to be judged by other rules."""
    kit = altered()
    return kit.nominal


@pytest.mark.parametrize(
    ("check", "changes", "words"),
    [
        ("check_horizon", {"horizon": 40}, "tight"),
        (
            "check_stages",
            {"judge": dict(reversed(LIFT.judge.items()))},
            "'raised' came before|'grasped' came before|'reached' came before",
        ),
        ("check_stages", {"judge": {**LIFT.judge, "reached": mixed_up}}, "apart|came before"),
    ],
)
def test_the_kit_notices_wrong_judging(check, changes, words, played):
    kit = altered(**changes)
    kit.played = played
    with pytest.raises(AssertionError, match=words):
        getattr(kit, check)()


def test_the_kit_notices_an_expert_that_fails():
    """One that never closes its fingers."""
    open_hand = tuple(dataclasses.replace(p, gripper=60.0) for p in LIFT.phases)
    kit = altered(phases=open_hand, horizon=30)
    with pytest.raises(AssertionError, match=r"solves 0 of 50; failures: .*missed"):
        kit.check_expert()


def test_the_kit_notices_an_object_out_of_sight():
    def behind(rng) -> dict[str, float]:
        return {**LIFT.draw(rng), "object_x_m": -0.3, "object_y_m": 0.3}

    with pytest.raises(AssertionError, match="sees 0 px"):
        altered(draw=behind).check_the_object_is_seen()


def test_a_task_is_a_value():
    assert isinstance(LIFT, Task)
    with pytest.raises(dataclasses.FrozenInstanceError):
        LIFT.horizon = 3  # type: ignore[misc]
