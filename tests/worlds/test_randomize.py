"""Scenarios depend on (profile, seed, index) alone; bad profiles are refused by name."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.worlds import kit

from simreal.core.errors import UsageError
from simreal.core.types import Scenario
from simreal.worlds.randomize import (
    RETRIES,
    Profile,
    draw,
    profile,
    profile_from_json,
    settings_of,
)
from simreal.worlds.simulated import SimConfig, draw_scenario
from simreal.worlds.so101_rig import SO101
from simreal.worlds.terms import DYNAMICS
from simreal.worlds.terms_visual import VISUAL
from simreal.worlds.variation import Axis, Integers, LogUniform, Normal, Uniform

FULL = profile("full", SO101)


@settings(max_examples=15)
@given(st.integers(0, 2**40), st.integers(0, 10**7))
def test_a_scenario_is_reproduced_bit_for_bit(seed, index):
    scenario, made = draw(kit.scene(), FULL, seed, index)
    again, remade = draw(kit.scene(), profile("full", SO101), seed, index)
    assert again == scenario
    assert kit.changed(kit.every_field(made), kit.every_field(remade)) == set()
    assert json.dumps(again.to_json()) == json.dumps(scenario.to_json())


def test_the_values_themselves_stay_as_they_are():
    """Saved data sets would otherwise be reproduced wrongly by a later version."""
    scenario, _ = draw(kit.scene(), FULL, seed=7, index=3)
    assert scenario.values["object_mass"] == pytest.approx((0.7185614450196804,), abs=1e-12)
    assert len(scenario.values) == len(FULL.axes)


def test_seed_index_and_axis_select_different_numbers():
    mass = [
        draw(kit.scene(), FULL, seed, index)[0].values["object_mass"][0]
        for seed, index in ((0, 0), (0, 1), (1, 0))
    ]
    assert len(set(mass)) == 3
    values = draw(kit.scene(), FULL, 0, 0)[0].values
    unit = {
        axis.term: (values[axis.term][0] - axis.distribution.low)
        / (axis.distribution.high - axis.distribution.low)
        for axis in FULL.axes
        if isinstance(axis.distribution, Uniform)
    }
    assert len({round(u, 12) for u in unit.values()}) == len(unit)


def test_values_lie_in_the_ranges_of_their_axes():
    for index in range(20):
        values = draw(kit.scene(), FULL, 0, index)[0].values
        for axis in FULL.axes:
            low, high = axis.distribution.low, axis.distribution.high
            assert len(values[axis.term]) == SO101.terms[axis.term].size
            assert all(low <= v <= high for v in values[axis.term])


@settings(max_examples=20)
@given(st.sets(st.sampled_from([a.term for a in FULL.axes])), st.integers(0, 1000))
def test_adding_an_axis_leaves_the_others(left_out, index):
    fewer = Profile("full", tuple(a for a in FULL.axes if a.term not in left_out))
    part = draw(kit.scene(), fewer, 5, index)[0].values
    whole = draw(kit.scene(), FULL, 5, index)[0].values
    assert part == {name: v for name, v in whole.items() if name not in left_out}


def test_the_order_of_axes_does_not_matter():
    backwards = Profile("full", FULL.axes[::-1])
    scenario, made = draw(kit.scene(), backwards, 1, 2)
    expected, wanted = draw(kit.scene(), FULL, 1, 2)
    assert scenario == expected
    assert kit.changed(kit.every_field(made), kit.every_field(wanted)) == set()


def test_a_saved_scenario_gives_equal_settings():
    for index in range(5):
        scenario, made = draw(kit.scene(), FULL, 3, index)
        read = Scenario.from_json(json.loads(json.dumps(scenario.to_json())))
        assert read == scenario
        again = settings_of(kit.scene(), FULL, read)
        assert kit.changed(kit.every_field(made), kit.every_field(again)) == set()


def test_a_scenario_of_another_profile_is_refused():
    scenario, _ = draw(kit.scene(), FULL, 3, 0)
    with pytest.raises(UsageError, match=r"action_latency, .*'none' does not randomize"):
        settings_of(kit.scene(), profile("none", SO101), scenario)


def test_none_changes_nothing():
    scenario, made = draw(kit.scene(), profile("none", SO101), 0, 0)
    assert scenario == Scenario("none", 0, 0)
    assert made.edited == frozenset()


#: Axes that stay at nominal whatever is drawn. `set` is right where all values of a term share one.
_PINNED = (
    Axis("object_size", "scale", Uniform(1, 1)),
    Axis("object_mass", "scale", LogUniform(1, 1)),
    Axis("object_inertia", "scale", Normal(1, 0)),
    Axis("object_friction", "set", LogUniform(0.8, 0.8)),
    Axis("gripper_friction", "set", Uniform(1.0, 1.0)),
    Axis("table_friction", "set", LogUniform(0.6, 0.6)),
    Axis("table_tilt", "add", Uniform(0, 0)),
    Axis("actuator_gain", "scale", Uniform(1, 1)),
    Axis("action_latency", "set", Uniform(0, 0)),
    Axis("observation_delay", "set", Integers(0, 0)),
    Axis("encoder_noise", "set", Uniform(0, 0)),
    Axis("image_noise", "set", Uniform(0, 0)),
    Axis("light_count", "set", Integers(3, 3)),
    Axis("table_texture", "set", Integers(0, 0)),
    Axis("background_texture", "set", Integers(0, 0)),
    Axis("object_texture", "set", Integers(0, 0)),
    Axis("clutter_count", "set", Integers(0, 0)),
    Axis("clutter_place", "set", Uniform(0, 1)),
)


def pinned() -> Profile:
    """A profile with every term there is, none of which has any width."""
    named = {axis.term for axis in _PINNED}
    added = tuple(Axis(name, "add", Uniform(0, 0)) for name in SO101.terms if name not in named)
    return Profile("pinned", (*_PINNED, *added))


def test_zero_width_equals_none_in_every_field():
    nominal = kit.every_field(draw(kit.scene(), profile("none", SO101), 0, 0)[1])
    for index in range(3):
        scenario, made = draw(kit.scene(), pinned(), 0, index)
        assert set(scenario.values) == set(SO101.terms)
        assert kit.changed(nominal, kit.every_field(made)) == set()


@pytest.mark.parametrize("operation", ["add", "scale"])
def test_zero_width_by_one_operation_equals_none(operation):
    value = {"add": 0, "scale": 1}[operation]
    chosen = Profile(
        "still",
        tuple(Axis(name, operation, Uniform(value, value)) for name in SO101.terms),
    )
    made = draw(kit.scene(), chosen, 0, 0)[1]
    nominal = kit.every_field(draw(kit.scene(), profile("none", SO101), 0, 0)[1])
    assert kit.changed(nominal, kit.every_field(made)) == set()


def test_zero_width_equals_none_in_the_trajectory():
    joints, objects = [], []
    for chosen in (profile("none", SO101), pinned()):
        world = kit.world(chosen)
        world.reset(kit.conditions(2))
        track = []
        for step in range(30):
            observed = world.observe(images=False)
            track.append(observed.joint_pos)
            world.act(observed.joint_pos + np.float32(3 * np.sin(0.4 * step)))
        joints.append(np.stack(track))
        objects.append(world.physics.qpos())
    assert np.array_equal(joints[0], joints[1])
    assert np.array_equal(objects[0], objects[1])


def test_unsolvable_draws_are_redrawn_and_counted():
    chosen = Profile("wide", (Axis("object_size", "scale", Uniform(1, 2)),))
    limit = 1.3

    def solvable(made):
        half = made.value("physics.geom_size")[made.geom("physics", "object"), 0]
        return None if half < limit * 0.0125 else f"half {half}"

    drawn = [draw(kit.scene(), chosen, 0, i, solvable)[0] for i in range(60)]
    assert all(s.values["object_size"][0] < limit for s in drawn)
    assert drawn == [draw(kit.scene(), chosen, 0, i, solvable)[0] for i in range(60)]
    tries = np.array([s.rejected for s in drawn])
    assert tries.min() == 0
    # 3 in 10 are solvable: 2.33 rejections before one that is.
    assert tries.mean() == pytest.approx(0.7 / 0.3, abs=1.0)
    # Those solvable at once are the plain draws.
    for scenario in drawn:
        if scenario.rejected == 0:
            assert scenario == draw(kit.scene(), chosen, 0, scenario.index)[0]


def test_a_hopeless_profile_ends_in_a_usage_error():
    calls = []

    def never(made):
        calls.append(made)
        return "object 99 mm wide"

    with pytest.raises(UsageError, match=rf"'full'.*{RETRIES} attempts.*index 4.*99 mm.*Narrow"):
        draw(kit.scene(), FULL, 0, 4, never)
    assert len(calls) == RETRIES


@pytest.mark.parametrize(
    ("axis", "field"),
    [
        (Axis("object_mass", "scale", Uniform(-1, -0.5)), "physics.body_mass"),
        (Axis("object_friction", "set", Uniform(-1, -0.5)), "physics.geom_friction"),
        (Axis("action_latency", "set", Uniform(-0.1, -0.01)), "control.action_latency_s"),
        (Axis("observation_delay", "set", Integers(-3, -1)), "control.observation_delay_steps"),
        (Axis("light_intensity", "scale", Uniform(-2, -1)), "look.light_diffuse"),
    ],
)
def test_quantities_below_zero_are_unsolvable(axis, field):
    with pytest.raises(UsageError, match=f"{field} below zero"):
        draw(kit.scene(), Profile("negative", (axis,)), 0, 0)


def test_a_task_refuses_objects_its_gripper_cannot_hold():
    wide = Profile("wide", (Axis("object_size", "scale", Uniform(1.7, 1.9)),))
    with pytest.raises(UsageError, match=r"mm wide, limit 42 mm"):
        draw_scenario(SimConfig(task="lift", profile=wide), 0)
    assert draw_scenario(SimConfig(task="push", profile=wide), 0)[0].rejected == 0
    far = Profile("far", (Axis("object_position", "add", Uniform(0.06, 0.08)),))
    with pytest.raises(UsageError, match=r"object moved by .* limit 30 mm"):
        draw_scenario(SimConfig(task="push", profile=far), 0)


def test_appearances_share_dynamics_and_differ_in_looks():
    looks = {term.name for term in VISUAL}
    drawn = [draw(kit.scene(), FULL, 2, i, appearances=4)[0] for i in range(8)]
    assert [s.index for s in drawn] == list(range(8))
    for first in (0, 4):
        group = drawn[first : first + 4]
        for name in (t.name for t in DYNAMICS):
            assert len({s.values[name] for s in group}) == 1
        for name in looks & drawn[0].values.keys() - {"light_count", "clutter_count"}:
            assert len({s.values[name] for s in group}) > 1, name
    assert drawn[0].values["object_mass"] != drawn[4].values["object_mass"]


def test_every_term_has_its_place_in_a_profile_or_a_reason():
    used = {axis.term for axis in FULL.axes}
    assert used <= set(SO101.terms)
    assert set(SO101.terms) - used == {"object_texture"}  # would hide the colour of the object
    assert {a.term for a in profile("visual", SO101).axes} == used & {t.name for t in VISUAL}
    assert {a.term for a in profile("dynamics", SO101).axes} == {t.name for t in DYNAMICS}
    assert profile("none", SO101).axes == ()


def test_profiles_survive_json():
    for name in kit.SPREAD:
        chosen = profile(name, SO101)
        text = json.dumps(chosen.to_json(), allow_nan=False)
        again = profile_from_json(json.loads(text), SO101)
        assert again == chosen
        assert json.dumps(again.to_json()) == text


TOML = """
[axes.object_mass]
operation = "scale"
distribution = "log-uniform"
low = 0.5
high = 2.0

