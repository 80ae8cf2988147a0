"""A clock for engineering and validation: append-only, and an open start survives a kill.

STUDY/clock.jsonl has a line for each start and stop; a stop books its hours in STUDY/ledger.jsonl
first, under the name of its start, so that a stop cut short by a kill is done again without being
booked twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from simreal.compute.meter import utc_now
from simreal.core.errors import BadDataError, UsageError
from simreal.core.files import append_jsonl, read_jsonl
from simreal.core.types import Charge
from simreal.study.ledger import Ledger
from simreal.verdicts.cost.purposes import hours as hours_of

Kind = Literal["engineering", "validation"]
SOURCE = "clock"


@dataclass(frozen=True)
class Session:
    """Work between a start and a stop, ISO 8601 in UTC; `stopped` is None while it runs.

    robot: a robot stood by for it all the time.
    """

    kind: str
    started: str
    what: str
    robot: bool = False
    stopped: str | None = None

    def hours(self, now: str) -> float:
        """Hours until the stop, or until now."""
        return (moment(self.stopped or now) - moment(self.started)).total_seconds() / 3600


def moment(text: str) -> datetime:
    """A time as it is written down."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise BadDataError(f"{text!r} is no time; expected one like {utc_now()}.") from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


class Clock:
    """The clock of one study folder."""

    def __init__(self, folder: Path) -> None:
        """Nothing is written yet; the folder may not be there."""
        if folder.exists() and not folder.is_dir():
            raise UsageError(f"{folder} is a file; give a study's folder.")
        self._path = folder / "clock.jsonl"
        self._ledger = Ledger(folder / "ledger.jsonl")

    def sessions(self) -> tuple[Session, ...]:
        """All sessions in the order of their starts; at most one of each kind is open."""
        found: list[Session] = []
        for number, line in enumerate(read_jsonl(self._path), start=1):
            try:
                self._follow(found, line)
            except (KeyError, TypeError):
                raise BadDataError(
                    f"{self._path}, line {number}: expected a start or a stop of the clock."
                ) from None
        return tuple(found)

    def _follow(self, found: list[Session], line: dict[str, Any]) -> None:
        begins = {"start": True, "stop": False}[line["event"]]
        kind, when, named = line["kind"], line["when"], line["what" if begins else "started"]
        if not all(isinstance(text, str) for text in (kind, when, named)):
            raise TypeError(line)
        if begins:
            found.append(Session(kind, when, named, bool(line.get("robot", False))))
            return
        for index, session in enumerate(found):
            if (session.started, session.kind, session.stopped) == (named, kind, None):
                found[index] = replace(session, stopped=when)

    def running(self, kind: str) -> Session | None:
        """The open session of a kind."""
        found = [s for s in self.sessions() if s.kind == kind and s.stopped is None]
        return found[-1] if found else None

    def start(self, kind: Kind, what: str, robot: bool = False, now: str | None = None) -> Session:
        """Start a session.

        Raises:
            UsageError: where one of this kind runs already, or nothing says what it is for.
        """
        if not what.strip():
            raise UsageError("--what is empty; say what the time goes into.")
        if robot and kind == "engineering":
            raise UsageError("--robot is for validation: engineering needs no robot.")
        running = self.running(kind)
        if running is not None:
            raise UsageError(
                f"The {kind} clock runs already, since {running.started} ({running.what}); "
                f"stop it first: simreal clock stop {kind}."
            )
        session = Session(kind, now or utc_now(), " ".join(what.split()), robot)
        line = {"event": "start", "kind": kind, "when": session.started, "what": session.what}
        append_jsonl(self._path, [{**line, "robot": robot}])
        return session

    def stop(
        self, kind: Kind, hours: float | None = None, now: str | None = None
    ) -> tuple[Session, float]:
        """Stop the session of a kind and book its hours; (session, hours booked).

        hours: what to book instead, for a clock that was forgotten.
        """
        running = self.running(kind)
        if running is None:
            raise UsageError(
                f"The {kind} clock does not run; start it: simreal clock start {kind} --what TEXT."
            )
        at = now or utc_now()
        passed = running.hours(at)
        if passed < 0 and hours != 0:
            raise UsageError(
                f"The clock was started at {running.started}, which is yet to come; --hours 0 "
                "drops it."
            )
        if hours is not None and hours != 0 and not 0 < hours <= passed:
            raise UsageError(f"--hours {hours:g}; give 0 to {passed:.2f}, what has passed.")
        booked = round(passed if hours is None else hours, 4)
        self._ledger.add(_charges(running, booked, at), once=self._name(running))
        line = {"event": "stop", "kind": kind, "when": at, "started": running.started}
        append_jsonl(self._path, [{**line, "hours": booked}])
        return replace(running, stopped=at), booked

    def _name(self, session: Session) -> str:
        """What the ledger calls a session; several of one second are numbered."""
        name = f"clock/{session.kind}/{session.started}"
        same = [
            s for s in self.sessions() if (s.kind, s.started) == (session.kind, session.started)
        ]
        return name if len(same) == 1 else f"{name}#{len(same)}"

    def book(self, charges: Sequence[Charge], once: str) -> None:
        """Write charges of work that was not clocked."""
        self._ledger.add(charges, once)

    def booked(self) -> tuple[Charge, ...]:
        """Hours of engineering and validation in the ledger, whoever booked them."""
        kinds = ("engineering", "validation", "validation_trial")
        return tuple(charge for charge in self._ledger.read() if charge.kind in kinds)


def _charges(session: Session, hours: float, at: str) -> list[Charge]:
    charges = [Charge(at, SOURCE, "shared", session.kind, hours, "h", session.what)]
    if session.robot:
        charges.append(Charge(at, SOURCE, "shared", "validation_trial", hours, "h", session.what))
    return charges


def clock_state(folder: Path) -> dict[str, Any]:
    """What runs and what is booked, as `simreal clock show --json` prints it."""
    clock, now = Clock(folder), utc_now()
    totals: dict[tuple[str, str], float] = {}
    for charge in clock.booked():
        key = charge.kind, charge.source
        totals[key] = totals.get(key, 0.0) + hours_of(charge)
    return {
        "running": [
            {"kind": s.kind, "since": s.started, "what": s.what, "hours": max(0.0, s.hours(now))}
            for s in clock.sessions()
            if s.stopped is None
        ],
        "booked": [{"kind": k, "source": s, "hours": h} for (k, s), h in totals.items()],
    }
