"""Each effect of the servo model alone, on joints that stand still."""

import dataclasses

import numpy as np
import pytest

from simreal.core.errors import UsageError
from simreal.robots.servo import (
    BASE_FRICTION_NM,
    COUNT_RAD,
    JOINTS,
    REAL_ARM,
    ServoModel,
    ServoParameters,
    in_counts,
)

IDEAL = ServoParameters(
    gain_ratio=(1.0,) * JOINTS,
    bias_rad=(0.0,) * JOINTS,
    play_rad=(0.0,) * JOINTS,
    dead_band_rad=(0.0,) * JOINTS,
    friction_nm=(BASE_FRICTION_NM,) * JOINTS,
    stiction_ratio=(1.0,) * JOINTS,
    stribeck_rad_s=0.1,
    max_speed_rad_s=1e6,
    latency_s=0.0,
    jitter_s=0.0,
)
TICKS = 10  # substeps a control step: 50 ms of 2.5 ms steps, two at a time


def only(**changes):
    return dataclasses.replace(IDEAL, **changes)


def still(n=1):
    return np.zeros((n, JOINTS))


def controls(parameters, targets, seeds=(0,), seed=0):
    """Controls (steps * TICKS, N, J) for targets (steps, J) while the joints stand at 0."""
    model = ServoModel(parameters, seed)
    model.reset(seeds)
    q = still(len(seeds))
    return np.stack(
        [
            model.substep(np.broadcast_to(target, q.shape), q, q)[0]
            for target in targets
            for _ in range(TICKS)
        ]
    )


def steps(*values):
    """Targets (steps, J): all joints at these values, in counts so that rounding is exact."""
    return np.array([[COUNT_RAD * round(v / COUNT_RAD)] * JOINTS for v in values])


def test_without_effects_controls_are_the_targets():
    targets = steps(0.1, -0.4, 0.4)
    assert np.allclose(controls(IDEAL, targets)[:, 0], np.repeat(targets, TICKS, axis=0))


def test_targets_are_sent_in_encoder_counts():
    out = controls(IDEAL, np.full((1, JOINTS), 10.4 * COUNT_RAD))
    assert np.allclose(out, 10 * COUNT_RAD)
    assert np.allclose(in_counts(np.array([0.0, 0.6, -1.7]) * COUNT_RAD) / COUNT_RAD, [0, 1, -2])


def test_gain_acts_on_the_error_and_keeps_the_set_point():
    model = ServoModel(only(gain_ratio=(0.8,) * JOINTS), 0)
    model.reset([0])
    target = steps(0.3)
    q = still() + 0.1
    control, _ = model.substep(target, q, still())
    assert np.allclose(control - q, 0.8 * (target - q))
    model.reset([0])
    assert np.allclose(model.substep(target, target, still())[0], target)


def test_bias_moves_the_set_point():
    assert np.allclose(controls(only(bias_rad=(0.02,) * JOINTS), steps(0.0)), 0.02)


def test_play_is_a_hysteresis_of_its_own_width():
    out = controls(only(play_rad=(0.05,) * JOINTS), steps(0.04, 0.2, 0.15, 0.11, 0.0))[
        ::TICKS, 0, 0
    ]
    inside, pushed, _, back_inside, returned = (t[0] for t in steps(0.04, 0.2, 0.15, 0.11, 0.0))
    assert out[0] == 0.0 < inside
    assert np.isclose(out[1], pushed - 0.05)
    assert np.isclose(out[2], out[1])
    assert np.isclose(out[3], out[1])
    assert np.isclose(out[4], returned + 0.05)
    assert back_inside < out[3]


def test_small_errors_give_no_torque_and_large_ones_less():
    parameters = only(dead_band_rad=(0.01,) * JOINTS)
    assert np.allclose(controls(parameters, steps(0.008)), 0.0)
    target = steps(0.1)
    assert np.allclose(controls(parameters, target), target[0] - 0.01)


def test_speed_is_limited():
    out = controls(only(max_speed_rad_s=2.0), steps(1.0, 1.0, 1.0))[:, 0, 0]
    assert np.isclose(np.diff(out).max(), 2.0 * 0.005)
    assert np.isclose(out[19], 20 * 2.0 * 0.005)


def test_a_command_arrives_after_the_latency():
    out = controls(only(latency_s=0.03), steps(0.2))[:, 0, 0]
    assert np.array_equal(out > 0, np.arange(TICKS) >= 6)


