"""Decoded pictures of a data set in files that every process maps: in memory once, for all of them.

Without it each training holds its own copy of what it trains on, and decodes it again.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from simreal.demos.dataset import Dataset, Frames

Pictures = npt.NDArray[np.uint8]
Rows = npt.NDArray[np.int64]

#: Episodes decoded at a time, and what must be left of a disk, as a share of what is written.
_AT_ONCE, _SPARE = 50, 0.2


@dataclass(frozen=True)
class Chosen:
    """Some rows of an array, in this order, copied only where they are asked for."""

    whole: Pictures
    rows: Rows

    @property
    def dtype(self) -> np.dtype[np.uint8]:
        """That of the whole."""
        return self.whole.dtype

    @property
    def ndim(self) -> int:
        """That of the whole."""
        return self.whole.ndim

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows first."""
        return (len(self.rows), *self.whole.shape[1:])

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.rows)

    def __getitem__(self, index: Any) -> Pictures:
        """What indexing the chosen rows along their first axis would give."""
        found: Pictures = self.whole[self.rows[index]]
        return found


def load_mapped(dataset: Dataset, episodes: list[int], folder: Path) -> Frames:
    """Like `dataset.load(episodes)`, with pictures that stay in files under `folder`.

    The files are made by the first who asks, for the whole data set. Where the disk has no room for
    them the pictures are loaded into memory instead.
    """
    pictures = mapped(dataset, folder)
    if pictures is None:
        return dataset.load(episodes)
    frames = dataset.load(episodes, pictures=False)
    starts = np.concatenate([[0], np.cumsum(dataset.lengths)])
    rows = np.concatenate([np.arange(starts[e], starts[e + 1]) for e in episodes])
    images: dict[str, Any] = {camera: Chosen(whole, rows) for camera, whole in pictures.items()}
    return Frames(frames.joint_pos, frames.actions, images, frames.episode, frames.wrench)


def mapped(dataset: Dataset, folder: Path) -> dict[str, Pictures] | None:
    """Camera -> (F, H, W, 3) pictures of all frames, mapped read-only; None where no disk is left.

    One process decodes, others that ask meanwhile wait for it; one that is killed leaves a file
    that is begun again.
    """
    shapes = {c: (dataset.num_frames, *size, 3) for c, size in dataset.spec.cameras.items()}
    folder.mkdir(parents=True, exist_ok=True)
    with _alone(folder / "lock"):
        if not all(_fits(_file(folder, camera), shape) for camera, shape in shapes.items()):
            needed = sum(int(np.prod(shape)) for shape in shapes.values())
            if shutil.disk_usage(folder).free < (1 + _SPARE) * needed:
                return None
            _decode(dataset, folder, shapes)
    return {camera: np.asarray(np.load(_file(folder, camera), mmap_mode="r")) for camera in shapes}


def _file(folder: Path, camera: str) -> Path:
    return folder / f"{camera}.npy"


def _fits(path: Path, shape: tuple[int, ...]) -> bool:
    return path.exists() and np.load(path, mmap_mode="r").shape == shape


def _decode(dataset: Dataset, folder: Path, shapes: Mapping[str, tuple[int, ...]]) -> None:
    partial = {camera: folder / f"{camera}.partial" for camera in shapes}
    create: Callable[..., np.memmap[Any, np.dtype[np.uint8]]] = np.lib.format.open_memmap
    files = {camera: create(partial[camera], "w+", np.uint8, s) for camera, s in shapes.items()}
    done = 0
    for first in range(0, len(dataset), _AT_ONCE):
        frames = dataset.load(range(first, min(first + _AT_ONCE, len(dataset))))
        for camera, file in files.items():
            file[done : done + len(frames)] = frames.images[camera]
        done += len(frames)
    for camera, file in files.items():
        file.flush()
        os.replace(partial[camera], _file(folder, camera))


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Wait until no other process holds the lock at `path`; it is let go of however one ends."""
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
