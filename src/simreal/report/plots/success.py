"""Success of every arm: dots with intervals, counts beside each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes

from simreal.report.canvas import INKS, Canvas
from simreal.report.marks import ArmDots, Dot
from simreal.report.numbers import counts
from simreal.report.plots.parts import MARKERS, WIDE, faint, fit, scale


def success(arms: Sequence[ArmDots], label: str, width: int, prefix: str) -> str:
    """Dots with 95 % intervals on a 0-100 % axis, counts beside each, grouped by arm."""
    wide = width >= WIDE
    left, right = (190, width - 190) if wide else (104, width - 72)
    heights = [30 + 24 * len(arm.dots) for arm in arms]
    bottom = 8 + sum(heights)
    canvas = Canvas(width, bottom + (66 if label else 48))
    axes = canvas.axes(left, 8, right, bottom)
    scale(axes, 0, 100, bottom - 8, (0, 25, 50, 75, 100))
    top = 8
    for arm, height in zip(arms, heights, strict=True):
        room = right if arm.letters else width - 8
        canvas.text(0, top + 18, fit(arm.arm, room), weight="bold", fontsize=13)
        if arm.letters:
            canvas.text(right + 14, top + 18, f"group {arm.letters}", ink="soft")
        for row, dot in enumerate(arm.dots):
            y = top + 38 + 24 * row
            canvas.text(12, y + 4, fit(dot.label if wide else dot.short, left - 16, 11), ink="soft")
            canvas.text(right + 14, y + 4, counts(dot.cell), ink=faint(dot.cell))
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
    axes.plot([100 * dot.position], [y], MARKERS[dot.place], **style)
