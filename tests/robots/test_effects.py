import dataclasses

import numpy as np
import pytest

from simreal.robots.effects import (
    CameraParameters,
    ImageEffects,
    optics_matrix,
)

PLAIN = CameraParameters()
ALL = CameraParameters(
    k1=0.1,
    k2=0.01,
    defocus_px=0.5,
    motion_px=1.5,
    vignette=0.2,
    exposure_target=0.5,
    flicker=0.03,
    white_balance=(1.05, 1.0, 0.95),
    drift=0.04,
    noise_std=0.02,
    subsampling=True,
)
SEEDS = (11, 12, 13)


def pictures(n=3, height=64, width=64, seed=0):
    """Smooth random pictures of middling brightness."""
    rng = np.random.default_rng(seed)
    coarse = rng.integers(60, 190, (n, height // 8 + 1, width // 8 + 1, 3))
    fine = coarse.repeat(8, axis=1).repeat(8, axis=2)[:, :height, :width]
    return np.ascontiguousarray(fine.astype(np.uint8))


def effects(parameters, seeds=SEEDS, twin_seed=0):
    made = ImageEffects({"scene": parameters}, twin_seed)
    made.reset(seeds)
    return made


def applied(parameters, images, step=0, **kwargs):
    return effects(parameters, **kwargs).apply({"scene": images}, step)["scene"]


def flat(level, n=3):
    return np.full((n, 64, 64, 3), level, dtype=np.uint8)


def test_no_effect_changes_nothing():
    images = pictures()
    assert np.array_equal(applied(PLAIN, images), images)


def test_shape_dtype_and_input_are_kept():
    for height, width in ((64, 64), (48, 80), (33, 41)):
        images = pictures(2, height, width)
        before = images.copy()
        out = applied(ALL, images, seeds=(1, 2))
        assert out.shape == images.shape
        assert out.dtype == np.uint8
        assert out.flags.c_contiguous
        assert np.array_equal(images, before)


def test_cameras_not_named_pass_unchanged():
    images = {"scene": pictures(), "wrist": pictures(seed=1)}
    out = effects(ALL).apply(images, 0)
    assert np.array_equal(out["wrist"], images["wrist"])
    assert not np.array_equal(out["scene"], images["scene"])


def test_two_cameras_draw_their_own_noise():
    noisy = dataclasses.replace(PLAIN, noise_std=0.02)
    both = ImageEffects({"scene": noisy, "wrist": noisy}, 0)
    both.reset(SEEDS)
    out = both.apply({"scene": flat(128), "wrist": flat(128)}, 0)
    assert not np.array_equal(out["scene"], out["wrist"])


@pytest.mark.parametrize("k1", [0.15, -0.15])
def test_lens_bends_a_straight_line_as_its_sign_says(k1):
    """A barrel (k1 > 0) pulls a vertical line inwards, most at its ends; k1 < 0 the other way."""
    images = np.zeros((1, 65, 65, 3), dtype=np.uint8)
    images[:, :, 55:57] = 255
    out = applied(CameraParameters(k1=k1), images, seeds=(0,))[0, :, :, 0].astype(float)
    column = (out * np.arange(65)).sum(axis=1) / np.maximum(out.sum(axis=1), 1e-9)
    middle, end = column[32], column[8]
    assert (middle < 55.5) == (k1 > 0)
    assert (end < middle - 0.5) if k1 > 0 else (end > middle + 0.5)


def test_lens_keeps_the_centre_and_brightness():
    matrix = optics_matrix(65, 65, 0.1, 0.02, 0.6)
    assert np.allclose(np.asarray(matrix.sum(axis=1)), 1, atol=1e-5)
    assert matrix[32 * 65 + 32, 32 * 65 + 32] == matrix[[32 * 65 + 32]].max()
    assert optics_matrix(64, 64, 0.0, 0.0, 0.0) is None
    assert np.array_equal(applied(CameraParameters(k1=0.1, defocus_px=0.6), flat(90)), flat(90))


def test_defocus_softens_edges_in_proportion_to_the_picture():
    def edge_width(size):
        images = np.zeros((1, size, size, 3), dtype=np.uint8)
        images[:, :, size // 2 :] = 255
        profile = applied(CameraParameters(defocus_px=1.0), images, seeds=(0,))[0, size // 2, :, 0]
        return np.sum((profile > 20) & (profile < 235)) / size

    assert edge_width(64) > 0
    assert edge_width(128) == pytest.approx(edge_width(64), rel=0.5)


def test_motion_blur_differs_from_step_to_step():
    camera = effects(CameraParameters(motion_px=3.0))
    images = pictures()
    out = [camera.apply({"scene": images}, step)["scene"] for step in range(20)]
    changed = [not np.array_equal(o, images) for o in out]
    assert any(changed)
    assert len({o.tobytes() for o in out}) > 5


def test_vignette_darkens_corners_by_its_share():
    out = applied(CameraParameters(vignette=0.3), flat(200))[0, :, :, 0]
    assert out[31, 31] >= 199
    assert out[0, 0] == pytest.approx(200 * 0.7, abs=4)
    assert out[0, 31] > out[0, 0]


def test_exposure_starts_at_its_target_and_follows_with_its_lag():
    camera = effects(CameraParameters(exposure_target=0.5, exposure_lag_s=0.5), seeds=(0,))

    def level(value, step):
        return camera.apply({"scene": flat(value, 1)}, step)["scene"].mean() / 255

    assert level(64, 0) == pytest.approx(0.5, abs=0.01)
    jumped = level(128, 1)
    assert jumped > 0.8
    later = level(128, 11)  # 0.5 s on: 1/e of the difference in the reading is left
    expected = 0.5 * 128 / (128 - 64 * np.exp(-0.55 / 0.5))
    assert later == pytest.approx(expected, abs=0.02)
    assert level(128, 100) == pytest.approx(0.5, abs=0.01)


def test_exposure_is_limited_and_forgotten_at_reset():
    camera = effects(CameraParameters(exposure_target=0.5), seeds=(0,))
    assert camera.apply({"scene": flat(10, 1)}, 0)["scene"].max() == 40
    camera.apply({"scene": flat(250, 1)}, 1)
    camera.reset((0,))
    assert camera.apply({"scene": flat(64, 1)}, 0)["scene"].mean() == pytest.approx(127.5, abs=1)


def test_each_world_is_exposed_by_itself():
    images = np.concatenate([flat(40, 1), flat(200, 1)])
    out = applied(CameraParameters(exposure_target=0.4), images, seeds=(0, 1))
    assert out[0].mean() == pytest.approx(102, abs=1)
    assert out[1].mean() == pytest.approx(102, abs=1)


def test_flicker_changes_rows_and_moves():
    camera = effects(CameraParameters(flicker=0.1))
    first, second = (camera.apply({"scene": flat(128)}, step)["scene"] for step in (0, 1))
    rows = first[0, :, :, 0].astype(float)
    assert np.ptp(rows, axis=1).max() == 0
    assert rows.max() == pytest.approx(128 * 1.1, abs=2)
    assert rows.min() == pytest.approx(128 * 0.9, abs=2)
    assert not np.array_equal(first, second)


def test_white_balance_scales_channels_and_drifts():
    camera = effects(CameraParameters(white_balance=(1.1, 1.0, 0.9), drift=0.05), seeds=(0,))
    means = np.array(
        [
            camera.apply({"scene": flat(100, 1)}, s)["scene"].mean(axis=(0, 1, 2))
            for s in range(0, 400, 8)
        ]
    )
    assert means.mean(axis=0) == pytest.approx([110, 100, 90], abs=2)
    assert np.ptp(means[:, 1]) == 0
    assert means[:, 0].max() == pytest.approx(110 * 1.05, abs=1.5)
    assert np.corrcoef(means[:, 0], means[:, 2])[0, 1] < -0.9


def test_noise_has_its_size_and_no_two_pictures_share_it():
    camera = effects(CameraParameters(noise_std=0.02))
    out = [camera.apply({"scene": flat(128)}, step)["scene"].astype(float) for step in (0, 1)]
    for picture in (*out[0], *out[1]):
        assert picture.std() == pytest.approx(0.02 * 255, rel=0.1)
        assert picture.mean() == pytest.approx(128, abs=0.5)
    kept = [p.tobytes() for p in (*out[0], *out[1])]
    assert len(set(kept)) == len(kept)


def test_subsampling_keeps_luma_and_halves_chroma():
    images = np.zeros((1, 64, 64, 3), dtype=np.uint8)
    images[:, :, ::2] = (200, 60, 60)
    images[:, :, 1::2] = (60, 60, 200)
    out = applied(CameraParameters(subsampling=True), images, seeds=(0,)).astype(float)
    luma = np.array([0.299, 0.587, 0.114])
    assert out @ luma == pytest.approx(images @ luma, abs=1.5)
    chroma = out - (out @ luma)[..., None]
    assert np.abs(chroma[:, :, ::2] - chroma[:, :, 1::2]).max() <= 2
    grey = np.repeat(pictures()[..., :1], 3, axis=3)
    assert np.abs(applied(CameraParameters(subsampling=True), grey).astype(int) - grey).max() <= 1


def run(seeds, twin_seed=0, n_steps=6):
    made = effects(ALL, seeds=seeds, twin_seed=twin_seed)
    return [made.apply({"scene": pictures(len(seeds))}, step)["scene"] for step in range(n_steps)]


def test_everything_repeats_bit_for_bit():
    assert np.array_equal(run(SEEDS), run(SEEDS))
    assert not np.array_equal(run(SEEDS), run(SEEDS, twin_seed=1))
    assert not np.array_equal(run(SEEDS), run((11, 12, 14)))


@pytest.mark.parametrize("n", [1, 7, 8, 9, 20])
def test_no_picture_depends_on_the_others_in_its_batch(n):
    images = pictures(n, seed=5)
    seeds = tuple(range(n))
    batch = [effects(ALL, seeds=seeds).apply({"scene": images}, s)["scene"] for s in (0, 3)]
    for i in (0, n - 1):
        alone = [
            effects(ALL, seeds=(seeds[i],)).apply({"scene": images[i : i + 1]}, s)["scene"]
            for s in (0, 3)
        ]
        assert all(np.array_equal(b[i : i + 1], a) for b, a in zip(batch, alone, strict=True))
