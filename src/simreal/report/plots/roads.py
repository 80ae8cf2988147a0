"""The roads of the advice: how likely each reaches the goal, against what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from simreal.report.canvas import INKS, Canvas
from simreal.report.marks import Road
from simreal.report.numbers import percent
from simreal.report.plots.parts import WIDE, Shelf, fit, money_tick
from simreal.report.plots.reach import told_money


def roads(found: Sequence[Road], currency: str, label: str, width: int, prefix: str) -> str:
    """A dot at the middle cost, a line to the cost that nine in ten futures stay within.

    Filled dots are on the Pareto front; hollow ones are not.
    """
    wide = width >= WIDE
    height = 300
    left, right, top, bottom = 44, width - 24, 30, height - 66
    canvas = Canvas(width, height)
    shown = [r for r in found if r.p_reach is not None and r.p50 is not None]
    most = max([max(r.p50 or 0.0, r.p90 or 0.0) for r in shown] + [1e-9]) * 1.08
    axes = canvas.axes(left, top, right, bottom)
    axes.set(xlim=(-0.02 * most, most), ylim=(0, 104))
    axes.set_yticks([0, 25, 50, 75, 100])
    axes.grid(axis="y", color=INKS["line"], linewidth=1)
    axes.set_axisbelow(True)
    axes.locator_params(axis="x", nbins=7 if wide else 3, min_n_ticks=2)
    axes.xaxis.set_major_formatter(lambda value, _: money_tick(value, currency))
    shelf = Shelf()
    for road in sorted(shown, key=lambda r: -(r.p_reach or 0.0)):
        x, y = road.p50 or 0.0, 100 * (road.p_reach or 0.0)
        if road.p90 is not None:
            axes.plot([x, road.p90], [y, y], color=INKS["one"], lw=2)
        face = INKS["one" if road.pareto else "paper"]
        style: Any = {"mfc": face, "mec": INKS["one"], "mew": 2, "ms": 9, "clip_on": False}
        axes.plot([x], [y], "o", **style)
        at = left + (right - left) * (x / most + 0.02) / 1.02
        inward = at > (left + right) / 2
        wanted = top + (bottom - top) * (1 - y / 104) + (20 if y > 15 else -12)
        text = f"{fit(road.name, 150)} · {percent(road.p_reach or 0.0)} %"
        below = shelf.place(at, wanted, text, 17, inward)
        canvas.text(at, below, text, ha="right" if inward else "left", weight="bold")
    canvas.text(0, 14, "probability to reach the goal, per cent", ink="soft")
    text = "cost from here on: middle, line to nine in ten"
    canvas.text((left + right) / 2, bottom + 38, text, ink="soft", ha="center")
    if label:
        canvas.text((left + right) / 2, bottom + 57, f"target: {label}", ink="soft", ha="center")
    told = "; ".join(
        f"{r.name}: {percent(r.p_reach or 0.0)} %, {told_money(r.p50, currency)}, "
        f"{told_money(r.p90, currency)} in nine of ten cases"
        for r in shown
    )
    return canvas.svg(prefix, "Probability to reach the goal against cost, by road", told)
