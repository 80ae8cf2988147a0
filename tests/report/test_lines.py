"""Verdicts as lines of text: counts beside every rate, units beside every number."""

from simreal.report.lines import gap_lines, rate_line
from simreal.verdicts.gap import gap
from simreal.verdicts.rates import Rate


def outcomes(successes: int, n: int) -> dict[int, bool]:
    return {index: index < successes for index in range(n)}


def test_a_rate_stands_beside_its_counts() -> None:
    assert rate_line(Rate.of(17, 20), "sim") == "17/20 = 85 % (64 to 95) on sim."


def test_a_relative_drop_has_its_unit_and_may_be_negative() -> None:
    lost = next(x for x in gap_lines(gap(outcomes(40, 50), outcomes(20, 50))) if "Relative" in x)
    assert lost.startswith("Relative drop: 50 % (")
    won = next(x for x in gap_lines(gap(outcomes(20, 50), outcomes(40, 50))) if "Relative" in x)
    assert won.startswith("Relative drop: -100 % (-")
