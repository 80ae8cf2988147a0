"""A writer that is killed, or that the disk refuses, loses at most the open episode."""

import errno
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from tests.demos.store_kit import assert_same, make_episode, small_spec, stray_files

from simreal.core.errors import InterruptedRunError
from simreal.demos.store import create, open_dataset, open_writer

SERVER = Path(__file__).with_name("crash_server.py")


def run_server(mode: str, base: Path, storage: str, stride: int = 1) -> list[Path]:
    """The folders that the killed writers left."""
    command = [sys.executable, str(SERVER), mode, str(base), storage, str(stride)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return sorted(path for path in base.iterdir() if path.is_dir())


def assert_sound(root: Path, storage: str) -> None:
    """LeRobot's files of a finished set agree with one another."""
    assert stray_files(root) == []
    episode_files = sorted((root / "meta/episodes").rglob("*.parquet"))
    episodes = [row for path in episode_files for row in pq.read_table(path).to_pylist()]
    names = ["index", "episode_index"]
    data = [pq.read_table(p, columns=names) for p in sorted((root / "data").rglob("*.parquet"))]
    index = np.concatenate([table["index"].to_numpy() for table in data])
    owner = np.concatenate([table["episode_index"].to_numpy() for table in data])
    np.testing.assert_array_equal(index, np.arange(len(index)))
    info = json.loads((root / "meta/info.json").read_text())
    assert info["total_frames"] == len(index)
    assert info["total_episodes"] == len(episodes)
    stats = json.loads((root / "meta/stats.json").read_text())
    assert stats["action"]["count"] == [len(index)]
    assert stats["index"]["max"] == [len(index) - 1]
    for number, row in enumerate(episodes):
        assert row["episode_index"] == number
        rows_of = slice(row["dataset_from_index"], row["dataset_to_index"])
        assert (owner[rows_of] == number).all()
        if storage == "video":
            seconds = (row["dataset_to_index"] - row["dataset_from_index"]) / 20
            key = "videos/observation.images.scene"
            length = row[f"{key}/to_timestamp"] - row[f"{key}/from_timestamp"]
            assert length == pytest.approx(seconds)


def assert_survived(folder: Path, storage: str) -> int:
    """At most the open episode is lost, and writing goes on; the number of episodes found."""
    spec, root = small_spec(storage), folder / "set"
    log = folder / "acknowledged"
    acknowledged = log.read_bytes().split(b"\n")[0].count(b".") if log.exists() else 0
    found = 0
    if (root / "meta/simreal/dataset.json").exists():
        data = open_dataset(root)
        found = data.num_episodes
        assert acknowledged <= found <= acknowledged + 1
        assert_same(data, [make_episode(i, spec) for i in range(found)], storage == "image")
    assert found >= acknowledged
    with create(root, spec, resume=True) as writer:
        assert writer.num_episodes == found
        assert writer.write(make_episode(found, spec)) == found
    assert_same(
        open_dataset(root), [make_episode(i, spec) for i in range(found + 1)], storage == "image"
    )
    assert_sound(root, storage)
    return found


@pytest.fixture
def runs(tmp_path):
    """A folder for many small sets; in memory where that is possible, where fsync costs nothing."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else tmp_path) as folder:
        yield Path(folder) / "runs"


@pytest.mark.parametrize(
    ("storage", "stride"),
    [
        ("image", 7),
        ("video", 19),
        pytest.param("image", 1, marks=pytest.mark.slow),
        pytest.param("video", 1, marks=pytest.mark.slow),
    ],
)
def test_killed_at_any_call_that_changes_the_disk(runs, storage, stride):
    folders = run_server("calls", runs, storage, stride)
    found = [assert_survived(folder, storage) for folder in folders]
    assert len(found) >= 10
    assert {0, 9} <= set(found), "kills fell before and after the episodes"
    assert len(set(found)) >= 6, "and between them"


@pytest.mark.parametrize("storage", ["image", pytest.param("video", marks=pytest.mark.slow)])
def test_killed_at_random_moments(runs, storage):
    folders = run_server("moments", runs, storage)
    for folder in folders:
        assert_survived(folder, storage)
    assert int((runs / "killed").read_text()) == 24


def test_files_that_may_not_grow_keep_what_is_saved(runs):
    folders = run_server("limits", runs, "image")
    refused = [f for f in folders if b"are safe" in (f / "acknowledged").read_bytes()]
    assert len(refused) >= 5
    for folder in folders:
        assert_survived(folder, "image")


def write_all(writer, episodes) -> tuple[int, str]:
    """How many episodes `write` returned for, and the error that surfaced."""
    saved = 0
    try:
        with writer:
            for episode in episodes:
                saved = writer.write(episode) + 1
    except InterruptedRunError as error:
        return saved, str(error)
    return saved, ""


def test_a_full_disk_surfaces_and_what_was_saved_stays(runs, monkeypatch):
    spec = small_spec()
    episodes = [make_episode(number, spec) for number in range(4)]
    fsync, calls = os.fsync, []

    def full(descriptor: int) -> None:
        calls.append(descriptor)
        if len(calls) == fatal:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fsync(descriptor)

    outcomes = set()
    for fatal in range(1, 40):
        root = runs / f"{fatal}"
        calls.clear()
        writer = create(root, spec, file_mb=0.03)
        monkeypatch.setattr(os, "fsync", full)
        saved, said = write_all(writer, episodes)
        monkeypatch.setattr(os, "fsync", fsync)
        if said:
            assert "No space left on device" in said
            assert f"its {writer.num_episodes} episodes are safe" in said
            outcomes.add(saved)
        with open_writer(root) as again:
            assert saved <= again.num_episodes <= saved + 1
            for episode in episodes[again.num_episodes :]:
                again.write(episode)
        assert_same(open_dataset(root), episodes)
        assert_sound(root, "image")
    assert outcomes == {0, 1, 2, 3, 4}, "the disk was full in every episode and at the end"


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux's /proc")
def test_memory_does_not_grow_with_the_number_of_episodes(tmp_path):
    spec = small_spec(side=64)
    episodes = [make_episode(number, spec, frames=40) for number in range(4)]

    def resident_mb() -> float:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20

    with create(tmp_path / "set", spec, file_mb=20) as writer:
        for number in range(100):
            writer.write(episodes[number % 4])
        before, most = resident_mb(), 0.0
        for number in range(100, 300):
            writer.write(episodes[number % 4])
            most = max(most, resident_mb())
        writer.finalize()
        most = max(most, resident_mb())
    written = sum(p.stat().st_size for p in (tmp_path / "set").rglob("*.parquet")) / 2**20
    assert written > 80, "the set is too small for the test to mean anything"
    assert most - before < 25
