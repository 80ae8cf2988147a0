"""Every figure of the page by name, drawn wide and narrow; those without data are left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from simreal.core.types import RATE_HZ
from simreal.report import explained, felt, outlook, plots, view
from simreal.report.marks import CostBar, Reach, Road, Span
from simreal.report.records import Study

#: A drawing: (width in CSS pixels, prefix of its ids) -> an `<svg>` element.
Draw = Callable[[int, str], str]


def figures(
    study: Study, bars: Sequence[CostBar], profiles: Mapping[str, Any] | None = None
) -> dict[str, Markup]:
    """Name -> both drawings; the style sheet shows one of them.

    bars: of the cost figure. profiles: media/forces.json, where forces were measured.
    """
    drawings = {**_drawings(study, bars), **_forces(study, profiles or {})}
    return {name: both(name.replace("_", "-"), draw) for name, draw in drawings.items()}


def _forces(study: Study, profiles: Mapping[str, Any]) -> Mapping[str, Draw]:
    force = study.summary.get("force")
    if not force:
        return {}
    found = {
        "force_way": (plots.force_way, felt.way_panels(study, profiles)),
        "force_time": (plots.force_time, felt.film_panels(study, profiles, RATE_HZ)),
    }
    more = (float(force["limit_n"]), study.label)
    return {name: _bound(draw, panels, *more) for name, (draw, panels) in found.items() if panels}


def both(name: str, draw: Draw) -> Markup:
    """The wide and the narrow drawing of a figure."""
    wide = draw(plots.WIDE, f"{name}-wide")
    narrow = draw(plots.NARROW, f"{name}-narrow")
    return Markup(f'<div class="wide">{wide}</div><div class="narrow">{narrow}</div>')


def _drawings(study: Study, bars: Sequence[CostBar]) -> Mapping[str, Draw]:
    label, money = study.label, outlook.currency(study)
    found: dict[str, Draw] = {
        "success": _bound(plots.success, view.success_dots(study), label),
        "gap": _bound(plots.gap, view.gap_bars(study), label),
    }
    if bars:
        found["cost"] = _bound(plots.cost, bars, label)
        found["trade"] = _bound(plots.cost_success, bars, label)
    optional: Mapping[str, tuple[Any, Callable[..., str], tuple[Any, ...]]] = {
        "waterfall": (
            explained.steps(outlook.entry(study, "explanation")),
            plots.waterfall,
            (label,),
        ),
        "curves": (outlook.curves(study), plots.curves, (outlook.goal(study), label)),
        "roads": (_placed(outlook.roads(study)), plots.roads, (money, label)),
        "reach": (_reaching(outlook.reaches(study)), plots.reach, (money, label)),
        "breakeven": (outlook.bands(study), plots.break_even, (label,)),
        "calendar": (
            _ending(outlook.spans(study)),
            plots.calendar,
            (outlook.deadline(study), label),
        ),
    }
    for name, (data, draw, more) in optional.items():
        if data:
            found[name] = _bound(draw, data, *more)
    return found


def _placed(roads: Sequence[Road]) -> list[Road]:
    """The roads that have both a probability and a cost."""
    return [road for road in roads if road.p_reach is not None and road.p50 is not None]


def _ending(spans: Sequence[Span]) -> Sequence[Span]:
    """All roads, where half of the futures of any end; else none, for there is nothing to draw."""
    return spans if any(one.p50 is not None for one in spans) else ()


def _reaching(roads: Sequence[Reach]) -> Sequence[Reach]:
    """All roads, where any has a middle cost at any rate; else none."""
    return roads if any(mid is not None for r in roads for _, _, mid, _ in r.points) else ()


def _bound(draw: Callable[..., str], *arguments: Any) -> Draw:
    return lambda width, prefix: draw(*arguments, width=width, prefix=prefix)
