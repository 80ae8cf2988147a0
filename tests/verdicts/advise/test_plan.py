import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.verdicts.advise.surfaces import Plain

from simreal.verdicts.advise.beliefs import TRUSTING, believe
from simreal.verdicts.advise.plan import (
    DOUBLINGS,
    TRIALS,
    Bounds,
    Have,
    chances,
    least_passes,
    money,
    plan_of,
    walk,
)
from simreal.verdicts.advise.rates import Rates
from simreal.verdicts.advise.roads import Prospect
from simreal.verdicts.curves import CellCounts

RATES = Rates(real_demo=3.0, sim_demo=0.01, training=2.0, trial=1.0, setup=(0, 0))
HAVE = Have(50, 600)
CELLS = (
    CellCounts(50, 0, 30, 50, "real"),
    CellCounts(0, 600, 25, 50, "sim"),
    CellCounts(10, 600, 33, 50, "hybrid"),
)


def test_a_plan_starts_from_what_exists_and_doubles():
    real = plan_of("real-only", HAVE, CELLS)
    assert real.levels == ((100, 0), (200, 0), (400, 0), (800, 0))
    assert real.confirm == CELLS[0]
    hybrid = plan_of("hybrid", HAVE, CELLS)
    assert hybrid.levels[:2] == ((50, 600), (100, 1200))  # never trained on all that exists
    assert len(hybrid.levels) == DOUBLINGS + 1


def test_a_road_without_its_data_has_no_plan():
    assert plan_of("hybrid", Have(50, 0), CELLS[:1]) is None
    assert plan_of("sim-only", Have(50, 0), CELLS[:1]) is None
    assert plan_of("real-only", Have(0, 600), CELLS[1:2]) is None


def test_only_what_is_new_is_paid():
    spent, fresh = money(plan_of("hybrid", HAVE, CELLS), RATES)
    test = TRIALS * 1.0
    assert spent[0] == test  # the checkpoint that is there
    assert spent[1] == test + 2  # trained on what is there
    assert spent[2] == pytest.approx(50 * 3 + 600 * 0.01 + 2 + test)
    assert fresh[2] == pytest.approx(100 * 3 + 1200 * 0.01 + 2 + test) or fresh[2] == pytest.approx(
        50 * 3 + 600 * 0.01 + 2 + test
    )
    assert fresh[1] == pytest.approx(50 * 3 + 600 * 0.01 + 2 + test)


@pytest.mark.parametrize(("goal", "least"), [(0.85, 43), (0.8, 40), (0.9, 45), (0.99, 50)])
def test_successes_that_pass(goal, least):
    assert least_passes(goal) == least


def followed(rates, bounds, setup, odds, plan, random):
    """One walk in plain words."""
    spent, fresh = money(plan, rates)
    built = 0.0 if plan.road == "real-only" else setup
    total = built
    for stage, chance in enumerate(odds):
        extra = (bounds.variants - 1) * fresh[stage]
        over = total + spent[stage] + extra > bounds.budget
        if over or 5 * (stage + 1) > bounds.days:
            return (min(total, bounds.budget) if stage == 0 else total), False
        total += spent[stage]
        if random.random() < chance:
            return total + extra, True
    return total, False


@pytest.mark.parametrize(
    "bounds",
    [Bounds(), Bounds(budget=900), Bounds(days=10), Bounds(variants=3), Bounds(300, 15, 1)],
)
def test_closed_form_and_simulation_agree(bounds):
    plan = plan_of("hybrid", HAVE, CELLS)
    odds = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    setup = 40.0
    took = np.full((1, 6), 5.0)
    found = walk(plan, odds[None, :], RATES, bounds, np.array([setup]), took)
    random = np.random.default_rng(0)
    runs = [followed(RATES, bounds, setup, odds, plan, random) for _ in range(20_000)]
    costs, passed = (np.array(part, float) for part in zip(*runs, strict=True))
    assert found.p_reach == pytest.approx(passed.mean(), abs=0.015)
    assert found.mean == pytest.approx(costs.mean(), rel=0.02, abs=1)
    assert found.p50 == pytest.approx(np.quantile(costs, 0.5, method="inverted_cdf"))
    assert found.p90 == pytest.approx(np.quantile(costs, 0.9, method="inverted_cdf"))


def test_a_setup_beyond_the_budget_is_spent_for_nothing():
    plan = plan_of("hybrid", HAVE, CELLS)
    found = walk(plan, np.ones((1, 6)), RATES, Bounds(budget=500), np.array([800.0]))
    assert (found.p_reach, found.mean) == (0.0, 500.0)


@given(st.floats(10, 5000), st.floats(10, 5000), st.floats(0, 1))
def test_more_budget_never_lowers_the_chance(one, two, chance):
    plan = plan_of("real-only", HAVE, CELLS)
    odds = np.full((1, 5), chance)
    low, high = sorted((one, two))
    chances_ = [walk(plan, odds, RATES, Bounds(b), np.zeros(1)).p_reach for b in (low, high)]
    assert chances_[0] <= chances_[1] + 1e-12


def test_a_rate_far_above_the_goal_passes_and_far_below_does_not():
    for rate, expected in ((0.99, 1.0), (0.3, 0.0)):
        beliefs = believe(Plain(lambda r, s, p=rate: p), (), TRUSTING)
        plan = plan_of("real-only", HAVE, ())
        assert chances(plan, beliefs, 0.85)[0] == pytest.approx(expected, abs=1e-4)


def test_what_passes_is_less_good_than_its_test_said():
    """Rates Beta(30, 10): the rate of those that pass 43 of 50, by simulation."""
    beliefs = believe(Plain(lambda r, s: 0.75, noise=40.0), (), TRUSTING)
    plan = plan_of("real-only", HAVE, ())
    passed, kept = chances(plan, beliefs, 0.85)
    random = np.random.default_rng(1)
    rates = random.beta(30, 10, 400_000)
    wins = random.binomial(50, rates) >= 43
    assert passed == pytest.approx(wins.mean(), abs=0.004)
    assert kept / passed == pytest.approx(rates[wins].mean(), abs=0.004)
    found = walk(plan, passed, RATES, Bounds(), np.zeros(len(passed)), kept=kept)
    assert found.after == pytest.approx(rates[wins].mean(), abs=0.004)
    assert found.after < 43 / 50


def test_nothing_is_said_of_what_cannot_pass():
    plan = plan_of("real-only", HAVE, CELLS)
    odds = np.full((1, 5), 0.5)
    broke = walk(plan, odds, RATES, Bounds(budget=1), np.zeros(1), kept=odds)
    assert (broke.p_reach, broke.after) == (0.0, None)


def test_without_confirmation_the_first_test_is_left_out():
    plan = plan_of("real-only", HAVE, CELLS)
    odds = np.arange(5.0)[None, :] / 10
    bare = Prospect(plan, odds, True).unconfirmed
    assert bare.plan.confirm is None
    assert bare.plan.start == CELLS[0]
    assert bare.passed.tolist() == [[0.1, 0.2, 0.3, 0.4]]
    assert len(bare.plan.places) == 4
