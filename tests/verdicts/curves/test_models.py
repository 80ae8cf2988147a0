import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simreal.core.errors import UsageError
from simreal.verdicts.curves import MODELS, Prior, Surfaces
from simreal.verdicts.curves.models import ADDITIVE, EXCHANGE, MULTIPLICATIVE

COUNTS = st.integers(0, 5000)
NORMAL = st.lists(st.floats(-3, 3), min_size=8, max_size=8)


def surface(model, transfer, shape, *, c=0.03, e0=0.97, tau=20.0, gamma=0.9, kappa=1.0):
    values = (c, e0, tau, gamma, kappa, transfer, shape)
    return Surfaces(np.array([model]), *(np.array([float(v)]) for v in values))


#: tau 20, gamma .9, m .8, h 300, c .03, e0 .97.
MODEL_B = surface(MULTIPLICATIVE, 0.8, 300)


def test_model_b_needs_the_reference_numbers():
    assert MODEL_B.needed(0.85)[0] == pytest.approx(176.9264, abs=5e-5)
    assert MODEL_B.needed(0.85, 1000)[0] == pytest.approx(48.1118, abs=5e-5)


def test_each_model_is_its_formula():
    n_real, n_sim = 30.0, 400.0
    power = lambda n: 0.03 + 0.94 * (1 + n / 20) ** -0.9  # noqa: E731
    rate = {
        "additive": 1 - power(n_real + 50 * 400 / 700),
        "multiplicative": 1 - (0.03 + (power(n_real) - 0.03) * (1 - 0.8 * 400 / 700)),
        "exchange": 1 - power(n_real + 2 * 400**0.5),
    }
    found = {
        "additive": surface(ADDITIVE, 50, 300),
        "multiplicative": MODEL_B,
        "exchange": surface(EXCHANGE, 2, 0.5),
    }
    assert set(found) == set(MODELS)
    for name, one in found.items():
        assert one.success(n_real, n_sim)[0, 0] == pytest.approx(rate[name], abs=1e-12)


def test_a_steep_curve_has_a_threshold():
    steep = surface(ADDITIVE, 0, 300, kappa=4.0)
    plain = surface(ADDITIVE, 0, 300)
    assert steep.success(20, 0) == pytest.approx(plain.success(20, 0))
    assert steep.success(2, 0) - 0.03 < 0.01 * (plain.success(2, 0) - 0.03)
    assert steep.success(60, 0) > plain.success(60, 0) + 0.2
    assert steep.success(steep.needed(0.85), 0)[0, 0] == pytest.approx(0.85)


@given(st.sampled_from(range(3)), NORMAL, COUNTS, COUNTS, COUNTS)
def test_success_lies_within_its_ceiling_and_grows_with_real_data(model, z, n_real, more, n_sim):
    one, spread = Prior().surfaces(model, np.array([z]))
    rates = one.success([n_real, n_real + more], [n_sim, n_sim])[0]
    assert 0 <= rates[0] <= rates[1] + 1e-12
    assert rates[1] <= 1 - one.floor[0] + 1e-12
    assert one.floor[0] <= one.start[0] <= 1
    assert spread[0] > 0


@given(st.sampled_from(range(3)), NORMAL, COUNTS, COUNTS, COUNTS)
def test_simulation_that_helps_never_lowers_success_and_one_that_hurts_never_raises_it(
    model, z, n_real, n_sim, more
):
    one, _ = Prior().surfaces(model, np.array([z]))
    before, after = one.success([n_real, n_real], [n_sim, n_sim + more])[0]
    assert (after - before) * np.sign(one.transfer[0]) >= -1e-12


@given(st.sampled_from(range(3)), NORMAL, st.floats(0.05, 0.95), st.integers(0, 2000))
def test_the_needed_data_reaches_the_goal_and_a_little_less_does_not(model, z, goal, n_sim):
    one, _ = Prior().surfaces(model, np.array([z]))
    need = float(one.needed(goal, n_sim)[0])
    if not np.isfinite(need):
        assert 1 - one.floor[0] <= goal + 1e-9
        return
    assert one.success(need, n_sim)[0, 0] >= goal - 1e-9
    if need > 1e-6:
        assert one.success(need * 0.99, n_sim)[0, 0] <= goal + 1e-9


def test_a_goal_above_the_ceiling_is_never_reached():
    assert np.isinf(MODEL_B.needed(0.98)[0])


def test_the_prior_holds_simulations_that_hurt():
    z = np.random.default_rng(0).standard_normal((20_000, 8))
    for model in range(len(MODELS)):
        one, _ = Prior().surfaces(model, z)
        assert np.mean(one.transfer < 0) == pytest.approx(0.1, abs=0.01)


def test_wrong_questions_are_refused():
    with pytest.raises(UsageError, match="goal"):
        MODEL_B.needed(1.0)
    with pytest.raises(UsageError, match=">= 0"):
        MODEL_B.success(-1, 0)
