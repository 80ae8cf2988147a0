import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests.contract.fake_target import FakeTarget, conditions

from simreal.core.errors import UsageError
from simreal.core.loop import run_episodes
from simreal.robots.safety import LIMITS, SO101_LIMITS, TOOL_LIMITS, JointLimits, SafeTarget

LOW = np.array([limit.low for limit in SO101_LIMITS.values()], dtype=np.float32)
HIGH = np.array([limit.high for limit in SO101_LIMITS.values()], dtype=np.float32)
STEP = np.array([limit.step for limit in SO101_LIMITS.values()], dtype=np.float32)


def started(n=2):
    inner = FakeTarget()
    safe = SafeTarget(inner)
    safe.reset(conditions(n))
    return inner, safe, safe.observe(images=False).joint_pos


def test_safe_actions_pass_untouched():
    inner, safe, measured = started()
    action = measured + np.float32(3)
    safe.act(action)
    assert np.array_equal(inner.commands[0], action)
    assert not safe.counts.total().any()


def test_a_leap_is_cut_to_the_step_and_counted():
    inner, safe, measured = started()
    action = measured.copy()
    action[1, 0] += 60
    safe.act(action)
    expected = measured.copy()
    expected[1, 0] += STEP[0]
    assert np.allclose(inner.commands[0], expected)
    assert safe.counts.step_clamped.tolist() == [0, 1]
    assert safe.counts.range_clamped.tolist() == [0, 0]


def test_targets_stay_in_the_range_of_the_joint():
    inner, safe, measured = started()
    action = measured.copy()
    action[0, 5] = 104.0
    action[1, 5] = -3.0
    safe.act(action)
    assert inner.commands[0][:, 5].tolist() == [100.0, 0.0]
    assert safe.counts.range_clamped.tolist() == [1, 1]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_world_without_a_finite_action_holds_its_last_target(value):
    inner, safe, measured = started()
    good = measured + np.float32(2)
    safe.act(good)
    safe.observe(images=False)
    bad = good + np.float32(1)
    bad[0, 3] = value
    safe.act(bad)
    assert np.array_equal(inner.commands[1][0], good[0])
    assert np.array_equal(inner.commands[1][1], bad[1])
    assert safe.counts.held.tolist() == [1, 0]
    assert not safe.counts.step_clamped.any()


def test_before_any_target_it_holds_the_measured_position():
    inner, safe, measured = started()
    safe.act(np.full_like(measured, np.nan))
    assert np.array_equal(inner.commands[0], measured)
    assert safe.counts.held.tolist() == [1, 1]


class Blind(FakeTarget):
    """World 0's encoders fail after the first step."""

    def observe(self, images=True):
        seen = super().observe(images)
        if self.step > 0 or self.blind_from_the_start:
            seen.joint_pos[0] = np.nan
        return seen

    blind_from_the_start = False


def test_an_unknown_position_holds_the_last_target():
    inner = Blind()
    safe = SafeTarget(inner)
    safe.reset(conditions(2))
    first = safe.observe().joint_pos + np.float32(1)
    safe.act(first)
    safe.act(first + np.float32(1))
    assert np.array_equal(inner.commands[1][0], first[0])
    assert safe.counts.held.tolist() == [1, 0]


def test_with_nothing_known_nothing_moves():
    inner = Blind()
    inner.blind_from_the_start = True
    safe = SafeTarget(inner)
    safe.reset(conditions(2))
    with pytest.raises(ValueError, match="nothing moves"):
        safe.act(np.zeros((2, 6), dtype=np.float32))
    assert inner.commands == []


@pytest.mark.parametrize("shape", [(2, 5), (3, 6), (6,), (1, 6), (2, 6, 1)])
def test_a_wrong_shape_raises_and_moves_nothing(shape):
    inner, safe, _ = started()
    with pytest.raises(ValueError, match="expected"):
        safe.act(np.zeros(shape, dtype=np.float32))
    assert inner.commands == []


def test_acting_without_observing_measures_first():
    inner, safe, measured = started()
    safe.act(measured)
    leap = np.full_like(measured, 90)
    before = inner.position.copy()
    safe.act(leap)
    assert (np.abs(inner.commands[1] - before) < STEP + 1).all()


def test_a_stale_measurement_is_never_used():
    """Two actions after one look: the second is held to where the arm is by then."""
    inner, safe, measured = started(1)
    far = measured + np.array([50, 0, 0, 0, 0, 0], dtype=np.float32)
    safe.act(far)
    safe.act(far)
    assert inner.commands[1][0, 0] > inner.commands[0][0, 0] + 5


def test_counts_start_over_at_reset():
    _, safe, measured = started()
    safe.act(np.full_like(measured, np.nan))
    safe.reset(conditions(3))
    assert safe.counts.total().tolist() == [0, 0, 0]
    safe.act(np.full((3, 6), np.nan, dtype=np.float32))  # the last target of old is forgotten
    assert safe.counts.held.tolist() == [1, 1, 1]


@given(
    arrays(np.float32, (2, 6), elements=st.floats(-1e6, 1e6, width=32)),
    arrays(np.bool_, (2, 6)),
)
def test_whatever_comes_what_goes_on_is_safe(action, holes):
    inner, safe, measured = started()
    safe.act(np.where(holes, np.float32(np.nan), action))
    sent = inner.commands[0]
    assert np.isfinite(sent).all()
    assert (sent >= LOW - 1e-3).all()
    assert (sent <= HIGH + 1e-3).all()
    assert (np.abs(sent - measured) <= STEP + 1e-3).all()
    assert (safe.counts.held > 0).tolist() == holes.any(axis=1).tolist()


