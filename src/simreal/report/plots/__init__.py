"""The pictures of numbers, each in a wide and a narrow (phone) drawing, as inline SVG.

Every mark stands beside the counts it was computed from; whatever was taken on a stand-in for a
robot says so inside the picture.
"""

from __future__ import annotations

from simreal.report.plots.breakeven import band_text, break_even
from simreal.report.plots.calendar import calendar, days
from simreal.report.plots.cost import PARTS, cost
from simreal.report.plots.curves import curves
from simreal.report.plots.forces import force_time, force_way
from simreal.report.plots.gap import gap
from simreal.report.plots.marginals import marginals
from simreal.report.plots.parts import NARROW, WIDE, fit
from simreal.report.plots.reach import reach
from simreal.report.plots.roads import roads
from simreal.report.plots.success import success
from simreal.report.plots.trade import cost_success, numbered
from simreal.report.plots.waterfall import waterfall

__all__ = [
    "NARROW",
    "PARTS",
    "WIDE",
    "band_text",
    "break_even",
    "calendar",
    "cost",
    "cost_success",
    "curves",
    "days",
    "fit",
    "force_time",
    "force_way",
    "gap",
    "marginals",
    "numbered",
    "reach",
    "roads",
    "success",
    "waterfall",
]