[axes.exposure]
operation = "add"
low = -1
high = 1
"""


def test_a_profile_is_read_from_a_file(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(TOML)
    assert profile(str(path), SO101) == Profile(
        "mine",
        (
            Axis("object_mass", "scale", LogUniform(0.5, 2.0)),
            Axis("exposure", "add", Uniform(-1, 1)),
        ),
    )
    path.write_text('name = "other"\n' + TOML)
    assert profile(str(path), SO101).name == "other"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "[axes.object_mas]\nlow = 0\nhigh = 1",
            "Unknown axis.*'object_mas'.*mean 'object_mass'",
        ),
        ("[axis.object_mass]\nlow = 0\nhigh = 1", "Unknown entry of a profile 'axis'.*'axes'"),
        ("axes = 3", r"a table \[axes.NAME\]"),
        ("axes.exposure = 3", r"a table \[axes.NAME\]"),
        ("[axes.exposure]\nlow = 2\nhigh = 1", "'exposure': low 2 is greater than high 1"),
        ("[axes.exposure]\nlow = nan\nhigh = 1", "'exposure': range .* is not finite"),
        ("[axes.exposure]\nlow = 0\nhigh = inf", "'exposure': range .* is not finite"),
        ('[axes.exposure]\noperation="mul"\nlow=0\nhigh=1', "operation of axis 'exposure' 'mul'"),
        ('[axes.exposure]\ndistribution="beta"', "distribution of axis 'exposure' 'beta'"),
        ("[axes.exposure]\nlow = 0", "takes the numbers low, high"),
        ("[axes.exposure", "mine.toml is not valid TOML"),
    ],
)
def test_a_bad_profile_file_is_refused(tmp_path, text, words):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=words):
        profile(str(path), SO101)


def test_a_file_that_is_no_text_is_refused(tmp_path):
    path = tmp_path / "picture.toml"
    path.write_bytes(b"\x89PNG\xff\xfe")
    with pytest.raises(UsageError, match=r"picture.toml is not valid TOML"):
        profile(str(path), SO101)


def test_an_unknown_profile_is_refused_with_the_known_ones(tmp_path):
    with pytest.raises(UsageError, match=r"'ful'.*dynamics, full, none, visual.*mean 'full'"):
        profile("ful", SO101)
    with pytest.raises(UsageError, match="no such file"):
        profile(str(tmp_path), SO101)
