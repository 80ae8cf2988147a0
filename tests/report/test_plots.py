from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace

import pytest

from simreal.report import plots
from simreal.report.canvas import INKS
from simreal.report.marks import (
    ArmDots,
    Band,
    CostBar,
    Curve,
    Dose,
    Dot,
    Fall,
    GapBar,
    Level,
    Reach,
    Road,
    Span,
)
from simreal.report.numbers import NO_DATA, cell
from simreal.report.plots.parts import ladder
from simreal.verdicts.rates import Rate

LABEL = "stand-in (simulated)"


def rate(k: int, n: int):
    return cell(Rate.of(k, n).to_json())


DOTS = [
    ArmDots(
        "sim-only",
        (
            Dot("sim", "simulation", "simulation", rate(95, 100)),
            Dot("target", "target", "target", rate(3, 4)),
            Dot("unseen", "unseen backgrounds", "unseen", NO_DATA),
            Dot("target", "mean of targets", "mean", rate(50, 80), 0.6, over_targets=True),
        ),
    ),
    ArmDots("桃子 $x$ & <b>" + 80 * "y", (Dot("sim", "simulation", "sim", rate(7, 9)),)),
]
GAPS = [
    GapBar("sim-only", 0.11, (0.03, 0.2), rate(95, 100), rate(84, 100)),
    GapBar("real-only", None, None, NO_DATA, rate(81, 100)),
    GapBar("far", -0.9, (-1.0, -0.7), rate(0, 50), rate(45, 50)),
]
COSTS = [
    CostBar(
        "hybrid",
        {"robot": 1.0, "operator": 20.0, "engineering": 3000.0, "compute": 0.5},
        "USD",
        Dot("target", "target", "target", rate(93, 100)),
    ),
    CostBar("free", {"total": 0.0}, "USD", Dot("target", "target", "target", NO_DATA)),
]
STEPS = [
    Level("simulation, nominal", rate(95, 100), "sim"),
    Fall("visual", 0.2, (0.15, 0.25)),
    Fall("sensing", -0.05, (-0.1, 0.01)),
    Level("simulation, all factors", rate(80, 100), "sim"),
    Fall("unexplained", 0.1, None, True),
    Level("target", rate(14, 20), "target"),
]
CURVES = [
    Curve(
        f"with {n_sim:,} simulated",
        (0, 5, 10, 20, 40, 80),
        (0.1, 0.3, 0.4, 0.5, 0.5, 0.5),
        (0.2, 0.4, 0.5, 0.6, 0.7, 0.75),
        (0.3, 0.5, 0.6, 0.7, 0.8, 0.9),
        20,
        (Dose("a", 0, rate(4, 20)), Dose("b", 20, rate(13, 20))),
    )
    for n_sim in (0, 600)
]
ROADS = [
    Road("hybrid", 40, 600, 0.91, 60.0, 140.0, True),
    Road("sim-only", 0, 900, 0.05, 1.0, None, True),
    Road("real-only", 200, 0, 0.66, 200.0, 400.0, False),
]
REACHES = [
    Reach("hybrid", ((0.5, 2.0, 4.0, 9.0), (0.8, 5.0, 10.0, 40.0), (0.9, 20.0, None, None))),
    Reach("real-only", ((0.5, 20.0, 40.0, 90.0), (0.8, 50.0, 100.0, None))),
]
BANDS = [
    Band("1 task variant, not built", 1200, 9600),
    Band("100 task variants, not built", 12, None),
    Band("1 task variant, built", None, None),
    Band("5 task variants, built", 0.3, 1.0),
]
SPANS = [
    Span("hybrid", 11.0, 16.4, (0.8, 1.9), 0.78, (500.0, 900.0)),
    Span("real-only", 4.2, None, (3.0, 8.0), None, (None, None)),
    Span("sim-only", None, None, (None, None), 0.0, (None, None)),
]
FIGURES: dict[str, Callable[[int], str]] = {
    "success": lambda width: plots.success(DOTS, LABEL, width, f"s{width}"),
    "gap": lambda width: plots.gap(GAPS, LABEL, width, f"g{width}"),
    "cost": lambda width: plots.cost(COSTS, LABEL, width, f"c{width}"),
    "trade": lambda width: plots.cost_success(COSTS, LABEL, width, f"t{width}"),
    "waterfall": lambda width: plots.waterfall(STEPS, LABEL, width, f"w{width}"),
    "learning": lambda width: plots.curves(CURVES, 0.85, LABEL, width, f"l{width}"),
    "roads": lambda width: plots.roads(ROADS, "USD", LABEL, width, f"r{width}"),
    "p(reach)": lambda width: plots.reach(REACHES, "USD", LABEL, width, f"p{width}"),
    "breakeven": lambda width: plots.break_even(BANDS, LABEL, width, f"b{width}"),
    "days": lambda width: plots.calendar(SPANS, 15.0, LABEL, width, f"d{width}"),
}
both_widths = pytest.mark.parametrize("width", [plots.WIDE, plots.NARROW])
every_figure = pytest.mark.parametrize("name", FIGURES)


