"""Trials as they were written down: trials.jsonl of a study, or a spreadsheet saved as CSV.

A CSV needs the columns `condition` and `success`; `arm`, `seed`, `score`, `failure`, `n_real`,
`n_sim`, `target` and `suite` are read where they stand. In JSON lines, `seed` names the condition
where none is given. An empty `success` is a planned trial that was lost.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from simreal.core.errors import BadDataError, UsageError
from simreal.core.types import Trial

#: Targets of these names are the simulation.
SIMULATION = ("sim", "simulation")
_YES = frozenset({"1", "1.0", "true", "t", "yes", "y", "success", "pass", "passed"})
_NO = frozenset({"0", "0.0", "false", "f", "no", "n", "failure", "fail", "failed"})
_TORN = "The last line is cut off, as a kill leaves it, and is left out."
_MISSING = frozenset({"", "na", "n/a", "nan", "none", "null", "void"})


@dataclass(frozen=True)
class TrialRow:
    """One trial. success is None where it was planned and lost; the rest is None where unknown."""

    condition: str
    success: bool | None
    arm: str | None = None
    target: str | None = None
    suite: str = "nominal"
    seed: int | None = None
    score: float | None = None
    failure: str | None = None
    n_real: int | None = None
    n_sim: int | None = None
    plan_sha: str | None = None
    collisions: int | None = None
    peak_force: float | None = None
    seconds: float | None = None

    @classmethod
    def of(cls, trial: Trial) -> TrialRow:
        """A line of a study's trials.jsonl."""
        return cls(
            condition=str(trial.condition),
            success=trial.success,
            arm=trial.arm,
            target=trial.target,
            suite=trial.suite,
            seed=trial.seed,
            score=trial.score,
            failure=trial.failure,
            plan_sha=trial.plan_sha,
            collisions=trial.collisions,
            peak_force=trial.peak_force,
            seconds=trial.seconds,
        )


@dataclass(frozen=True)
class TrialTable:
    """Trials in file order, and what was noticed while reading them, one sentence each."""

    rows: tuple[TrialRow, ...]
    notes: tuple[str, ...] = ()


def read_trials(path: Path) -> TrialTable:
    """Read a .csv or .jsonl file of trials; errors name file, line, column and value."""
    if not path.is_file():
        raise UsageError(f"No trials file {path}.")
    readers = {".csv": _csv_records, ".jsonl": _json_records}
    if path.suffix.lower() not in readers:
        raise UsageError(f"{path} is neither .csv nor .jsonl; save the trials as one of these.")
    text = read_utf8(path)
    records = list(readers[path.suffix.lower()](path, text))
    if not records:
        raise BadDataError(f"{path} holds no trials.")
    table = _table(path, records)
    last = text.rpartition("\n")[2].strip()
    if path.suffix.lower() == ".csv" or not last or records[-1][0] > text.count("\n"):
        return table
    return replace(table, notes=(_TORN, *table.notes))


def read_utf8(path: Path) -> str:
    """The text of a file, without a byte order mark."""
    try:
        return path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadDataError(f"{path} is not UTF-8 text: {error}.") from error


