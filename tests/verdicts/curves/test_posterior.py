import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from simreal.core.errors import UsageError
from simreal.verdicts.curves import DEFAULT, MODELS, CellCounts, fit
from simreal.verdicts.curves.posterior import log_likelihood

#: Planar pushing, as published (Wei et al. 2025).
CELLS = (
    CellCounts(10, 0, 2, 20),
    CellCounts(50, 0, 10, 20),
    CellCounts(10, 2000, 14, 20),
    CellCounts(50, 2000, 18, 20),
)


def truth(n_real, n_sim):
    """Model B with tau 20, gamma .9, m .8, h 300, c .03, e0 .97."""
    return 0.97 - 0.94 * (1 + n_real / 20) ** -0.9 * (1 - 0.8 * n_sim / (n_sim + 300))


def grid_cells(trials):
    return [
        CellCounts(r, s, round(trials * truth(r, s)), trials)
        for r in (5, 20, 80, 160)
        for s in (0, 200, 1000)
    ]


def width(posterior, n_real, n_sim):
    low, high = np.quantile(posterior.success([n_real], [n_sim]), [0.1, 0.9])
    return high - low


def test_the_posterior_follows_the_cells():
    found = fit(CELLS)
    assert found.effective > 500
    assert found.note is None
    assert sum(found.models.values()) == pytest.approx(1)
    assert set(found.models) == set(MODELS)
    rates = np.median(found.success([10, 50, 10, 50], [0, 0, 2000, 2000]), axis=0)
    assert np.abs(rates - [0.1, 0.5, 0.7, 0.9]).max() < 0.15
    assert (found.measured_real, found.measured_sim) == (50, 2000)


def test_it_is_what_plain_draws_of_the_prior_weighted_by_the_likelihood_give():
    random = np.random.default_rng(1)
    evidence, means = [], []
    for model in range(len(MODELS)):
        surfaces, spread = DEFAULT.surfaces(model, random.standard_normal((100_000, 8)))
        weights = np.exp(log_likelihood(surfaces, spread, CELLS))
        evidence.append(weights.mean())
        rates = surfaces.success([10, 50, 200, 20], [0, 2000, 0, 500])
        means.append(weights @ rates / weights.sum())
    shares = np.array(evidence) / sum(evidence)
    found = fit(CELLS, draws=20_000)
    assert list(found.models.values()) == pytest.approx(list(shares), abs=0.03)
    rates = found.success([10, 50, 200, 20], [0, 2000, 0, 500]).mean(axis=0)
    assert rates == pytest.approx(shares @ means, abs=0.01)


def test_without_cells_it_is_the_prior():
    found = fit([], draws=4000)
    assert list(found.models.values()) == pytest.approx([1 / 3] * 3)
    assert np.median(found.spread) == pytest.approx(DEFAULT.spread[0], rel=0.1)
    assert (found.measured_real, found.measured_sim) == (0, 0)
    empty = fit([CellCounts(10, 0, 0, 0)], draws=4000)
    assert np.array_equal(found.spread, empty.spread)


@settings(max_examples=10, deadline=None)
@given(st.permutations(CELLS))
def test_the_order_of_cells_does_not_matter(cells):
    assert np.array_equal(fit(CELLS).success([20], [100]), fit(cells).success([20], [100]))


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 20), st.sampled_from([0, 50, 500]), st.integers(1, 100))
def test_more_successes_raise_the_curve(k, n_sim, n_real):
    less, more = (
        fit([CellCounts(n_real, n_sim, s, 20)], draws=4000).success([n_real], [n_sim]).mean()
        for s in (k * 19 // 20, min(20, k * 19 // 20 + 1))
    )
    assert more > less


def test_counts_concentrate_on_the_truth():
    narrow = [width(fit(grid_cells(n)), 40, 500) for n in (20, 100, 1000)]
    assert narrow[0] > narrow[1] > narrow[2]
    found = fit(grid_cells(1000))
    assert found.models["multiplicative"] > 0.9
    low, high = np.quantile(found.success([40], [500]), [0.05, 0.95])
    assert low < truth(40, 500) < high


def test_draws_stay_effective_where_the_data_say_much():
    found = fit(grid_cells(5000))
    assert found.effective > 500
    assert np.median(found.success([40], [500])) == pytest.approx(truth(40, 500), abs=0.02)


def test_trainings_of_one_recipe_that_differ_make_the_spread_large():
    alike = [CellCounts(20, 0, k, 50) for k in (25, 26, 24, 25)]
    apart = [CellCounts(20, 0, k, 50) for k in (5, 45, 15, 35)]
    assert np.median(fit(apart).spread) < 0.2 * np.median(fit(alike).spread)
    assert width(fit(apart), 20, 0) > 1.5 * width(fit(alike), 20, 0)


def test_a_simulation_that_hurts_is_found():
    alone, mixed = ((20, 60), (50, 80)), ((20, 30), (50, 55))
    cells = [CellCounts(n, 0, k, 100) for n, k in alone]
    cells += [CellCounts(n, 500, k, 100) for n, k in mixed]
    assert np.mean(fit(cells).surfaces.transfer < 0) > 0.7
    twice = [*cells, *(CellCounts(c.n_real, c.n_sim, c.k + 1, c.n) for c in cells)]
    assert np.mean(fit(twice).surfaces.transfer < 0) > 0.95


def test_too_few_effective_draws_are_said():
    found = fit(CELLS)
    rough = type(found)(found.surfaces, found.spread, found.models, 80.0, found.cells)
    assert "80 effective draws" in (rough.note or "")


def test_the_likelihood_is_beta_binomial():
    found = fit(CELLS, draws=5)
    rate, s = found.success([10], [0])[:, 0], found.spread
    expected = special.betaln(2 + rate * s, 18 + (1 - rate) * s)
    expected -= special.betaln(rate * s, (1 - rate) * s)
    assert found.log_likelihood(CELLS[:1]) == pytest.approx(expected)


def test_outcomes_have_the_mean_and_the_spread_of_a_retraining():
    found = fit(CELLS, draws=20_000)
    seen = found.outcomes([10, 50], [0, 2000], [40, 40])
    assert seen.shape == (20_000, 2)
    assert seen.mean(axis=0) / 40 == pytest.approx(
        found.success([10, 50], [0, 2000]).mean(axis=0), abs=0.01
    )
    assert not np.array_equal(seen, found.outcomes([10, 50], [0, 2000], [40, 40], seed=1))


def test_twelve_cells_take_less_than_a_second():
    start = time.process_time()
    fit(grid_cells(50))
    assert time.process_time() - start < 1


def test_impossible_requests_are_refused():
    with pytest.raises(UsageError, match="successes <= trials"):
        CellCounts(10, 0, 3, 2)
    with pytest.raises(UsageError, match="demonstrations"):
        CellCounts(-1, 0, 1, 2)
    with pytest.raises(UsageError, match="at least 1 draw"):
        fit(CELLS, draws=0)


def test_runs_that_agree_exactly_do_not_draw_the_fit_to_where_gamma_functions_cancel():
    cells = [
        CellCounts(r, s, k, 600)
        for r, s, k in ((0, 1500, 440), (100, 0, 500), (10, 1500, 520))
        for _ in range(9)
    ]
    found = fit(cells)
    assert found.spread.max() <= 1e7
    for place, rate in (((0, 1500), 440 / 600), ((100, 0), 500 / 600), ((10, 1500), 520 / 600)):
        assert found.success([place[0]], [place[1]]).mean() == pytest.approx(rate, abs=0.03)
