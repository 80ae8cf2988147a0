"""meta/simreal/: what LeRobot has no place for, and the episodes that are not yet in large files.

dataset.json     spec with units, versions that made the folder, size of the large files
episodes.jsonl   the journal: a line an episode, appended when its files are on disk, never
                 rewritten; scenario, seed, source, success, task, provenance
pending/         a closed Parquet file (and a video a camera) for each episode that no large
                 file holds yet
lock             held by the one writer
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import simreal
from simreal.core import files
from simreal.core.errors import BadDataError, UsageError
from simreal.core.types import Episode, Scenario
from simreal.demos.layout import Place
from simreal.demos.spec import DatasetSpec

HEADER = "meta/simreal/dataset.json"
JOURNAL = "meta/simreal/episodes.jsonl"
PENDING = "meta/simreal/pending"
LOCK = "meta/simreal/lock"
FORMAT = 1


@dataclass(frozen=True)
class Header:
    """The content of dataset.json. file_mb: size from which a large file is closed, MiB."""

    spec: DatasetSpec
    file_mb: float
    versions: Mapping[str, str]

    def write(self, root: Path) -> None:
        """Write dataset.json; from then on the folder is a data set of ours."""
        content = {"format": FORMAT, "spec": self.spec.to_json(), "file_mb": self.file_mb}
        files.write_json(root / HEADER, content | {"versions": dict(self.versions)})


def new_header(spec: DatasetSpec, file_mb: float) -> Header:
    """The header of a data set that begins now."""
    names = ("numpy", "pyarrow", "pillow", "av")
    versions = {name: importlib.metadata.version(name) for name in names}
    return Header(spec, file_mb, versions | {"simreal": simreal.__version__})


def read_header(root: Path) -> Header | None:
    """The header, or None where the folder was not written by simreal."""
    path = root / HEADER
    if not path.exists():
        return None
    content = files.read_json(path)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise BadDataError(
            f"{path} is not of format {FORMAT}; read it with the simreal it is from."
        )
    try:
        spec = DatasetSpec.from_json(content["spec"])
        return Header(spec, float(content["file_mb"]), dict(content["versions"]))
    except (KeyError, TypeError, ValueError) as error:
        raise BadDataError(f"{path} lacks or garbles {error}; restore it from a copy.") from error


@dataclass(frozen=True)
class EpisodeMeta:
    """What is known of one episode beside its frames.

    success, seed, scenario: None where the data set does not say (one that LeRobot recorded).
    """

    episode: int
    frames: int
    task: str
    source: str
    success: bool | None = None
    seed: int | None = None
    scenario: Scenario | None = None
    provenance: Mapping[str, Any] | None = None


def record_of(episode: Episode, number: int, sizes: Mapping[str, int]) -> dict[str, Any]:
    """The journal line of an episode. sizes: its files under pending/ and their bytes."""
    scenario = episode.scenario
    provenance = _plain(dict(episode.provenance), "provenance")
    return {
        "episode": number,
        "frames": len(episode),
        "task": episode.task,
        "source": episode.source,
        "success": bool(episode.success),
        "seed": scenario.seed if scenario else provenance.get("seed"),
        "scenario": _plain(scenario.to_json(), "scenario") if scenario else None,
        "provenance": provenance,
        "version": simreal.__version__,
        "files": dict(sizes),
    }


def meta_of(record: Mapping[str, Any]) -> EpisodeMeta:
    """The inverse of `record_of`, without the files."""
    scenario = record["scenario"]
    return EpisodeMeta(
        episode=record["episode"],
        frames=record["frames"],
        task=record["task"],
        source=record["source"],
        success=record["success"],
        seed=record["seed"],
        scenario=Scenario.from_json(scenario) if scenario else None,
        provenance=record["provenance"],
    )


def pending_names(spec: DatasetSpec, number: int) -> dict[str, str]:
    """Names under pending/: under "" the rows', and a camera's where pictures are video."""
    stem = f"episode-{number:06d}"
    cameras = spec.cameras if spec.storage == "video" else ()
    return {"": f"{stem}.parquet"} | {camera: f"{stem}.{camera}.mp4" for camera in cameras}


def pending_place(
    root: Path, spec: DatasetSpec, record: Mapping[str, Any], first_frame: int
) -> Place:
    """Where a pending episode lies; a BadDataError where one of its files is not whole."""
    folder = root / PENDING
    for name, size in record["files"].items():
        path = folder / name
        if not path.exists() or path.stat().st_size != size:
            state = f"has {path.stat().st_size} of {size} bytes" if path.exists() else "is missing"
            raise BadDataError(
                f"{path} {state}; restore it from a copy, or record it again "
                f"(the first {record['episode']} episodes are whole)."
            )
    names = pending_names(spec, record["episode"])
    videos = {camera: (folder / name, 0) for camera, name in names.items() if camera}
    number, frames, task = record["episode"], record["frames"], record["task"]
    return Place(number, frames, task, first_frame, folder / names[""], 0, videos)


def _plain(value: Any, where: str) -> Any:
    """`value` as JSON types, numpy's included; a UsageError names what JSON cannot hold."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): _plain(item, f"{where}[{key!r}]") for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, f"{where}[{i}]") for i, item in enumerate(value)]
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float) and np.isfinite(value):
        return value
    raise UsageError(
        f"{where} is {value!r}; allowed are texts, finite numbers, lists and mappings."
    )
