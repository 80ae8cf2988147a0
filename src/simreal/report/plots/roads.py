"""The roads of the advice: how likely each passes its test, beside what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from simreal.report.canvas import INKS, Canvas
from simreal.report.marks import Road
from simreal.report.numbers import money, percent
from simreal.report.plots.parts import WIDE, fit, ladder, money_tick, scale

#: Costs that span more than this factor stand on a logarithmic axis.
_WIDE_SPAN = 30


def roads(found: Sequence[Road], currency: str, label: str, width: int, prefix: str) -> str:
    """A row a road: the probability on the left, the cost on the right (dot half, line nine in
    ten of the simulated futures). Filled dots are on the Pareto front, hollow ones are not.
    """
    wide = width >= WIDE
    chance, cost = ((140, 340), (390, width - 210)) if wide else ((8, 146), (190, width - 12))
    step = 40 if wide else 58
    bottom = 26 + step * max(1, len(found))
    canvas = Canvas(width, bottom + (46 if label else 28))
    left = canvas.axes(chance[0], 26, chance[1], bottom)
    scale(left, 0, 100, bottom - 26, (0, 50, 100))
    right = canvas.axes(cost[0], 26, cost[1], bottom)
    _money_scale(right, found, bottom - 26, currency, 5 if wide else 3)
    for row, road in enumerate(found):
        y = step * row + (20 if wide else 44)
        name = fit(road.name, chance[0] - 8 if wide else 150)
        canvas.text(0, 26 + y + (4 if wide else -24), name, weight="bold")
        canvas.text(width, 26 + y + (4 if wide else -24), _text(road, currency), ha="right")
        _row(left, right, road, y)
    canvas.text(chance[0], 14, "passes the test, per cent", ink="soft")
    canvas.text(cost[0], 14, "cost from here on", ink="soft")
    if label:
        canvas.text(width / 2, bottom + 38, f"target: {label}", ink="soft", ha="center")
    told = "; ".join(f"{road.name}: {_text(road, currency)}" for road in found)
    return canvas.svg(prefix, "Probability to pass the test and cost, by road", told)


def _text(road: Road, currency: str) -> str:
    ends = [money(x, currency) for x in (road.p50, road.p90) if x is not None]
    return f"{percent(road.p_reach or 0.0)} %, {' to '.join(dict.fromkeys(ends))}"


def _money_scale(
    axes: Axes, found: Sequence[Road], height: float, currency: str, most: int
) -> None:
    ends = [x for road in found for x in (road.p50, road.p90) if x is not None]
    high = max([*ends, 1e-9])
    low = min([x for x in ends if x > 0], default=high)
    if high > _WIDE_SPAN * low:
        axes.set_xscale("log")
        scale(axes, low / 1.5, 1.5 * high, height, ())
        axes.minorticks_off()
        ticks = ladder(low / 1.5, 1.5 * high, most)
    else:
        scale(axes, 0, 1.08 * high, height, ())
        ticks = [t for t in MaxNLocator(most - 1).tick_values(0, high) if 0 <= t <= high]
    axes.set_xticks(ticks, [money_tick(t, currency) for t in ticks])


def _row(left: Axes, right: Axes, road: Road, y: float) -> None:
    face = INKS["one" if road.pareto else "paper"]
    style: Any = {"mfc": face, "mec": INKS["one"], "mew": 2, "ms": 9, "clip_on": False}
    left.plot([0, 100 * (road.p_reach or 0.0)], [y, y], color=INKS["one"], lw=2, clip_on=False)
    left.plot([100 * (road.p_reach or 0.0)], [y], "o", **style)
    if road.p50 is not None and road.p90 is not None:
        right.plot([road.p50, road.p90], [y, y], color=INKS["one"], lw=2, clip_on=False)
    if road.p50 is not None:
        right.plot([road.p50], [y], "o", **style)
