"""Failure rate by factor: a panel a factor, a mark a bin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from simreal.report.canvas import INKS, Canvas
from simreal.report.numbers import cell, counts, interval
from simreal.report.plots.parts import Panel, fit, panels

_HEIGHT, _ABOVE, _LEFT = 130, 44, 40


def marginals(factors: Sequence[Mapping[str, Any]], width: int, prefix: str) -> str:
    """Wilson's intervals over the trials that are spread as the profile is.

    Factors that bound a region have their names in bold.
    """
    places = panels(len(factors), width, _LEFT, _HEIGHT, _ABOVE)
    bottom = places[-1].bottom if places else _ABOVE
    canvas = Canvas(width, int(bottom) + 40)
    for factor, place in zip(factors, places, strict=True):
        _panel(canvas, factor, place)
    told = "; ".join(f"{factor['name']}: {_told(factor)}" for factor in factors)
    return canvas.svg(prefix, "Failure rate by factor", told)


def _panel(canvas: Canvas, factor: Mapping[str, Any], place: Panel) -> None:
    bins = factor["bins"]
    axes = canvas.axes(place.left, place.top, place.right, place.bottom)
    axes.set(xlim=(-0.6, len(bins) - 0.4), ylim=(0, 104))
    axes.set_yticks([0, 50, 100])
    edges = [b["high"] for b in bins[:-1]]
    step = max(1, -(-len(edges) // 4))
    ticks = [(i + 0.5, f"{e:.3g}".replace("-", "−")) for i, e in enumerate(edges)][::step]
    axes.set_xticks([x for x, _ in ticks], [text for _, text in ticks])
    axes.grid(axis="y", color=INKS["line"], linewidth=1)
    axes.set_axisbelow(True)
    ink = INKS["target"] if factor["in_region"] else INKS["sim"]
    for x, content in enumerate(bins):
        c = cell(content)
        if c.enough:
            axes.plot([x, x], [100 * c.low, 100 * c.high], color=ink, lw=2.5, clip_on=False)
            axes.plot([x], [100 * c.rate], "o", color=ink, ms=7, mec=INKS["paper"], clip_on=False)
    weight = {"weight": "bold"} if factor["in_region"] else {}
    name = fit(factor["name"], place.right - place.left + _LEFT)
    canvas.text(place.left - _LEFT, place.top - 24, name, fontsize=13, **weight)
    canvas.text(place.left - _LEFT, place.top - 8, "failures, per cent", ink="soft")


def _told(factor: Mapping[str, Any]) -> str:
    parts = [(b["text"], cell(b)) for b in factor["bins"]]
    return ", ".join(f"{text} {counts(c)}, {interval(c)}" for text, c in parts)
