"""What it costs each road to reach a success rate: a panel a road."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes

from simreal.report.canvas import INKS, Canvas
from simreal.report.marks import Reach
from simreal.report.numbers import money, percent
from simreal.report.plots.parts import Panel, band, fit, ladder, money_tick, panels

_HEIGHT, _ABOVE, _LEFT = 180, 60, 58


def reach(roads: Sequence[Reach], currency: str, label: str, width: int, prefix: str) -> str:
    """Middle cost (line) and its 10-90 % band over the success rate; other roads' middle in grey.

    The cost axis is logarithmic. Where a quantile is not reached, its line ends.
    """
    places = panels(len(roads), width, _LEFT, _HEIGHT, _ABOVE)
    bottom = places[-1].bottom if places else _ABOVE
    canvas = Canvas(width, int(bottom) + (66 if label else 48))
    costs = [x for road in roads for point in road.points for x in point[1:] if x]
    ends = (min(costs, default=1.0) / 1.3, max(costs, default=10.0) * 1.3)
    for road, place in zip(roads, places, strict=True):
        _panel(canvas, road, roads, place, ends, currency)
        canvas.text(place.left, place.top - 40, fit(road.road, 240), weight="bold", fontsize=13)
        canvas.text(place.left, place.top - 24, _ends(road), ink="soft")
        canvas.text(place.left, place.top - 8, "cost to get there", ink="soft")
        text = "success on the target, per cent"
        canvas.text(place.middle, place.bottom + 36, text, ink="soft", ha="center")
    if label:
        canvas.text(width / 2, bottom + 58, f"target: {label}", ink="soft", ha="center")
    told = "; ".join(f"{road.road}, {_ends(road)}: {_told(road, currency)}" for road in roads)
    return canvas.svg(prefix, "Cost to reach a success rate, by road", told)


def _panel(
    canvas: Canvas,
    road: Reach,
    roads: Sequence[Reach],
    place: Panel,
    ends: tuple[float, float],
    currency: str,
) -> None:
    axes = canvas.axes(place.left, place.top, place.right, place.bottom)
    axes.set_yscale("log")
    rates = [100 * point[0] for r in roads for point in r.points]
    left, right = min(rates, default=0.0) - 2, min(100.0, max(rates, default=98.0) + 2)
    axes.set(xlim=(left, right), ylim=ends)
    axes.minorticks_off()
    ticks = ladder(*ends, 5)
    axes.set_yticks(ticks, [money_tick(t, currency) for t in ticks])
    step = 10 if right - left <= 60 else 25
    axes.set_xticks([t for t in range(0, 101, step) if left <= t <= right])
    axes.grid(axis="y", color=INKS["line"], linewidth=1)
    axes.set_axisbelow(True)
    for other in roads:
        if other is not road:
            _middle(axes, other, {"color": INKS["soft"], "lw": 1, "alpha": 0.6})
    whole = [(100 * p, a, b) for p, a, _, b in road.points if a is not None and b is not None]
    if len(whole) > 1:
        x = [p for p, _, _ in whole]
        band(axes, x, [[a for _, a, _ in whole], [b for _, _, b in whole]], False)
    _middle(axes, road, {"color": INKS["one"], "lw": 2.2})


def _middle(axes: Axes, road: Reach, style: Any) -> None:
    found = [(100 * p, mid) for p, _, mid, _ in road.points if mid is not None]
    axes.plot([p for p, _ in found], [m for _, m in found], **style)


def _ends(road: Reach) -> str:
    """Up to which rate half and nine tenths of the simulated futures get."""
    half = max((p for p, _, mid, _ in road.points if mid is not None), default=None)
    most = max((p for p, _, _, high in road.points if high is not None), default=None)
    if half is None:
        return "half of the futures reach none"
    nine = "none" if most is None else f"{percent(most)} %"
    return f"half reach {percent(half)} %, nine in ten {nine}"


def _told(road: Reach, currency: str) -> str:
    return ", ".join(
        f"{percent(rate)} % for {told_money(mid, currency)} "
        f"({told_money(low, currency)} to {told_money(high, currency)})"
        for rate, low, mid, high in road.points
    )


def told_money(amount: float | None, currency: str) -> str:
    """An amount, or that none was enough."""
    return "not reached" if amount is None else money(amount, currency)
