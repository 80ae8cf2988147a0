"""From success in simulation to success on the target: what each factor takes away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes

from simreal.report.canvas import INKS, Canvas
from simreal.report.marks import Fall, Level
from simreal.report.numbers import counts, interval, points
from simreal.report.plots.parts import MARKERS, WIDE, fit, scale


def waterfall(rows: Sequence[Level | Fall], label: str, width: int, prefix: str) -> str:
    """Levels as dots with intervals; falls as bars from the sum before them, whiskers at the end.

    What a fall takes is points lost; its sign is turned, so that a loss reads as minus.
    """
    wide = width >= WIDE
    left, right = (210, width - 250) if wide else (10, width - 10)
    step, first = (34, 8) if wide else (58, 8)
    bottom = first + step * max(1, len(rows))
    canvas = Canvas(width, bottom + (62 if label else 44))
    axes = canvas.axes(left, first, right, bottom)
    sums = _sums(rows)
    low, high = _range(rows, sums)
    spread = 10 if high - low <= 60 else 25
    scale(axes, low, high, bottom - first, [t for t in range(0, 101, spread) if low <= t <= high])
    for number, row in enumerate(rows):
        y = step * number + (19 if wide else 44)
        strong = {"weight": "bold"} if isinstance(row, Level) else {}
        name = fit(row.label, left - 8 if wide else width, 12)
        canvas.text(0, first + y + (4 if wide else -26), name, **strong)
        at = (right + 16, y + 4) if wide else (0, y - 11)
        canvas.text(at[0], first + at[1], _numbers(row), ink="soft")
        _draw(axes, row, sums[number], y)
    middle = (left + right) / 2
    canvas.text(middle, bottom + 36, "success, per cent", ink="soft", ha="center")
    if label:
        canvas.text(middle, bottom + 55, f"target: {label}", ink="soft", ha="center")
    told = "; ".join(f"{row.label}: {_numbers(row)}" for row in rows)
    return canvas.svg(prefix, "From simulation to the target, factor by factor", told)


def _sums(rows: Sequence[Level | Fall]) -> list[float]:
    """Where each row starts (fraction of 1): a level at its own rate, a fall at the sum so far."""
    found, now = [], 0.0
    for row in rows:
        if isinstance(row, Level):
            now = row.cell.rate if row.cell.measured else now
            found.append(now)
        else:
            found.append(now)
            now -= row.value
    return found


def _range(rows: Sequence[Level | Fall], sums: Sequence[float]) -> tuple[float, float]:
    ends = [100.0]
    for row, start in zip(rows, sums, strict=True):
        if isinstance(row, Level):
            ends += [100 * row.cell.low, 100 * row.cell.high] if row.cell.measured else []
        else:
            ends += [100 * (start - x) for x in (row.value, *(row.ci or ()))]
    return max(-5.0, min(ends) - 5), min(105.0, max(ends) + 2)


def _numbers(row: Level | Fall) -> str:
    if isinstance(row, Level):
        return f"{counts(row.cell)}, {interval(row.cell)}"
    return points(-row.value, (-row.ci[1], -row.ci[0]) if row.ci else None)


def _draw(axes: Axes, row: Level | Fall, start: float, y: float) -> None:
    if isinstance(row, Level):
        _level(axes, row, y)
        return
    ink = INKS["soft"]
    end = start - row.value
    style: Any = {"facecolor": ink, "edgecolor": ink, "linewidth": 1}
    if row.open:
        style |= {"facecolor": INKS["paper"], "hatch": "////"}
    axes.barh(y, 100 * (end - start), left=100 * start, height=14, **style)
    if row.ci:
        whisker = [100 * (start - x) for x in row.ci]
        axes.plot(whisker, [y, y], color=INKS["ink"], lw=1.5, clip_on=False)
        axes.plot(whisker, [y, y], "|", color=INKS["ink"], ms=9, mew=1.5, clip_on=False)


def _level(axes: Axes, row: Level, y: float) -> None:
    if not row.cell.enough:
        return
    ink = INKS[row.place]
    axes.plot([100 * row.cell.low, 100 * row.cell.high], [y, y], color=ink, lw=2.5, clip_on=False)
    style: Any = {"color": ink, "ms": 9, "mec": INKS["paper"], "clip_on": False}
    axes.plot([100 * row.cell.rate], [y], MARKERS[row.place], **style)
