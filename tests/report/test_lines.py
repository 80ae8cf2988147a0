"""Verdicts as lines of text: counts beside every rate, units beside every number."""

from dataclasses import replace

import pytest

from simreal.report.lines import decided_lines, gap_lines, rate_line
from simreal.verdicts.gap import gap
from simreal.verdicts.rates import Rate
from simreal.verdicts.stopping import Result, Rule, judge


def outcomes(successes: int, n: int) -> dict[int, bool]:
    return {index: index < successes for index in range(n)}


def test_a_rate_stands_beside_its_counts() -> None:
    assert rate_line(Rate.of(17, 20), "sim") == "17/20 = 85 % (64 to 95) on sim."


def test_a_relative_drop_has_its_unit_and_may_be_negative() -> None:
    lost = next(x for x in gap_lines(gap(outcomes(40, 50), outcomes(20, 50))) if "Relative" in x)
    assert lost.startswith("Relative drop: 50 % (")
    won = next(x for x in gap_lines(gap(outcomes(20, 50), outcomes(40, 50))) if "Relative" in x)
    assert won.startswith("Relative drop: -100 % (-")


@pytest.mark.parametrize(
    ("sim", "real", "n", "said"),
    [
        (40, 20, 50, "; there is a gap."),
        (20, 40, 50, "; the target succeeds more often than simulation."),
        (30, 28, 50, "; these trials cannot tell whether there is a gap."),
        (1980, 1980, 2000, "; no gap beyond the margin."),
    ],
)
def test_a_gap_is_said_by_its_state(sim: int, real: int, n: int, said: str) -> None:
    lines = gap_lines(gap(outcomes(sim, n), outcomes(real, n)))
    assert lines[0].startswith("Transfer gap, simulation less target: ")
    assert lines[0].endswith(said)
    assert lines[-1].startswith("So many trials see a true difference of ")


@pytest.mark.parametrize(
    ("k", "said"),
    [
        (40, "a: success is above 50 %: 100 % (85 to 100), at any time."),
        (0, "a: success is below 50 %: 0 % (0 to 15), at any time."),
        (
            20,
            "a: whether success is above 50 % cannot be told by these trials: 50 % (27 to 73), "
            "at any time.",
        ),
    ],
)
def test_a_decision_on_a_rate_is_said_by_its_state(k: int, said: str) -> None:
    results = [Result(i < k, float(i < k)) for j in range(20) for i in (j, j + 20)]
    found = judge(Rule(("a",), "success", 40, goal=0.5), {"a": results})
    assert decided_lines(found, "sim", "simulation")[0] == said


@pytest.mark.parametrize(("size", "said"), [(0.0109, "1 point"), (0.004, "0.4 points")])
def test_the_smallest_difference_has_its_number(size: float, said: str) -> None:
    found = replace(gap(outcomes(40, 50), outcomes(40, 50)), smallest_detectable=size)
    assert f"a true difference of {said} in 4" in gap_lines(found)[-1]
