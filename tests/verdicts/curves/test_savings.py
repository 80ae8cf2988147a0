import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simreal.core.errors import UsageError
from simreal.verdicts.cost.breakeven import learning_curve_saving
from simreal.verdicts.curves import CellCounts, Posterior, Surfaces, fit, saving
from simreal.verdicts.curves.models import ADDITIVE, MULTIPLICATIVE
from simreal.verdicts.curves.savings import saved_shares


def posterior(model, transfer, shape, *, c=0.03, e0=0.97, tau=20.0, gamma=0.9, kappa=1.0):
    """Every draw is the same surface."""
    values = (c, e0, tau, gamma, kappa, transfer, shape)
    one = Surfaces(np.full(10, model), *(np.full(10, float(v)) for v in values))
    return Posterior(one, np.full(10, 50.0), {}, 1000.0, ())


MODEL_B = posterior(MULTIPLICATIVE, 0.8, 300)


def test_the_saving_of_model_b():
    found = saving(MODEL_B, 0.85, 1000)
    assert found.state == "estimated"
    assert (found.p10, found.p50, found.p90) == pytest.approx((0.7281,) * 3, abs=5e-5)
    assert (found.reach_real, found.reach_hybrid, found.ceiling) == (1, 1, 0)


def test_far_up_the_curve_the_saving_is_that_of_the_power_law():
    found = saving(posterior(MULTIPLICATIVE, 0.7, 1e-9, c=0, e0=1, gamma=0.8), 0.999, 1000)
    assert learning_curve_saving(0.3, 0.8) == pytest.approx(0.7780, abs=5e-5)
    assert found.p50 == pytest.approx(0.7780, abs=1e-3)


def test_reach_counts_what_is_within_the_limit():
    found = saving(MODEL_B, 0.85, 1000, within=100)
    assert (found.reach_real, found.reach_hybrid) == (0, 1)
    assert found.p50 == pytest.approx(0.7281, abs=5e-5)


def test_a_goal_above_the_ceiling_is_not_estimable():
    found = saving(MODEL_B, 0.98, 1000)
    assert found.state == "not estimable"
    assert found.p50 is None
    assert found.ceiling == 1
    assert "not estimable" in found.sentence
    assert "not reachable in 100% of draws" in found.sentence


def test_a_simulation_that_hurts_saves_less_than_nothing():
    found = saving(posterior(ADDITIVE, -40, 300), 0.85, 300)
    assert found.p50 == pytest.approx(-20 / 176.9264, abs=1e-4)


def test_a_saving_without_lower_limit_stays_valid_json():
    found = saving(posterior(ADDITIVE, -4000, 300, e0=0.1), 0.85, 300)
    assert found.p10 == 0  # the goal needs no data on either road
    lost = saving(posterior(MULTIPLICATIVE, -1.5, 300, e0=0.14), 0.85, 300)
    assert lost.p50 == -math.inf
    assert lost.to_json()["p50"] is None
    assert "without lower limit" in lost.sentence


def test_shares_at_the_edges():
    inf = math.inf
    found = saved_shares(
        np.array([inf, inf, 10.0, 0.0, 0.0, 10.0]), np.array([inf, 5.0, inf, 0.0, 5.0, 0.0])
    )
    assert np.isnan(found[0])
    assert found[1:].tolist() == [1.0, -inf, 0.0, -inf, 1.0]


@given(st.floats(0.3, 0.95), st.integers(1, 5000))
def test_nothing_saves_more_than_all(goal, n_sim):
    found = saving(fit([CellCounts(20, 0, 10, 20)], draws=200), goal, n_sim)
    if found.p10 is not None:
        assert found.p10 <= found.p50 <= found.p90 <= 1
    assert found.reach_real <= 1 - found.ceiling + 1e-12


def test_a_saving_needs_simulated_data():
    with pytest.raises(UsageError, match="n_sim 0"):
        saving(MODEL_B, 0.85, 0)