def test_latency_longer_than_a_period_loses_no_command():
    targets = steps(0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
    out = controls(only(latency_s=0.12), targets)[:, 0, 0]
    assert np.array_equal(out[:24], np.zeros(24))
    assert np.allclose(out[24:], np.repeat(targets[:, 0], TICKS)[:-24])


def test_jitter_varies_from_command_to_command_and_never_reorders():
    jittery = only(jitter_s=0.12)
    targets = steps(*np.arange(1, 200) / 100)
    out = controls(jittery, targets)[:, 0, 0]
    assert (np.diff(out) >= 0).all(), "an older command came after a newer one"
    arrivals = np.array([np.argmax(out >= t[0] - 1e-9) for t in targets[:-3]])
    delays = arrivals - TICKS * np.arange(len(arrivals))
    assert delays.min() >= 0
    assert delays.max() <= 24
    assert len(set(delays.tolist())) > 5


def test_jitter_depends_on_twin_and_condition_alone():
    jittery, targets = only(jitter_s=0.04), steps(*np.arange(1, 30) / 20)
    both = controls(jittery, targets, seeds=(5, 6))
    assert np.array_equal(both[:, 1:], controls(jittery, targets, seeds=(6,)))
    assert not np.array_equal(both[:, 0], both[:, 1])
    assert not np.array_equal(both, controls(jittery, targets, seeds=(5, 6), seed=1))


def test_stiction_raises_friction_at_rest_only():
    model = ServoModel(only(stiction_ratio=(1.5,) * JOINTS), 0)
    model.reset([0])
    speeds = np.array([[0.0, 0.1, -0.1, 0.3, -2.0, 0.0]])
    _, friction = model.substep(still(), still(), speeds)
    expected = 1 + 0.5 * np.exp(-np.square(speeds / 0.1))
    assert np.allclose(friction / BASE_FRICTION_NM, expected)
    assert np.isclose(friction[0, 0], 1.5 * BASE_FRICTION_NM)
    assert np.isclose(friction[0, 4], BASE_FRICTION_NM)


def test_a_joint_holds_where_it_stands_until_the_first_command_arrives():
    model = ServoModel(only(latency_s=0.02), 0)
    model.reset([0])
    q = still() + 0.7
    first = [model.substep(steps(0.0), q, still())[0][0, 0] for _ in range(6)]
    assert np.allclose(first[:4], 0.7)
    assert np.allclose(first[4:], 0.0)


def test_reset_forgets_the_past():
    targets = steps(0.3, -0.2, 0.4)
    model = ServoModel(REAL_ARM, 3)
    runs = []
    for junk in (0.0, 0.8):
        model.reset([1, 2])
        model.substep(np.full((2, JOINTS), junk), still(2), still(2))
        model.reset([1, 2])
        q = still(2)
        runs.append(
            [
                model.substep(np.broadcast_to(t, q.shape), q, q)[0].copy()
                for t in targets
                for _ in range(TICKS)
            ]
        )
    assert np.array_equal(*runs)


def test_results_are_not_shared_with_the_model():
    model = ServoModel(REAL_ARM, 3)
    model.reset([1])
    q, target = still(), steps(0.3)
    control, friction = model.substep(target, q, q)
    kept = friction.copy()
    control[:] = friction[:] = target[:] = q[:] = 9.0
    _, again = model.substep(steps(0.3), still(), still())
    assert np.array_equal(again, kept)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gain_ratio": (1.0,) * 5}, "gain_ratio needs 6"),
        ({"play_rad": (-0.1,) + (0.0,) * 5}, "play_rad must be finite and >= 0"),
        ({"bias_rad": (float("nan"),) * 6}, "bias_rad must be finite"),
        ({"latency_s": -0.01}, "latency_s"),
        ({"max_speed_rad_s": 0.0}, "must be positive"),
        ({"stribeck_rad_s": 0.0}, "must be positive"),
    ],
)
def test_impossible_parameters_are_refused(change, message):
    with pytest.raises(UsageError, match=message):
        only(**change)


def test_a_period_that_is_no_whole_number_of_calls_is_refused():
    with pytest.raises(UsageError, match="whole number"):
        ServoModel(IDEAL, 0, period_s=0.033)
    assert ServoModel(IDEAL, 0, every=4, period_s=0.02).every == 4