def drawn(svg: str) -> list[str]:
    """The pieces of text that the picture shows (not its title and description)."""
    root = ET.fromstring(svg)
    return ["".join(e.itertext()) for e in root.iter() if e.tag.endswith("}text")]


@both_widths
@every_figure
def test_a_figure_is_one_element_that_can_stand_in_a_page(name: str, width: int) -> None:
    svg = FIGURES[name](width)
    root = ET.fromstring(svg)
    assert root.attrib["viewBox"].startswith(f"0 0 {width} ")
    assert "<?xml" not in svg
    assert "<metadata" not in svg
    ids = re.findall(r' id="([^"]+)"', svg)
    assert len(ids) == len(set(ids))
    assert all(found.startswith(f"{name[0]}{width}-") for found in ids)
    used = set(re.findall(r'(?:href="#|url\(#)([^")]+)', svg))
    assert used <= set(ids)


@both_widths
@every_figure
def test_colours_come_from_the_page(name: str, width: int) -> None:
    svg = FIGURES[name](width)
    assert not any(marker in svg for marker in INKS.values())
    colours = set(re.findall(r"#[0-9a-fA-F]{6}\b", svg))
    assert not colours
    assert set(re.findall(r"var\(--(\w+)\)", svg)) <= set(INKS)


@both_widths
@every_figure
def test_the_same_numbers_make_the_same_picture(name: str, width: int) -> None:
    assert FIGURES[name](width) == FIGURES[name](width)


@both_widths
@every_figure
def test_what_comes_from_a_stand_in_says_so_inside_the_picture(name: str, width: int) -> None:
    assert any(LABEL in text for text in drawn(FIGURES[name](width)))


@both_widths
def test_success_prints_the_counts_of_every_mark(width: int) -> None:
    shown = drawn(FIGURES["success"](width))
    assert {"95/100", "3/4", "no data", "50/80", "7/9"} <= set(shown)


def test_too_few_trials_make_no_mark() -> None:
    one = [ArmDots("a", (Dot("target", "target", "target", rate(3, 4)),))]
    many = [ArmDots("a", (Dot("target", "target", "target", rate(30, 40)),))]
    assert "var(--target)" not in plots.success(one, "", plots.WIDE, "p")
    assert "var(--target)" in plots.success(many, "", plots.WIDE, "p")


def test_a_mark_stands_at_its_rate() -> None:
    """The left end of the axis is 0 and the right end 100; a mark at 50 % lies halfway."""

    def position(k: int) -> float:
        dots = [ArmDots("a", (Dot("sim", "simulation", "sim", rate(k, 100)),))]
        svg = plots.success(dots, "", plots.WIDE, "p")
        return float(re.findall(r'<use [^>]*x="([\d.]+)"[^>]*var\(--sim\)', svg)[-1])

    low, middle, high = position(0), position(50), position(100)
    assert middle == pytest.approx((low + high) / 2, abs=0.01)
    assert high - low == pytest.approx(plots.WIDE - 190 - 190, abs=0.01)


def test_a_gap_prints_both_counts_and_its_interval() -> None:
    text = " ".join(drawn(FIGURES["gap"](plots.WIDE)))
    assert "+11.0 points (+3.0 to +20.0)" in text
    assert "95/100 in simulation, 84/100 on the target" in text
    assert "not measured" in text


def test_costs_print_totals_and_hatch_the_assumption() -> None:
    svg = FIGURES["cost"](plots.WIDE)
    assert "$3,022" in drawn(svg)
    assert "<pattern" in svg
    assert "Engineering is an assumption" in svg


def test_only_measured_arms_are_placed_by_their_success() -> None:
    shown = drawn(FIGURES["trade"](plots.WIDE))
    assert "hybrid" in shown
    assert "free" not in shown


