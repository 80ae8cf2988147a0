import itertools
import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from simreal.core.errors import UsageError
from simreal.core.seeds import generator
from simreal.verdicts.agreement import Measured, agreement, mmrv, pearson, spearman
from simreal.verdicts.judged_schema import VALIDATE

REAL, SIM = (0.7, 0.5, 0.4, 0.1), (0.9, 0.6, 0.7, 0.2)
SIMPLER = (
    Path(__file__).parents[3] / "shared" / "real" / "simpler_real_perf" / "simpler_real_vs_sim.json"
)
#: MMRV and Pearson that the authors publish for each task.
PUBLISHED = {
    "google_robot_pick_coke_can": (0.031, 0.975),
    "google_robot_move_near": (0.111, 0.856),
    "google_robot_open_drawer": (0, 0.983),
    "google_robot_close_drawer": (0.123, 0.771),
    "google_robot_place_apple_in_closed_top_drawer": (0, 0.969),
    "widowx_spoon_on_towel": (0, 0.827),
    "widowx_carrot_on_plate": (0.111, 0.571),
    "widowx_stack_cube": (0, 1.0),
    "widowx_put_eggplant_in_basket": (0, 0.989),
}


def named(rates):
    return {f"policy {i}": Measured(float(rate)) for i, rate in enumerate(rates)}


def counted(rates, n=20):
    return {f"policy {i}": Measured.of(round(rate * n), n) for i, rate in enumerate(rates)}


def test_the_worked_example():
    assert mmrv(REAL, SIM) == pytest.approx(0.05)
    assert pearson(REAL, SIM) == pytest.approx(0.9511, abs=5e-5)


@pytest.mark.skipif(not SIMPLER.exists(), reason="the SIMPLER success rates are not here")
@pytest.mark.parametrize("task", PUBLISHED)
def test_the_published_table(task):
    table = json.loads(SIMPLER.read_text())
    real, sim = table["REAL_PERF"][task], table["SIMPLER_PERF"][task]
    rates = list(real.values()), [sim[policy] for policy in real]
    assert (mmrv(*rates), pearson(*rates)) == pytest.approx(PUBLISHED[task], abs=5e-4)


def test_mmrv_is_not_symmetric():
    real, sim = (0.733, 0.633, 0.583), (0.779, 0.354, 0.442)
    assert mmrv(real, sim) == pytest.approx(0.1 / 3)
    assert mmrv(sim, real) == pytest.approx(2 * 0.088 / 3)


RATES = st.lists(st.integers(0, 20).map(lambda k: k / 20), min_size=4, max_size=9)


@given(RATES, st.randoms())
def test_a_simulation_in_the_same_order_violates_nothing(rates, random):
    distorted = [rate**3 / 2 for rate in rates]
    assert mmrv(rates, distorted) == 0
    if len(set(rates)) > 1:
        assert spearman(rates, distorted) == pytest.approx(1)
    order = list(range(len(rates)))
    random.shuffle(order)
    other = [rates[i] for i in order]
    shuffled = mmrv([rates[i] for i in order], [other[i] for i in order])
    assert shuffled == pytest.approx(mmrv(rates, other))
    assert 0 <= mmrv(rates, other) <= 1


@given(RATES.flatmap(lambda r: st.tuples(st.just(r), st.permutations(r))))
def test_correlations_agree_with_scipy(pair):
    real, sim = pair
    if len(set(real)) == 1:
        assert pearson(real, sim) is None
        assert spearman(real, sim) is None
    else:
        assert pearson(real, sim) == pytest.approx(stats.pearsonr(real, sim).statistic)
        assert spearman(real, sim) == pytest.approx(stats.spearmanr(real, sim).statistic)


def test_agreement_reports_all_three_with_intervals():
    found = agreement(counted(REAL), counted(SIM))
    assert found.mmrv.value == pytest.approx(0.05)
    for one in (found.mmrv, found.pearson, found.spearman):
        assert one.ci[0] <= one.value <= one.ci[1]
    assert found.pearson.ci_policies[0] < found.pearson.value < found.pearson.ci_policies[1]
    assert found.mmrv.ci_policies is None
    assert found.spearman.value == pytest.approx(0.8)
    content = json.loads(json.dumps(found.to_json(), allow_nan=False))
    jsonschema.validate(content, VALIDATE)
    assert content["policies"][0] == {
        "arm": "policy 0",
        "sim": {"k": 18, "n": 20, "rate": 0.9, "ci": pytest.approx([0.699, 0.9721], abs=5e-5)},
        "real": {"k": 14, "n": 20, "rate": 0.7, "ci": pytest.approx([0.481, 0.8545], abs=5e-5)},
    }
    assert "all 24 assignments" in found.method
    assert agreement(counted(REAL), counted(SIM)) == found


