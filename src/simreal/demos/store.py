"""Writing a LeRobotDataset v3.0 so that a kill at any instant loses at most the open episode.

    with create(folder, spec) as writer:      # or open_writer(folder) to go on
        writer.write(episode)                 # on disk when this returns
    frames = open_dataset(folder).load()

`write` puts the episode into a closed Parquet file of its own under meta/simreal/pending and then
appends its line to the journal: that line is what makes it count. From `file_mb` of such files on,
and at `finalize`, they are copied one by one into a large file of LeRobot's layout; its file of
meta/episodes, renamed into place last, is what makes that count. What a killed writer left half
done is not counted anywhere, and `open_writer` clears it away.

Measured by `python benchmarks/store.py` (40 frames, two cameras of 64 x 64 pixels, made pictures
with sensor noise of standard deviation 3; LeRobot 0.6.1's writer and loader in the same run; rates
per second of CPU time on a busy machine, x: times LeRobot's, bytes: of a frame of both cameras,
error: mean absolute, of 255; LeRobot's video is AV1 at its own settings):

    written by     frames/s     x   episodes/h   loaded/s     x   bytes   error
    LeRobot image       229   1.0       20,655      1,467   1.0  14,637    0.00
    simreal image     2,093   9.1      188,340      5,112   3.5  16,340    0.00
    LeRobot video       164   1.0       14,789        186   1.0   1,174    4.81
    simreal video     2,213  13.5      199,184      4,898  26.3   4,164    2.25

Pictures as PNG cost no more time than video and come back exactly, so `image` is the default;
`video` takes a quarter of the space.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from simreal.core import files
from simreal.core.errors import InterruptedRunError, UsageError
from simreal.core.types import Episode
from simreal.demos import index, journal, layout, shards, sidecar
from simreal.demos.dataset import Dataset, Frames, open_dataset, pending
from simreal.demos.sidecar import EpisodeMeta, Header
from simreal.demos.spec import DatasetSpec, check

__all__ = [
    "Dataset",
    "DatasetSpec",
    "EpisodeMeta",
    "Frames",
    "Writer",
    "create",
    "open_dataset",
    "open_writer",
]

FILE_MB = 100.0
_PENDING_EPISODES = 1000
#: LeRobot compares times in a video as float32 to 0.1 ms; from 1,024 s on float32 is coarser.
_VIDEO_SECONDS = 1000


class Writer:
    """The one writer of a data set; made by `create` or `open_writer`. Leaving `with` closes it."""

    def __init__(self, root: Path, header: Header, lock: journal.Lock):
        """Take up a data set where it stands; clear away what a killed writer left."""
        self.root = root
        self.spec = header.spec
        self._limit_mb = header.file_mb
        self._lock: journal.Lock | None = lock
        done = index.read_places(root, self.spec)
        lines = list(journal.lines(root / sidecar.JOURNAL))
        self._pending = pending(root, self.spec, lines, done)
        self._bytes = sum(path.stat().st_size for p in self._pending for path in shards.files_of(p))
        self._done_episodes = len(done)
        self._done_frames = sum(place.frames for place in done)
        texts = [place.task for place in (*done, *self._pending)]
        self._tasks = {text: number for number, text in enumerate(dict.fromkeys(texts))}
        done_files = index.episode_files(root)
        self._files = len(done_files)
        self._stats: shards.DatasetStats = {}
        for path in done_files:
            self._stats = shards.merge(self._stats, index.read_stats(path))
        self._journal = journal.Journal(root / sidecar.JOURNAL)
        with self._disk():
            shards.clear(root, self._pending)
            self._describe()

    @property
    def num_episodes(self) -> int:
        """Episodes that are on disk, which is also the number of the next one."""
        return self._done_episodes + len(self._pending)

    @property
    def num_frames(self) -> int:
        """Frames of all episodes on disk."""
        return self._done_frames + sum(place.frames for place in self._pending)

    def write(self, episode: Episode) -> int:
        """Add one episode and return its number; it is on disk when this returns.

        UsageError where it does not fit the spec. InterruptedRunError where the disk refuses: the
        writer is closed then, all earlier episodes are safe, and `open_writer` goes on.
        """
        self._check_open()
        check(episode, self.spec)
        if self._is_full(more=len(episode)):
            self._compact()
        number, first_frame = self.num_episodes, self.num_frames
        task = self._tasks.setdefault(episode.task, len(self._tasks))
        contents = shards.encode(self.spec, episode, number, first_frame, task)
        sizes = {name: len(content) for name, content in contents.items()}
        record = sidecar.record_of(episode, number, sizes)
        with self._disk():
            folder = self.root / sidecar.PENDING
            folder.mkdir(exist_ok=True)
            for name, content in contents.items():
                journal.write_file(folder / name, content)
            files.sync(folder)
            self._journal.append(record)
        self._pending.append(sidecar.pending_place(self.root, self.spec, record, first_frame))
        self._bytes += sum(sizes.values())
        if self._is_full():
            self._compact()
        return number

    def finalize(self) -> None:
        """Bring everything into LeRobot's layout; writing may go on afterwards."""
        self._check_open()
        self._compact()
        with self._disk():
            if (self.root / sidecar.PENDING).exists():
                (self.root / sidecar.PENDING).rmdir()

    def close(self) -> None:
        """Finalize and let go of the data set. Calling it twice is allowed."""
        if self._lock is not None:
            self.finalize()
            self._release()

    def __enter__(self) -> Self:
        """The writer itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close; after an error only let go: what was written is safe and can be taken up."""
        if error is None:
            self.close()
        else:
            self._release()

    def _release(self) -> None:
        self._journal.close()
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _check_open(self) -> None:
        if self._lock is None:
            raise UsageError(f"the writer of {self.root} is closed; go on with open_writer.")

    @contextmanager
    def _disk(self) -> Iterator[None]:
        """An error in here closes the writer: what it remembers may not be what is on disk."""
        count = self.num_episodes
        try:
            yield
        except OSError as error:
            self._release()
            raise InterruptedRunError(
                f"{self.root} could not be written ({error}); its {count} episodes are safe. Make "
                "room, then go on (open_writer, `--resume`)."
            ) from error
        except BaseException:
            self._release()
            raise

    def _is_full(self, more: int = 0) -> bool:
        """Whether the pending episodes (with `more` frames) are enough for a large file."""
        if not self._pending:
            return False
        frames = self.num_frames - self._done_frames + more
        long = self.spec.storage == "video" and frames > _VIDEO_SECONDS * self.spec.fps
        large = self._bytes >= self._limit_mb * 2**20
        return long or large or len(self._pending) >= _PENDING_EPISODES

    def _compact(self) -> None:
        """Copy the pending episodes into large files, one episode in memory at a time."""
        with self._disk():
            if self._pending:
                tasks = list(self._tasks)
                stats = shards.join(self.root, self.spec, self._pending, tasks, self._files)
                done, self._pending, self._bytes = self._pending, [], 0
                self._files += 1
                self._done_episodes += len(done)
                self._done_frames += sum(place.frames for place in done)
                self._stats = shards.merge(self._stats, stats)
            else:
                done = []
            self._describe()
            for place in done:
                for path in shards.files_of(place):
                    path.unlink()

    def _describe(self) -> None:
        """Write info.json and stats.json, which follow from what the large files hold."""
        if self._stats:
            _write_json(self.root / layout.STATS, shards.plain(self._stats))
        totals = (self._done_episodes, self._done_frames)
        tasks = len(self._tasks) if self._done_episodes else 0
        content = layout.info(self.spec, *totals, tasks, max(1, round(self._limit_mb)))
        _write_json(self.root / layout.INFO, content)


