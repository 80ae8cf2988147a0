"""Success on the target against cost, a dot an arm."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from simreal.report.canvas import INKS, Canvas
from simreal.report.marks import CostBar
from simreal.report.numbers import counts, money
from simreal.report.plots.labels import Box, Labels, nearest, text_width
from simreal.report.plots.parts import WIDE, fit, money_tick

#: With more arms than this, marks carry numbers, and a key beside the figure names them.
MOST_NAMES = 5


@dataclass(frozen=True)
class _Mark:
    """An arm's place in pixels, its interval's two ends, and the lines beside it."""

    x: float
    y: float
    ends: tuple[float, float]
    lines: tuple[str, ...]


def numbered(bars: Sequence[CostBar]) -> list[tuple[int, CostBar]]:
    """The key of a figure whose marks carry numbers; empty where they carry names."""
    shown = _shown(bars)
    return list(enumerate(shown, start=1)) if len(shown) > MOST_NAMES else []


def cost_success(bars: Sequence[CostBar], label: str, width: int, prefix: str) -> str:
    """Success on the target against cost, one dot with interval an arm, its name or number."""
    wide = width >= WIDE
    height = 340 if wide else 320
    left, right, bottom = (56, width - 20, height - 70) if wide else (34, width - 26, height - 70)
    canvas = Canvas(width, height)
    axes = canvas.axes(left, 26, right, bottom)
    shown = _shown(bars)
    low, high = _limits([bar.total for bar in shown])
    axes.set(xlim=(low, high), ylim=(0, 104))
    axes.set_yticks([0, 25, 50, 75, 100])
    axes.grid(axis="y", color=INKS["line"], linewidth=1)
    axes.tick_params(axis="x", pad=10)
    axes.locator_params(axis="x", nbins=7 if wide else 3, min_n_ticks=2)
    currency = bars[0].currency if bars else "USD"
    axes.xaxis.set_major_formatter(lambda value, _: money_tick(value, currency))
    for bar in shown:
        ends = [100 * bar.target.cell.low, 100 * bar.target.cell.high]
        axes.plot([bar.total] * 2, ends, color=INKS["target"], lw=2.5)
        style: Any = {"color": INKS["target"], "markersize": 9, "markeredgecolor": INKS["paper"]}
        axes.plot([bar.total], [100 * (bar.target.position or 0.0)], "s", **style)
    box = (left, 26.0, right, bottom)
    names = _lines(shown, 0.45 * (right - left), wide)
    _name(canvas, [_mark(b, box, (low, high), n) for b, n in zip(shown, names, strict=True)], box)
    canvas.text(0, 14, "success on the target, per cent", ink="soft")
    canvas.text((left + right) / 2, bottom + 40, "total cost of the arm", ink="soft", ha="center")
    if label:
        canvas.text((left + right) / 2, bottom + 58, f"target: {label}", ink="soft", ha="center")
    rows = "; ".join(
        f"{b.arm}: {money(b.total, b.currency)}, {counts(b.target.cell)} {b.target.beside}"
        for b in shown
    )
    return canvas.svg(prefix, "Success on the target against cost", rows)


def _shown(bars: Sequence[CostBar]) -> list[CostBar]:
    return [bar for bar in bars if bar.target.position is not None]


def _limits(totals: Sequence[float]) -> tuple[float, float]:
    """The ends of the money axis: from nothing on, or around amounts that lie close together."""
    high, low = max(totals, default=0.0), min(totals, default=0.0)
    if high <= 0:
        return -0.02, 1.0
    if low < 0.4 * high:
        return -0.02 * high, 1.12 * high
    room = max(0.15 * (high - low), 0.08 * high)
    return low - room, high + room


def _lines(shown: Sequence[CostBar], room: float, wide: bool) -> list[tuple[str, ...]]:
    """What stands beside each mark: a number, or the name above the counts."""
    if numbered(shown):
        return [(str(number),) for number, _ in numbered(shown)]
    return [
        (fit(b.arm, room), counts(b.target.cell) + (f", {b.target.beside}" if wide else ""))
        for b in shown
    ]


def _mark(bar: CostBar, box: Box, ends: tuple[float, float], lines: tuple[str, ...]) -> _Mark:
    left, top, right, bottom = box
    rates = (bar.target.position or 0.0, bar.target.cell.high, bar.target.cell.low)
    y, upper, lower = (top + (bottom - top) * (1 - 100 * rate / 104) for rate in rates)
    x = left + (right - left) * (bar.total - ends[0]) / (ends[1] - ends[0])
    return _Mark(x, y, (upper, lower), lines)


def _name(canvas: Canvas, marks: Sequence[_Mark], box: Box) -> None:
    """The lines of every mark near it; a thin line leads to those that found room farther off."""
    labels = Labels((box[0], 20.0, canvas.width - 2.0, box[3] - 2.0))
    for mark in marks:
        labels.keep_free((mark.x - 5, mark.ends[0], mark.x + 5, mark.ends[1]))
    for mark in sorted(marks, key=lambda m: m.y):
        longest = max(text_width(line, 12) for line in mark.lines)
        place = labels.place(mark.x, mark.y, longest, 16.0 * len(mark.lines))
        if place is None:
            continue
        end = nearest(place, mark.x, mark.y)
        if math.dist(end, (mark.x, mark.y)) > 20:
            canvas.line((mark.x, mark.y), end)
        middle = (place[0] + place[2]) / 2
        at, side = (
            (middle, "center")
            if abs(middle - mark.x) < longest / 4
            else (place[0], "left")
            if middle > mark.x
            else (place[2], "right")
        )
        for row, line in enumerate(mark.lines):
            style = {"ink": "soft"} if row else {"weight": "bold"}
            canvas.text(at, place[1] + 12 + 16 * row, line, ha=side, **style)
