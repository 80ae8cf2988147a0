"""Files that are either whole or absent: atomic replacement, append-only JSON lines, hashes."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from simreal.core.errors import BadDataError


def sync(path: Path) -> None:
    """Force a file's content, or a folder's list of names, to disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_bytes(path: Path, content: bytes) -> None:
    """Write `content` to `path` so that a reader sees the old file or the new one, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    sync(path.parent)


def write_text(path: Path, content: str) -> None:
    """`write_bytes` for text (UTF-8)."""
    write_bytes(path, content.encode())


def write_json(path: Path, content: Any) -> None:
    """Write `content` as indented JSON with sorted keys; NaN and infinity are refused."""
    write_text(path, json.dumps(content, indent=2, sort_keys=True, allow_nan=False) + "\n")


def read_json(path: Path) -> Any:
    """Read a JSON file; a broken one is a `BadDataError` that names file and position."""
    try:
        return json.loads(_text(path))
    except (ValueError, RecursionError) as error:
        raise BadDataError(f"{path} is not valid JSON: {error}.") from error


def _text(path: Path) -> str:
    """The text of a file that must be UTF-8."""
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise BadDataError(f"{path} is not UTF-8 text: {error}.") from error


def append_jsonl(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    """Append records to a JSON-lines file in one write and force it to disk."""
    lines = "".join(json.dumps(r, sort_keys=True, allow_nan=False) + "\n" for r in records)
    path.parent.mkdir(parents=True, exist_ok=True)
    _drop_torn_tail(path)
    with path.open("a") as file:
        file.write(lines)
        file.flush()
        os.fsync(file.fileno())


def _drop_torn_tail(path: Path) -> None:
    """Remove a last line without a newline: what a kill in the middle of a write leaves."""
    if not path.exists() or path.stat().st_size == 0:
        return
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        whole = file.read() == b"\n"
    if not whole:
        content = path.read_bytes()
        write_bytes(path, content[: content.rfind(b"\n") + 1])


def read_jsonl(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the records of a JSON-lines file; a torn last line (killed writer) is left out."""
    if not path.exists():
        return
    *lines, _ = _text(path).split("\n")
    for number, line in enumerate(lines, start=1):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise BadDataError(f"{path}, line {number}, is not valid JSON: {error}.") from error
        if not isinstance(record, dict):
            raise BadDataError(f"{path}, line {number}, is not a JSON object.")
        yield record


def sha256_of(content: Any) -> str:
    """The SHA-256 of a JSON value in canonical form."""
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(canonical.encode()).hexdigest()
