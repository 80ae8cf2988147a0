"""What a force/torque sensor makes of the true wrench."""

import numpy as np
import pytest

from simreal.core.types import WRENCH_HZ, WRENCH_SAMPLES
from simreal.worlds.felt import BLOCK, ForceSensor
from simreal.worlds.scene import Scene
from simreal.worlds.settings import Settings
from simreal.worlds.simulated import scene_of
from simreal.worlds.variation import OPERATIONS


@pytest.fixture(scope="module")
def scene() -> Scene:
    return scene_of("insert", "primitive", None)


def settings_with(scene: Scene, **values: object) -> Settings:
    settings = Settings(scene)
    for name, numbers in values.items():
        term = scene.robot.terms[name]
        array = np.broadcast_to(np.asarray(numbers, float), (term.size,)).copy()
        term.apply(settings, OPERATIONS["set"], array)
    return settings


def sensor(*settings: Settings, seeds: tuple[int, ...] | None = None) -> ForceSensor:
    made = ForceSensor()
    made.reset(settings, seeds or tuple(range(len(settings))))
    return made


def push(n: int, force_n: float = 5.0) -> np.ndarray:
    window = np.zeros((n, WRENCH_SAMPLES, 6), np.float32)
    window[:, :, 2] = force_n
    return window


def test_nominal_sensors_read_the_truth(scene):
    true = push(2)
    assert np.array_equal(sensor(Settings(scene), Settings(scene)).read(true, 0), true)


def test_noise_has_the_size_asked_for_and_torque_follows_force(scene):
    noisy = sensor(settings_with(scene, wrench_noise=0.8))
    read = np.concatenate([noisy.read(push(1, 0.0), step)[0] for step in range(200)])
    assert read[:, :3].std() == pytest.approx(0.8, rel=0.03)
    assert read[:, 3:].std() == pytest.approx(0.8 * 0.057, rel=0.03)
    assert abs(np.corrcoef(read[:-1, 0], read[1:, 0])[0, 1]) < 0.05


def test_noise_depends_on_seed_and_step_alone(scene):
    loud = settings_with(scene, wrench_noise=1.0)
    together = sensor(loud, loud, seeds=(7, 8))
    alone = sensor(loud, seeds=(8,))
    for step in (0, 1, BLOCK - 1, BLOCK, 3 * BLOCK + 2, 1):
        assert np.array_equal(together.read(push(2), step)[1], alone.read(push(1), step)[0])
    assert not np.array_equal(alone.read(push(1), 0), alone.read(push(1), 1))


def test_bias_stays_and_drift_grows(scene):
    biased = sensor(settings_with(scene, wrench_bias=[1, 0, 0, 0, 0, 2]))
    assert biased.read(push(1, 0.0), 3)[0, 0] == pytest.approx([1, 0, 0, 0, 0, 2 * 0.057])
    drifting = sensor(settings_with(scene, wrench_drift=[0, 0, 0.1, 0, 0, 0]))
    after = drifting.read(push(1, 0.0), 40)  # two seconds
    assert after[0, 0, 2] == pytest.approx(0.2)
    assert after[0, -1, 2] == pytest.approx(0.1 * (2 + 24 / WRENCH_HZ))


def test_the_filter_keeps_what_is_slow_and_remembers_between_windows(scene):
    cutoff = 30.0
    filtered = sensor(settings_with(scene, wrench_cutoff=cutoff))
    time_s = np.arange(20 * WRENCH_SAMPLES) / WRENCH_HZ
    gains = {}
    for hz in (2.0, 30.0, 200.0):
        tone = push(1, 0.0).repeat(20, axis=0).reshape(-1, 6)
        tone[:, 2] = np.sin(2 * np.pi * hz * time_s)
        filtered.reset([settings_with(scene, wrench_cutoff=cutoff)], (0,))
        parts = tone.reshape(20, 1, WRENCH_SAMPLES, 6)
        out = np.concatenate([filtered.read(part, i)[0, :, 2] for i, part in enumerate(parts)])
        gains[hz] = out[250:].std() / tone[250:, 2].std()
    assert gains[2.0] == pytest.approx(1.0, abs=0.02)
    assert gains[30.0] == pytest.approx(np.sqrt(0.5), abs=0.08)
    assert gains[200.0] < 0.25
