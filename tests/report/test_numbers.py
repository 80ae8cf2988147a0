from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simreal.report import numbers
from simreal.report.numbers import NO_DATA, THIN, Cell, cell
from simreal.verdicts.rates import Rate

measured = st.integers(1, 400).flatmap(
    lambda n: st.integers(0, n).map(lambda k: cell(Rate.of(k, n).to_json()))
)


@given(st.floats(0, 1))
def test_a_rate_is_never_rounded_to_certainty(fraction: float) -> None:
    text = numbers.percent(fraction)
    assert (text == "100") == (fraction == 1)
    assert (text == "0") == (fraction == 0)
    assert abs(float(text) - 100 * fraction) <= 0.5


@given(measured)
def test_a_rate_never_appears_without_its_counts(c: Cell) -> None:
    text = numbers.rate(c)
    assert text.startswith(f"{c.k}/{c.n}")
    assert ("%" in text) == (c.n >= 5)


def test_few_and_no_trials_say_so() -> None:
    assert numbers.rate(cell(Rate.of(3, 4).to_json())) == "3/4 (fewer than 5 trials: no interval)"
    assert numbers.rate(NO_DATA) == "no data"
    assert cell(None) == cell({"k": 0, "n": 0, "rate": None, "ci": [0, 1]}) == NO_DATA
    assert numbers.interval(NO_DATA) == "not measured"


def test_a_rate_reads_as_counts_rate_interval() -> None:
    assert numbers.rate(cell(Rate.of(17, 20).to_json())) == f"17/20 = 85{THIN}% (64 to 95)"


def test_points_carry_their_sign_and_stay_within_100() -> None:
    assert numbers.points(0.12, (0.031, 0.214)) == "+12.0 points (+3.1 to +21.4)"
    assert numbers.points(-0.0004, None) == "0.0 points"
    assert numbers.points(-0.5, (-1.6, 0.6)) == "−50.0 points (−100.0 to +60.0)"


@pytest.mark.parametrize(
    ("amount", "currency", "text"),
    [(1234.5, "USD", "$1,234"), (12.345, "USD", "$12.35"), (7, "CHF", f"7.00{THIN}CHF")],
)
def test_money(amount: float, currency: str, text: str) -> None:
    assert numbers.money(amount, currency) == text


@pytest.mark.parametrize(
    ("hours", "text"),
    [(0, "0"), (0.0001, "<1 s"), (0.01, "36 s"), (0.2, "12 min"), (1.65, "99 min"), (40, "40.0 h")],
)
def test_hours(hours: float, text: str) -> None:
    assert numbers.hours(hours).replace(THIN, " ") == text


@pytest.mark.parametrize(
    ("p", "text"), [(None, ""), (0.0004, "p < .001"), (0.0123, "p = .012"), (1.0, "p = 1.000")]
)
def test_p_values(p: float | None, text: str) -> None:
    assert numbers.p_value(p) == text


@given(st.floats(0.001, 1e6))
def test_factors_keep_two_digits(value: float) -> None:
    shown = float(re.sub(",", "", numbers.factor(value)))
    assert shown == pytest.approx(value, rel=0.06)


def test_shares_may_be_negative_and_large() -> None:
    assert numbers.share(-51.66) == "−5,166"
    assert numbers.share(-0.001) == "0"
