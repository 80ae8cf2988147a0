"""Runs a writer again and again and kills it; a process of its own, so that it may fork.

    python crash_server.py calls|moments|limits FOLDER STORAGE STRIDE

makes FOLDER/<n>/set (what the killed writer left) and FOLDER/<n>/acknowledged (a dot for every
`write` that returned, and the error where one surfaced). `calls` kills before every STRIDE-th call
that changes the disk, in the middle of it where it writes; `moments` kills from outside at random
times; `limits` lets the system refuse to let files grow.
"""

import os
import resource
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import numpy as np
import pandas  # noqa: F401  (pyarrow would import it in every child)
import pyarrow.parquet as pq
from tests.demos.store_kit import make_episode, small_spec

from simreal.core.errors import InterruptedRunError
from simreal.demos import journal
from simreal.demos.store import create, open_writer

FIRST, SECOND = 6, 3
FILE_MB = 0.04
MOMENTS = 24


def work(folder: Path, storage: str) -> None:
    """Two sessions: several compactions, a finalize, a close, a resume."""
    spec = small_spec(storage)
    episodes = [make_episode(number, spec) for number in range(FIRST + SECOND)]
    log = os.open(folder / "acknowledged", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    try:
        with create(folder / "set", spec, file_mb=FILE_MB) as writer:
            for episode in episodes[:FIRST]:
                writer.write(episode)
                os.write(log, b".")
        with open_writer(folder / "set") as writer:
            for episode in episodes[FIRST:]:
                writer.write(episode)
                os.write(log, b".")
            writer.finalize()
    except InterruptedRunError as error:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        os.write(log, f"\n{error}".encode())


class Trap:
    """Counts the calls that change the disk and dies at the `fatal`-th."""

    def __init__(self, fatal: int | None):
        self.calls = 0
        self.fatal = fatal
        for name in ("fsync", "replace", "ftruncate", "unlink", "rmdir", "mkdir"):
            setattr(os, name, self.wrapped(getattr(os, name)))
        os.pwrite = self.wrapped(os.pwrite, self.half_pwrite(os.pwrite))
        journal.write_file = self.wrapped(journal.write_file, self.half_file)
        table = pq.ParquetWriter.write_table
        pq.ParquetWriter.write_table = self.wrapped(table)

    def wrapped(self, call, instead=None):
        def counted(*arguments, **named):
            self.calls += 1
            if self.calls == self.fatal:
                if instead is not None:
                    instead(*arguments)
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*arguments, **named)

        return counted

    @staticmethod
    def half_pwrite(pwrite):
        return lambda file, content, offset: pwrite(file, content[: len(content) // 2], offset)

    @staticmethod
    def half_file(path, content):
        path.write_bytes(content[: len(content) // 2])


def fork(folder: Path, job) -> int:
    folder.mkdir(parents=True)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            job(folder)
            status = 0
        finally:
            os._exit(status)
    return child


def wait(child: int) -> int:
    return os.waitpid(child, 0)[1]


def calls(base: Path, storage: str, stride: int) -> None:
    def count(folder: Path) -> None:
        trap = Trap(None)
        work(folder, storage)
        (folder / "calls").write_text(str(trap.calls))

    assert wait(fork(base / "whole", count)) == 0
    total = int((base / "whole/calls").read_text())
    for fatal in range(1, total + 1, stride):

        def job(folder: Path, fatal: int = fatal) -> None:
            Trap(fatal)
            work(folder, storage)

        assert wait(fork(base / f"{fatal}", job)) == signal.SIGKILL


def moments(base: Path, storage: str) -> None:
    started = time.perf_counter()
    assert wait(fork(base / "whole", lambda folder: work(folder, storage))) == 0
    took = time.perf_counter() - started
    draws = np.random.default_rng(0)
    killed = number = 0
    while killed < MOMENTS and number < 10 * MOMENTS:  # some finish before they are killed
        child = fork(base / f"{number}", lambda folder: work(folder, storage))
        time.sleep(took * draws.uniform(0, 0.95))
        os.kill(child, signal.SIGKILL)
        killed += wait(child) == signal.SIGKILL
        number += 1
    (base / "killed").write_text(str(killed))


def limits(base: Path, storage: str) -> None:
    for limit in (*range(200, 4000, 600), *range(4000, 60000, 6000)):

        def job(folder: Path, limit: int = limit) -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
            work(folder, storage)

        wait(fork(base / f"{limit}", job))


if __name__ == "__main__":
    mode, base, storage, stride = sys.argv[1], Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])
    if mode == "calls":
        calls(base, storage, stride)
    else:
        {"moments": moments, "limits": limits}[mode](base, storage)
