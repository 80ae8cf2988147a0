"""Agreement with full enumeration at small n, and with programs where these can be trusted."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from simreal.verdicts.exact import boschloo, mcnemar, mcnemar_mid_p
from simreal.verdicts.intervals import koopman, newcombe, t_interval, t_test, tango, tango_score
from simreal.verdicts.numerics import binomial_mass, hypergeometric_tail, root
from simreal.verdicts.planning import (
    mcnemar_power,
    smallest_detectable,
    smallest_detectable_paired,
    trials_to_compare_paired,
)
from simreal.verdicts.rates import clopper_pearson, jeffreys, probability_better, wilson

COUNTS = st.integers(0, 40).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
SOME = st.integers(1, 40).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(SOME)
def test_one_rate_agrees_with_statsmodels_and_scipy(counts):
    k, n = counts
    test = stats.binomtest(k, n)
    for ours, name in ((wilson(k, n), "wilson"), (clopper_pearson(k, n), "exact")):
        interval = test.proportion_ci(method=name)
        assert ours == pytest.approx((interval.low, interval.high), abs=1e-12)
    assert jeffreys(k, n) == pytest.approx(proportion_confint(k, n, method="jeffreys"), abs=1e-12)


@given(SOME)
def test_clopper_pearson_inverts_the_exact_tails(counts):
    k, n = counts
    lower, upper = clopper_pearson(k, n)
    if k > 0:
        assert stats.binom.sf(k - 1, n, lower) == pytest.approx(0.025, abs=1e-9)
    if k < n:
        assert stats.binom.cdf(k, n, upper) == pytest.approx(0.025, abs=1e-9)


@given(SOME, SOME)
def test_probability_better_agrees_with_the_exact_sum(first, second):
    (k1, n1), (k2, n2) = first, second
    draws = np.linspace(0.0005, 0.9995, 1000)
    density = stats.beta.pdf(draws, k1 + 1, n1 - k1 + 1)
    expected = float((density * stats.beta.cdf(draws, k2 + 1, n2 - k2 + 1)).mean())
    assert probability_better(k1, n1, k2, n2) == pytest.approx(expected, abs=1e-3)
    both = probability_better(k1, n1, k2, n2) + probability_better(k2, n2, k1, n1)
    assert both == pytest.approx(1.0, abs=1e-9)


def fisher_greater(k1, n1, k2, n2):
    return stats.hypergeom.sf(k1 - 1, n1 + n2, k1 + k2, n1)


def enumerated_boschloo(k1, n1, k2, n2):
    """Twice the smaller one-sided p, each a maximum over a fine grid of the common rate."""
    sides = []
    for flip in (False, True):
        a, m, b, n = (k2, n2, k1, n1) if flip else (k1, n1, k2, n2)
        limit = fisher_greater(a, m, b, n) * (1 + 1e-9)
        tables = [
            (i, j)
            for i, j in itertools.product(range(m + 1), range(n + 1))
            if fisher_greater(i, m, j, n) <= limit
        ]
        rates = np.linspace(0, 1, 2001)
        total = sum(stats.binom.pmf(i, m, rates) * stats.binom.pmf(j, n, rates) for i, j in tables)
        sides.append(float(np.max(total)))
    return min(1.0, 2 * min(sides))


@pytest.mark.parametrize(
    "table",
    [(0, 3, 2, 3), (1, 4, 4, 6), (5, 5, 0, 4), (3, 7, 5, 6), (6, 8, 1, 7), (2, 2, 0, 9)],
)
def test_boschloo_agrees_with_enumeration(table):
    assert boschloo(*table) == pytest.approx(enumerated_boschloo(*table), abs=2e-6)


@pytest.mark.parametrize(
    "table",
    [(17, 20, 12, 20), (80, 100, 70, 100), (3, 9, 7, 13), (1, 50, 0, 4), (45, 50, 20, 60)],
)
def test_boschloo_agrees_with_scipy(table):
    k1, n1, k2, n2 = table
    expected = stats.boschloo_exact([[k1, k2], [n1 - k1, n2 - k2]], n=128).pvalue
    assert boschloo(*table) == pytest.approx(expected, rel=1e-5)


@given(SOME, SOME)
def test_boschloo_is_symmetric_and_at_most_fishers(first, second):
    (k1, n1), (k2, n2) = first, second
    p = boschloo(k1, n1, k2, n2)
    assert 0 <= p <= 1
    assert boschloo(k2, n2, k1, n1) == pytest.approx(p, rel=1e-9)
    assert boschloo(n2 - k2, n2, n1 - k1, n1) == pytest.approx(p, rel=1e-6)
    doubled = 2 * min(fisher_greater(k1, n1, k2, n2), fisher_greater(k2, n2, k1, n1))
    assert p <= min(1.0, doubled) + 1e-9


def test_boschloo_of_many_trials_stays_exact():
    p = boschloo(850, 1000, 815, 1000)
    fisher = stats.fisher_exact([[850, 815], [150, 185]]).pvalue
    assert 0 < p < fisher


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_agrees_with_the_binomial_test(b, c):
    expected = stats.binomtest(b, b + c).pvalue if b + c else 1.0
    assert mcnemar(b, c) == pytest.approx(expected, rel=1e-9)
    assert 0 < mcnemar_mid_p(b, c) <= mcnemar(b, c) <= 1
    assert mcnemar_mid_p(b, c) == mcnemar_mid_p(c, b)


def test_no_discordant_pair_is_no_evidence():
    assert mcnemar(0, 0) == mcnemar_mid_p(0, 0) == 1.0


def restricted_score(b, c, n, delta):
    """Tango's statistic by maximizing the likelihood numerically instead of by his formula."""
    q = np.linspace(max(0.0, -delta), (1 - delta) / 2, 200_001)[1:-1]
    rest = 1 - 2 * q - delta
    with np.errstate(divide="ignore", invalid="ignore"):
        likelihood = b * np.log(q + delta) + c * np.log(q) + (n - b - c) * np.log(rest)
    best = q[np.nanargmax(likelihood)]
    return (b - c - n * delta) / math.sqrt(n * (2 * best + delta - delta**2))


