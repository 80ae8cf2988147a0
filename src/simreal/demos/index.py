"""Where the episodes of a LeRobotDataset v3.0 lie: info.json and meta/episodes read back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from simreal.core import files
from simreal.core.errors import BadDataError
from simreal.demos import layout, statistics
from simreal.demos.spec import STORAGES, DatasetSpec


def read_info(root: Path) -> dict[str, Any]:
    """info.json, or a BadDataError where it is missing or not an object."""
    path = root / layout.INFO
    if not path.exists():
        raise BadDataError(
            f"{path} is missing, so {root} is not a LeRobotDataset {layout.VERSION}; give the "
            "folder that holds `meta` and `data`. Data of other kinds are not read."
        )
    content = files.read_json(path)
    if not isinstance(content, dict):
        raise BadDataError(f"{path} is not a JSON object; restore it from a copy.")
    return content


def spec_of_info(path: Path, content: Mapping[str, Any]) -> DatasetSpec:
    """The spec of a data set that LeRobot wrote. `path`: of its info.json, for the error text."""
    version = content.get("codebase_version")
    if version != layout.VERSION:
        raise BadDataError(
            f"{path} says codebase_version {version!r}, readable is {layout.VERSION}; convert an "
            "older data set with `python -m lerobot.scripts.convert_dataset_v21_to_v30`."
        )
    try:
        described = content["features"]
        vectors = [described[key] for key in (layout.STATE, layout.ACTION)]
        pictures = {k: v for k, v in described.items() if v["dtype"] in STORAGES}
        sizes = {key: tuple(v["shape"]) for key, v in pictures.items()}
        lengths = {tuple(v["shape"]) for v in vectors}
        fps = content["fps"]
    except (KeyError, TypeError) as error:
        raise BadDataError(
            f"{path} does not describe {error}; needed are fps and the features {layout.STATE} and "
            f"{layout.ACTION}."
        ) from error
    kinds = {feature["dtype"] for feature in pictures.values()}
    prefix = layout.image_key("")
    odd = [k for k, s in sizes.items() if len(s) != 3 or s[2] != 3 or not k.startswith(prefix)]
    if len(lengths) > 1 or len(kinds) > 1 or odd:
        raise BadDataError(
            f"{path}: readable are {layout.STATE} and {layout.ACTION} of one length ({lengths}) "
            f"and RGB pictures named {prefix}*, all stored in one way (here {sorted(kinds)}, "
            f"others: {odd})."
        )
    names = vectors[0].get("names")
    numbers = [str(i) for i in range(vectors[0]["shape"][0])]
    return DatasetSpec(
        fps=fps,
        joint_names=tuple(names if isinstance(names, list) else numbers),
        cameras={key.removeprefix(prefix): (size[0], size[1]) for key, size in sizes.items()},
        robot_type=str(content.get("robot_type") or "unknown"),
        units="not stated",
        storage=kinds.pop() if kinds else "image",
        wrench=described.get(layout.WRENCH, {}).get("shape") == [len(layout.WRENCH_FEATURES)],
    )


def open_parquet(path: Path) -> pq.ParquetFile:
    """A Parquet file, or a BadDataError that says what is wrong with it and what helps."""
    try:
        return pq.ParquetFile(path)
    except FileNotFoundError as error:
        raise BadDataError(
            f"{path} is missing; restore it from a copy, or record it again."
        ) from error
    except pa.ArrowInvalid as error:
        raise BadDataError(
            f"{path} is not a whole Parquet file ({error}): its writer was killed before the "
            "footer was written. Restore it from a copy, or record it again."
        ) from error


def episode_files(root: Path) -> list[Path]:
    """The files of meta/episodes in the order of their episodes."""
    return sorted((root / layout.EPISODES).glob("chunk-*/file-*.parquet"))


def read_places(root: Path, spec: DatasetSpec) -> list[layout.Place]:
    """Where every episode lies that meta/episodes knows of; row i is episode i."""
    rows: list[dict[str, Any]] = []
    needed = _pointers(spec)
    for path in episode_files(root):
        with open_parquet(path) as file:
            missing = needed - set(file.schema_arrow.names)
            if missing:
                raise BadDataError(
                    f"{path} lacks the columns {sorted(missing)}; record the data set again, or "
                    "restore the file from a copy."
                )
            rows += file.read(columns=sorted(needed)).to_pylist()
    numbers = [row["episode_index"] for row in rows]
    wrong = [i for i, number in enumerate(numbers) if number != i]
    if wrong:
        raise BadDataError(
            f"{root / layout.EPISODES} has episode {numbers[wrong[0]]} where {wrong[0]} is "
            "expected; restore it from a copy, or record it again."
        )
    return _places(root, spec, rows)


def _pointers(spec: DatasetSpec) -> set[str]:
    """The columns of meta/episodes that say where an episode lies."""
    names = layout.episode_schema(spec).names
    return {n for n in names if not n.startswith(("stats/", "meta/"))}


def read_stats(path: Path) -> list[dict[str, statistics.Stats]]:
    """The statistics of each episode in one file of meta/episodes."""
    with open_parquet(path) as file:
        rows = file.read(
            columns=[n for n in file.schema_arrow.names if n.startswith("stats/")]
        ).to_pylist()
    return [nested({key.removeprefix("stats/"): v for key, v in row.items()}) for row in rows]


def nested(flat: Mapping[str, Any]) -> dict[str, statistics.Stats]:
    """`{"feature/statistic": numbers}` as `{feature: {statistic: array}}`."""
    found: dict[str, statistics.Stats] = {}
    for key, value in flat.items():
        feature, name = key.rsplit("/", 1)
        found.setdefault(feature, {})[name] = np.asarray(value, dtype=float)
    return found


def _places(root: Path, spec: DatasetSpec, rows: Iterable[Mapping[str, Any]]) -> list[layout.Place]:
    """The places that rows of meta/episodes point at, in their order."""
    found: list[layout.Place] = []
    starts: dict[Path, int] = {}
    for row in rows:
        data = root / layout.DATA_PATH.format(
            chunk_index=row["data/chunk_index"], file_index=row["data/file_index"]
        )
        first = int(row["dataset_from_index"])
        videos = {}
        for camera in spec.cameras if spec.storage == "video" else ():
            key = f"videos/{layout.image_key(camera)}"
            path = layout.VIDEO_PATH.format(
                video_key=layout.image_key(camera),
                chunk_index=row[f"{key}/chunk_index"],
                file_index=row[f"{key}/file_index"],
            )
            videos[camera] = (root / path, round(row[f"{key}/from_timestamp"] * spec.fps))
        start = starts.setdefault(data, first)
        number, frames, task = row["episode_index"], row["length"], next(iter(row["tasks"]), "")
        found.append(layout.Place(number, frames, task, first, data, first - start, videos))
    return found
