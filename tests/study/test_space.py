"""The space of a profile: its numbers, factors, draws."""

import numpy as np
import pytest

from simreal.core.errors import UsageError
from simreal.core.seeds import generator
from simreal.study.space import Point, Space
from simreal.verdicts.regions import Bound, Region
from simreal.worlds.randomize import Profile, profile
from simreal.worlds.simulated import SimConfig
from simreal.worlds.tasks import TASKS
from simreal.worlds.tasks import task as find_task
from simreal.worlds.variation import Axis, Integers, Mixture, Uniform


def space(*axes, task="lift"):
    return Space(SimConfig(task=task, size_px=16, profile=Profile("mine", axes)))


SMALL = (
    Axis("light_intensity", "scale", Uniform(0.5, 1.5)),
    Axis("exposure", "add", Uniform(-1, 1)),
    Axis("light_count", "set", Integers(1, 3)),
)


@pytest.mark.parametrize("task", sorted(TASKS))
def test_every_task_has_a_space_of_its_full_profile(task):
    robot = find_task(task).robot
    full = profile("full", robot)
    one = Space(SimConfig(task=task, size_px=16, profile=full))
    assert one.dimensions == sum(robot.terms[a.term].size for a in full.axes)
    point = one.drawn(3, lambda attempt: one.plain(generator(attempt, "test")))
    assert {a.term for a in full.axes} == set(point.values)
    assert set(find_task(task).reset_names) <= set(one.factors(point))
    assert set(one.factors(point)) == set(one.reference) == set(one.scales)


def test_factors_are_numbers_means_of_levels_and_initial_values():
    one = space(*SMALL)
    point = Point(0, one.values(np.array([0, 0.5, 1.0, 0.25, 0.9])), {"object_x_m": 0.2})
    assert one.factors(point) == {
        "light_intensity[0]": 0.5,
        "light_intensity[1]": 1.0,
        "light_intensity[2]": 1.5,
        "mean light_intensity": 1.0,
        "exposure": -0.5,
        "light_count": 3.0,
        "object_x_m": 0.2,
    }
    assert one.axes_of("light_intensity[1]") == (SMALL[0], (1,))
    assert one.axes_of("mean light_intensity") == (SMALL[0], (0, 1, 2))
    assert one.axes_of("object_x_m") is None
    assert list(one.slots.values()) == [0, 1, 2, 3, 4]


def test_factors_are_written_with_what_the_axis_says():
    one = space(*SMALL)
    assert one.scales["light_intensity[0]"].number(0.7) == "x0.7"
    assert one.scales["exposure"].number(0.7) == "0.7 stops"
    assert one.scales["light_count"].whole


def test_draws_within_a_region_are_the_profile_there():
    one = space(*SMALL)
    region = Region((Bound("exposure", 0.5, None, ""), Bound("object_y_m", None, 0.0, "")))
    for i in range(50):
        fractions, reset = one.within(generator(i, "test"), region)
        assert one.values(fractions)["exposure"][0] >= 0.5
        assert reset["object_y_m"] <= 0.0
    nowhere = Region((Bound("exposure", 2.0, None, "exposure above 2"),))
    with pytest.raises(UsageError, match="exposure above 2"):
        one.within(generator(0, "test"), nowhere)


def test_a_rank_gives_the_value_of_that_rank_even_in_a_mixture():
    mixed = Axis("exposure", "add", Mixture(Uniform(0, 1), Uniform(-1, -0.9), 0.5))
    one = space(mixed)
    low, high = (one.values(np.array([one.fraction("exposure", r)])) for r in (0.1, 0.75))
    assert low["exposure"][0] == pytest.approx(-0.98, abs=0.02)
    assert high["exposure"][0] == pytest.approx(0.5, abs=0.05)


def test_what_no_world_can_have_is_drawn_again_and_counted():
    one = space(Axis("object_size", "scale", Uniform(1.0, 3.0)))
    point = one.drawn(0, lambda attempt: (np.array([0.9 - 0.3 * attempt]), {}))
    assert point.rejected > 0
    with pytest.raises(UsageError, match="no solvable draw"):
        one.drawn(0, lambda attempt: (np.array([0.99]), {}))


def test_an_empty_profile_is_refused():
    with pytest.raises(UsageError, match="randomizes nothing"):
        space()