@pytest.mark.parametrize(
    ("b", "c", "n", "delta"),
    [(6, 1, 20, 0.1), (6, 1, 20, -0.2), (5, 2, 30, 0.4), (1, 9, 12, -0.3), (3, 3, 50, 0.02)],
)
def test_tango_maximizes_the_likelihood(b, c, n, delta):
    assert tango_score(b, c, n, delta) == pytest.approx(restricted_score(b, c, n, delta), rel=1e-3)


@given(st.integers(0, 15), st.integers(0, 15), st.integers(0, 15))
def test_tango_ends_solve_the_score_equation(b, c, rest):
    n = b + c + rest
    if n == 0:
        assert tango(b, c, n) == (-1.0, 1.0)
        return
    lower, upper = tango(b, c, n)
    assert -1 <= lower <= (b - c) / n <= upper <= 1
    assert tango(c, b, n) == pytest.approx((-upper, -lower), abs=1e-9)
    if lower > -1:
        assert tango_score(b, c, n, lower) == pytest.approx(1.959964, abs=1e-5)
    if upper < 1:
        assert tango_score(b, c, n, upper) == pytest.approx(-1.959964, abs=1e-5)


@given(COUNTS, COUNTS)
def test_newcombe_is_antisymmetric_and_bounded(first, second):
    lower, upper = newcombe(*first, *second)
    assert -1 <= lower <= upper <= 1
    assert newcombe(*second, *first) == pytest.approx((-upper, -lower))
    if first[1] and second[1]:
        assert lower <= first[0] / first[1] - second[0] / second[1] <= upper


@given(SOME, SOME)
def test_newcombe_agrees_with_statsmodels(first, second):
    expected = confint_proportions_2indep(*first, *second, method="newcomb")
    ours = newcombe(*first, *second)
    assert ours == pytest.approx(np.clip(expected, -1, 1), abs=1e-12)


