"""Calendar days of each road: what half and nine tenths of the simulated futures stay within."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from simreal.report.canvas import INKS, Canvas
from simreal.report.marks import Span
from simreal.report.numbers import percent
from simreal.report.plots.parts import WIDE, fit, scale


def calendar(
    spans: Sequence[Span], deadline: float | None, label: str, width: int, prefix: str
) -> str:
    """A bar to the middle, hatched on to the 90 % quantile. deadline: in days, a dashed line."""
    wide = width >= WIDE
    left, right = (212, width - 240) if wide else (10, width - 14)
    step = 36 if wide else 62
    bottom = 20 + step * max(1, len(spans))
    canvas = Canvas(width, bottom + (62 if label else 44))
    axes = canvas.axes(left, 20, right, bottom)
    ends = [x for s in spans for x in (s.p50, s.p90, deadline) if x is not None]
    most = max([*ends, 1.0]) * 1.06
    spread = next(s for s in (1, 2, 5, 10, 20, 50, 100, 500, 10**9) if most / s <= 7)
    scale(axes, 0, most, bottom - 20, range(0, int(most) + 1, spread))
    for number, one in enumerate(spans):
        y = step * number + (18 if wide else 46)
        room = left - 8 if wide else width
        canvas.text(0, 20 + y + (4 if wide else -27), fit(one.road, room), weight="bold")
        at = (right + 16, y + 4) if wide else (0, y - 11)
        canvas.text(at[0], 20 + at[1], span_text(one), ink="soft")
        if one.p50 is not None:
            axes.barh(y, one.p50, height=14, color=INKS["one"])
            style: Any = {"facecolor": INKS["paper"], "edgecolor": INKS["one"], "hatch": "////"}
            axes.barh(y, (one.p90 or one.p50) - one.p50, height=14, left=one.p50, lw=1, **style)
    if deadline is not None:
        axes.axvline(deadline, color=INKS["ink"], lw=1.2, ls=(0, (4, 3)))
        at_x = left + (right - left) * deadline / most
        side = "right" if at_x > width / 2 else "left"
        canvas.text(at_x, 12, "deadline", ha=side)
    canvas.text((left + right) / 2, bottom + 36, "calendar days", ink="soft", ha="center")
    if label:
        canvas.text((left + right) / 2, bottom + 55, label, ink="soft", ha="center")
    told = "; ".join(f"{one.road}: {span_text(one)}" for one in spans)
    return canvas.svg(prefix, "Calendar time of every road", told)


def days(value: float | None) -> str:
    """`0.4 days`, `1 day`, `12 days`; a quantile without an end is not reached."""
    if value is None:
        return "not reached"
    text = f"{value:,.0f}" if value >= 9.95 else f"{value:.1f}".removesuffix(".0")
    return f"{text} day" if text == "1" else f"{text} days"


def span_text(one: Span) -> str:
    """Both quantiles, and how likely the deadline is kept."""
    if one.p50 is None:
        return "not in half of the futures"
    text = days(one.p50)
    if one.p90 is not None and days(one.p90) != text:
        text = f"{text.split()[0]} to {days(one.p90)}"
    return text if one.by_deadline is None else f"{text} · {percent(one.by_deadline)} % in time"