def test_without_counts_only_policies_vary():
    found = agreement(named(REAL), named(SIM))
    assert (found.mmrv.ci, found.pearson.ci) == (None, None)
    assert found.pearson.ci_policies is not None
    assert "not all counts are known" in found.method
    jsonschema.validate(found.to_json(), VALIDATE)


def test_more_trials_leave_less_noise_and_repeats_do_not():
    few = agreement(counted(REAL), counted(SIM))
    many = agreement(counted(REAL, 2000), counted(SIM, 2000))
    width = [found.pearson.ci[1] - found.pearson.ci[0] for found in (few, many)]
    assert width[1] < 0.3 * width[0]
    repeated = {
        name: Measured(one.rate, one.k, one.n, (one.rate * 20, 20.0))
        for name, one in counted(REAL, 2000).items()
    }
    found = agreement(repeated, counted(SIM))
    assert found.pearson.ci[1] - found.pearson.ci[0] == pytest.approx(width[0], rel=0.1)


def test_the_p_value_counts_assignments():
    """By hand over all 24 of four policies: only the identity correlates so well."""
    rates = (0.1, 0.4, 0.5, 0.9)
    found = agreement(named(rates), named(rates))
    assert found.pearson.p == found.spearman.p == found.mmrv.p == pytest.approx(1 / 24)
    assert found.state == "agrees"
    assert agreement(named(rates), named(rates[::-1])).state == "disagrees"
    assert agreement(named(rates), named((0.4, 0.1, 0.9, 0.5))).state == "cannot tell"


@given(st.permutations([0.1, 0.2, 0.35, 0.5, 0.8]))
def test_the_exact_p_value_agrees_with_a_loop(sim):
    real = [0.15, 0.2, 0.4, 0.45, 0.9]
    found = agreement(named(real), named(sim))
    others = [pearson(real, order) for order in itertools.permutations(sim)]
    expected = np.mean([other >= found.pearson.value - 1e-12 for other in others])
    assert found.pearson.p == pytest.approx(expected)


def test_many_policies_are_assigned_at_random():
    rates = np.linspace(0.1, 0.9, 12)
    found = agreement(named(rates), named(rates))
    assert found.pearson.p == pytest.approx(1 / 10_000)
    assert "10,000 random assignments" in found.method


def test_chance_agrees_seldom():
    runs = 400
    agrees = 0
    for index in range(runs):
        random = generator(13, "agreement", index)
        agrees += (
            agreement(named(random.random(5).tolist()), named(random.random(5).tolist())).state
            == "agrees"
        )
    assert agrees / runs <= 0.05 + 2.5 * np.sqrt(0.05 * 0.95 / runs)


def test_the_interval_of_pearson_is_fishers():
    rates = np.linspace(0.1, 0.9, 8)
    sim = rates + np.array([0.05, -0.05, 0.1, 0, -0.1, 0.02, 0, -0.03])
    found = agreement(named(rates), named(sim))
    expected = stats.pearsonr(rates, sim).confidence_interval()
    assert found.pearson.ci_policies == pytest.approx((expected.low, expected.high))


def test_constant_rates_have_no_correlation():
    found = agreement(named([0.5] * 4), named(SIM))
    assert found.pearson is None
    assert found.spearman is None
    assert found.state == "cannot tell"
    jsonschema.validate(found.to_json(), VALIDATE)


def test_fewer_than_four_common_policies_are_refused():
    with pytest.raises(
        UsageError, match="at least 4 policies tried on both sides; got 3: policy 0"
    ):
        agreement(named(REAL), named(SIM[:3]))


@pytest.mark.parametrize(
    "bad", [((0.1, 0.2), (0.1,)), ((0.1,), (0.1,)), ((0.1, float("nan")), SIM[:2])]
)
def test_rates_that_do_not_fit_are_refused(bad):
    with pytest.raises(UsageError):
        mmrv(*bad)


def test_a_perfect_order_of_four_policies_is_no_certainty():
    """Fisher's interval has no width at 1, and once said +1.00 to +1.00."""
    found = agreement(named([0.1, 0.35, 0.4, 0.8]), named([0.1, 0.3, 0.5, 0.9]))
    assert found.spearman.value == pytest.approx(1)
    assert found.spearman.ci_policies is None
    assert found.pearson.ci_policies is not None
    jsonschema.validate(found.to_json(), VALIDATE)


def test_many_policies_take_memory_slice_by_slice(monkeypatch):
    rates = np.linspace(0, 1, 9)
    few = agreement(counted(rates, 50), counted(rates[::-1], 50))
    monkeypatch.setattr("simreal.verdicts.agreement._PAIRS", 300)
    assert agreement(counted(rates, 50), counted(rates[::-1], 50)) == few
