"""Turns the time that work takes into charges for the ledger."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

from simreal.core.types import Charge

SOURCE = "process clock"


def utc_now() -> str:
    """The present moment, ISO 8601 in UTC to the second, e.g. `2025-01-31T12:00:00+00:00`."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class Meter:
    """Measures what happens inside a `with` block; a block that fails was paid for all the same.

    kind: what the time went into (`evaluate`, `train`, ...). arm: the arm it was for, or `shared`.
    Afterwards `seconds` is the wall time of this process, what a machine is paid for, and
    `charge()` is the line for the ledger. Seconds add up when a meter is entered again.
    """

    def __init__(
        self,
        kind: str,
        arm: str,
        note: str = "",
        *,
        clock: Callable[[], float] = time.perf_counter,
        now: Callable[[], str] = utc_now,
    ) -> None:
        self.kind = kind
        self.arm = arm
        self.note = note
        self.seconds = 0.0
        self.when = ""
        self._clock = clock
        self._now = now

    def __enter__(self) -> Self:
        """Start the clock."""
        self.when = self._now()
        self._start = self._clock()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        """Stop the clock."""
        self.seconds += self._clock() - self._start

    def charge(self) -> Charge:
        """What was measured; `when` is the start of the last block."""
        if not self.when:
            raise ValueError(f"the meter for {self.kind!r} has measured nothing yet")
        seconds = round(self.seconds, 3)
        return Charge(self.when, SOURCE, self.arm, self.kind, seconds, "s", self.note)
