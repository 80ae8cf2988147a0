"""The parts under the store: journal, PNG, video, statistics."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from PIL import Image

from simreal.core.errors import BadDataError, UsageError
from simreal.demos import journal, png, statistics, video
from simreal.demos.journal import Journal, lines, parse

pictures = npst.arrays(
    np.uint8, st.tuples(st.integers(1, 4), st.integers(1, 9), st.integers(1, 9), st.just(3))
)


@given(pictures)
@settings(deadline=None)
def test_png_is_exact_for_us_and_for_pillow(images):
    height, width = images.shape[1:3]
    written = png.encode(images)
    np.testing.assert_array_equal(png.decode(written, height, width), images)
    np.testing.assert_array_equal(png._decode_any(written, height, width), images)


@pytest.mark.parametrize("level", [0, 1, 6])
def test_png_of_another_writer_is_read(tmp_path, level):
    images = np.random.default_rng(0).integers(0, 256, (3, 20, 31, 3), np.uint8)
    images[1] = 7
    written = []
    for number, image in enumerate(images):
        Image.fromarray(image).save(tmp_path / f"{number}.png", compress_level=level)
        written.append((tmp_path / f"{number}.png").read_bytes())
    np.testing.assert_array_equal(png.decode(written, 20, 31), images)


def test_png_that_is_damaged_or_of_another_size_is_refused():
    written = png.encode(np.zeros((1, 8, 8, 3), np.uint8))[0]
    with pytest.raises(ValueError, match="picture of 8 x 8 pixels"):
        png.decode([written], 8, 9)
    with pytest.raises(ValueError, match="damaged"):
        png.decode([written[:45] + bytes(8) + written[53:]], 8, 8)
    with pytest.raises(ValueError, match="damaged"):
        png.decode([b"no picture"], 8, 8)


def test_video_frames_stand_where_they_were_put(tmp_path):
    """Every frame has a brightness of its own, so a frame out of place is seen."""
    level = np.linspace(20, 230, 60).astype(np.uint8)
    images = np.broadcast_to(level[:, None, None, None], (60, 16, 24, 3))
    parts = []
    for number, (start, end) in enumerate([(0, 25), (25, 26), (26, 60)]):
        path = tmp_path / f"{number}.mp4"
        path.write_bytes(video.encode(images[start:end], fps=30))
        parts.append((path, end - start))
    video.join(parts, tmp_path / "all.mp4", fps=30)
    for first, count in ((0, 60), (25, 1), (26, 3), (59, 1), (11, 30)):
        stored = video.decode(tmp_path / "all.mp4", first, count, fps=30)
        assert stored.shape == (count, 16, 24, 3)
        wanted = level[first : first + count].astype(float)
        np.testing.assert_allclose(stored.mean(axis=(1, 2, 3)), wanted, atol=2)
    with pytest.raises(ValueError, match="ends after 60 frames, 61 are needed"):
        video.decode(tmp_path / "all.mp4", 50, 11, fps=30)
    (tmp_path / "none.mp4").write_bytes(b"nothing")
    with pytest.raises(ValueError, match="not a readable video"):
        video.decode(tmp_path / "none.mp4", 0, 1, fps=30)


@given(
    st.lists(st.integers(1, 12), min_size=1, max_size=5),
    st.integers(0, 99),
)
@settings(max_examples=40, deadline=None)
def test_merged_statistics_are_those_of_all_rows(lengths, seed):
    rng = np.random.default_rng(seed)
    parts = [rng.normal(3, 5, (length, 2)) for length in lengths]
    merged = statistics.merge([statistics.of_vectors(part) for part in parts])
    rows = np.concatenate(parts)
    for name in ("min", "max", "mean", "std"):
        np.testing.assert_allclose(merged[name], getattr(np, name)(rows, axis=0), atol=1e-6)
    assert merged["count"] == [len(rows)]


def test_image_statistics_are_those_of_the_pixels():
    images = np.random.default_rng(1).integers(10, 200, (30, 12, 10, 3), np.uint8)
    images[..., 2] = 51
    stats = statistics.of_images(images)
    flat = images.reshape(-1, 3) / 255
    for name in ("min", "max", "mean", "std"):
        np.testing.assert_allclose(stats[name].ravel(), getattr(np, name)(flat, axis=0), atol=1e-6)
    for name, share in statistics.QUANTILES.items():
        np.testing.assert_allclose(
            stats[name].ravel(), np.quantile(flat, share, axis=0), atol=0.005
        )
    assert stats["q50"].shape == (3, 1, 1)


def test_a_journal_drops_a_torn_line_and_goes_on(tmp_path):
    path = tmp_path / "journal.jsonl"
    log = Journal(path)
    log.append({"a": 1})
    log.append({"a": "ä" * 70000})
    log.close()
    log.close()
    whole = path.read_bytes()
    for cut in (1, 100, 70000):
        path.write_bytes(whole + b"{" * cut)
        assert len(list(lines(path))) == 2
        log = Journal(path)
        log.append({"b": cut})
        log.close()
        records = [json.loads(line) for line in lines(path)]
        assert [sorted(record) for record in records] == [["a"], ["a"], ["b"]]
        path.write_bytes(whole)


def test_a_journal_notices_a_second_writer(tmp_path):
    first, second = Journal(tmp_path / "j"), Journal(tmp_path / "j")
    second.append({"a": 1})
    with pytest.raises(UsageError, match="grew behind"):
        first.append({"a": 2})
    first.close()
    second.close()
    assert [json.loads(line) for line in lines(tmp_path / "j")] == [{"a": 1}]


def test_a_journal_line_that_is_no_object_is_named(tmp_path):
    with pytest.raises(BadDataError, match="line 3, is not an object"):
        parse(tmp_path / "j", 2, b"[1]\n")
    assert list(lines(tmp_path / "missing")) == []


def test_the_lock_names_what_is_locked(tmp_path):
    lock = journal.Lock(tmp_path / "deep" / "lock", "the set")
    lock.release()
    lock.release()
    journal.Lock(tmp_path / "deep" / "lock", "the set").release()