@pytest.mark.parametrize(
    "table", [(12, 20, 170, 200), (5, 20, 10, 30), (19, 20, 18, 20), (1, 9, 4, 7)]
)
def test_koopman_agrees_with_statsmodels(table):
    expected = confint_proportions_2indep(*table, method="score", compare="ratio", correction=False)
    assert koopman(*table) == pytest.approx(expected, rel=1e-6)


@given(SOME, SOME)
def test_koopman_holds_the_ratio_and_inverts(first, second):
    (k1, n1), (k2, n2) = first, second
    lower, upper = koopman(k1, n1, k2, n2)
    assert 0 <= lower <= upper
    if k1 and k2:
        ratio = (k1 / n1) / (k2 / n2)
        assert lower < ratio * (1 + 1e-9)
        assert upper > ratio * (1 - 1e-9)
        back = koopman(k2, n2, k1, n1)
        assert back == pytest.approx((1 / upper, 1 / lower), rel=1e-7)
    if k1 == 0:
        assert lower == 0
    if k2 == 0:
        assert upper == math.inf


@pytest.mark.parametrize(
    ("n", "d", "psi"),
    [(6, 0.5, 0.5), (9, 0.3, 0.6), (12, 0.2, 0.9), (12, -0.4, 0.5), (5, 0.5, 0.9)],
)
def test_paired_power_agrees_with_enumeration(n, d, psi):
    win, lose = (psi + d) / 2, (psi - d) / 2
    power = sum(
        stats.multinomial.pmf([b, c, n - b - c], n, [win, lose, 1 - psi])
        for b in range(n + 1)
        for c in range(n + 1 - b)
        if mcnemar(b, c) <= 0.05
    )
    assert mcnemar_power(n, d, psi) == pytest.approx(power, abs=1e-12)


def test_paired_plan_reaches_its_power():
    n = trials_to_compare_paired(0.2, 0.4)
    assert mcnemar_power(n, 0.2, 0.4) >= 0.8
    assert mcnemar_power(n - 1, 0.2, 0.4) < 0.8


@given(st.integers(6, 300), st.floats(0.0, 0.6))
def test_smallest_detectable_paired_difference_has_the_power(n, psi):
    found = smallest_detectable_paired(n, psi)
    if found is None:
        assert mcnemar_power(n, 1.0, 1.0) < 0.8
    else:
        assert mcnemar_power(n, found, max(psi, found)) >= 0.8


@given(st.floats(0.02, 0.98), st.integers(8, 400))
def test_more_trials_see_smaller_differences(rate, n):
    few, many = smallest_detectable(rate, n, n), smallest_detectable(rate, 2 * n, 2 * n)
    assert few is not None
    assert many is not None
    assert 0 < many < few <= 1


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=12))
def test_t_agrees_with_scipy(values):
    mean, (lower, upper) = t_interval(values)
    assert lower <= mean <= upper
    if np.std(values) > 1e-6:
        expected = stats.ttest_1samp(values, 0.0)
        interval = expected.confidence_interval()
        assert (lower, upper) == pytest.approx((interval.low, interval.high), abs=1e-9)
        assert t_test(values) == pytest.approx(expected.pvalue, abs=1e-9)


@given(SOME, SOME)
def test_hypergeometric_tail_agrees_with_scipy(first, second):
    (k1, n1), (k2, n2) = first, second
    assert hypergeometric_tail(k1, k2, n1, n2)[0] == pytest.approx(
        fisher_greater(k1, n1, k2, n2), rel=1e-9
    )


@given(SOME, st.floats(0, 1))
def test_binomial_mass_is_the_textbook_product(counts, rate):
    k, n = counts
    expected = math.comb(n, k) * rate**k * (1 - rate) ** (n - k)
    assert float(binomial_mass(k, n, rate)) == pytest.approx(expected, abs=1e-12)


@given(st.floats(-50, 50), st.floats(0.1, 5))
def test_root_finds_the_crossing(zero, slope):
    found = root(lambda x: math.tanh(slope * (x - zero)), zero - 31.7, zero + 17.3)
    assert found == pytest.approx(zero, abs=1e-9)
