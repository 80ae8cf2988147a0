"""Laws between a commanded tool and its peg: each has the shape that its parameters say."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simreal.core.errors import UsageError
from simreal.robots.late import LateCommands
from simreal.robots.peg_effects import (
    ArmParameters,
    ContactParameters,
    FixtureParameters,
    PegEffects,
)

TICK_S = 0.002
INSIDE = np.array([[0.0, 0.0, -0.005]])
ABOVE = np.array([[0.01, 0.0, 0.0]])


def effects(contact=None, fixture=None, arm=None, seed=1):
    parts = (contact or ContactParameters(), fixture or FixtureParameters(), arm or ArmParameters())
    return PegEffects(*parts, seed)


def friction(laws, speed, tip=INSIDE):
    return float(laws.friction(tip, np.array([speed], dtype=float))[0])


def test_friction_is_higher_at_rest_and_falls_with_speed():
    laws = effects(ContactParameters(stribeck_ratio=1.5, stribeck_m_s=0.002))
    found = [friction(laws, (0, 0, -v)) for v in (0, 0.001, 0.002, 0.004, 0.02)]
    assert found[0] == pytest.approx(1.5)
    assert found[2] == pytest.approx(1 + 0.5 / np.e)
    assert found[-1] == pytest.approx(1.0)
    assert sorted(found, reverse=True) == found


def test_friction_depends_on_the_direction():
    out = effects(ContactParameters(out_ratio=1.3))
    assert friction(out, (0, 0, 0.01)) == pytest.approx(1.3)
    assert friction(out, (0, 0, -0.01)) == pytest.approx(1.0)
    lay = effects(ContactParameters(lay_ratio=0.8))
    assert friction(lay, (0, 0, -0.01)) == pytest.approx(0.8)
    assert friction(lay, (0.01, 0, 0)) == pytest.approx(1.0)
    assert friction(lay, (0.01, 0, -0.01)) == pytest.approx(0.9)
    assert friction(lay, (0, 0, -0.01), ABOVE) == pytest.approx(1.0)


def test_marks_repeat_with_the_pitch_and_are_another_twins_elsewhere():
    p = ContactParameters(mark_depth=0.2, mark_pitch_m=0.0002)
    depth = np.linspace(0, 0.01, 4001)
    tips = np.stack([0 * depth, 0 * depth, -1e-9 - depth], axis=1)
    still = np.zeros_like(tips)
    felt = effects(p).friction(tips, still)
    spectrum = np.abs(np.fft.rfft(felt - felt.mean()))
    waves_per_m = np.argmax(spectrum) / 0.01
    assert waves_per_m == pytest.approx(1 / 0.0002, rel=0.03)
    assert 0.1 < np.abs(felt - 1).max() <= 0.2
    assert not np.allclose(felt, effects(p, seed=2).friction(tips, still))


def test_the_fixture_is_soft_within_its_play_and_stiff_beyond():
    laws = effects(fixture=FixtureParameters(play_m=2e-5, soft_share=0.2))
    shift = np.array([[0.0, 1e-5], [2e-5, -4e-5], [1e-4, -1e-3]])
    force = shift * laws.fixture(shift)  # of a spring of 1 N/m
    wanted = np.where(np.abs(shift) <= 2e-5, 0.2 * np.abs(shift), np.abs(shift) - 1.6e-5)
    assert np.allclose(np.abs(force), wanted, atol=1e-12)
    plain = effects(fixture=FixtureParameters())
    assert np.array_equal(plain.fixture(shift), np.ones_like(shift))


def test_joints_stick_at_rest():
    laws = effects(arm=ArmParameters(stiction_ratio=(1.5,) * 6, stribeck_rad_s=0.01))
    factors = laws.joint_friction(np.array([[0, 0.01, -0.01, 0.05, 0, 1]]))[0]
    assert factors[0] == 1.5
    assert factors[1] == factors[2] == pytest.approx(1 + 0.5 / np.e)
    assert factors[3] == pytest.approx(1.0)


def follow(laws, targets, per=25):
    """The held tool (T, 6) at every tick; a target is commanded for `per` ticks."""
    laws.reset([3])
    held, out = np.zeros((1, 6)), []
    for target in targets:
        for _ in range(per):
            held = laws.command(np.full((1, 6), target), held)
            out.append(held[0].copy())
    return np.array(out)


def test_the_tool_follows_no_faster_than_its_limit():
    laws = effects(arm=ArmParameters(max_speed=(0.1, 0.5)))
    held = follow(laws, [0.01, 0.01, 0.01])
    assert np.abs(np.diff(held[:, 0])).max() == pytest.approx(0.1 * TICK_S)
    assert np.abs(np.diff(held[:, 5])).max() == pytest.approx(0.5 * TICK_S)
    assert held[-1] == pytest.approx(0.01)


def test_play_is_lost_when_the_direction_changes():
    laws = effects(arm=ArmParameters(play=(1e-4, 1e-3)))
    held = follow(laws, [0.01, 0.0099, 0.0])
    assert held[24, 0] == pytest.approx(0.01 - 1e-4)
    assert held[49, 0] == held[24, 0]
    assert held[74, 0] == pytest.approx(1e-4)
    assert held[74, 3] == pytest.approx(1e-3)


@given(st.floats(0, 0.1), st.floats(0, 0.1), st.integers(0, 50))
def test_commands_arrive_within_their_delay_and_in_order(latency_s, jitter_s, seed):
    commands = LateCommands(7, "test", latency_s, jitter_s, TICK_S, 0.05)
    commands.reset([seed])
    applied, seen = np.zeros((1, 1)), []
    for tick in range(10 * 25):
        commands.advance(np.array([[1.0 + tick // 25]]), applied)
        seen.append(applied[0, 0])
    assert sorted(seen) == seen
    for k in range(1, 5):
        first = next(i for i, value in enumerate(seen) if value >= k) * TICK_S - 0.05 * (k - 1)
        assert latency_s - TICK_S <= first <= latency_s + jitter_s + TICK_S


def test_lateness_is_drawn_for_each_episode():
    arm = ArmParameters(latency_s=0.002, jitter_s=0.04)
    one, two = effects(arm=arm), effects(arm=arm, seed=2)
    targets = [0.001 * k for k in range(12)]
    assert np.array_equal(follow(one, targets), follow(one, targets))
    assert not np.array_equal(follow(one, targets), follow(two, targets))


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [
        (ContactParameters, "stribeck_m_s", 0.0),
        (ContactParameters, "mark_depth", -0.1),
        (ContactParameters, "mark_pitch_m", 0.0),
        (FixtureParameters, "soft_share", 0.0),
        (ArmParameters, "max_speed", (0.1, 0.0)),
        (ArmParameters, "latency_s", float("nan")),
    ],
)
def test_impossible_numbers_are_refused(kind, field, value):
    with pytest.raises(UsageError, match=field):
        dataclasses.replace(kind(), **{field: value})


def test_a_period_that_is_no_whole_number_of_ticks_is_refused():
    with pytest.raises(UsageError, match="not a whole number of"):
        LateCommands(1, "test", 0.0, 0.0, 0.004, 0.05)
