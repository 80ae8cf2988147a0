"""Reading a LeRobotDataset v3.0, ours or LeRobot's, without LeRobot.

A data set whose writer was killed reads as far as it was written: `meta/episodes` says what lies
in large files, the journal what lies in a file of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from simreal.core.errors import BadDataError, UsageError
from simreal.core.types import WRENCH_NAMES, WRENCH_SAMPLES, Floats
from simreal.demos import index, journal, layout, png, sidecar, video
from simreal.demos.sidecar import EpisodeMeta
from simreal.demos.spec import DatasetSpec


@dataclass(frozen=True)
class Frames:
    """F frames of whole episodes, one after the other.

    joint_pos, actions: (F, J) float32, LeRobot units. images: camera -> (F, H, W, 3) uint8 RGB.
    episode: (F,) int64, number of the episode in its data set. wrench: (F, S, 6) as in
    `core.types.Observation`, None where the data set has no force/torque windows.
    """

    joint_pos: Floats
    actions: Floats
    images: Mapping[str, npt.NDArray[np.uint8]]
    episode: npt.NDArray[np.int64]
    wrench: Floats | None = None

    def __len__(self) -> int:
        """Number of frames."""
        return len(self.episode)


class Dataset:
    """An opened data set; `load` brings frames into memory."""

    def __init__(
        self, root: Path, spec: DatasetSpec, places: list[layout.Place], lines: list[bytes]
    ):
        """Made by `open_dataset`. lines: the journal's, empty for a data set of LeRobot's."""
        self.root = root
        self.spec = spec
        self._places = places
        self._lines = lines

    def __len__(self) -> int:
        """Number of episodes."""
        return len(self._places)

    @property
    def num_episodes(self) -> int:
        """Number of episodes."""
        return len(self._places)

    @property
    def num_frames(self) -> int:
        """Number of frames of all episodes."""
        return sum(place.frames for place in self._places)

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Number of frames of each episode, shape (num_episodes,)."""
        return np.array([place.frames for place in self._places], dtype=np.int64)

    def episode_meta(self, number: int) -> EpisodeMeta:
        """What is known of one episode beside its frames."""
        place = self._places[self._checked([number])[0]]
        if not self._lines:
            return EpisodeMeta(place.number, place.frames, place.task, source="lerobot")
        path = self.root / sidecar.JOURNAL
        return sidecar.meta_of(journal.parse(path, place.number, self._lines[place.number]))

    def load(self, episodes: slice | Sequence[int] | None = None, pictures: bool = True) -> Frames:
        """The frames of the named episodes (None: all), in the order named.

        pictures: without, `images` is empty and nothing is decoded.
        """
        every = range(len(self._places))
        chosen = every[episodes] if isinstance(episodes, slice) else episodes
        picked = self._checked(every if chosen is None else chosen)
        wanted = [self._places[number] for number in picked]
        starts = np.concatenate([[0], np.cumsum([place.frames for place in wanted])]).astype(int)
        spec = self.spec if pictures else replace(self.spec, cameras={})
        frames = _empty(spec, int(starts[-1]))
        by_file: dict[Path, list[tuple[int, layout.Place]]] = {}
        for start, place in zip(starts, wanted, strict=False):
            frames.episode[start : start + place.frames] = place.number
            by_file.setdefault(place.data, []).append((int(start), place))
        for path, members in by_file.items():
            _read_rows(path, sorted(members, key=lambda m: m[1].first_row), spec, frames)
        if spec.storage == "video" and pictures:
            for start, place in zip(starts, wanted, strict=False):
                _read_videos(int(start), place, spec, frames)
        return frames

    def _checked(self, episodes: Iterable[int]) -> list[int]:
        """The numbers as a list; a UsageError where one does not exist or comes twice."""
        numbers = [int(number) for number in episodes]
        unknown = [number for number in numbers if not 0 <= number < len(self._places)]
        if unknown:
            raise UsageError(
                f"{self.root} has no episode {unknown[0]}; it holds {len(self._places)}, numbered "
                "from 0."
            )
        if len(set(numbers)) != len(numbers):
            raise UsageError(f"episodes {numbers} of {self.root}: name each once.")
        return numbers


def open_dataset(root: Path | str) -> Dataset:
    """Open a data set, finished or not. BadDataError where it is broken: which file, what helps."""
    root = Path(root)
    if not root.is_dir():
        raise UsageError(f"{root} is not a folder; give the folder of a LeRobotDataset v3.0.")
    header = sidecar.read_header(root)
    if header is None:
        content = index.read_info(root)
        spec = index.spec_of_info(root / layout.INFO, content)
        places = index.read_places(root, spec)
        _check_total(root, int(content.get("total_episodes", 0)), len(places))
        lines: list[bytes] = []
    else:
        spec = header.spec
        places = index.read_places(root, spec)
        if places:
            index.spec_of_info(root / layout.INFO, index.read_info(root))
        lines = list(journal.lines(root / sidecar.JOURNAL))
        places += pending(root, spec, lines, places)
    _check_files(places)
    return Dataset(root, spec, places, lines)


