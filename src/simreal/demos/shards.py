"""Episodes as files: those of one pending episode, and the large ones that many are copied into.

A large file is written beside its place under a name ending in `.tmp` and renamed when it is whole.
meta/episodes comes last: an episode lies in large files when its row there does.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from simreal.core import files
from simreal.core.types import Episode
from simreal.demos import index, layout, sidecar, statistics, video
from simreal.demos.spec import DatasetSpec

DatasetStats = dict[str, statistics.Stats]

_STATS_KEY = b"simreal_stats"
_PARQUET: dict[str, Any] = {
    "compression": "snappy",
    "use_dictionary": False,
    "write_statistics": list(layout.SCALARS),
}


def encode(
    spec: DatasetSpec, episode: Episode, number: int, first_frame: int, task: int
) -> dict[str, bytes]:
    """The files of one pending episode; its statistics ride in the footer of the Parquet file."""
    table, stats = layout.frame_table(spec, episode, number, first_frame, task)
    note = {**table.schema.metadata, _STATS_KEY: json.dumps(plain(stats)).encode()}
    sink = pa.BufferOutputStream()
    pq.write_table(table.replace_schema_metadata(note), sink, **_PARQUET)
    names = sidecar.pending_names(spec, number)
    contents = {names.pop(""): sink.getvalue().to_pybytes()}
    for camera, name in names.items():
        contents[name] = video.encode(episode.images[camera], spec.fps)
    return contents


def plain(stats: Mapping[str, statistics.Stats]) -> dict[str, Any]:
    """Statistics as a JSON value."""
    return {key: {name: v.tolist() for name, v in part.items()} for key, part in stats.items()}


def _arrays(note: Mapping[str, Any]) -> DatasetStats:
    """The inverse of `plain`."""
    return {key: {n: np.asarray(v) for n, v in part.items()} for key, part in note.items()}


def merge(so_far: DatasetStats, more: Sequence[DatasetStats]) -> DatasetStats:
    """Statistics of a data set (empty at first) with those of further episodes."""
    every = [so_far, *more] if so_far else list(more)
    return {key: statistics.merge([stats[key] for stats in every]) for key in every[0]}


def files_of(place: layout.Place) -> list[Path]:
    """The files of a pending episode."""
    return [place.data, *(path for path, _ in place.videos.values())]


def join(
    root: Path, spec: DatasetSpec, places: Sequence[layout.Place], tasks: Sequence[str], file: int
) -> list[DatasetStats]:
    """Copy pending episodes into the `file`-th large files and return their statistics.

    One episode is in memory at a time. tasks: every task text, in the order of task_index.
    """
    table = pa.BufferOutputStream()
    pq.write_table(layout.tasks_table(tasks), table)
    files.write_bytes(root / layout.TASKS, table.getvalue().to_pybytes())
    notes = _join_frames(root / layout.numbered(layout.DATA_PATH, file), spec, places)
    for camera in spec.cameras if spec.storage == "video" else ():
        parts = [(place.videos[camera][0], place.frames) for place in places]
        key = layout.image_key(camera)
        path = root / layout.numbered(layout.VIDEO_PATH, file, video_key=key)
        video.join(parts, _beside(path), spec.fps)
        _rename(path)
    rows = [
        layout.episode_row(spec, place, note, file, places[0].first_frame)
        for place, note in zip(places, notes, strict=True)
    ]
    path = root / layout.numbered(layout.EPISODES_PATH, file)
    schema = layout.episode_schema(spec)
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), _beside(path), compression="snappy")
    _rename(path)
    return [_arrays(note) for note in notes]


def _join_frames(
    path: Path, spec: DatasetSpec, places: Sequence[layout.Place]
) -> list[dict[str, Any]]:
    """Write one data file and return the statistics that the pending files carried, as JSON."""
    schema = layout.frame_schema(spec)
    notes = []
    with pq.ParquetWriter(_beside(path), schema, **_PARQUET) as large:
        for place in places:
            with index.open_parquet(place.data) as small:
                table = small.read()
            notes.append(json.loads(table.schema.metadata[_STATS_KEY]))
            large.write_table(table.replace_schema_metadata(schema.metadata))
    _rename(path)
    return notes


def clear(root: Path, places: Sequence[layout.Place]) -> None:
    """Remove what a killed writer left: parts of files, and files of no pending episode.

    A large file that nothing counts stays: the next one takes its name. places: the pending
    episodes.
    """
    kept = {path for place in places for path in files_of(place)}
    pending = (root / sidecar.PENDING).glob("*")
    partial = [p for pattern in _PARTIAL for p in root.glob(pattern)]
    for path in [*(p for p in pending if p not in kept), *partial]:
        path.unlink()


_PARTIAL = (
    "data/*/*.tmp",
    "videos/*/*/*.tmp",
    "meta/episodes/*/*.tmp",
    "meta/.*.json.*",
    "meta/.*.parquet.*",
    "meta/simreal/.*.json.*",
)


def _beside(path: Path) -> Path:
    """Where `path` is written before it is whole; makes its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.with_name(path.name + ".tmp")


def _rename(path: Path) -> None:
    """Bring the file that `_beside` named to its place, on disk."""
    files.sync(_beside(path))
    os.replace(_beside(path), path)
    files.sync(path.parent)
