"""A force/torque sensor's effects: constant forces stay, changes ring, windows join."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simreal.core.errors import UsageError
from simreal.core.types import WRENCH_HZ, WRENCH_SAMPLES
from simreal.robots.hidden_peg import draw_peg
from simreal.robots.wrench_effects import TORQUE_ARM_M, SensorEffects, SensorParameters
from simreal.worlds.terms_peg import TORQUE_ARM_M as TERMS_TORQUE_ARM_M

RINGS = SensorParameters(resonance_hz=70.0, resonance_damping=0.03, resonance_share=0.4)


def read(parameters, signal):
    """Signal (T, 6) of one world through the sensor, window by window."""
    sensor = SensorEffects(parameters)
    sensor.reset([1])
    windows = signal.reshape(-1, 1, WRENCH_SAMPLES, 6).astype(np.float32)
    return np.concatenate([sensor.apply(w, k)[0] for k, w in enumerate(windows)])


def step_at(sample, size=8.0, total=400):
    signal = np.zeros((total, 6))
    signal[sample:, 2] = size
    return signal


def test_a_sensor_without_effects_tells_the_truth():
    signal = np.random.default_rng(0).normal(size=(100, 6)).astype(np.float32)
    assert np.array_equal(read(SensorParameters(), signal), signal)


def test_a_change_rings_with_its_own_frequency_and_dies_away():
    felt = read(RINGS, step_at(100))[:, 2]
    ring = felt[100:] - 8.0
    spectrum = np.abs(np.fft.rfft(ring))
    peak_hz = np.fft.rfftfreq(len(ring), 1 / WRENCH_HZ)[1 + np.argmax(spectrum[1:])]
    assert peak_hz == pytest.approx(70, abs=2.5)
    assert felt.max() > 8.0 * 1.25
    assert np.abs(ring[-25:]).max() < 0.05 * np.abs(ring).max()
    assert not felt[:100].any()


@given(st.lists(st.floats(-30, 30), min_size=6, max_size=6))
def test_what_does_not_change_is_not_heard(force):
    """No tone: a force that stands still stays still, whatever rings or filters."""
    felt = read(dataclasses.replace(RINGS, cutoff_hz=90.0), np.tile(force, (75, 1)))
    assert np.allclose(felt, np.float32(force), atol=1e-4)


def test_windows_join_seamlessly():
    p = draw_peg(501, "moderate").sensor
    signal = np.random.default_rng(1).normal(size=(100, 6))
    whole = SensorEffects(p).apply(signal[None].astype(np.float32), 0)[0]
    assert np.allclose(read(p, signal), whole, atol=1e-5)


def test_crosstalk_and_gain_are_in_units_of_force():
    talk = np.zeros((6, 6))
    talk[4, 0] = 0.02
    off = ~np.eye(6, dtype=bool)
    p = SensorParameters(gain=(1.1, 1, 1, 1, 1, 1), crosstalk=tuple(talk[off]))
    felt = read(p, np.tile([10.0, 0, 0, 0, 0, 0], (25, 1)))[0]
    assert felt == pytest.approx([11.0, 0, 0, 0, 0.02 * 10 * TORQUE_ARM_M, 0], abs=1e-6)


def test_hysteresis_lags_by_its_half_width():
    ramp = np.zeros((100, 6))
    ramp[:, 0] = np.concatenate([np.linspace(0, 5, 50), np.linspace(5, 0, 50)])
    felt = read(SensorParameters(hysteresis_n=0.2), ramp)[:, 0]
    assert felt[40] == pytest.approx(ramp[40, 0] - 0.2, abs=1e-5)
    assert felt[90] == pytest.approx(ramp[90, 0] + 0.2, abs=1e-5)


def test_readings_are_multiples_of_the_quantum():
    felt = read(SensorParameters(quantum_n=0.05), np.random.default_rng(2).normal(size=(50, 6)))
    for channels, quantum in ((felt[:, :3], 0.05), (felt[:, 3:], 0.05 * TORQUE_ARM_M)):
        steps = channels / quantum
        assert np.allclose(steps, np.rint(steps), atol=1e-3)


def test_the_filter_takes_away_what_is_fast():
    time = np.arange(500) / WRENCH_HZ
    fast = np.zeros((500, 6))
    fast[:, 1] = np.sin(2 * np.pi * 150 * time)
    felt = read(SensorParameters(cutoff_hz=30.0), fast)[100:, 1]
    assert felt.std() < 0.35 * fast[:, 1].std()


def test_torques_follow_forces_as_in_randomization():
    assert TORQUE_ARM_M == TERMS_TORQUE_ARM_M


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"gain": (1.0,) * 5}, "6 gains and 30"),
        ({"crosstalk": (float("nan"),) * 30}, "finite"),
        ({"cutoff_hz": -1.0}, "cutoff_hz"),
        ({"resonance_share": 1.5}, "resonance_share lies in 0 to 1"),
        ({"resonance_hz": 300.0}, "between 0 and 250 Hz"),
    ],
)
def test_impossible_sensors_are_refused(changes, words):
    with pytest.raises(UsageError, match=words):
        SensorParameters(**changes)
