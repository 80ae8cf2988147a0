from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable

import pytest

from simreal.report import plots
from simreal.report.canvas import INKS
from simreal.report.marks import ArmDots, CostBar, Dot, GapBar
from simreal.report.numbers import NO_DATA, cell
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
FIGURES: dict[str, Callable[[int], str]] = {
    "success": lambda width: plots.success(DOTS, LABEL, width, f"s{width}"),
    "gap": lambda width: plots.gap(GAPS, LABEL, width, f"g{width}"),
    "cost": lambda width: plots.cost(COSTS, LABEL, width, f"c{width}"),
    "trade": lambda width: plots.cost_success(COSTS, LABEL, width, f"t{width}"),
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


def test_long_names_are_cut_where_there_is_no_room() -> None:
    assert plots.fit("short", 200) == "short"
    assert plots.fit(100 * "x", 200).endswith("…")
    assert len(plots.fit(100 * "x", 200)) < 30
