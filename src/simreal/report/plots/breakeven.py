"""From how many demonstrations on a simulation pays: a band for each number of task variants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from simreal.report.canvas import INKS, Canvas
from simreal.report.marks import Band
from simreal.report.plots.parts import WIDE, fit, ladder


def break_even(bands: Sequence[Band], label: str, width: int, prefix: str) -> str:
    """Bands on a logarithmic axis; one that has no end in sight runs off to the right."""
    wide = width >= WIDE
    left, right = (240, width - 190) if wide else (10, width - 10)
    step = 32 if wide else 56
    bottom = 8 + step * max(1, len(bands))
    canvas = Canvas(width, bottom + (66 if label else 48))
    axes = canvas.axes(left, 8, right, bottom)
    known = [max(x, 1.0) for b in bands for x in (b.low, b.high) if x is not None]
    low, high = min(known, default=1.0) / 2, max(known, default=100.0) * 2
    axes.set_xscale("log")
    axes.set(xlim=(low, high), ylim=(bottom - 8, 0))
    axes.minorticks_off()
    ticks = ladder(max(low, 1.0), high, 7 if wide else 4)
    axes.set_xticks(ticks, [f"{t:,.0f}" for t in ticks])
    axes.set_yticks([])
    axes.grid(axis="x", color=INKS["line"], linewidth=1)
    axes.set_axisbelow(True)
    for number, one in enumerate(bands):
        y = step * number + (16 if wide else 42)
        canvas.text(
            0, 8 + y + (4 if wide else -24), fit(one.label, left - 8 if wide else width, 12)
        )
        at = (right + 16, y + 4) if wide else (0, y - 9)
        canvas.text(at[0], 8 + at[1], band_text(one), ink="soft")
        if one.low is not None:
            end = high if one.high is None else max(one.high, 1.0)
            style: Any = {"color": INKS["one"], "height": 12}
            start = max(one.low, low)
            axes.barh(y, max(end - start, 0.02 * start), left=start, **style)
    text = "real demonstrations a variant"
    canvas.text((left + right) / 2, bottom + 36, text, ink="soft", ha="center")
    if label:
        canvas.text((left + right) / 2, bottom + 56, f"target: {label}", ink="soft", ha="center")
    told = "; ".join(f"{one.label}: {band_text(one)}" for one in bands)
    return canvas.svg(prefix, "Where building a simulation breaks even", told)


def band_text(one: Band) -> str:
    """The band in words."""
    if one.low is None:
        return "never"
    if one.high is None:
        return f"from {one.low:,.0f}, no upper end"
    if one.high < 1.5:
        return "from the first one"
    return f"{one.low:,.0f} to {one.high:,.0f}"
