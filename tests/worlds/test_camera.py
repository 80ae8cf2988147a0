import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simreal.worlds import camera
from simreal.worlds.camera import Sensor, Stream, expose

IMAGES = np.random.default_rng(0).integers(0, 256, (6, 16, 20, 3), dtype=np.uint8)
NOISY = Sensor(exposure_stops=0.3, colour_gain=(1.1, 0.9, 1.0), read_noise=2.0, shot_noise=5.0)
STREAMS = [Stream(seed=1, index=i // 3, step=i % 3) for i in range(6)]


def one(image, sensor, stream=STREAMS[0], name="scene"):
    return expose(image[None], [sensor], [stream], name)[0]


def grey(value, shape=(64, 64)):
    return np.full((*shape, 3), value, np.uint8)


def test_the_default_changes_nothing():
    assert (expose(IMAGES, [Sensor()] * 6, STREAMS, "scene") == IMAGES).all()


def test_a_stop_doubles_the_light():
    brighter = one(grey(60), Sensor(exposure_stops=1.0))
    assert (brighter == round(60 * 2 ** (1 / 2.2))).all()
    assert (one(grey(200), Sensor(exposure_stops=1.0)) == 255).all()
    assert (one(grey(200), Sensor(exposure_stops=-20.0)) == 0).all()


@pytest.mark.parametrize("channel", [0, 1, 2])
def test_a_cast_changes_its_channel_only(channel):
    gain = [1.0, 1.0, 1.0]
    gain[channel] = 0.5
    out = one(IMAGES[0], Sensor(colour_gain=tuple(gain)))
    assert (out[..., channel] == np.floor(IMAGES[0, ..., channel] * 0.5 + 0.5)).all()
    others = [c for c in range(3) if c != channel]
    assert (out[..., others] == IMAGES[0][..., others]).all()


@pytest.mark.parametrize(("value", "expected"), [(40, 3.0), (120, 3.0), (200, 3.0)])
def test_read_noise_is_the_same_everywhere(value, expected):
    out = one(grey(value), Sensor(read_noise=3.0)).astype(float)
    assert out.mean() == pytest.approx(value, abs=0.2)
    assert out.std() == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("value", [40, 120, 200])
def test_the_variance_of_shot_noise_grows_with_the_light(value):
    out = one(grey(value), Sensor(shot_noise=10.0)).astype(float)
    assert out.mean() == pytest.approx(value, abs=0.4)
    assert out.var() == pytest.approx(100 * value / 255, rel=0.08)


def test_noise_of_neighbouring_pixels_and_channels_is_independent():
    noise = one(grey(128), Sensor(read_noise=10.0)).astype(float) - 128
    pairs = {
        "right": (noise[:, 1:], noise[:, :-1]),
        "down": (noise[1:], noise[:-1]),
        "channel": (noise[..., 0], noise[..., 1]),
    }
    for name, (a, b) in pairs.items():
        assert abs(np.corrcoef(a.ravel(), b.ravel())[0, 1]) < 0.06, name


@given(st.lists(st.integers(0, 5), max_size=9))
def test_a_picture_does_not_depend_on_its_company(rows):
    sensors = [dataclasses.replace(NOISY, read_noise=float(i)) for i in range(6)]
    alone = [one(IMAGES[i], sensors[i], STREAMS[i]) for i in range(6)]
    mixed = expose(IMAGES[rows], [sensors[i] for i in rows], [STREAMS[i] for i in rows], "scene")
    assert all((mixed[k] == alone[i]).all() for k, i in enumerate(rows))


def test_seed_index_step_and_camera_each_name_another_noise():
    stream = Stream(seed=1, index=2, step=3)
    reference = one(grey(128), NOISY, stream)
    assert (one(grey(128), NOISY, stream) == reference).all()
    for name in ("seed", "index", "step"):
        other = dataclasses.replace(stream, **{name: 7})
        assert (one(grey(128), NOISY, other) != reference).mean() > 0.5
    assert (one(grey(128), NOISY, stream, "wrist") != reference).mean() > 0.5


def test_the_noise_table_is_whole_at_its_end(monkeypatch):
    monkeypatch.setattr(camera, "_TABLE", 300)
    camera._table.cache_clear()
    try:
        noise = camera._noise(900, STREAMS[0], "scene")
        assert (noise[:300] == noise[300:600]).all()
        assert noise.std() == pytest.approx(1, abs=0.2)
    finally:
        camera._table.cache_clear()


def test_the_input_is_left_alone():
    before = IMAGES.copy()
    expose(IMAGES, [NOISY] * 6, STREAMS, "scene")
    assert (before == IMAGES).all()


def test_numbers_that_do_not_match_are_named():
    with pytest.raises(ValueError, match="6 images, 5 sensors and 6 streams"):
        expose(IMAGES, [NOISY] * 5, STREAMS, "scene")
