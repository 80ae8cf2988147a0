"""What the methods promise in the long run, by exact sums over all tables or by simulation."""

import itertools

import numpy as np
import pytest
from scipy import stats

from simreal.core.seeds import generator
from simreal.verdicts.compare import compare
from simreal.verdicts.exact import boschloo, mcnemar, mcnemar_mid_p
from simreal.verdicts.gap import gap
from simreal.verdicts.intervals import koopman, newcombe, tango
from simreal.verdicts.noninferiority import noninferior
from simreal.verdicts.planning import trials_for_noninferiority, trials_to_compare
from simreal.verdicts.rates import clopper_pearson, wilson

RATES = np.linspace(0.02, 0.98, 49)


def coverage_of_one_rate(interval, n, p):
    return sum(
        stats.binom.pmf(k, n, p)
        for k in range(n + 1)
        if interval(k, n)[0] - 1e-12 <= p <= interval(k, n)[1] + 1e-12
    )


@pytest.mark.parametrize("n", [5, 20, 50])
def test_clopper_pearson_never_undercovers(n):
    assert min(coverage_of_one_rate(clopper_pearson, n, p) for p in RATES) >= 0.95


@pytest.mark.parametrize("n", [5, 20, 50])
def test_one_sided_bounds_never_undercover(n):
    def below(k, n):
        return clopper_pearson(k, n, side="lower")

    assert min(coverage_of_one_rate(below, n, p) for p in RATES) >= 0.95


@pytest.mark.parametrize("n", [10, 20, 50])
def test_wilson_covers_95_percent_on_average(n):
    covered = [coverage_of_one_rate(wilson, n, p) for p in RATES]
    assert np.mean(covered) == pytest.approx(0.953, abs=0.008)
    assert min(covered) > 0.83


def coverage_of_a_difference(interval, n1, p1, n2, p2):
    first, second = stats.binom.pmf(range(n1 + 1), n1, p1), stats.binom.pmf(range(n2 + 1), n2, p2)
    return sum(
        first[k1] * second[k2]
        for k1, k2 in itertools.product(range(n1 + 1), range(n2 + 1))
        if interval[k1, k2][0] <= p1 - p2 <= interval[k1, k2][1]
    )


@pytest.mark.parametrize(("n1", "n2"), [(20, 20), (15, 40)])
def test_newcombe_covers(n1, n2):
    cells = itertools.product(range(n1 + 1), range(n2 + 1))
    intervals = {(k1, k2): newcombe(k1, n1, k2, n2) for k1, k2 in cells}
    rates = (0.1, 0.35, 0.6, 0.85)
    covered = [
        coverage_of_a_difference(intervals, n1, p1, n2, p2)
        for p1, p2 in itertools.product(rates, rates)
    ]
    assert min(covered) > 0.925
    assert np.mean(covered) == pytest.approx(0.956, abs=0.012)


@pytest.mark.parametrize("n", [20, 40])
def test_tango_covers(n):
    tables = [(b, c) for b in range(n + 1) for c in range(n + 1 - b)]
    intervals = {table: tango(*table, n) for table in tables}
    for win, lose in [(0.3, 0.05), (0.15, 0.15), (0.05, 0.02), (0.5, 0.2)]:
        covered = sum(
            stats.multinomial.pmf([b, c, n - b - c], n, [win, lose, 1 - win - lose])
            for b, c in tables
            if intervals[b, c][0] <= win - lose <= intervals[b, c][1]
        )
        assert covered > 0.93


def test_koopman_covers():
    n1, n2, p1, p2 = 20, 40, 0.6, 0.85
    first, second = stats.binom.pmf(range(n1 + 1), n1, p1), stats.binom.pmf(range(n2 + 1), n2, p2)
    covered = sum(
        first[k1] * second[k2]
        for k1, k2 in itertools.product(range(n1 + 1), range(n2 + 1))
        if first[k1] * second[k2] > 1e-12
        and koopman(k1, n1, k2, n2)[0] <= p1 / p2 <= koopman(k1, n1, k2, n2)[1]
    )
    assert covered == pytest.approx(0.95, abs=0.015)


