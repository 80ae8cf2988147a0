"""Profiles of regions: draws lie inside, files load, the next round draws the failing ranges."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simreal.core.seeds import generator
from simreal.study.region_profiles import (
    FOLLOWING,
    following,
    inside,
    narrowed,
    toml,
    write_profiles,
)
from simreal.study.space import Space
from simreal.verdicts.failure_map import NOT_CONFIRMED, STANDS_OUT
from simreal.verdicts.regions import Bound, Region
from simreal.worlds.randomize import Profile, profile
from simreal.worlds.simulated import SimConfig, draw_scenario
from simreal.worlds.so101_rig import SO101
from simreal.worlds.starts import starting
from simreal.worlds.tasks import task as find_task
from simreal.worlds.variation import Axis, Each, Integers, LogUniform, Mixture, Normal, Uniform

AXES = (
    Axis("light_intensity", "scale", Uniform(0.5, 1.5)),
    Axis("exposure", "add", Normal(0.0, 0.5)),
    Axis("light_count", "set", Integers(1, 3)),
    Axis("object_friction", "set", LogUniform(0.3, 1.2)),
    Axis("scene_camera_position", "add", Uniform(-0.02, 0.02)),
)
DIM = Region((Bound("mean light_intensity", None, 0.8, "mean light_intensity below x0.8"),))
ASIDE = Region(
    (
        Bound("scene_camera_position[1]", 0.01, None, "scene_camera_position[1] above 0.01"),
        Bound("light_count", None, 2.0, "light_count 2 or less"),
    )
)
PLACE = Region((Bound("object_y_m", 0.05, None, "object_y_m above 0.05"),))
STATES = [{"state": STANDS_OUT}]


@pytest.fixture(scope="module")
def space():
    return Space(SimConfig(size_px=16, profile=Profile("mine", AXES)))


def drawn(space, chosen, n=200):
    config = SimConfig(size_px=16, profile=chosen)
    return [draw_scenario(config, i)[0].values for i in range(n)]


def share_inside(values, region):
    rows = [
        {
            "mean light_intensity": np.mean(v["light_intensity"]),
            "scene_camera_position[1]": v["scene_camera_position"][1],
            "light_count": v["light_count"][0],
        }
        for v in values
    ]
    columns = {name: np.array([r[name] for r in rows]) for name in rows[0]}
    return region.inside(columns).mean()


@pytest.mark.parametrize("region", [DIM, ASIDE])
def test_a_region_s_profile_draws_inside_it_and_nothing_else_changes(space, region):
    chosen = inside(space, region, "region-1")
    assert share_inside(drawn(space, chosen), region) == 1.0
    bounded = {space.axes_of(b.factor)[0].term for b in region.bounds}
    for before, after in zip(AXES, chosen.axes, strict=True):
        assert (before == after) == (before.term not in bounded)


def test_one_number_of_an_axis_is_narrowed_alone(space):
    chosen = inside(space, ASIDE, "region-1")
    camera = {a.term: a for a in chosen.axes}["scene_camera_position"].distribution
    whole = Uniform(-0.02, 0.02)
    assert camera == Each((whole, Uniform(0.01, 0.02), whole))


def test_the_next_round_draws_the_failing_range_half_of_the_time(space):
    chosen = following(space, [ASIDE])
    values = drawn(space, chosen, 800)
    aside = np.array([v["scene_camera_position"][1] >= 0.01 for v in values])
    few = np.array([v["light_count"][0] <= 2 for v in values])
    assert aside.mean() == pytest.approx(0.5 + 0.5 * 0.25, abs=0.05)
    assert few.mean() == pytest.approx(0.5 + 0.5 * 2 / 3, abs=0.05)
    spread = np.array([v["scene_camera_position"][1] for v in values])[~aside]
    assert spread.min() < -0.018


def test_two_ranges_of_one_number_share_its_half(space):
    low = Region((Bound("exposure", None, -1.0, ""),))
    high = Region((Bound("exposure", 1.0, None, ""),))
    values = np.array([v["exposure"][0] for v in drawn(space, following(space, [low, high]), 800)])
    for side in (values <= -1, values >= 1):
        assert side.mean() == pytest.approx(0.25 + 0.5 * 0.023, abs=0.04)


def test_files_are_written_for_what_stands_out_and_load(space, tmp_path):
    found = [*STATES, {"state": NOT_CONFIRMED}, *STATES]
    written = write_profiles(tmp_path, space, [DIM, ASIDE, PLACE], found)
    assert written.regions == ("region-1.toml", None, "region-3.toml")
    assert written.following == FOLLOWING
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        FOLLOWING,
        "region-1.toml",
        "region-3.toml",
    ]
    for file, region in (("region-1", DIM), ("region-3", PLACE)):
        assert profile(str(tmp_path / f"{file}.toml"), SO101) == inside(space, region, file)
    assert profile(str(tmp_path / FOLLOWING), SO101) == following(space, [DIM, PLACE])


def test_regions_of_initial_values_share_half_of_the_starts(space):
    near = Region((Bound("object_x_m", None, 0.18, ""), Bound("exposure", 0.0, None, "")))
    first, second = following(space, [PLACE, DIM, near]).starts
    assert (first.weight, second.weight) == (0.25, 0.25)
    assert first.bounds == (("object_y_m", 0.05, math.inf),)
    assert second.bounds == (("object_x_m", -math.inf, 0.18),)
    alone = inside(space, near, "region-1")
    assert alone.starts[0].weight == 1.0
    draw = starting(find_task("lift"), alone.starts)
    assert all(draw(generator(i, "test"))["object_x_m"] <= 0.18 for i in range(50))


def test_without_a_region_there_is_no_profile(space, tmp_path):
    written = write_profiles(tmp_path, space, [DIM], [{"state": NOT_CONFIRMED}])
    assert (written.regions, written.following) == ((None,), None)
    assert not list(tmp_path.iterdir())


def test_a_profile_survives_toml(space, tmp_path):
    for chosen in (following(space, [DIM, ASIDE, PLACE]), inside(space, ASIDE, "a")):
        (tmp_path / "p.toml").write_text(toml(chosen, "A comment."))
        assert profile(str(tmp_path / "p.toml"), SO101) == chosen


ends = st.floats(-2, 2)


@given(ends, ends, st.integers(0, 100))
def test_narrowed_draws_lie_in_the_bound_and_in_the_distribution(a, b, seed):
    low, high = sorted((a, b))
    bound = Bound("f", low, high, "")
    for whole in (Uniform(-1, 1), LogUniform(0.1, 1), Normal(0, 0.3), Integers(-1, 1)):
        values = narrowed(whole, bound).draw(generator(seed, "test"), 50)
        reference = whole.at(np.array([0.0, 1.0]))
        assert (values >= reference[0] - 1e-9).all()
        assert (values <= reference[1] + 1e-9).all()
        within = (reference[0] <= high) & (low <= reference[1])
        if within and not isinstance(whole, Integers):
            assert (values >= low - 1e-9).all()
            assert (values <= high + 1e-9).all()


def test_a_mixture_is_narrowed_in_both_parts():
    mixed = Mixture(Uniform(0, 1), Uniform(0, 2), 0.5)
    assert narrowed(mixed, Bound("f", 0.5, None, "")) == Mixture(
        Uniform(0.5, 1), Uniform(0.5, 2), 0.5
    )
