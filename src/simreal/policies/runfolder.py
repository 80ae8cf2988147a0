"""A training run on disk: what was asked, the log, and the state that outlives a kill.

run.json            the request's fingerprint; a run is never resumed as another
train_log.jsonl     losses, rates and speeds
state.safetensors   the training state, replaced atomically while the run lasts
checkpoint/         the result; its presence means that the run is done
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from simreal.core.errors import BadDataError, UsageError
from simreal.core.files import (
    append_jsonl,
    read_json,
    read_jsonl,
    write_bytes,
    write_json,
    write_text,
)
from simreal.policies.checkpoint import read_tensors


@dataclass
class Position:
    """Where a run stands: stage, steps done within it, and what the next log line needs.

    seconds: wall time spent so far. loss_sum, loss_count: since the last log line. loss, held_out:
    last logged (standardized L1).
    """

    precision: str
    stage: int = 0
    step: int = 0
    seconds: float = 0.0
    loss_sum: float = 0.0
    loss_count: int = 0
    loss: float = 0.0
    held_out: float | None = None


class RunFolder:
    """The files of one run."""

    def __init__(self, path: Path) -> None:
        """Nothing is read or written yet."""
        self.path = path
        self.checkpoint = path / "checkpoint"
        self.raw = path / "checkpoint_raw"
        self.log = path / "train_log.jsonl"
        self._request = path / "run.json"
        self._state = path / "state.safetensors"

    def begin(self, request: Mapping[str, Any], resume: bool) -> bool:
        """Claim the folder for `request`, or check that it holds the same one to be resumed.

        Returns whether it was claimed now.
        """
        if not self._request.exists():
            if self.path.exists() and any(self.path.iterdir()):
                raise UsageError(
                    f"{self.path} is not empty and holds no run; choose another folder."
                )
            write_json(self._request, request)
            return True
        if not resume:
            raise UsageError(
                f"{self.path} already holds a run; resume it or choose another folder."
            )
        changed = _differences(read_json(self._request), request)
        if changed:
            raise UsageError(
                f"{self.path} was started with another request ({'; '.join(changed[:4])}); "
                "resume it with the same one or choose another folder."
            )
        return False

    def withdraw(self) -> None:
        """Give up a claim before anything was done, so that the folder is free again."""
        self._request.unlink()
        if not any(self.path.iterdir()):
            self.path.rmdir()

    def done(self) -> bool:
        """Whether the run has finished."""
        return self.checkpoint.is_dir()

    def save_state(self, tensors: Mapping[str, Tensor], position: Position) -> None:
        """Replace the training state."""
        metadata = {"position": json.dumps(asdict(position))}
        write_bytes(self._state, save(dict(tensors), metadata=metadata))

    def read_position(self) -> Position | None:
        """Where the saved state stands; None if there is none."""
        if not self._state.exists():
            return None
        try:
            with safe_open(self._state, framework="pt") as file:
                return Position(**json.loads((file.metadata() or {})["position"]))
        except (SafetensorError, KeyError, TypeError, json.JSONDecodeError) as error:
            raise BadDataError(f"{self._state} is no training state: {error!r}.") from error

    def read_state(self) -> dict[str, Tensor]:
        """The tensors of the saved state."""
        return read_tensors(self._state)

    @property
    def state_name(self) -> str:
        """The state's file, for messages."""
        return str(self._state)

    def append_log(self, record: Mapping[str, Any]) -> None:
        """Add one line to the log."""
        append_jsonl(self.log, [record])

    def rewind_log(self, step: int) -> None:
        """Drop log lines after `step`: the steps they tell of will be done again."""
        if self.log.exists():
            kept = [record for record in read_jsonl(self.log) if record["step"] <= step]
            write_text(self.log, "".join(json.dumps(r, sort_keys=True) + "\n" for r in kept))

    def clear_state(self) -> None:
        """Remove the training state of a finished run."""
        self._state.unlink(missing_ok=True)


def _differences(old: Any, new: Any, where: str = "") -> list[str]:
    """Which leaves of two JSON values differ, as `path: old -> new`."""
    if isinstance(old, dict) and isinstance(new, dict):
        keys = sorted(set(old) | set(new))
        return [d for k in keys for d in _differences(old.get(k), new.get(k), f"{where}.{k}")]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = enumerate(zip(old, new, strict=True))
        return [d for i, (a, b) in pairs for d in _differences(a, b, f"{where}[{i}]")]
    return [] if old == new else [f"{where.lstrip('.')}: {_short(old)} -> {_short(new)}"]


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 24 else text[:21] + "..."


def sha256_of_file(path: Path) -> str:
    """The SHA-256 of a file's bytes."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