def pending(
    root: Path, spec: DatasetSpec, lines: Sequence[bytes], done: Sequence[layout.Place]
) -> list[layout.Place]:
    """The places of the episodes that the journal knows of and meta/episodes does not."""
    path = root / sidecar.JOURNAL
    if len(lines) < len(done):
        raise BadDataError(
            f"{path} has {len(lines)} lines for {len(done)} episodes; restore it from a copy."
        )
    places: list[layout.Place] = []
    first_frame = done[-1].first_frame + done[-1].frames if done else 0
    for number in range(len(done), len(lines)):
        record = journal.parse(path, number, lines[number])
        if record.get("episode") != number:
            raise BadDataError(
                f"{path}, line {number + 1}, is of episode {record.get('episode')}; restore the "
                "file from a copy."
            )
        places.append(sidecar.pending_place(root, spec, record, first_frame))
        first_frame += places[-1].frames
    return places


def _check_total(root: Path, total: int, found: int) -> None:
    if total != found:
        raise BadDataError(
            f"{root / layout.INFO} counts {total} episodes, {root / layout.EPISODES} has {found}: "
            "its recorder was killed. Restore it from a copy, or record it again."
        )


def _check_files(places: Sequence[layout.Place]) -> None:
    """Every file that an episode lies in is there, whole, and long enough."""
    needed: dict[Path, int] = {}
    for place in places:
        needed[place.data] = max(needed.get(place.data, 0), place.first_row + place.frames)
        for path, _ in place.videos.values():
            needed.setdefault(path, 0)
    for path, rows in needed.items():
        if path.suffix == ".parquet":
            with index.open_parquet(path) as file:
                held = file.metadata.num_rows
            if held < rows:
                raise BadDataError(
                    f"{path} has {held} rows, {rows} are needed; restore it "
                    "from a copy, or record it again."
                )
        elif not path.exists():
            raise BadDataError(f"{path} is missing; restore it from a copy.")


def _empty(spec: DatasetSpec, count: int) -> Frames:
    """Frames to be filled."""
    joints = len(spec.joint_names)
    images = {c: np.empty((count, h, w, 3), np.uint8) for c, (h, w) in spec.cameras.items()}
    return Frames(
        np.empty((count, joints), np.float32),
        np.empty((count, joints), np.float32),
        images,
        np.empty(count, np.int64),
        np.empty((count, WRENCH_SAMPLES, len(WRENCH_NAMES)), np.float32) if spec.wrench else None,
    )


def _read_rows(
    path: Path, members: Sequence[tuple[int, layout.Place]], spec: DatasetSpec, into: Frames
) -> None:
    """Fill in what one data file holds. members: (first frame of `into`, place), in file order."""
    names = [layout.STATE, layout.ACTION, *([layout.WRENCH] if spec.wrench else [])]
    if spec.storage == "image":
        names += [layout.image_key(camera) for camera in spec.cameras]
    with index.open_parquet(path) as file:
        if missing := [name for name in names if name not in file.schema_arrow.names]:
            raise BadDataError(
                f"{path} lacks {', '.join(missing)}, which {layout.INFO} says it has; restore it "
                "from a copy, or record it again."
            )
        counts = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
        ends = np.cumsum(counts)
        held: tuple[int, int] = (0, 0)
        table = None
        for start, place in members:
            first, last = place.first_row, place.first_row + place.frames
            groups = (int(ends.searchsorted(first, "right")), int(ends.searchsorted(last)) + 1)
            if table is None or groups != held:
                table, held = _read_groups(path, file, range(*groups), names), groups
            skipped = first - (int(ends[groups[0] - 1]) if groups[0] else 0)
            rows = table.slice(skipped, place.frames)
            _fill(path, rows, spec, into, slice(start, start + place.frames))


def _read_groups(path: Path, file: pq.ParquetFile, groups: range, names: list[str]) -> pa.Table:
    try:
        return file.read_row_groups(list(groups), columns=names)
    except (pa.ArrowInvalid, OSError) as error:
        raise BadDataError(f"{path} is damaged ({error}); restore it from a copy.") from error


def _fill(path: Path, rows: pa.Table, spec: DatasetSpec, into: Frames, where: slice) -> None:
    """Copy the rows of one episode to `into[where]`."""
    vectors = {layout.STATE: into.joint_pos, layout.ACTION: into.actions}
    if into.wrench is not None:
        vectors[layout.WRENCH] = into.wrench
    for name, target in vectors.items():
        numbers = rows[name].combine_chunks().flatten()
        # `to_numpy` would import pandas, which takes most of a second.
        values = np.empty(0) if numbers.null_count else np.from_dlpack(numbers)
        if values.size != target[where].size:
            raise BadDataError(
                f"{path} has missing numbers in {name}, or not as many as {layout.INFO} says; "
                "restore it from a copy, or record it again."
            )
        target[where] = values.reshape(target[where].shape)
    if spec.storage != "image":
        return
    for camera, (height, width) in spec.cameras.items():
        pictures = rows[layout.image_key(camera)].combine_chunks().field("bytes").to_pylist()
        try:
            into.images[camera][where] = png.decode(pictures, height, width)
        except ValueError as error:
            raise BadDataError(
                f"{path}, camera {camera!r}: {error}; restore the file from a copy."
            ) from error


def _read_videos(start: int, place: layout.Place, spec: DatasetSpec, into: Frames) -> None:
    for camera, (path, first) in place.videos.items():
        try:
            pictures = video.decode(path, first, place.frames, spec.fps)
        except ValueError as error:
            raise BadDataError(f"{path}: {error}; restore it from a copy.") from error
        if pictures.shape[1:3] != spec.cameras[camera]:
            raise BadDataError(f"{path} has pictures of {pictures.shape[1:3]} pixels, not as said.")
        into.images[camera][start : start + place.frames] = pictures