def _csv_records(path: Path, text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    why = "A file of trials needs condition and success."
    return csv_records(path, text, ("condition", "success"), why)


def csv_records(
    path: Path, text: str, columns: Sequence[str], why: str
) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line, column -> cell) of a CSV with commas, semicolons or tabs that has the `columns`."""
    lines = _csv_lines(path, text)
    names = [name.strip().lower() for name in next(lines, (0, []))[1]]
    needed = [name for name in columns if name not in names]
    if needed:
        raise BadDataError(
            f"{path} lacks the column{'s' if len(needed) > 1 else ''} "
            f"{' and '.join(map(repr, needed))}; its columns are {', '.join(names) or 'none'}. "
            f"{why}"
        )
    twice = sorted({name for name in names if name and names.count(name) > 1})
    if twice:
        raise BadDataError(f"{path} has the column {twice[0]!r} twice.")
    for number, cells in lines:
        while len(cells) > len(names) and not cells[-1].strip():
            cells.pop()
        if len(cells) != len(names):
            count = _count(len(cells), "cell", "cells")
            raise BadDataError(f"{path}, line {number}: {count} under {len(names)} columns.")
        yield number, {k: v.strip() for k, v in zip(names, cells, strict=True)}


def _csv_lines(path: Path, text: str) -> Iterator[tuple[int, list[str]]]:
    """(line, cells) of all lines that hold anything; a first line `sep=;` names the delimiter."""
    told = re.match(r'"?sep=([,;\t|])"?\n', text)
    skipped = 1 if told else 0
    rest = text[told.end() :] if told else text
    header = next((line for line in rest.split("\n") if line.strip()), "")
    delimiter = told[1] if told else max(",;\t", key=header.count)
    reader = csv.reader(io.StringIO(rest), delimiter=delimiter)
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield reader.line_num + skipped, cells
    except csv.Error as error:
        raise BadDataError(f"{path}, line {reader.line_num + skipped}: {error}.") from error


def _json_records(path: Path, text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    lines = text.split("\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            if number == len(lines):
                return  # The torn last line of a writer that was killed.
            raise BadDataError(f"{path}, line {number}, is not valid JSON: {error}.") from error
        if not isinstance(record, dict):
            raise BadDataError(f"{path}, line {number}, is not a JSON object.")
        if "condition" not in record and "seed" in record:
            record["condition"] = record.pop("seed")
        for name in ("condition", "success"):
            if name not in record:
                raise BadDataError(f"{path}, line {number}, lacks {name!r}.")
        yield number, record


class _Cells:
    """Reads the cells of one record; every refusal names file, line, column and value."""

    def __init__(self, path: Path, line: int, record: Mapping[str, Any]) -> None:
        self._where = f"{path}, line {line}"
        self._record = record

    def text(self, name: str) -> str | None:
        value = self._record.get(name)
        return None if value is None or str(value).strip() == "" else str(value).strip()

    def bad(self, name: str, wanted: str) -> BadDataError:
        return BadDataError(f"{self._where}: {name} is {self._record.get(name)!r}, not {wanted}.")

    def flag(self, name: str) -> bool | None:
        value = self._record.get(name)
        word = "" if value is None else str(value).strip().lower()
        if word in _MISSING:
            return None
        if word not in _YES | _NO:
            raise self.bad(name, "one of 1, 0, true, false, yes, no, or empty for a lost trial")
        return word in _YES

    def number(self, name: str) -> float | None:
        word = self.text(name)
        if word is None or word.lower() in _MISSING:
            return None
        try:
            value = float(word)
        except ValueError:
            raise self.bad(name, "a number") from None
        if not math.isfinite(value):
            raise self.bad(name, "a finite number")
        return value

    def whole(self, name: str) -> int | None:
        value = self.number(name)
        if value is None:
            return None
        if value != int(value) or value < 0:
            raise self.bad(name, "a whole number, 0 or more")
        return int(value)

    def row(self) -> TrialRow:
        condition = self.text("condition")
        if condition is None:
            raise self.bad("condition", "the name of an initial condition")
        score = self.number("score")
        if score is not None and not 0 <= score <= 1:
            raise self.bad("score", "a score between 0 and 1")
        return TrialRow(
            condition=condition,
            success=self.flag("success"),
            arm=self.text("arm") or self.text("policy"),
            target=self.text("target") or self.text("domain"),
            suite=self.text("suite") or "nominal",
            seed=self.whole("seed"),
            score=score,
            failure=self.text("failure"),
            n_real=self.whole("n_real"),
            n_sim=self.whole("n_sim"),
            plan_sha=self.text("plan_sha"),
            collisions=self.whole("collisions"),
            peak_force=self.number("peak_force"),
            seconds=self.number("seconds"),
        )


def _table(path: Path, records: Sequence[tuple[int, Mapping[str, Any]]]) -> TrialTable:
    """Rows and notes; successes that are none (time-outs, solved at reset) are put right."""
    rows, timeouts, at_reset = [], 0, 0
    for line, record in records:
        cells = _Cells(path, line, record)
        row = cells.row()
        if cells.flag("success_at_reset"):
            at_reset += 1
            continue
        ended = cells.flag("terminated")
        if row.success and cells.flag("truncated") and ended is not None and not ended:
            timeouts += 1
            row = replace(row, success=False, failure=row.failure or "timed out")
        rows.append(row)
    notes = []
    if timeouts:
        notes.append(
            f"{_count(timeouts, 'time-out was', 'time-outs were')} recorded as success; counted as "
            "failure."
        )
    if at_reset:
        notes.append(f"{_count(at_reset, 'trial was', 'trials were')} solved at reset; left out.")
    return TrialTable(tuple(rows), (*notes, *_remarks(rows)))


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _remarks(rows: Sequence[TrialRow]) -> Iterator[str]:
    """Lost trials, and numbered conditions with holes in their count."""
    lost = sum(row.success is None for row in rows)
    if lost:
        have = _count(lost, "trial has", "trials have")
        yield f"{have} no outcome; intervals cover all that they could have had."
    seen = [row for row in rows if row.success is not None]
    places = {(r.arm, r.target, r.suite, r.seed, r.condition) for r in seen}
    if len(places) < len(seen):
        yield (
            f"{len(seen)} trials are of {_count(len(places), 'condition', 'conditions')}; repeats "
            "of a condition count once."
        )
    numbers = {int(row.condition) for row in rows if row.condition.isdecimal()}
    if numbers and len(numbers) == len({row.condition for row in rows}):
        holes = sorted(set(range(min(numbers), max(numbers) + 1)) - numbers)
        if 0 < len(holes) <= len(numbers):
            shown = ", ".join(map(str, holes[:10])) + (" ..." if len(holes) > 10 else "")
            yield f"Conditions {shown} are missing between {min(numbers)} and {max(numbers)}."
