"""Success on the target against cost, a dot an arm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from simreal.report.canvas import INKS, Canvas
from simreal.report.marks import CostBar
from simreal.report.numbers import counts, money
from simreal.report.plots.parts import WIDE, Shelf, fit, money_tick


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
    axes.xaxis.set_major_formatter(lambda value, _: money_tick(value, currency))
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


def _name_dots(
    canvas: Canvas,
    bars: Sequence[CostBar],
    box: tuple[float, float, float, float],
    top: float,
    wide: bool,
) -> None:
    """Names and counts beside the dots, pushed apart downwards where they would overlap."""
    left, right, upper, lower = box
    shelf = Shelf()
    for bar in sorted(bars, key=lambda b: -(b.target.position or 0.0)):
        x = left + (right - left) * (bar.total / top + 0.02) / 1.02
        rate = bar.target.position or 0.0
        start = upper + (lower - upper) * (1 - 100 * rate / 104)
        inward = x > (left + right) / 2
        side = {"ha": "right" if inward else "left"}
        room = (x - left if inward else right - x) - 12
        at = x - 12 if inward else x + 12
        text = counts(bar.target.cell) + (f", {bar.target.beside}" if wide else "")
        longest = max(fit(bar.arm, room), text, key=len)
        low = start > (upper + lower) / 2
        y = shelf.place(at, min(start, lower - 20), longest, 34, inward, up=low)
        if abs(y - start) > 22:
            canvas.line((x, start), (at, y - 4))
        canvas.text(at, y, fit(bar.arm, room), weight="bold", **side)
        canvas.text(at, y + 15, text, ink="soft", **side)
