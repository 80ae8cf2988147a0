"""The four pictures of numbers, each in a wide and a narrow (phone) drawing, as inline SVG.

Every mark stands beside the counts it was computed from; whatever was taken on a stand-in for a
robot says so inside the picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes

from simreal.report.canvas import INKS, Canvas
from simreal.report.marks import ArmDots, CostBar, Dot, GapBar
from simreal.report.numbers import Cell, counts, money, points

WIDE, NARROW = 860, 350
_MARKERS = {"sim": "o", "target": "s", "unseen": "D"}
PARTS = ("robot", "operator", "engineering", "compute", "total")


def success(arms: Sequence[ArmDots], label: str, width: int, prefix: str) -> str:
    """Dots with 95 % intervals on a 0-100 % axis, counts beside each, grouped by arm."""
    wide = width >= WIDE
    left, right = (190, width - 190) if wide else (104, width - 72)
    heights = [30 + 24 * len(arm.dots) for arm in arms]
    bottom = 8 + sum(heights)
    canvas = Canvas(width, bottom + (66 if label else 48))
    axes = canvas.axes(left, 8, right, bottom)
    _scale(axes, 0, 100, bottom - 8, (0, 25, 50, 75, 100))
    top = 8
    for arm, height in zip(arms, heights, strict=True):
        canvas.text(0, top + 18, fit(arm.arm, width - 8), weight="bold", fontsize=13)
        for row, dot in enumerate(arm.dots):
            y = top + 38 + 24 * row
            canvas.text(12, y + 4, fit(dot.label if wide else dot.short, left - 16, 11), ink="soft")
            canvas.text(right + 14, y + 4, counts(dot.cell), ink=_faint(dot.cell))
            if wide:
                canvas.text(width, y + 4, dot.beside, ink="soft", ha="right")
            _dot(axes, dot, y - 8)
        top += height
    canvas.text((left + right) / 2, bottom + 38, "success, per cent", ink="soft", ha="center")
    if label:
        where = (left + right) / 2 if wide else width / 2
        text = f"all but simulation: {label}"
        canvas.text(where, bottom + 58, text, ink="soft", ha="center")
    rows = "; ".join(
        f"{arm.arm}, {dot.label}: {counts(dot.cell)} {dot.beside}"
        for arm in arms
        for dot in arm.dots
    )
    return canvas.svg(prefix, "Success of every arm, with 95 % intervals", rows)


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
    _scale(axes, low, high, bottom - 8, ticks)
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


def cost(bars: Sequence[CostBar], label: str, width: int, prefix: str) -> str:
    """What every arm cost, stacked by part; engineering is hatched, because it is assumed."""
    wide = width >= WIDE
    left, right = (200, width - 110) if wide else (0, width - 76)
    step = 40 if wide else 54
    bottom = 8 + step * max(1, len(bars))
    canvas = Canvas(width, bottom + (26 if label else 8))
    if label:
        text = f"robot and operator time: {label}"
        canvas.text(left, bottom + 18, text, ink="soft")
    axes = canvas.axes(left, 8, right, bottom)
    top = max([bar.total for bar in bars] + [1e-9])
    _scale(axes, 0, top, bottom - 8, ())
    for row, bar in enumerate(bars):
        y = 8 + step * row + (24 if wide else 16)
        canvas.text(0, y, fit(bar.arm, left - 20 if wide else width), weight="bold", fontsize=13)
        middle = y - 13 if wide else y + 12
        start = 0.0
        for part in PARTS:
            _segment(axes, part, start, bar.parts.get(part, 0.0), middle)
            start += bar.parts.get(part, 0.0)
        at = left + (right - left) * bar.total / top
        canvas.text(at + 10, middle + 12, money(bar.total, bar.currency))
    rows = "; ".join(
        f"{b.arm}: {money(b.total, b.currency)} = "
        + " + ".join(f"{p} {money(x, b.currency)}" for p, x in b.parts.items())
        for b in bars
    )
    return canvas.svg(prefix, "Cost of every arm by part", f"{rows}. Engineering is an assumption.")


def cost_success(bars: Sequence[CostBar], label: str, width: int, prefix: str) -> str:
    """Success on the target against cost, one dot with interval an arm, its name and counts."""
    wide = width >= WIDE
    height = 340 if wide else 320
    left, right, bottom = (56, width - 20, height - 70) if wide else (34, width - 26, height - 70)
    canvas = Canvas(width, height)
    axes = canvas.axes(left, 26, right, bottom)
    top = max([bar.total for bar in bars] + [1e-9]) * 1.12
    axes.set(xlim=(-0.02 * top, top), ylim=(0, 104))
    axes.set_yticks([0, 25, 50, 75, 100])
    axes.grid(axis="y", color=INKS["line"], linewidth=1)
    axes.locator_params(axis="x", nbins=7 if wide else 3, min_n_ticks=2)
    currency = bars[0].currency if bars else "USD"
    axes.xaxis.set_major_formatter(lambda value, _: _tick(value, currency))
    shown = [bar for bar in bars if bar.target.position is not None]
    for bar in shown:
        ends = [100 * bar.target.cell.low, 100 * bar.target.cell.high]
        axes.plot([bar.total] * 2, ends, color=INKS["target"], lw=2.5)
        style: Any = {"color": INKS["target"], "markersize": 9, "markeredgecolor": INKS["paper"]}
        axes.plot([bar.total], [100 * (bar.target.position or 0.0)], "s", **style)
    _name_dots(canvas, shown, (left, right, 26, bottom), top, wide)
    canvas.text(0, 14, "success on the target, per cent", ink="soft")
    canvas.text((left + right) / 2, bottom + 40, "total cost of the arm", ink="soft", ha="center")
    if label:
        canvas.text((left + right) / 2, bottom + 58, f"target: {label}", ink="soft", ha="center")
    rows = "; ".join(
        f"{b.arm}: {money(b.total, b.currency)}, {counts(b.target.cell)} {b.target.beside}"
        for b in shown
    )
    return canvas.svg(prefix, "Success on the target against cost", rows)


def fit(text: str, width: float, size: float = 13.0) -> str:
    """`text` cut with an ellipsis where it would be wider than `width` pixels (.66 em each)."""
    room = max(4, int(width / (0.66 * size)))
    return text if len(text) <= room else text[: room - 1].rstrip() + "…"


def _scale(axes: Axes, low: float, high: float, height: float, ticks: Sequence[float]) -> None:
    """x in data units between low and high; y in pixels from the top of the axes."""
    axes.set(xlim=(low, high), ylim=(max(height, 1.0), 0))
    axes.set_yticks([])
    axes.set_xticks(list(ticks), [f"{t:g}".replace("-", "−") for t in ticks])
    axes.grid(axis="x", color=INKS["line"], linewidth=1)
    axes.set_axisbelow(True)


def _dot(axes: Axes, dot: Dot, y: float) -> None:
    if dot.position is None:
        return
    color = INKS[dot.place]
    axes.plot([100 * dot.cell.low, 100 * dot.cell.high], [y, y], color=color, lw=2.5, clip_on=False)
    style: Any = {
        "color": color,
        "markersize": 9,
        "markeredgecolor": INKS["paper"],
        "clip_on": False,
    }
    if dot.over_targets:
        style |= {"markerfacecolor": INKS["paper"], "markeredgecolor": color, "markeredgewidth": 2}
    axes.plot([100 * dot.position], [y], _MARKERS[dot.place], **style)


def _tick(value: float, currency: str) -> str:
    if value < 0:
        return ""
    return money(value, currency).removesuffix(".00") if value else "0"


def _faint(c: Cell) -> str:
    return "ink" if c.measured else "soft"


def _gap_text(bar: GapBar) -> str:
    if bar.value is None:
        return "not measured"
    return points(bar.value, bar.ci)


def _whisker(axes: Axes, bar: GapBar, y: float) -> None:
    if bar.value is None or bar.ci is None:
        return
    axes.plot([100 * e for e in bar.ci], [y, y], color=INKS["target"], lw=2.5)
    axes.plot([100 * bar.value], [y], "s", color=INKS["target"], ms=9, mec=INKS["paper"])


def _segment(axes: Axes, part: str, start: float, amount: float, y: float) -> None:
    color = INKS["soft" if part == "total" else part]
    style: Any = {"facecolor": color, "edgecolor": INKS["paper"], "linewidth": 1}
    if part == "engineering":
        style = {
            "facecolor": INKS["paper"],
            "edgecolor": INKS[part],
            "hatch": "////",
            "linewidth": 1,
        }
    if amount > 0:
        axes.barh(y, amount, height=18, left=start, **style)


def _name_dots(
    canvas: Canvas,
    bars: Sequence[CostBar],
    box: tuple[float, float, float, float],
    top: float,
    wide: bool,
) -> None:
    """Names and counts beside the dots, pushed apart downwards where they would overlap."""
    left, right, upper, lower = box
    taken = 0.0
    for bar in sorted(bars, key=lambda b: -(b.target.position or 0.0)):
        x = left + (right - left) * (bar.total / top + 0.02) / 1.02
        rate = bar.target.position or 0.0
        y = max(upper + (lower - upper) * (1 - 100 * rate / 104), taken + 34)
        inward = x > (left + right) / 2
        side = {"ha": "right" if inward else "left"}
        room = (x - left if inward else right - x) - 12
        at = x - 12 if inward else x + 12
        canvas.text(at, y, fit(bar.arm, room), weight="bold", **side)
        text = counts(bar.target.cell) + (f", {bar.target.beside}" if wide else "")
        canvas.text(at, y + 15, text, ink="soft", **side)
        taken = y
