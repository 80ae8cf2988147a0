"""Progress of long work, with an estimate of what is left: a bar on a terminal, lines elsewhere.

Written to standard error. Lines (logs, CI) come at most once every ten seconds and, like the bar,
fit 80 columns.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table

LINE_EVERY_S = 10.0
_WIDTH = 80
_BAR = 12


@dataclass(frozen=True)
class Step:
    """A part of the work and a guess of its seconds, for the estimate before it has begun."""

    title: str
    expected_s: float


class Estimate:
    """Seconds left, from what was guessed and how it went so far.

    Finished steps, and the one in work, tell by which factor this machine is slower or faster than
    the guesses; the step in work goes by its own rate once a twentieth of it is done.
    """

    def __init__(self, steps: Sequence[Step]) -> None:
        self._expected = {step.title: step.expected_s for step in steps}
        self._seen_s = 0.0
        self._guessed_s = 0.0

    def finish(self, title: str, seconds: float) -> None:
        """A step is over and took this long."""
        guess = self._expected.pop(title, None)
        if guess is not None:
            self._seen_s += seconds
            self._guessed_s += guess

    def left_s(self, title: str, seconds: float, fraction: float) -> float | None:
        """Seconds left with step `title` at `fraction` after `seconds`; None: nothing to go by."""
        guess = self._expected.get(title)
        by_rate = seconds / fraction if fraction >= 0.05 else None
        if guess is None and by_rate is None:
            return None
        seen, guessed = self._seen_s, self._guessed_s
        if guess is not None and by_rate is not None:
            seen, guessed = seen + by_rate, guessed + guess
        factor = seen / guessed if guessed else 1.0
        here = by_rate if by_rate is not None else (guess or 0.0) * factor
        later = sum(s for name, s in self._expected.items() if name != title) * factor
        return max(0.0, here - seconds) + later


class Progress:
    """Shows how far the work is. One step at a time.

        with Progress([Step("Collect", 60), Step("Train", 240)]) as progress:
            progress.start("Collect", total=600, unit="episodes")
            progress.advance(50)

    Steps that were not announced may be started too; the estimate then covers the announced rest.
    """

    def __init__(
        self,
        steps: Sequence[Step] = (),
        *,
        console: Console | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._console = console or Console(file=sys.stderr, highlight=False)
        self._clock = clock
        self._estimate = Estimate(steps)
        self._announced = len(steps)
        self._number = 0
        self._title, self._unit, self._total, self._done = "", "", 0.0, 0.0
        self._began = self._started = clock()
        self._last_line = -LINE_EVERY_S + self._began
        self._live: Live | None = None

    def __enter__(self) -> Self:
        """Begin to show."""
        if self._console.is_terminal:
            self._live = Live(
                get_renderable=self._bar,
                console=self._console,
                refresh_per_second=2,
                redirect_stdout=False,
                transient=True,
            )
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        """Stop showing."""
        if self._live is not None:
            self._live.stop()

    def start(self, title: str, total: float, unit: str = "") -> None:
        """Begin a step of `total` units; the one before it counts as finished."""
        self._finish()
        self._title, self._unit, self._total, self._done = title, unit, total, 0.0
        self._number += 1
        self._started = self._clock()
        self._say()

    def advance(self, amount: float = 1.0) -> None:
        """So much more of the step is done."""
        self._done = min(self._total, self._done + amount)
        self._say()

    def _finish(self) -> None:
        if self._title:
            self._estimate.finish(self._title, self._clock() - self._started)

    def _fraction(self) -> float:
        return self._done / self._total if self._total > 0 else 1.0

    def _left(self) -> str:
        seconds = self._estimate.left_s(
            self._title, self._clock() - self._started, self._fraction()
        )
        return "" if seconds is None else f"about {duration(seconds)} left"

    def _counts(self) -> str:
        return f"{self._done:,.0f}/{self._total:,.0f} {self._unit}".strip()

    def _heading(self, width: int) -> str:
        number = f"{self._number}/{self._announced} " if self._number <= self._announced else ""
        return shorten(f"{number}{self._title}", max(width, 1))

    def line(self) -> str:
        """The state as one line of at most 80 characters; a long title gives way."""
        elapsed = duration(self._clock() - self._began)
        parts = [self._counts(), f"{self._fraction():.0%}", elapsed, self._left()]
        rest = "  ".join(part for part in parts if part)
        return shorten(f"{self._heading(_WIDTH - len(rest) - 2)}  {rest}", _WIDTH)

    def _say(self) -> None:
        now = self._clock()
        if self._live is None and now - self._last_line >= LINE_EVERY_S:
            self._last_line = now
            self._console.print(self.line(), soft_wrap=True, markup=False)

    def _bar(self) -> Table:
        counts, left = self._counts(), self._left()
        row = Table.grid(padding=(0, 1))
        for _ in range(4):
            row.add_column(no_wrap=True)
        if self._title:
            bar = ProgressBar(total=max(self._total, 1e-9), completed=self._done, width=_BAR)
            width = min(_WIDTH, self._console.width) - _BAR - len(counts) - len(left) - 4
            row.add_row(self._heading(width), bar, counts, left)
        return row


def duration(seconds: float) -> str:
    """A duration as people say it: `8 s`, `3 min 20 s`, `2 h 05 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def shorten(text: str, width: int) -> str:
    """`text`, cut to `width` characters with an ellipsis."""
    return text if len(text) <= width else text[: width - 1].rstrip() + "…"
