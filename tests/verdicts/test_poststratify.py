import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simreal.core.errors import UsageError
from simreal.core.seeds import generator
from simreal.verdicts.poststratify import (
    Paired,
    largest_saving,
    poststratified,
    ppi,
    ppi_figure,
)
from simreal.verdicts.rates import wilson

FIRST, SECOND = Paired(24, 4, 6, 6), Paired(12, 2, 3, 3)


def test_the_published_numbers():
    first, second = poststratified(FIRST, 280, 400), poststratified(SECOND, 140, 200)
    assert (first.rate, *first.ci) == pytest.approx((0.68, 0.5391, 0.7945), abs=5e-5)
    assert (second.rate, *second.ci) == pytest.approx((0.68, 0.4826, 0.8251), abs=5e-5)
    figure = ppi_figure(FIRST, 280, 400)
    assert (figure.weight, figure.rate) == pytest.approx((0.3268, 0.6837), abs=5e-5)
    assert figure.ci == pytest.approx((0.5510, 0.8163), abs=5e-5)


def test_ppi_is_refused_where_its_reasoning_does_not_hold():
    assert ppi(FIRST, 280, 400) is None  # 40 real trials
    assert ppi(Paired(57, 1, 1, 1), 500, 600) is None  # 2 failures
    assert ppi(Paired(40, 6, 8, 16), 280, 400) is not None


def test_a_width_of_nothing_is_refused():
    certain = Paired(20, 0, 0, 0)
    lower, upper = ppi_figure(certain, 200, 200).ci
    assert lower == upper == 1
    assert ppi(certain, 200, 200) is None
    assert poststratified(certain, 200, 200).ci[0] < 0.9


def test_an_empty_stratum_may_be_anything():
    found = poststratified(Paired(15, 0, 5, 0), 150, 200)
    assert found.rate == pytest.approx(0.75 * 0.75 + 0.25 * 0.5)
    assert found.ci[1] - found.ci[0] > 0.25
    nothing = poststratified(Paired(0, 0, 0, 0), 0, 0)
    assert nothing.rate == 0.5
    assert nothing.ci == (0, 1)


CELLS = st.integers(0, 25)


@given(CELLS, CELLS, CELLS, CELLS, st.integers(0, 300), st.integers(0, 300))
def test_bounds_and_mirror(both, real, sim, neither, k, rest):
    found = poststratified(Paired(both, real, sim, neither), k, k + rest)
    assert 0 <= found.ci[0] <= found.rate + 1e-9
    assert found.rate - 1e-9 <= found.ci[1] <= 1
    # Failures for successes on both sides.
    mirror = poststratified(Paired(neither, sim, real, both), rest, k + rest)
    assert mirror.rate == pytest.approx(1 - found.rate)
    assert mirror.ci == pytest.approx((1 - found.ci[1], 1 - found.ci[0]), abs=1e-9)
    # A simulation with its labels exchanged says the same.
    exchanged = poststratified(Paired(real, both, neither, sim), rest, k + rest)
    assert exchanged.rate == pytest.approx(found.rate)
    assert exchanged.ci == pytest.approx(found.ci, abs=1e-9)


def test_a_good_simulation_narrows_and_a_useless_one_does_not():
    plain = wilson(30, 40)
    good = poststratified(Paired(29, 1, 1, 9), 3000, 4000)
    useless = poststratified(Paired(15, 15, 5, 5), 2000, 4000)
    width = plain[1] - plain[0]
    assert good.ci[1] - good.ci[0] < 0.75 * width
    assert useless.ci[1] - useless.ci[0] > 0.9 * width


def test_the_largest_saving():
    assert largest_saving(0.7, 0.7) == 1
    assert largest_saving(0.5, 0.8) == largest_saving(0.8, 0.5) == pytest.approx(0.25)


@given(st.floats(0.05, 0.95), st.floats(0.05, 0.95))
def test_no_two_indicators_correlate_more_than_the_largest_saving_says(p, q):
    """phi is largest where one success implies the other."""
    both = min(p, q)
    phi = (both - p * q) / (p * (1 - p) * q * (1 - q)) ** 0.5
    assert phi**2 == pytest.approx(largest_saving(p, q))


@pytest.mark.parametrize(
    "call",
    [
        lambda: Paired(-1, 0, 0, 0),
        lambda: poststratified(FIRST, 5, 4),
        lambda: ppi_figure(Paired(1, 0, 0, 0), 1, 2),
        lambda: largest_saving(0, 0.5),
    ],
)
def test_impossible_counts_are_refused(call):
    with pytest.raises(UsageError):
        call()


@pytest.mark.slow
@pytest.mark.parametrize(("a", "b", "w"), [(0.9, 0.3, 0.7), (0.8, 0.7, 0.5), (0.95, 0.5, 0.9)])
def test_the_interval_covers(a, b, w):
    runs, n, extra, truth = 1500, 40, 400, w * a + (1 - w) * b
    covered = 0
    for index in range(runs):
        random = generator(9, "poststratify", index)
        sim = random.random(n) < w
        real = random.random(n) < np.where(sim, a, b)
        table = Paired(
            int((real & sim).sum()),
            int((real & ~sim).sum()),
            int((~real & sim).sum()),
            int((~real & ~sim).sum()),
        )
        low, high = poststratified(table, int(random.binomial(extra, w)), extra).ci
        covered += low <= truth <= high
    assert covered / runs >= 0.93
