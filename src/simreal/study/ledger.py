"""The ledger of a study: one line of ledger.jsonl for everything that was used up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from simreal.core.errors import BadDataError, SimrealError
from simreal.core.files import append_jsonl, read_jsonl
from simreal.core.types import Charge
from simreal.verdicts.cost.purposes import amounts


def read_charges(path: Path) -> tuple[Charge, ...]:
    """All charges of a ledger.jsonl; none where there is no such file.

    Raises:
        BadDataError: for a line that is no charge; it names file, line and what is wrong.
    """
    found = []
    for number, line in enumerate(read_jsonl(path), start=1):
        try:
            charge = Charge(**line)
            _check(charge)
        except (TypeError, SimrealError) as error:
            said = str(error).replace("Charge.__init__()", "a charge").rstrip(".")
            raise BadDataError(f"{path}, line {number}: {said}.") from error
        found.append(charge)
    return tuple(found)


def _check(charge: Charge) -> None:
    """Refuse a kind, a unit or a quantity that nothing can be paid by."""
    for name, value in asdict(charge).items():
        wanted = int | float if name == "quantity" else str
        if not isinstance(value, wanted) or isinstance(value, bool):
            raise TypeError(f"{name} is {value!r}")
    amounts(charge)


class Ledger:
    """Append-only charges on disk.

    How many lines stand for each piece of work is kept in memory, and read again when the file is
    not as this object left it: a kill tore it, or somebody else wrote to it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lines: Counter[str] = Counter()
        self._bytes = -1

    def add(self, charges: Sequence[Charge], once: str) -> None:
        """Write the charges of one piece of work, named `once`; a second time changes nothing.

        So work whose end was cut off by a kill can be done again without being charged twice. Of
        charges that a kill let through in part, the missing ones are written.
        """
        self._look()
        left = charges[self._lines[once] :]
        if not left:
            return
        marked = [replace(c, note=f"{c.note} [{once}]".strip()) for c in left]
        append_jsonl(self._path, [asdict(charge) for charge in marked])
        self._lines[once] += len(marked)
        self._bytes = self._size()

    def has(self, once: str) -> bool:
        """Whether that piece of work was charged for."""
        self._look()
        return self._lines[once] > 0

    def read(self) -> tuple[Charge, ...]:
        """All charges so far."""
        return read_charges(self._path)

    def _look(self) -> None:
        """Count the lines of each piece of work, unless the file is as it was left."""
        size = self._size()
        if size != self._bytes:
            self._lines = Counter(charge.work for charge in self.read())
            self._bytes = size

    def _size(self) -> int:
        return self._path.stat().st_size if self._path.exists() else 0