def exact_size(p_value, n1, n2, rate, alpha=0.05):
    cells = itertools.product(range(n1 + 1), range(n2 + 1))
    return sum(
        stats.binom.pmf(k1, n1, rate) * stats.binom.pmf(k2, n2, rate)
        for k1, k2 in cells
        if p_value[k1, k2] <= alpha
    )


def test_boschloo_keeps_its_error_at_every_rate():
    n1, n2 = 10, 14
    cells = itertools.product(range(n1 + 1), range(n2 + 1))
    p_value = {(k1, k2): boschloo(k1, n1, k2, n2) for k1, k2 in cells}
    assert max(exact_size(p_value, n1, n2, rate) for rate in RATES) <= 0.05


def test_mcnemar_keeps_its_error_and_the_mid_p_less_so():
    for m in range(1, 60):
        for test, limit in ((mcnemar, 0.05), (mcnemar_mid_p, 0.08)):
            size = sum(stats.binom.pmf(b, m, 0.5) for b in range(m + 1) if test(b, m - b) <= 0.05)
            assert size <= limit


def draw(seed, index, p_a, p_b, n, shared):
    """Trials of two arms; a shared difficulty of each condition correlates them."""
    random = generator(seed, "coverage", index)
    hard = random.random(n) if shared else None
    a = random.random(n) if hard is None else hard
    b = (
        random.random(n)
        if hard is None
        else np.where(random.random(n) < 0.6, hard, random.random(n))
    )
    return dict(enumerate(a < p_a)), dict(enumerate(b < p_b))


@pytest.mark.slow
@pytest.mark.parametrize("paired", [True, False])
def test_equal_arms_are_seldom_called_better_or_worse(paired):
    runs, wrong, covered = 1000, 0, 0
    for index in range(runs):
        a, b = draw(1, index, 0.75, 0.75, 50, paired)
        found = compare(a, b, paired=paired)
        wrong += found.state in ("better", "worse")
        covered += found.ci[0] <= 0 <= found.ci[1]
    assert wrong / runs <= 0.05 + 2.3 * np.sqrt(0.05 * 0.95 / runs)
    assert covered / runs >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / runs)


@pytest.mark.slow
def test_equivalence_is_seldom_claimed_at_the_margin():
    runs, wrong = 1000, 0
    for index in range(runs):
        a, b = draw(2, index, 0.90, 0.75, 150, False)
        wrong += compare(a, b, margin=0.15, paired=False).state == "equivalent"
    assert wrong / runs <= 0.05


@pytest.mark.slow
def test_planned_trials_have_their_power():
    n = trials_to_compare(0.60, 0.85)
    found = [compare(*draw(3, i, 0.85, 0.60, n, False), paired=False).state for i in range(600)]
    assert np.mean([state == "better" for state in found]) == pytest.approx(0.8, abs=0.05)
    n = trials_for_noninferiority(0.8, 0.10)
    results = [
        noninferior(*draw(4, i, 0.8, 0.8, n, False), margin=0.10, paired=False).state
        for i in range(1500)
    ]
    assert np.mean([state == "non-inferior" for state in results]) == pytest.approx(0.8, abs=0.04)


@pytest.mark.slow
def test_non_inferiority_errs_at_most_5_percent_at_the_margin():
    runs = 2000
    wrong = sum(
        noninferior(*draw(5, i, 0.7, 0.8, 150, False), margin=0.10, paired=False).state
        == "non-inferior"
        for i in range(runs)
    )
    assert wrong / runs <= 0.05 + 2.5 * np.sqrt(0.05 * 0.95 / runs)


@pytest.mark.slow
def test_the_gap_covers_when_conditions_correlate():
    runs, covered, drop_covered, drops = 1000, 0, 0, 0
    for index in range(runs):
        sim, real = draw(6, index, 0.9, 0.7, 60, True)
        found = gap(sim, real)
        covered += found.ci[0] <= 0.2 <= found.ci[1]
        if found.relative_drop is not None:
            drops += 1
            drop_covered += found.relative_drop.ci[0] <= 2 / 9 <= found.relative_drop.ci[1]
    assert covered / runs >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / runs)
    assert drop_covered / drops >= 0.94
