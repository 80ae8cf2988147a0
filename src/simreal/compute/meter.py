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

    kind: what the time went into (`train`, `render`, `simulate`, ...). arm: the arm it was for, or
    `shared`. worker_cpu_s: reads the CPU seconds spent outside this process so far
    (`lambda: executor.worker_cpu_s`). Afterwards `wall_s` and `cpu_s` are set, and `charge()` is
    the line for the ledger: wall seconds (what a machine is paid for), with the CPU seconds in its
    note.
    """

    def __init__(
        self,
        kind: str,
        arm: str,
        note: str = "",
        *,
        worker_cpu_s: Callable[[], float] = lambda: 0.0,
        wall: Callable[[], float] = time.perf_counter,
        cpu: Callable[[], float] = time.process_time,
        now: Callable[[], str] = utc_now,
    ) -> None:
        self.kind = kind
        self.arm = arm
        self.note = note
        self.wall_s = 0.0
        self.cpu_s = 0.0
        self.when = ""
        self._wall = wall
        self._cpu = cpu
        self._worker_cpu_s = worker_cpu_s
        self._now = now

    def __enter__(self) -> Self:
        """Start the clocks."""
        self.when = self._now()
        self._start = (self._wall(), self._cpu() + self._worker_cpu_s())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        """Stop the clocks; they add up when a meter is entered again."""
        wall, cpu = self._start
        self.wall_s += self._wall() - wall
        self.cpu_s += self._cpu() + self._worker_cpu_s() - cpu

    def charge(self) -> Charge:
        """What was measured; `when` is the start of the last block."""
        if not self.when:
            raise ValueError(f"the meter for {self.kind!r} has measured nothing yet")
        note = f"{self.note}; " if self.note else ""
        return Charge(
            when=self.when,
            source=SOURCE,
            arm=self.arm,
            kind=self.kind,
            quantity=round(self.wall_s, 3),
            unit="s",
            note=f"{note}cpu {self.cpu_s:.3f} s",
        )
