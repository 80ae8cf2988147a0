"""Force curves: over the way into the hole by arm, and over time of single trials by ending."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from simreal.report.canvas import INKS, Canvas
from simreal.report.marks import ForceCurve, ForcePanel
from simreal.report.plots.parts import Panel, fit, panels

_HEIGHT, _ABOVE, _LEFT = 150, 52, 34


def force_way(
    found: Sequence[ForcePanel], limit: float, label: str, width: int, prefix: str
) -> str:
    """Middle and 10-90 % band of the force, from 25 mm away to the lowest point, a panel an arm."""
    axis = "mm to the lowest point"
    title = "Force on the way to the lowest point, trials that succeeded"
    return _figure(found, limit, label, width, prefix, (axis, title, True))


def force_time(
    found: Sequence[ForcePanel], limit: float, label: str, width: int, prefix: str
) -> str:
    """The force of one trial of each way of ending, over time."""
    title = "Force over time, one trial of each way of ending"
    return _figure(found, limit, label, width, prefix, ("seconds", title, False))


def _figure(
    found: Sequence[ForcePanel],
    limit: float,
    label: str,
    width: int,
    prefix: str,
    words: tuple[str, str, bool],
) -> str:
    axis, title, backwards = words
    places = panels(len(found), width, _LEFT, _HEIGHT, _ABOVE)
    bottom = places[-1].bottom if places else _ABOVE
    canvas = Canvas(width, int(bottom) + (66 if label else 48))
    top = max([limit * 1.15, *(_largest(c) * 1.05 for p in found for c in p.curves)])
    end = 25.0 if backwards else max(c.at[-1] for p in found for c in p.curves if c.at)
    for panel, place in zip(found, places, strict=True):
        axes = canvas.axes(place.left, place.top, place.right, place.bottom)
        axes.set(xlim=(end, 0) if backwards else (0, end), ylim=(0, top))
        axes.set_xticks([t for t in range(0, 1000, 5) if t <= end + 1e-9])
        _panel(axes, panel, limit)
        _words(canvas, panel, place, axis)
    if label:
        canvas.text(width / 2, bottom + 58, f"target: {label}", ink="soft", ha="center")
    told = "; ".join(f"{p.name} ({p.counts}): {_told(p.curves)}" for p in found)
    return canvas.svg(prefix, title, f"Limit {limit:g} N. {told}")


def _words(canvas: Canvas, panel: ForcePanel, place: Panel, axis: str) -> None:
    room = place.right - place.left + _LEFT
    canvas.text(place.left - 26, place.top - 32, fit(panel.name, room), weight="bold", fontsize=13)
    small = fit(panel.counts, room, 11)
    canvas.text(place.left - 26, place.top - 14, small, ink="soft", fontsize=11)
    canvas.text(place.middle, place.bottom + 36, f"N over {axis}", ink="soft", ha="center")


def _panel(axes: Axes, panel: ForcePanel, limit: float) -> None:
    axes.grid(axis="y", color=INKS["line"], linewidth=1)
    axes.set_axisbelow(True)
    axes.axhline(limit, color=INKS["ink"], lw=1, ls=(0, (4, 3)))
    for curve in panel.curves:
        color = INKS[curve.place]
        if curve.low:
            axes.fill_between(curve.at, curve.low, curve.high, facecolor=color, alpha=0.2, lw=0)
        axes.plot(curve.at, curve.middle, color=color, lw=1.8)


def _largest(curve: ForceCurve) -> float:
    values = np.asarray(curve.high or curve.middle, dtype=float)
    known = values[np.isfinite(values)]
    return float(known.max()) if len(known) else 0.0


def _told(curves: Sequence[ForceCurve]) -> str:
    names = {"sim": "in simulation", "target": "on the target"}
    return ", ".join(f"up to {_largest(c):.1f} N {names[c.place]}" for c in curves)