def create(
    root: Path | str, spec: DatasetSpec, *, resume: bool = False, file_mb: float = FILE_MB
) -> Writer:
    """Begin a data set in a new or empty folder.

    resume: go on where the folder already holds one of the same spec. file_mb: size in MiB from
    which a large file is closed.
    """
    root = Path(root)
    header = sidecar.read_header(root) if root.is_dir() else None
    if header is not None:
        if not resume:
            raise UsageError(
                f"{root} already holds a data set; go on with `--resume` (resume=True, "
                "open_writer), or give a new folder."
            )
        if header.spec != spec:
            raise UsageError(f"{root} holds a data set of another spec: {header.spec}, not {spec}.")
        return open_writer(root)
    strangers = sorted(p for p in root.rglob("*") if p.is_file() and not _is_leftover(root, p))
    if strangers or (root.exists() and not root.is_dir()):
        raise UsageError(
            f"{root} is not an empty folder ({len(strangers)} files, such as "
            f"{strangers[0] if strangers else root}); give a new one."
        )
    lock = journal.Lock(root / sidecar.LOCK, str(root))
    header = sidecar.new_header(spec, file_mb)
    header.write(root)
    return Writer(root, header, lock)


def open_writer(root: Path | str) -> Writer:
    """Go on with a data set that `create` began, finished or killed."""
    root = Path(root)
    header = sidecar.read_header(root)
    if header is None:
        raise UsageError(
            f"{root} was not written by simreal ({sidecar.HEADER} is missing); give the folder of "
            "a data set that simreal began, or begin a new one with create."
        )
    lock = journal.Lock(root / sidecar.LOCK, str(root))
    try:
        return Writer(root, header, lock)
    except BaseException:
        lock.release()
        raise


def _write_json(path: Path, content: dict[str, Any]) -> None:
    """Write JSON in its own order: that of the features is the order of a policy's inputs."""
    files.write_text(path, json.dumps(content, indent=4, allow_nan=False) + "\n")


def _is_leftover(root: Path, path: Path) -> bool:
    """Whether a killed `create` left this file."""
    name = path.relative_to(root).as_posix()
    return name == sidecar.LOCK or name.startswith("meta/simreal/.dataset.json.")
