"""LeRobotDataset v3.0 on disk: names of files, columns, rows. Known here and in index.py only.

Conforms to lerobot 0.6.1 (`lerobot/datasets/`: dataset_writer.py, dataset_metadata.py, utils.py):

    meta/info.json                                 features, totals, path templates
    meta/stats.json                                statistics over all frames
    meta/tasks.parquet                             task text -> task_index
    meta/episodes/chunk-000/file-000.parquet       a row an episode: where it lies, its statistics
    data/chunk-000/file-000.parquet                a row a frame, a row group an episode
    videos/<key>/chunk-000/file-000.mp4            many episodes one after the other

Here file k of `data`, of `videos` and of `meta/episodes` always hold the same episodes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from simreal.core.types import WRENCH_NAMES, WRENCH_SAMPLES, Episode
from simreal.demos import png, statistics, video
from simreal.demos.spec import DatasetSpec

VERSION = "v3.0"
FILES_PER_CHUNK = 1000
STATE, ACTION = "observation.state", "action"
#: A window of force/torque samples, flat: oldest sample first, six numbers a sample.
WRENCH = "observation.wrench"
WRENCH_FEATURES = [f"{name}.{i}" for i in range(WRENCH_SAMPLES) for name in WRENCH_NAMES]
SCALARS = ("timestamp", "frame_index", "episode_index", "index", "task_index")
INFO, STATS, TASKS = "meta/info.json", "meta/stats.json", "meta/tasks.parquet"
EPISODES = "meta/episodes"
DATA_PATH = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
EPISODES_PATH = "meta/episodes/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
VIDEO_PATH = "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4"


@dataclass(frozen=True)
class Place:
    """Where an episode lies: rows `first_row` to `first_row + frames` of the file `data`.

    first_frame: frames in all episodes before it. videos: camera -> (file, frames before it there).
    """

    number: int
    frames: int
    task: str
    first_frame: int
    data: Path
    first_row: int
    videos: Mapping[str, tuple[Path, int]]


def image_key(camera: str) -> str:
    """The feature name of a camera."""
    return f"observation.images.{camera}"


def numbered(template: str, number: int, **names: str) -> str:
    """Path of the `number`-th file of a kind, relative to the data set."""
    chunk, file = divmod(number, FILES_PER_CHUNK)
    return template.format(chunk_index=chunk, file_index=file, **names)


def features(spec: DatasetSpec) -> dict[str, Any]:
    """The `features` of info.json."""
    joints = [f"{name}.pos" for name in spec.joint_names]
    vector = {"dtype": "float32", "shape": [len(joints)], "names": joints}
    described: dict[str, Any] = {STATE: vector, ACTION: dict(vector)}
    if spec.wrench:
        names = list(WRENCH_FEATURES)
        described[WRENCH] = {"dtype": "float32", "shape": [len(names)], "names": names}
    for camera, (height, width) in spec.cameras.items():
        feature: dict[str, Any] = {"dtype": spec.storage, "shape": [height, width, 3]}
        feature["names"] = ["height", "width", "channels"]
        if spec.storage == "video":
            feature["info"] = video.describe(height, width, spec.fps)
        described[image_key(camera)] = feature
    for name in SCALARS:
        dtype = "float32" if name == "timestamp" else "int64"
        described[name] = {"dtype": dtype, "shape": [1], "names": None}
    return described


def info(spec: DatasetSpec, episodes: int, frames: int, tasks: int, file_mb: int) -> dict[str, Any]:
    """The content of info.json."""
    return {
        "codebase_version": VERSION,
        "fps": spec.fps,
        "features": features(spec),
        "total_episodes": episodes,
        "total_frames": frames,
        "total_tasks": tasks,
        "chunks_size": FILES_PER_CHUNK,
        "data_files_size_in_mb": file_mb,
        "video_files_size_in_mb": 2 * file_mb,
        "data_path": DATA_PATH,
        "video_path": VIDEO_PATH if spec.storage == "video" else None,
        "robot_type": spec.robot_type,
        "splits": {"train": f"0:{episodes}"} if episodes else {},
    }


def _vectors(spec: DatasetSpec) -> dict[str, int]:
    """Columns of float32 vectors, and how long these are."""
    joints = len(spec.joint_names)
    vectors = {STATE: joints, ACTION: joints}
    return vectors | ({WRENCH: len(WRENCH_FEATURES)} if spec.wrench else {})


def _stored_cameras(spec: DatasetSpec) -> tuple[str, ...]:
    """The cameras whose pictures lie in the data files themselves."""
    return tuple(spec.cameras) if spec.storage == "image" else ()


def frame_schema(spec: DatasetSpec) -> pa.Schema:
    """Columns of a data file, with the description that Hugging Face `datasets` looks for."""
    picture = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    columns = [(key, pa.list_(pa.float32(), size)) for key, size in _vectors(spec).items()]
    columns += [(image_key(camera), picture) for camera in _stored_cameras(spec)]
    columns += [(n, pa.float32() if n == "timestamp" else pa.int64()) for n in SCALARS]
    number = {"dtype": "float32", "_type": "Value"}
    listed: dict[str, Any] = {
        key: {"feature": number, "length": size, "_type": "List"}
        for key, size in _vectors(spec).items()
    }
    listed |= {image_key(camera): {"_type": "Image"} for camera in _stored_cameras(spec)}
    listed |= {n: {"dtype": features(spec)[n]["dtype"], "_type": "Value"} for n in SCALARS}
    return pa.schema(columns, metadata={"huggingface": json.dumps({"info": {"features": listed}})})


def frame_table(
    spec: DatasetSpec, episode: Episode, number: int, first_frame: int, task: int
) -> tuple[pa.Table, dict[str, statistics.Stats]]:
    """The rows of one episode and the statistics of its features.

    number: of the episode. first_frame: frames in all episodes before it. task: its task_index.
    """
    count = len(episode)
    counter = np.arange(count)
    columns: dict[str, npt.NDArray[Any]] = {
        STATE: np.asarray(episode.joint_pos, np.float32),
        ACTION: np.asarray(episode.actions, np.float32),
        "timestamp": counter / spec.fps,
        "frame_index": counter,
        "episode_index": np.full(count, number),
        "index": first_frame + counter,
        "task_index": np.full(count, task),
    }
    if episode.wrench is not None:
        columns[WRENCH] = np.asarray(episode.wrench, np.float32).reshape(count, -1)
    stats = {key: statistics.of_vectors(values) for key, values in columns.items()}
    for camera in spec.cameras:
        stats[image_key(camera)] = statistics.of_images(episode.images[camera])
    schema = frame_schema(spec)
    arrays: dict[str, pa.Array] = {
        key: _column(values, schema.field(key).type) for key, values in columns.items()
    }
    for camera in _stored_cameras(spec):
        names = [f"frame-{frame:06d}.png" for frame in range(count)]
        pngs = pa.array(png.encode(episode.images[camera]), pa.binary())
        arrays[image_key(camera)] = pa.StructArray.from_arrays([pngs, names], ["bytes", "path"])
    return pa.table([arrays[name] for name in schema.names], schema=schema), stats


def _column(values: npt.NDArray[Any], kind: pa.DataType) -> pa.Array:
    """(T,) or (T, D) numbers as a column of the type `kind`."""
    if values.ndim == 1:
        return pa.array(values, type=kind)
    return pa.FixedSizeListArray.from_arrays(pa.array(values.reshape(-1)), values.shape[1])


def episode_schema(spec: DatasetSpec) -> pa.Schema:
    """Columns of a file under meta/episodes."""
    whole, text, real = pa.int64(), pa.list_(pa.string()), pa.list_(pa.float64())
    columns = [("episode_index", whole), ("tasks", text), ("length", whole)]
    columns += [(f"data/{part}_index", whole) for part in ("chunk", "file")]
    columns += [(f"dataset_{end}_index", whole) for end in ("from", "to")]
    for camera in spec.cameras if spec.storage == "video" else ():
        key = f"videos/{image_key(camera)}"
        columns += [(f"{key}/{part}_index", whole) for part in ("chunk", "file")]
        columns += [(f"{key}/{end}_timestamp", pa.float64()) for end in ("from", "to")]
    for key in features(spec):
        kind = pa.list_(pa.list_(real)) if key.startswith("observation.images.") else real
        for name in statistics.NAMES:
            columns.append((f"stats/{key}/{name}", pa.list_(whole) if name == "count" else kind))
    columns += [(f"meta/episodes/{part}_index", whole) for part in ("chunk", "file")]
    return pa.schema(columns)


def episode_row(
    spec: DatasetSpec, place: Place, stats: Mapping[str, Any], file: int, file_start: int
) -> dict[str, Any]:
    """The row of an episode in the `file`-th files, whose first frame is number `file_start`."""
    chunk, number = divmod(file, FILES_PER_CHUNK)
    pointer = {"chunk_index": chunk, "file_index": number}
    row: dict[str, Any] = {
        "episode_index": place.number,
        "tasks": [place.task],
        "length": place.frames,
        "dataset_from_index": place.first_frame,
        "dataset_to_index": place.first_frame + place.frames,
    }
    for kind in ("data", "meta/episodes"):
        row |= {f"{kind}/{name}": value for name, value in pointer.items()}
    for camera in spec.cameras if spec.storage == "video" else ():
        key = f"videos/{image_key(camera)}"
        start = place.first_frame - file_start
        row |= {f"{key}/{name}": value for name, value in pointer.items()}
        row[f"{key}/from_timestamp"] = start / spec.fps
        row[f"{key}/to_timestamp"] = (start + place.frames) / spec.fps
    for key, values in stats.items():
        row |= {f"stats/{key}/{name}": value for name, value in values.items()}
    return row


def tasks_table(tasks: Sequence[str]) -> pa.Table:
    """The content of tasks.parquet: a pandas frame indexed by the text, as LeRobot reads it."""
    kinds = ("int64", "object")
    columns: list[dict[str, Any]] = [
        {"name": "task_index", "field_name": "task_index", "pandas_type": "int64"},
        {"name": "task", "field_name": "task", "pandas_type": "unicode"},
    ]
    types: list[dict[str, Any]] = [{"numpy_type": kind, "metadata": None} for kind in kinds]
    pandas = {
        "index_columns": ["task"],
        "column_indexes": [],
        "columns": [column | kind for column, kind in zip(columns, types, strict=True)],
        "creator": {"library": "pyarrow", "version": pa.__version__},
        "pandas_version": "2.0.0",
    }
    schema = pa.schema([("task_index", pa.int64()), ("task", pa.string())])
    table = pa.table([list(range(len(tasks))), list(tasks)], schema=schema)
    return table.replace_schema_metadata({"pandas": json.dumps(pandas)})
