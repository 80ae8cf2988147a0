"""What every arm cost, stacked by part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes

from simreal.report.canvas import INKS, Canvas
from simreal.report.marks import CostBar
from simreal.report.numbers import money
from simreal.report.plots.parts import WIDE, fit, scale

PARTS = ("robot", "operator", "engineering", "compute", "total")


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
    scale(axes, 0, top, bottom - 8, ())
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
