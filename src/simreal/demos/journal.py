"""An append-only JSON-lines file with one writer: a record is whole and on disk, or not there.

Unlike `core.files.append_jsonl` an append costs the same however long the file is.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from simreal.core.errors import BadDataError, UsageError


class Journal:
    """The open end of the file; `append` returns when the record is on disk."""

    def __init__(self, path: Path):
        """Open or make the file and cut off what a killed writer left of a last line."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        self._end = _end_of_last_line(self._descriptor)
        if os.fstat(self._descriptor).st_size != self._end:
            os.ftruncate(self._descriptor, self._end)
            os.fsync(self._descriptor)

    def append(self, record: Mapping[str, Any]) -> None:
        """Add one record. On OSError (a full disk) the file is as it was before."""
        line = (json.dumps(record, sort_keys=True, allow_nan=False) + "\n").encode()
        if os.fstat(self._descriptor).st_size != self._end:
            raise UsageError(f"{self._path} grew behind this writer's back; use one at a time.")
        try:
            written = 0
            while written < len(line):
                written += os.pwrite(self._descriptor, line[written:], self._end + written)
            os.fsync(self._descriptor)
        except OSError:
            os.ftruncate(self._descriptor, self._end)
            raise
        self._end += len(line)

    def close(self) -> None:
        """Let go of the file. Calling it twice is allowed."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def lines(path: Path) -> Iterator[bytes]:
    """The whole lines of a journal, oldest first; nothing where the file is missing."""
    if not path.exists():
        return
    with path.open("rb") as file:
        for line in file:
            if line.endswith(b"\n"):
                yield line


def parse(path: Path, number: int, line: bytes) -> dict[str, Any]:
    """Line `number` (from 0) of the journal `path` as a record."""
    try:
        record = json.loads(line)
    except ValueError as error:
        raise BadDataError(
            f"{path}, line {number + 1}, is not valid JSON ({error}); restore the file from a copy."
        ) from error
    if not isinstance(record, dict):
        raise BadDataError(f"{path}, line {number + 1}, is not an object; restore it from a copy.")
    return record


def write_file(path: Path, content: bytes) -> None:
    """Write a file that nobody reads before a journal names it, and force it to disk."""
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


class Lock:
    """One writer at a time. The system lets go of the lock however the process dies."""

    def __init__(self, path: Path, what: str):
        """Take the lock at `path`, or refuse with a UsageError that names `what`."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("a")
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._file.close()
            raise UsageError(f"{what} is being written by another process; wait for it.") from error

    def release(self) -> None:
        """Let go. Calling it twice is allowed."""
        self._file.close()


def _end_of_last_line(descriptor: int) -> int:
    """The offset just behind the last newline."""
    end = os.fstat(descriptor).st_size
    while end > 0:
        start = max(0, end - 65536)
        newline = os.pread(descriptor, end - start, start).rfind(b"\n")
        if newline >= 0:
            return start + newline + 1
        end = start
    return 0
