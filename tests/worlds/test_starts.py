"""Initial values within bounds, in a share of the draws."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simreal.core.errors import UsageError
from simreal.core.seeds import generator
from simreal.demos.record import conditions_for
from simreal.worlds.randomize import Profile, profile_from_json
from simreal.worlds.simulated import SimConfig
from simreal.worlds.so101_rig import SO101
from simreal.worlds.starts import Starts, starting, starts_from_json
from simreal.worlds.tasks import TASKS, task

LEFT = Starts(0.5, (("object_y_m", 0.05, math.inf),))
NEAR = Starts(0.25, (("object_x_m", -math.inf, 0.18), ("object_yaw_rad", -0.5, 0.5)))


def drawn(starts, n=400, name="lift"):
    draw = starting(task(name), starts)
    return [draw(generator(i, "test")) for i in range(n)]


@pytest.mark.parametrize("name", sorted(TASKS))
def test_without_bounds_the_draw_is_the_task_s_own(name):
    assert starting(task(name), ()) is task(name).draw


def test_bounds_hold_in_their_share():
    values = drawn([LEFT, NEAR], 1000)
    plain = drawn([], 1000)
    for one in (LEFT, NEAR):
        before = np.mean([one.holds(v) for v in plain])
        elsewhere = np.mean([one.holds(v) for v in drawn([NEAR if one is LEFT else LEFT], 1000)])
        found = np.mean([one.holds(v) for v in values])
        assert found > one.weight
        assert found < one.weight + max(before, elsewhere) + 0.06


def test_a_weight_of_one_is_always_kept():
    whole = Starts(1.0, LEFT.bounds)
    assert all(whole.holds(v) for v in drawn([whole]))


def test_demonstrations_start_within_the_bounds():
    chosen = Profile("mine", (), (Starts(1.0, LEFT.bounds),))
    for condition in conditions_for(SimConfig(profile=chosen), 0, 50):
        assert condition.reset["object_y_m"] >= 0.05
    plain = conditions_for(SimConfig(), 0, 50)
    assert min(c.reset["object_y_m"] for c in plain) < 0


def test_the_bounds_change_nothing_else_of_a_profile():
    assert Profile("a", ()).to_json() == {"name": "a", "axes": {}}
    content = Profile("a", (), (LEFT, NEAR)).to_json()
    assert profile_from_json(content, SO101) == Profile("a", (), (LEFT, NEAR))


ends = st.floats(-1, 1).map(lambda x: round(x, 6))


@given(st.floats(0, 0.5), ends, ends)
def test_starts_survive_json(weight, low, high):
    if low < high:
        one = Starts(weight, (("object_x_m", low, high), ("object_y_m", -math.inf, high)))
        assert starts_from_json([one.to_json(), one.to_json()]) == (one, one)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("left", "list of tables"),
        ([{"object_x_m": 3}], "give a weight"),
        ([{"object_x_m": {"low": "far"}}], "give a weight"),
        ([{"object_x_m": {"least": 1}}], "Unknown entry of object_x_m"),
        ([{"object_x_m": {"low": 1, "high": 0}}], "low < high"),
        ([{"object_x_m": {"low": math.nan}}], "low < high"),
        ([{"weight": 2}], "between 0 and 1"),
        ([{"weight": 0.6, "object_x_m": {"low": 0}}] * 2, "sum to more than 1"),
        ([{}], "bounds no initial value"),
        ([{"weight": 0.5}], "bounds no initial value"),
        ([{"object_x_m": {}}], "object_x_m has no bound"),
    ],
)
def test_bad_starts_are_refused_with_a_sentence(content, says):
    with pytest.raises(UsageError, match=says):
        profile_from_json({"starts": content}, SO101)


def test_bounds_are_told_with_their_share():
    assert LEFT.text == "object_y_m in [0.05, inf] in 50 % of the draws"


def test_an_initial_value_of_another_task_is_named():
    other = Profile("mine", (), (Starts(1.0, (("hole_x_m", 0.0, 1.0),)),))
    with pytest.raises(UsageError, match="Unknown initial value of the task lift 'hole_x_m'"):
        SimConfig(task="lift", profile=other)


def test_bounds_that_no_draw_meets_are_said_so():
    draw = starting(task("lift"), [Starts(1.0, (("object_x_m", 3.0, 4.0),))])
    with pytest.raises(UsageError, match=r"object_x_m in \[3, 4\]"):
        draw(generator(0, "test"))
