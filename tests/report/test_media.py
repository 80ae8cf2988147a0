from __future__ import annotations

import base64
import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from simreal.core.errors import BadDataError, UsageError
from simreal.core.files import write_json
from simreal.report.media import GAP_PX, contact_sheet, embed, filmstrip, read_index


def numbered(n: int, height: int = 3, width: int = 5) -> np.ndarray:
    """Picture i is filled with the value i, so that a pixel tells which picture it came from."""
    return np.broadcast_to(np.arange(n, dtype=np.uint8)[:, None, None, None], (n, height, width, 3))


def pixels(png: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(png)))


def shown(png: bytes, n: int, scale: int = 1, width: int = 5) -> list[int]:
    picture = pixels(png)
    return [int(picture[0, i * (width + GAP_PX) * scale, 0]) for i in range(n)]


def test_a_filmstrip_runs_from_the_first_frame_to_the_last() -> None:
    assert shown(filmstrip(numbered(31), n=4, scale=1), 4) == [0, 10, 20, 30]


@given(frames=st.integers(1, 40), n=st.integers(1, 12), scale=st.integers(1, 3))
def test_a_filmstrip_shows_n_frames_in_order_or_all_there_are(
    frames: int, n: int, scale: int
) -> None:
    count = min(frames, n)
    strip = filmstrip(numbered(frames), n, scale)
    seen = shown(strip, count, scale)
    assert seen == sorted(set(seen))
    assert pixels(strip).shape == (3 * scale, (count * (5 + GAP_PX) - GAP_PX) * scale, 4)


def test_pixels_are_copied_and_enlarged_without_mixing() -> None:
    image = np.random.default_rng(0).integers(0, 256, (1, 4, 4, 3)).astype(np.uint8)
    strip = pixels(filmstrip(image, 1, 3))
    assert (strip[::3, ::3, :3] == image[0]).all()
    assert (strip[2::3, 2::3, :3] == image[0]).all()


def test_a_contact_sheet_fills_row_by_row_and_leaves_the_rest_transparent() -> None:
    sheet = pixels(contact_sheet(list(numbered(5)), rows=2, cols=3))
    assert [int(sheet[0, 6 * i, 0]) for i in range(3)] == [0, 1, 2]
    assert [int(sheet[4, 6 * i, 0]) for i in range(2)] == [3, 4]
    assert sheet[4, 12, 3] == 0
    assert sheet[0, 5, 3] == 0
    assert sheet[0, 0, 3] == 255


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: filmstrip(numbered(3), 0), "at least 1"),
        (lambda: filmstrip(numbered(3), 2, 0), "enlarged 0 times"),
        (lambda: filmstrip(numbered(0), 2), r"\(0, 3, 5, 3\)"),
        (lambda: filmstrip(numbered(3)[0], 2), "must have shape"),
        (lambda: filmstrip(numbered(3).astype(np.float32), 2), "float32"),
        (lambda: contact_sheet(numbered(5), 2, 2), "5 pictures do not fit 2 rows of 2"),
        (lambda: contact_sheet([*numbered(1), *numbered(1, 4)], 1, 2), "one shape"),
        (lambda: contact_sheet([], 1, 1), "one shape"),
    ],
)
def test_bad_pictures_are_refused_with_the_reason(call: object, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        call()  # type: ignore[operator]


def test_an_absent_index_means_no_pictures(tmp_path: Path) -> None:
    assert read_index(tmp_path) == ()


def test_an_index_is_read_with_or_without_its_optional_keys(tmp_path: Path) -> None:
    write_json(tmp_path / "index.json", [{"file": "a.png", "kind": "demo", "camera": "wrist"}])
    (picture,) = read_index(tmp_path)
    assert (picture.file, picture.condition, picture.camera) == ("a.png", None, "wrist")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"file": "a.png"}, "must hold a list"),
        ([{"file": "a.png"}], "entry 0, needs"),
        ([{"file": "a.png", "kind": "sucess"}], "Did you mean 'success'"),
        ([{"file": "../../secret.png", "kind": "demo"}], "lies outside"),
    ],
)
def test_a_bad_index_is_refused(tmp_path: Path, content: object, words: str) -> None:
    write_json(tmp_path / "index.json", content)
    with pytest.raises(BadDataError, match=words):
        read_index(tmp_path)


@pytest.mark.parametrize(("frames", "scale"), [(1, 1), (2, 1), (8, 1), (8, 3)])
def test_an_embedded_strip_knows_its_moments(tmp_path: Path, frames: int, scale: int) -> None:
    path = tmp_path / "strip.png"
    path.write_bytes(filmstrip(numbered(frames), frames, scale))
    found = embed(path)
    assert (found.frames, found.frame, found.height) == (frames, 5 * scale, 3 * scale)
    assert found.width == (frames * 6 - 1) * scale
    moved = found.travel * found.width / frames
    assert moved == pytest.approx(6 * scale if frames > 1 else 0)


def test_large_pictures_are_compressed_for_a_page_and_small_ones_copied(tmp_path: Path) -> None:
    path = tmp_path / "strip.png"
    noise = np.random.default_rng(0).integers(0, 256, (8, 64, 64, 3)).astype(np.uint8)
    path.write_bytes(filmstrip(noise // 4 + 96, 8, 1))
    found = embed(path)
    assert found.uri.startswith("data:image/webp;base64,")
    assert len(found.uri) < path.stat().st_size
    assert (found.frames, found.frame) == (8, 64)
    path.write_bytes(filmstrip(numbered(4), 4, 1))
    kind, _, content = embed(path).uri.partition(";base64,")
    assert kind == "data:image/png"
    assert base64.b64decode(content) == path.read_bytes()


def test_a_picture_without_gaps_is_one_moment(tmp_path: Path) -> None:
    path = tmp_path / "photo.png"
    Image.new("RGB", (20, 10)).save(path)
    assert (embed(path).frames, embed(path).frame) == (1, 20)