def test_everything_else_is_passed_on():
    inner, safe, _ = started()
    assert safe.spec is inner.spec
    seen = safe.observe(images=True)
    assert set(seen.images) == {"scene"}
    assert not safe.observe(images=False).images
    inner.success[:] = True
    assert safe.outcome().success.all()


def test_the_loop_runs_through_it_unchanged():
    class Steady:
        def reset(self, n):
            self.n = n

        def looks(self):
            return False

        def act(self, observation):
            move = np.array([8, 0, 0, 0, 0, 0], dtype=np.float32)
            return observation.joint_pos + move

    plain, wrapped = FakeTarget(), FakeTarget()
    run_episodes(plain, Steady(), conditions(3), 5)
    safe = SafeTarget(wrapped)
    run_episodes(safe, Steady(), conditions(3), 5)
    assert all(np.array_equal(a, b) for a, b in zip(plain.commands, wrapped.commands, strict=True))
    assert not safe.counts.total().any()


def test_impossible_limits_and_unknown_joints_are_refused():
    for low, high, step in ((1, 1, 1), (0, 1, 0), (0, np.inf, 1), (0, 1, np.nan)):
        with pytest.raises(UsageError, match="impossible"):
            JointLimits(low, high, step)
    inner = FakeTarget()
    inner.spec = dataclasses.replace(inner.spec, joint_names=("hip", *inner.spec.joint_names[1:]))
    with pytest.raises(UsageError, match=r"joint .*'hip'"):
        SafeTarget(inner)
    assert SafeTarget(inner, {**SO101_LIMITS, "hip": JointLimits(-1, 1, 1)})


def test_the_limits_are_those_of_the_model():
    from simreal.worlds.so101 import JOINTS, arm_spec, to_lerobot

    assert tuple(SO101_LIMITS) == JOINTS
    ranges = np.array([arm_spec().joint(name).range for name in JOINTS])
    for row, ends in enumerate(to_lerobot(ranges.T).T):
        limit = list(SO101_LIMITS.values())[row]
        assert limit.low == pytest.approx(ends[0], abs=0.2)
        assert limit.high == pytest.approx(ends[1], abs=0.2)


def test_a_failed_world_that_was_held_is_an_unsafe_stop():
    inner, safe, measured = started()
    reach = measured.copy()
    bad = measured.copy()
    bad[0, 0] = np.nan
    safe.act(bad)
    assert safe.outcome().failure == ("unsafe stop", "never panned")
    for _ in range(30):  # a world that was held once may still succeed
        reach[:, 0] = safe.observe(images=False).joint_pos[:, 0] + 20
        safe.act(reach)
    assert inner.outcome().success.all()
    assert safe.outcome().failure == (None, None)
    safe.reset(conditions(2))
    assert safe.outcome().failure == ("never panned",) * 2


class Feeling(FakeTarget):
    """The fake target with tool channels and a force/torque sensor that breaks when told to."""

    def __init__(self):
        super().__init__()
        self.spec = dataclasses.replace(self.spec, joint_names=tuple(TOOL_LIMITS), wrench=True)
        self.broken = []

    def reset(self, conditions):
        super().reset(conditions)
        self.position[:] = [450, 0, 45, 0, 0, 0]

    def observe(self, images=True):
        wrench = np.ones((len(self.seeds), 25, 6), dtype=np.float32)
        wrench[self.broken, 7, 2] = np.nan
        return dataclasses.replace(super().observe(images), wrench=wrench)


def test_tool_channels_have_limits_of_their_own():
    inner = Feeling()
    safe = SafeTarget(inner)
    safe.reset(conditions(1))
    measured = safe.observe(images=False).joint_pos
    safe.act(measured + np.float32([20, 0, -20, 0, 40, 0]))
    expected = measured + np.float32([15, 0, -15, 0, 15, 0])
    assert np.allclose(inner.commands[0], expected)
    for _ in range(40):
        safe.act(safe.observe(images=False).joint_pos - np.float32([15, 0, 15, 0, 0, 0]))
    assert inner.commands[-1][0, [0, 2]].tolist() == [350, -10]
    assert set(LIMITS) == {*SO101_LIMITS, *TOOL_LIMITS}


def test_a_world_without_a_finite_force_holds_its_last_target_and_the_policy_sees_none():
    inner = Feeling()
    safe = SafeTarget(inner)
    safe.reset(conditions(2))
    first = safe.observe().joint_pos + np.float32(1)
    safe.act(first)
    inner.broken = [1]
    observation = safe.observe()
    assert np.isfinite(observation.wrench).all()
    assert observation.wrench[0].all()
    assert not observation.wrench[1].any()
    further = observation.joint_pos + np.float32(2)
    safe.act(further)
    assert np.array_equal(inner.commands[1], np.stack([further[0], first[1]]))
    assert safe.counts.held.tolist() == [0, 1]
    inner.broken = []
    safe.act(safe.observe().joint_pos)
    assert safe.counts.held.tolist() == [0, 1]
