"""Engineering hours read off the history of a task's files, for work that nobody clocked.

Times at which somebody saved something, from git where the folder has a history there, else the
files' times of last change. Times of one author closer together than `gap_h` are one session; a
session counts from its first time to its last, plus `lead_in_h` for the work before the first.
Files without git show their last change only, so that such hours are a lower bound.
"""

from __future__ import annotations

import hashlib
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from simreal.core.errors import UsageError
from simreal.core.types import Charge
from simreal.study.clock import Clock, Session, moment

GAP_H, LEAD_IN_H = 2.0, 0.5
SOURCE = "file history"
_IGNORED = {".git", "__pycache__", ".venv", "node_modules"}


@dataclass(frozen=True)
class Stretch:
    """A session of one author: seconds since 1970 of its first and last time, and how many."""

    author: str
    first: float
    last: float
    saves: int

    def hours(self, lead_in_h: float) -> float:
        """From the first time to the last, with the work before the first."""
        return (self.last - self.first) / 3600 + lead_in_h

    @property
    def started(self) -> str:
        """The first time, ISO 8601 in UTC."""
        return datetime.fromtimestamp(self.first, UTC).isoformat(timespec="seconds")


@dataclass(frozen=True)
class Proposal:
    """Sessions that are proposed, and those left out since the clock ran or they are booked."""

    stretches: tuple[Stretch, ...]
    left_out: int
    origin: str
    lead_in_h: float

    @property
    def hours(self) -> float:
        """All proposed hours."""
        return sum(stretch.hours(self.lead_in_h) for stretch in self.stretches)


def propose(
    task: Path, clock: Clock, gap_h: float = GAP_H, lead_in_h: float = LEAD_IN_H
) -> Proposal:
    """Sessions in the history of a task's folder or file that are not booked yet."""
    if not task.exists():
        raise UsageError(f"No file or folder {task}.")
    if not 0 < gap_h <= 24 or not 0 <= lead_in_h <= 8:
        raise UsageError(
            f"--gap-hours {gap_h:g}, --lead-in-hours {lead_in_h:g}; give a gap of up to 24 h and "
            "a lead-in of up to 8 h."
        )
    saved, origin = _git_times(task), "git"
    if not saved:
        saved, origin = _file_times(task), "times of last change (a lower bound)"
    stretches = [s for a, times in sorted(saved.items()) for s in sessions(a, times, gap_h)]
    stretches.sort(key=lambda s: (s.first, s.author))
    taken = {charge.work for charge in clock.booked()}
    fresh = tuple(
        s for s in stretches if _name(s) not in taken and not _clocked(s, clock.sessions())
    )
    return Proposal(fresh, len(stretches) - len(fresh), origin, lead_in_h)


def accept(proposal: Proposal, task: Path, clock: Clock, now: str) -> None:
    """Book what was proposed; each session once, however often it is accepted."""
    for stretch in proposal.stretches:
        hours = round(stretch.hours(proposal.lead_in_h), 4)
        note = f"{task.name}: {stretch.saves} saves from {stretch.started}, {proposal.origin}"
        charge = Charge(now, SOURCE, "shared", "engineering", hours, "h", note)
        clock.book([charge], once=_name(stretch))


def sessions(author: str, times: Iterable[float], gap_h: float = GAP_H) -> list[Stretch]:
    """Times of one author, in seconds, cut where more than `gap_h` lies between two."""
    found: list[Stretch] = []
    for time in sorted(times):
        if found and time - found[-1].last <= 3600 * gap_h:
            found[-1] = Stretch(author, found[-1].first, time, found[-1].saves + 1)
        else:
            found.append(Stretch(author, time, time, 1))
    return found


def _name(stretch: Stretch) -> str:
    """What the ledger calls a session; who it was stays unreadable."""
    who = hashlib.sha256(stretch.author.encode()).hexdigest()[:8]
    return f"history/{who}/{stretch.started}"


def _clocked(stretch: Stretch, clocked: Sequence[Session]) -> bool:
    """Whether the clock ran at any time of a stretch."""
    return any(
        moment(s.started).timestamp() <= stretch.last
        and (s.stopped is None or moment(s.stopped).timestamp() >= stretch.first)
        for s in clocked
    )


def _git_times(task: Path) -> Mapping[str, list[float]]:
    """Author -> times of commits that touched `task`; empty without git or a history."""
    folder, inside = (task, ".") if task.is_dir() else (task.parent, task.name)
    command = ["git", "-C", str(folder), "log", "--format=%at %ae", "--", inside]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return {}
    found: defaultdict[str, list[float]] = defaultdict(list)
    for line in done.stdout.splitlines():
        time, _, author = line.partition(" ")
        found[author].append(float(time))
    return found


def _file_times(task: Path) -> Mapping[str, list[float]]:
    """Times of last change of all files, hidden and generated ones left out."""
    files = [task] if task.is_file() else [p for p in task.rglob("*") if p.is_file()]
    kept = [p for p in files if not _IGNORED & set(p.relative_to(task.parent).parts)]
    return {"": [p.stat().st_mtime for p in kept]} if kept else {}
