"""What the verbs that judge files share: trials with what was noticed, and lines of 80 columns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from simreal.core.errors import UsageError, unknown
from simreal.report.text import wrap

if TYPE_CHECKING:
    from simreal.verdicts.records import TrialRow

#: The suite that is meant where none is asked for.
NOMINAL = "nominal"


@dataclass(frozen=True)
class Trials:
    """Trials of one file, and what a reader should know of them, one sentence each."""

    path: Path
    rows: tuple[TrialRow, ...]
    notes: tuple[str, ...] = ()

    @property
    def arms(self) -> tuple[str, ...]:
        """Names of arms, in file order; trials without one are left out."""
        return tuple(dict.fromkeys(row.arm for row in self.rows if row.arm is not None))

    def of(self, arm: str) -> Trials:
        """The trials of one arm."""
        if arm not in self.arms:
            raise unknown(f"arm in {self.path}:", arm, self.arms)
        return Trials(self.path, tuple(r for r in self.rows if r.arm == arm), self.notes)


def read(path: Path, target: str | None = None, suite: str | None = None) -> Trials:
    """Trials of a file, of one target or suite alone where asked for."""
    from simreal.verdicts.records import read_trials

    table = read_trials(path)
    rows = list(table.rows)
    for field, wanted in (("target", target), ("suite", suite)):
        there = {name for row in rows if (name := getattr(row, field)) is not None}
        if wanted is not None and not there:
            raise UsageError(f"{path} names no {field}; leave --{field} out.")
        if wanted is not None and wanted not in there:
            raise unknown(f"{field} in {path}:", wanted, there)
        if wanted is not None:
            rows = [row for row in rows if getattr(row, field) == wanted]
    rest = sorted({row.suite for row in rows} - {NOMINAL})
    notes = table.notes
    if suite is None and rest and any(row.suite == NOMINAL for row in rows):
        rows = [row for row in rows if row.suite == NOMINAL]
        notes = (*notes, f"the suite {NOMINAL} alone counts; left out: {', '.join(rest)}.")
    return Trials(path, tuple(rows), notes)


def read_only_arm(path: Path, arm: str | None, option: str, **only: str | None) -> Trials:
    """One side of a comparison of two files: the arm asked for, else all trials of the file."""
    found = read(path, **only)
    if arm is not None:
        return found.of(arm)
    if len(found.arms) > 1:
        raise UsageError(
            f"{path} holds the arms {', '.join(found.arms)}; choose one with {option} ARM."
        )
    return found


def on_one_side(table: Trials, simulated: bool) -> Trials:
    """The trials in simulation, or all others; the whole table where it holds one kind alone."""
    from simreal.verdicts.records import SIMULATION

    own = tuple(row for row in table.rows if (row.target in SIMULATION) == simulated)
    return replace(table, rows=own) if own else table


def check_one_side(table: Trials) -> None:
    """Refuse to pool trials in simulation with others."""
    from simreal.verdicts.records import SIMULATION

    targets = {row.target for row in table.rows if row.target is not None}
    if targets & set(SIMULATION) and targets - set(SIMULATION):
        raise UsageError(
            f"{table.path} holds trials on {', '.join(sorted(targets))}: simulation and target are "
            "not pooled; choose with --target."
        )


def check_distinct(first: Trials, second: Trials) -> None:
    """Refuse trials that are compared with themselves."""
    if first.path.resolve() == second.path.resolve() and first.rows == second.rows:
        raise UsageError(f"{first.path} is compared with itself; give the trials of both sides.")


def notes(*tables: Trials, pooled: bool = True) -> list[str]:
    """What was noticed in files of trials, each file named once, and what is pooled or a twin's.

    pooled: False where training seeds are kept apart.
    """
    from simreal.core.types import STAND_IN
    from simreal.trials.plan import plan_path
    from simreal.verdicts.evidence import pooled_note

    found = dict.fromkeys(f"{table.path.name}: {note}" for table in tables for note in table.notes)
    for table in tables:
        if plan_path(table.path).exists():
            found[
                f"{table.path.name} was stopped by the rule of the plan beside it: a p value that "
                "looks once is too small for such trials; simreal evaluate said the verdict."
            ] = None
        seeds = pooled_note(table.rows) if pooled else None
        if seeds:
            found[f"{table.path.name}: {seeds}."] = None
        suites = sorted({row.suite for row in table.rows})
        if len(suites) > 1:
            found[f"{table.path.name}: the suites {', '.join(suites)} are pooled."] = None
        twins = sorted({t for row in table.rows if (t := row.target or "").startswith("twin")})
        if twins:
            found[f"{table.path.name}: {', '.join(twins)} is {STAND_IN}."] = None
    return [f"Note: {note}" for note in found]


def show(lines: Iterable[str]) -> None:
    """Print lines that fit 80 columns; what does not is broken between words."""
    for line in lines:
        print("\n".join(wrap(line, rest="  ", break_words=False)))


def named(a: Path, b: Path, arm: str | None, against: str | None) -> tuple[str, str]:
    """Names of two sides: the arms asked for or the names of the files; whole paths where equal."""
    first, second = arm or a.stem, against or b.stem
    if first == second:
        first, second = f"{first} of {a}", f"{second} of {b}"
    return first, second
