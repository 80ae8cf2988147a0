import numpy as np
import pytest
from benchmarks.advice_worlds import FAMILIES, INSIDE, world

from benchmarks import advice
from simreal.verdicts.advise.plan import Bounds


def test_more_than_half_of_the_worlds_lie_outside_the_fitted_models():
    outside = [world(seed).inside for seed in range(len(FAMILIES))].count(False)
    assert outside > len(FAMILIES) / 2
    assert set(INSIDE) <= set(FAMILIES)


@pytest.mark.parametrize("seed", range(16))
def test_a_world_is_a_truth_that_repeats(seed):
    one, two = world(seed), world(seed)
    places = [(0, 500), (10, 0), (50, 0), (50, 500), (400, 4000)]
    rates = [one.rate(*place) for place in places]
    assert rates == [two.rate(*place) for place in places]
    assert all(0 < rate < 1 for rate in rates)
    assert one.rates.setup[0] <= one.setup <= one.rates.setup[1]
    assert one.budget > 0


def test_following_a_plan_in_a_world_agrees_with_playing_it():
    w = world(1)
    state = advice.pilot(w)
    plan = advice.decided(w, state, advice.DEFAULT).survey.outlooks[0].plan
    found = advice.follow(w, state, plan)
    chances = advice.true_chances(w, plan, state)[0]
    free = 1 - np.prod(1 - chances)
    assert 0 <= found.p_reach <= free + 1e-12
    assert found.mean <= Bounds(w.budget).budget


@pytest.mark.slow
def test_the_advisor_is_calibrated_and_cheaper_than_fixed_rules():
    """A small version of the table in docs/advice.md, with loose bounds."""
    rows = [advice.run(world(2000 + i)) for i in range(48)]
    found = advice.figures(rows)
    assert abs(found.predicted - found.actual) < 0.15
    assert found.ratio < 1.3
    assert found.regret < min(found.fixed.values())
    assert 0.3 < found.advised < 0.97  # neither always silent nor always sure
    assert any(row.said == "unreachable" or row.first == "measure" for row in rows)
    for _, said, true in advice.calibration([p for row in rows for p in row.pairs]):
        assert abs(said - true) < 0.25
