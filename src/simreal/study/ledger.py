"""The ledger of a study: one line of ledger.jsonl for everything that was used up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from simreal.core.files import append_jsonl, read_jsonl
from simreal.core.types import Charge


class Ledger:
    """Append-only charges on disk."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def add(self, charges: Sequence[Charge], once: str) -> None:
        """Write the charges of one piece of work, named `once`; a second time changes nothing.

        So work whose end was cut off by a kill can be done again without being charged twice.
        """
        mark = f"[{once}]"
        if any(line["note"].endswith(mark) for line in read_jsonl(self._path)):
            return
        marked = [replace(c, note=f"{c.note} {mark}".strip()) for c in charges]
        append_jsonl(self._path, [asdict(charge) for charge in marked])

    def read(self) -> tuple[Charge, ...]:
        """All charges so far."""
        return tuple(Charge(**line) for line in read_jsonl(self._path))