def test_figures_without_any_arm_can_be_drawn() -> None:
    for width in (plots.WIDE, plots.NARROW):
        assert plots.success([], LABEL, width, "p")
        assert plots.gap([], LABEL, width, "p")
        assert plots.cost([], LABEL, width, "p")
        assert plots.cost_success([], LABEL, width, "p")
        assert plots.waterfall([], LABEL, width, "p")
        assert plots.curves([], None, LABEL, width, "p")
        assert plots.roads([], "USD", LABEL, width, "p")
        assert plots.reach([], "USD", LABEL, width, "p")
        assert plots.break_even([], LABEL, width, "p")
        assert plots.calendar([], None, LABEL, width, "p")


def test_long_names_are_cut_where_there_is_no_room() -> None:
    assert plots.fit("short", 200) == "short"
    assert plots.fit(100 * "x", 200).endswith("…")
    assert len(plots.fit(100 * "x", 200)) < 30


@both_widths
def test_a_waterfall_prints_counts_points_and_intervals(width: int) -> None:
    shown = drawn(FIGURES["waterfall"](width))
    assert {"simulation, nominal", "visual", "unexplained", "target"} <= set(shown)
    assert "95/100, 95\u202f% (89 to 98)" in shown
    assert "−20.0 points (−25.0 to −15.0)" in shown
    assert "+5.0 points (−1.0 to +10.0)" in shown
    assert "−10.0 points" in shown


def test_falls_lead_from_one_level_to_the_next() -> None:
    """Each bar starts where the one before it ended: 95, 75, 80 and, below it, 70."""
    svg = plots.waterfall(STEPS, "", plots.WIDE, "p")
    bars = re.findall(
        r'<path d="M ([\d.]+) [\d.]+\s+L ([\d.]+) [^>]*stroke: var\(--soft\); stroke-linejoin', svg
    )
    edges = [sorted((float(a), float(b))) for a, b in bars if abs(float(a) - float(b)) > 1]
    visual, sensing, rest = edges[:3]
    assert visual[0] == pytest.approx(sensing[0], abs=0.01)
    assert sensing[1] == pytest.approx(rest[1], abs=0.01)
    assert (visual[1] - visual[0]) / (rest[1] - rest[0]) == pytest.approx(2, abs=0.01)


@both_widths
def test_curves_print_the_counts_of_cells_and_hatch_what_was_not_measured(width: int) -> None:
    svg = FIGURES["learning"](width)
    shown = drawn(svg)
    assert {"4/20", "13/20", "with 0 simulated", "with 600 simulated"} <= set(shown)
    assert svg.count("<pattern") >= 1
    known = [replace(line, measured_to=80) for line in CURVES]
    assert "<pattern" not in plots.curves(known, 0.85, LABEL, width, "p")


def test_curves_are_told_to_who_cannot_see_them() -> None:
    text = FIGURES["learning"](plots.WIDE)
    assert "b, 20 real: 13/20 65\u202f% (43 to 82)" in text
    assert "at 80 real 75 % estimated (50 to 90)" in text
    assert "Goal: 85 %" in text


@both_widths
def test_roads_bands_and_days_are_printed_beside_their_marks(width: int) -> None:
    roads = set(drawn(FIGURES["roads"](width)))
    assert {"91 %, $60.00 to $140", "5 %, $1.00", "66 %, $200 to $400"} <= roads
    bands = set(drawn(FIGURES["breakeven"](width)))
    assert {"1,200 to 9,600", "from 12, no upper end", "never", "from the first one"} <= bands
    days = set(drawn(FIGURES["days"](width)))
    assert {"deadline", "11 to 16 days · 78 % in time", "4.2 days"} <= days
    assert "not in half of the futures" in days


def test_a_cost_that_is_never_enough_ends_its_line() -> None:
    assert "90 % for not reached ($20.00 to not reached)" in FIGURES["p(reach)"](plots.WIDE)


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "not reached"), (0.42, "0.4 days"), (1.0, "1 day"), (12.4, "12 days")],
)
def test_days(value: float | None, text: str) -> None:
    assert plots.days(value) == text


@pytest.mark.parametrize("most", [3, 5, 7])
def test_ticks_are_round_and_few(most: int) -> None:
    for low, high in ((1, 9), (0.3, 5000), (12, 960), (1, 10**8)):
        ticks = ladder(low, high, most)
        assert 0 < len(ticks) <= most
        assert all(low <= t <= high for t in ticks)
        assert {f"{t:e}"[0] for t in ticks} <= {"1", "2", "5"}
    assert ladder(0, 0, most) == []
