"""The transfer gap of every arm: a forest around zero."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from simreal.report.canvas import INKS, Canvas
from simreal.report.marks import GapBar
from simreal.report.numbers import counts, points
from simreal.report.plots.parts import WIDE, fit, scale


def gap(bars: Sequence[GapBar], label: str, width: int, prefix: str) -> str:
    """Success in simulation minus success on the target, in points, around a zero line."""
    wide = width >= WIDE
    left, right = (200, width - 290) if wide else (16, width - 16)
    step = 40 if wide else 66
    bottom = 8 + step * max(1, len(bars))
    canvas = Canvas(width, bottom + (64 if label else 46))
    axes = canvas.axes(left, 8, right, bottom)
    ends = [100 * x for bar in bars for x in (*(bar.ci or ()), bar.value or 0.0)]
    low, high = min([-10.0, *ends]) - 5, max([30.0, *ends]) + 5
    spread = 10 if high - low <= 75 else 25
    ticks = [t for t in range(-100, 101, spread) if low <= t <= high]
    scale(axes, low, high, bottom - 8, ticks)
    axes.axvline(0, color=INKS["ink"], linewidth=1.2)
    for row, bar in enumerate(bars):
        y = 8 + step * row + (24 if wide else 18)
        canvas.text(0, y, fit(bar.arm, left - 20 if wide else width), weight="bold", fontsize=13)
        text = _gap_text(bar)
        below = f"{counts(bar.sim)} in simulation, {counts(bar.target)} on the target"
        if wide:
            canvas.text(right + 20, y - 8, text)
            canvas.text(right + 20, y + 8, below, ink="soft")
        else:
            canvas.text(0, y + 16, text)
        _whisker(axes, bar, y - 13 if wide else y + 24)
    what = "success in simulation minus success on the target, points"
    canvas.text(
        (left + right) / 2 if wide else width / 2, bottom + 38, what, ink="soft", ha="center"
    )
    if label:
        where = (left + right) / 2 if wide else width / 2
        canvas.text(where, bottom + 56, f"target: {label}", ink="soft", ha="center")
    rows = "; ".join(
        f"{b.arm}: {_gap_text(b)}, {counts(b.sim)} in simulation, {counts(b.target)} on the target"
        for b in bars
    )
    return canvas.svg(prefix, "Transfer gap of every arm, with 95 % intervals", rows)


def _gap_text(bar: GapBar) -> str:
    if bar.value is None:
        return "not measured"
    return points(bar.value, bar.ci)


def _whisker(axes: Axes, bar: GapBar, y: float) -> None:
    if bar.value is None or bar.ci is None:
        return
    axes.plot([100 * e for e in bar.ci], [y, y], color=INKS["target"], lw=2.5)
    axes.plot([100 * bar.value], [y], "s", color=INKS["target"], ms=9, mec=INKS["paper"])
