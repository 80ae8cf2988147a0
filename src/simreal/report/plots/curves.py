"""Learning curves: estimated success over real demonstrations, a panel an amount of simulation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from simreal.report.canvas import INKS, Canvas
from simreal.report.marks import Curve, Dose
from simreal.report.numbers import counts, interval, percent
from simreal.report.plots.labels import Labels, nearest, text_width
from simreal.report.plots.parts import NARROW, Panel, band, fit, ladder, panels

_HEIGHT, _ABOVE, _LEFT = 210, 44, 40


def curves(lines: Sequence[Curve], goal: float | None, label: str, width: int, prefix: str) -> str:
    """Middle (line) and 10-90 % band; filled where measured, hatched where extrapolated.

    Measured cells are squares with their 95 % interval and their counts. goal: fraction of 1,
    drawn as a dashed line.
    """
    places = panels(len(lines), width, _LEFT, _HEIGHT, _ABOVE)
    bottom = places[-1].bottom if places else _ABOVE
    canvas = Canvas(width, int(bottom) + (66 if label else 48))
    shift = _shift(lines)
    top = max([x for line in lines for x in _reach_of(line)] + [1.0])
    for line, place in zip(lines, places, strict=True):
        _panel(canvas, line, place, goal, shift, top)
        canvas.text(place.left, place.top - 24, fit(line.label, 260), weight="bold", fontsize=13)
        canvas.text(place.left, place.top - 8, "success, per cent", ink="soft")
        canvas.text(place.middle, place.bottom + 36, "real demonstrations", ink="soft", ha="center")
    if label:
        canvas.text(width / 2, bottom + 58, f"target: {label}", ink="soft", ha="center")
    return canvas.svg(prefix, "Learning curves, with extrapolation hatched", _told(lines, goal))


def _reach_of(line: Curve) -> list[float]:
    return [*line.n_real, *(float(d.n_real) for d in line.doses)]


def _shift(lines: Sequence[Curve]) -> float:
    """Demonstrations below which the axis is even, so that 0 has a place on it."""
    positive = [x for line in lines for x in _reach_of(line) if x > 0]
    return max(1.0, min(positive, default=1.0))


def _panel(
    canvas: Canvas, line: Curve, place: Panel, goal: float | None, shift: float, top: float
) -> None:
    axes = canvas.axes(place.left, place.top, place.right, place.bottom)
    end = math.log1p(top / shift)
    axes.set(xlim=(-0.1 * end, 1.04 * end), ylim=(0, 104))
    axes.set_yticks([0, 25, 50, 75, 100])
    ticks = [0.0, *ladder(shift, top, 4 if canvas.width > NARROW else 5)]
    axes.set_xticks([math.log1p(t / shift) for t in ticks], [f"{t:,.0f}" for t in ticks])
    axes.grid(axis="y", color=INKS["line"], linewidth=1)
    axes.set_axisbelow(True)
    if goal is not None:
        axes.axhline(100 * goal, color=INKS["ink"], lw=1, ls=(0, (4, 3)))
    x = np.log1p(np.asarray(line.n_real) / shift)
    ends = 100 * np.asarray([line.p10, line.p90, line.p50])
    known = np.asarray(line.n_real) <= line.measured_to
    for part, beyond in ((known, False), (_joined(~known), True)):
        if part.sum() > 1:
            band(axes, list(x[part]), [list(ends[0][part]), list(ends[1][part])], beyond)
            style: Any = {"ls": (0, (5, 3)) if beyond else "-"}
            axes.plot(x[part], ends[2][part], color=INKS["one"], lw=2, **style)
    _doses(canvas, axes, line.doses, place, shift)


def _joined(part: Any) -> Any:
    """The part, with the point before it, so that the two drawings meet."""
    return part | np.append(part[1:], False)


def _doses(canvas: Canvas, axes: Axes, doses: Sequence[Dose], place: Panel, shift: float) -> None:
    """The measured cells, their counts kept apart."""
    labels = Labels((place.left - 30, place.top - 4, place.right + 12, place.bottom - 2))
    measured = [dose for dose in doses if dose.cell.measured]
    marks = [_mark(axes, number, measured, place, shift) for number in range(len(measured))]
    for x, y, half in marks:
        labels.keep_free((x - 5, y - half[0], x + 5, y + half[1]))
    for (x, y, _), dose in zip(marks, measured, strict=True):
        text = counts(dose.cell)
        box = labels.place(x, y, text_width(text, 11), 13)
        if box is None:
            continue
        end = nearest(box, x, y)
        if math.dist(end, (x, y)) > 24:
            canvas.line((x, y), end)
        canvas.text((box[0] + box[2]) / 2, box[3] - 3, text, ha="center", fontsize=11)


def _mark(
    axes: Axes, number: int, doses: Sequence[Dose], place: Panel, shift: float
) -> tuple[float, float, tuple[float, float]]:
    """Draw one of the cells, those of one amount of data side by side; its place in pixels and
    how far its interval goes up and down from there.
    """
    dose = doses[number]
    (first, last), (low, high) = axes.get_xlim(), axes.get_ylim()
    pixel = (last - first) / (place.right - place.left)
    alike = [i for i, other in enumerate(doses) if other.n_real == dose.n_real]
    x = math.log1p(dose.n_real / shift)
    x += 9 * pixel * (alike.index(number) - (len(alike) - 1) / 2)
    rate, ends = 100 * dose.cell.rate, [100 * dose.cell.low, 100 * dose.cell.high]
    axes.plot([x, x], ends, color=INKS["target"], lw=2.5, clip_on=False)
    style: Any = {"color": INKS["target"], "ms": 8, "mec": INKS["paper"], "clip_on": False}
    axes.plot([x], [rate], "s", **style)
    point = (place.bottom - place.top) / (high - low)
    half = (max(5.0, point * (ends[1] - rate)), max(5.0, point * (rate - ends[0])))
    return place.left + (x - first) / pixel, place.bottom - point * (rate - low), half


def _told(lines: Sequence[Curve], goal: float | None) -> str:
    """The figure for who cannot see it: measured cells, and the curve at both its ends."""
    parts = [] if goal is None else [f"Goal: {percent(goal)} %"]
    for line in lines:
        cells = [
            f"{d.arm}, {d.n_real} real: {counts(d.cell)} {interval(d.cell)}" for d in line.doses
        ]
        ends = [
            f"at {line.n_real[i]:,.0f} real {percent(line.p50[i])} % estimated "
            f"({percent(line.p10[i])} to {percent(line.p90[i])})"
            for i in ((0, -1) if line.n_real else ())
        ]
        parts.append(f"{line.label}: " + ", ".join([*cells, *ends]))
    return "; ".join(parts)
