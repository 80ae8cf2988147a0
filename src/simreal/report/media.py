"""Pictures of a study: filmstrips and contact sheets as PNG, and the index that names them.

Pixels are copied and enlarged, never drawn over: whatever a picture shows was recorded.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from simreal.core.errors import BadDataError, UsageError, unknown
from simreal.core.files import read_json

Pixels = npt.NDArray[np.uint8]

KINDS = ("success", "failure", "sample_sim", "sample_target", "sample_unseen", "demo")
#: Transparent pixels between two pictures, before enlargement, so that they suit any background.
GAP_PX = 1
#: A picture file up to this size goes into a page as it is, bytes.
PLAIN_BYTES = 6000
#: WebP quality of the pictures in a page; the files in media/ stay as they are.
QUALITY = 85


@dataclass(frozen=True)
class Picture:
    """One entry of media/index.json. `file` is a PNG relative to media/.

    kind: one of `KINDS`. arm, target, suite, condition, failure: the trial or episode it shows,
    None where that does not apply. caption: one sentence by whoever took the picture. camera: its
    name, where the same moment was filmed by several.
    """

    file: str
    kind: str
    arm: str | None
    target: str | None
    suite: str | None
    condition: int | None
    failure: str | None
    caption: str
    camera: str | None = None


def filmstrip(frames: Pixels, n: int = 8, scale: int = 2) -> bytes:
    """`n` moments of an episode side by side, evenly spaced from the first frame to the last.

    frames: (T, H, W, 3) uint8 RGB, row 0 at the top. An episode shorter than `n` shows all its
    frames. scale: each pixel becomes scale x scale pixels. Returns a PNG.
    """
    _check_batch(frames, "frames")
    if n < 1:
        raise UsageError(f"A filmstrip of n={n} frames was asked for; n must be at least 1.")
    chosen = np.unique(np.linspace(0, len(frames) - 1, min(n, len(frames))).round().astype(int))
    return _sheet(frames[chosen], rows=1, cols=len(chosen), scale=scale)


def contact_sheet(images: Pixels | Sequence[Pixels], rows: int, cols: int, scale: int = 1) -> bytes:
    """Pictures in a grid, row by row; cells without a picture stay transparent. Returns a PNG.

    images: (N, H, W, 3) uint8 RGB, or N pictures of one shape, with 1 <= N <= rows * cols.
    """
    shapes = {np.shape(image) for image in images}
    if len(shapes) != 1:
        raise UsageError(f"A contact sheet needs pictures of one shape; got {sorted(shapes)}.")
    batch = np.asarray(images)
    _check_batch(batch, "images")
    if rows < 1 or cols < 1 or len(batch) > rows * cols:
        raise UsageError(
            f"{len(batch)} pictures do not fit {rows} rows of {cols}; "
            "rows and cols must be at least 1 and rows * cols at least the number of pictures."
        )
    return _sheet(batch, rows, cols, scale)


def read_index(media: Path) -> tuple[Picture, ...]:
    """The pictures listed in media/index.json; none when the study recorded no media."""
    path = media / "index.json"
    if not path.exists():
        return ()
    entries = read_json(path)
    if not isinstance(entries, list):
        raise BadDataError(f"{path} must hold a list of pictures, not a {type(entries).__name__}.")
    return tuple(_picture(path, number, entry) for number, entry in enumerate(entries))


@dataclass(frozen=True)
class Embedded:
    """A picture inside a page. uri: a data URI; width, height: pixels of the whole picture.

    frames, frame: how many moments stand side by side, and the width of one in pixels.
    """

    uri: str
    width: int
    height: int
    frames: int
    frame: int

    @property
    def travel(self) -> float:
        """How far the picture moves past a window of one moment, in widths of the picture."""
        if self.frames < 2:
            return 0.0
        return self.frames * (self.width - self.frame) / (self.frames - 1) / self.width


def embed(path: Path) -> Embedded:
    """A picture file as a data URI, compressed where that saves much: the page is to be sent."""
    content, kind = path.read_bytes(), "png"
    with Image.open(path) as image:
        width, height = image.size
        starts, frame = _columns(image)
        if len(content) > PLAIN_BYTES:
            buffer = io.BytesIO()
            image.save(buffer, "WEBP", quality=QUALITY, method=4)
            if len(buffer.getvalue()) < 0.8 * len(content):
                content, kind = buffer.getvalue(), "webp"
    uri = f"data:image/{kind};base64,{base64.b64encode(content).decode()}"
    return Embedded(uri, width, height, starts, frame)


def _columns(image: Image.Image) -> tuple[int, int]:
    """How many pictures stand side by side between transparent gaps, and the width of one."""
    if image.mode != "RGBA":
        return 1, image.size[0]
    seen = np.asarray(image)[..., 3].any(axis=0)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], seen, [False]]).astype(int)))
    if len(edges) < 2:
        return 1, image.size[0]
    return len(edges) // 2, int(edges[1] - edges[0])


def _picture(path: Path, number: int, entry: Any) -> Picture:
    if not isinstance(entry, dict) or "file" not in entry or "kind" not in entry:
        raise BadDataError(f"{path}, entry {number}, needs at least the keys file and kind.")
    if entry["kind"] not in KINDS:
        raise BadDataError(f"{path}, entry {number}: {unknown('kind', entry['kind'], KINDS)}")
    inside = (path.parent / entry["file"]).resolve()
    if not inside.is_relative_to(path.parent.resolve()):
        raise BadDataError(f"{path}, entry {number}: {entry['file']!r} lies outside {path.parent}.")
    condition = entry.get("condition")
    return Picture(
        file=str(entry["file"]),
        kind=str(entry["kind"]),
        arm=entry.get("arm"),
        target=entry.get("target"),
        suite=entry.get("suite"),
        condition=None if condition is None else int(condition),
        failure=entry.get("failure"),
        caption=str(entry.get("caption") or ""),
        camera=entry.get("camera"),
    )


def _check_batch(batch: Pixels, name: str) -> None:
    """Shape (N >= 1, H, W, 3) and uint8, or a `UsageError` that says what came instead."""
    if batch.ndim != 4 or batch.shape[-1] != 3 or 0 in batch.shape:
        raise UsageError(f"{name} must have shape (N, H, W, 3) with N >= 1; got {batch.shape}.")
    if batch.dtype != np.uint8:
        raise UsageError(f"{name} must be uint8 (0-255); got {batch.dtype}.")


def _sheet(batch: Pixels, rows: int, cols: int, scale: int) -> bytes:
    """Paste (N, H, W, 3) into a transparent grid with `GAP_PX` between cells, and enlarge."""
    if scale < 1:
        raise UsageError(f"A picture cannot be enlarged {scale} times; scale is 1, 2, 3, ...")
    _, height, width, _ = batch.shape
    step_y, step_x = height + GAP_PX, width + GAP_PX
    sheet = np.zeros((rows * step_y - GAP_PX, cols * step_x - GAP_PX, 4), np.uint8)
    for index, image in enumerate(batch):
        top, left = (index // cols) * step_y, (index % cols) * step_x
        sheet[top : top + height, left : left + width, :3] = image
        sheet[top : top + height, left : left + width, 3] = 255
    enlarged = sheet.repeat(scale, axis=0).repeat(scale, axis=1)
    buffer = io.BytesIO()
    Image.fromarray(enlarged).save(buffer, format="PNG", optimize=True)
    return buffer.getvalue()
