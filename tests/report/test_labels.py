"""Labels of figures do not lie over one another, however many marks there are."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.textpath import TextPath

from simreal.report import plots
from simreal.report.marks import CostBar, Curve, Dose, Dot
from simreal.report.numbers import Cell, cell
from simreal.report.plots.labels import Box, Labels, nearest
from simreal.verdicts.rates import Rate

LABEL = "stand-in (simulated)"
_TEXT = re.compile(
    r'<text style="([^"]*)" (?:x="([\d.-]+)" y="([\d.-]+)"|transform="translate\(([\d.-]+) '
    r'([\d.-]+)\)")[^>]*>([^<]+)</text>'
)


def rate(k: int, n: int) -> Cell:
    return cell(Rate.of(k, n).to_json())


def boxes(svg: str) -> dict[str, Box]:
    """Every line of text of a figure with the pixels it covers, as matplotlib's font has it."""
    found: dict[str, Box] = {}
    for number, (style, x, y, moved_x, moved_y, text) in enumerate(_TEXT.findall(svg)):
        size = float(re.findall(r"([\d.]+)px", style)[0])
        width = TextPath((0, 0), text, size=size).get_extents().width
        anchor = (re.findall(r"text-anchor: (\w+)", style) or ["start"])[0]
        left = float(x or moved_x) - {"start": 0.0, "middle": width / 2, "end": width}[anchor]
        base = float(y or moved_y)
        found[f"{number}: {text}"] = (left, base - 0.74 * size, left + width, base + 0.2 * size)
    return found


def over(found: dict[str, Box]) -> Iterator[tuple[str, str]]:
    for (a, p), (b, q) in itertools.combinations(found.items(), 2):
        if p[0] < q[2] and q[0] < p[2] and p[1] < q[3] and q[1] < p[3]:
            yield a, b


def bars(number: int, costs: str) -> list[CostBar]:
    """Arms whose costs are spread, close together, or all alike."""
    step = {"spread": 40.0, "close": 1.5, "alike": 0.0}[costs]
    return [
        CostBar(
            f"hybrid-arm-{i}",
            {"total": 100.0 + step * (7 * i % number)},
            "USD",
            Dot("target", "target", "target", rate(100 + 3 * (5 * i % number), 200)),
        )
        for i in range(number)
    ]


@pytest.mark.parametrize("width", [plots.WIDE, plots.NARROW])
@pytest.mark.parametrize("number", [3, 6, 10, 14])
@pytest.mark.parametrize("costs", ["spread", "close", "alike"])
def test_no_text_of_cost_against_success_lies_over_another(
    number: int, costs: str, width: int
) -> None:
    found = boxes(plots.cost_success(bars(number, costs), LABEL, width, "p"))
    shown = [name.split(": ")[1] for name in found]
    names = [str(i + 1) for i in range(number)] if number > 5 else [b.arm for b in bars(3, costs)]
    assert all(name in shown for name in names)
    assert list(over(found)) == []


def test_the_key_names_what_is_numbered() -> None:
    assert plots.numbered(bars(5, "close")) == []
    key = plots.numbered(bars(6, "close"))
    assert [(number, bar.arm) for number, bar in key] == [
        (i + 1, f"hybrid-arm-{i}") for i in range(6)
    ]


@pytest.mark.parametrize("width", [plots.WIDE, plots.NARROW])
@pytest.mark.parametrize("number", [2, 5, 9])
def test_no_counts_of_a_learning_curve_lie_over_others(number: int, width: int) -> None:
    """The cells of a real study lie close together, two of them at the same amount of data."""
    amounts = [0, 5, 10, 20, 20, 21, 22, 40, 80][:number]
    doses = tuple(Dose(f"arm-{i}", n, rate(120 - 4 * i, 200)) for i, n in enumerate(amounts))
    ends = ((0.0, 100.0), (0.4, 0.6), (0.5, 0.7), (0.6, 0.8))
    line = Curve("with 1,000 simulated", *ends, 20, doses)
    found = boxes(plots.curves([line, line, line], 0.85, LABEL, width, "p"))
    assert sum(name.endswith("/200") for name in found) == 3 * number
    assert list(over(found)) == []


def test_an_overlap_would_be_found() -> None:
    svg = plots.cost_success(bars(6, "close"), LABEL, plots.WIDE, "p")
    assert list(over(boxes(svg + svg)))


_PLACES = st.tuples(st.floats(0, 300), st.floats(0, 200), st.floats(5, 80), st.floats(8, 32))


@given(st.lists(_PLACES, max_size=25))
def test_placed_labels_lie_inside_and_apart(
    wanted: list[tuple[float, float, float, float]],
) -> None:
    labels = Labels((0.0, 0.0, 300.0, 200.0))
    labels.keep_free((100.0, 50.0, 110.0, 150.0))
    placed = {
        str(i): box for i, one in enumerate(wanted) if (box := labels.place(*one)) is not None
    }
    assert list(over(placed)) == []
    assert all(b[0] >= 0 and b[1] >= 0 and b[2] <= 300 and b[3] <= 200 for b in placed.values())


def test_a_label_without_room_is_left_out() -> None:
    labels = Labels((0.0, 0.0, 50.0, 20.0))
    assert labels.place(25, 10, 60, 10) is None


def test_a_mark_is_covered_only_where_nothing_else_is_left() -> None:
    labels = Labels((0.0, 0.0, 100.0, 100.0))
    labels.keep_free((0.0, 0.0, 100.0, 60.0))
    box = labels.place(50, 40, 20, 10)
    assert box is not None
    assert box[1] >= 60
    labels.keep_free((0.0, 0.0, 100.0, 100.0))
    assert labels.place(50, 40, 20, 10) is not None


def test_the_nearest_point_of_a_box() -> None:
    assert nearest((10, 10, 20, 20), 0, 15) == (10, 15)
    assert nearest((10, 10, 20, 20), 30, 5) == (20, 10)
