import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simreal.core.errors import UsageError
from simreal.verdicts.compare import compare
from simreal.verdicts.gap import gap, relative_drop, standardised_gap
from simreal.verdicts.rates import wilson


def outcomes(k, n, name="c"):
    return {(name, i): i < k for i in range(n)}


def test_json_has_the_documented_fields():
    content = gap(outcomes(45, 50), outcomes(30, 50)).to_json()
    fields = {"sim", "real", "paired", "points", "ci", "method", "relative_drop", "state"}
    assert set(content) == fields
    assert set(content["relative_drop"]) == {"value", "ci"}
    json.dumps(content, allow_nan=False)


def test_equal_conditions_are_paired():
    assert gap(outcomes(45, 50), outcomes(30, 50)).paired
    assert not gap(outcomes(45, 50, "s"), outcomes(30, 50, "r")).paired


def test_the_gap_is_the_comparison_of_simulation_with_target():
    sim, real = outcomes(45, 50), outcomes(30, 50)
    found, expected = gap(sim, real), compare(sim, real)
    assert (found.points, found.ci, found.state) == (
        expected.difference,
        expected.ci,
        expected.state,
    )
    assert found.state == "better"
    assert gap(real, sim).state == "worse"


def test_no_data():
    found = gap({}, {})
    assert found.points is None
    assert found.relative_drop is None
    assert found.state == "cannot tell"


def test_a_relative_drop_from_next_to_nothing_is_refused():
    assert wilson(6, 20)[0] < 0.2
    assert relative_drop(6, 20, 2, 20) is None
    assert relative_drop(9, 20, 2, 20) is not None


def test_nothing_left_on_the_target_is_a_full_drop():
    found = relative_drop(40, 50, 0, 50)
    assert found is not None
    assert found.value == 1
    assert found.ci[1] == 1
    assert found.ci[0] < 1


@given(st.integers(20, 60), st.integers(0, 60), st.integers(0, 40), st.integers(1, 40))
def test_the_drop_holds_its_value_and_has_the_sign_of_the_gap(k_sim, lost, k_real, more):
    n_sim, n_real = k_sim + lost, k_real + more
    found = relative_drop(k_sim, n_sim, k_real, n_real)
    if found is not None:
        assert found.ci[0] <= found.value <= found.ci[1] <= 1
        assert (found.value > 0) == (k_sim * n_real > k_real * n_sim)


STRATA = {"easy": 0.3, "hard": 0.7}


def strata(easy, hard, name):
    return {"easy": outcomes(*easy, name + "e"), "hard": outcomes(*hard, name + "h")}


def test_weights_decide_and_are_shown():
    sim, real = strata((19, 20), (8, 20), "s"), strata((18, 20), (4, 20), "r")
    found = standardised_gap(sim, real, STRATA)
    assert found.points == pytest.approx(0.3 * 0.05 + 0.7 * 0.2)
    assert "easy 0.3, hard 0.7" in found.method
    assert (found.sim.k, found.sim.n) == (27, 40)


def test_a_single_stratum_is_the_plain_gap():
    sim, real = {"all": outcomes(30, 40)}, {"all": outcomes(22, 40)}
    found, plain = standardised_gap(sim, real, {"all": 1.0}), gap(sim["all"], real["all"])
    assert found.points == pytest.approx(plain.points)
    assert found.ci == pytest.approx(plain.ci)
    assert found.paired


def test_strata_without_weight_are_listed():
    sim, real = strata((19, 20), (8, 20), "s"), strata((18, 20), (4, 20), "r")
    assert standardised_gap(sim, real, {"easy": 1.0}).excluded == ("hard",)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"easy": 0.5, "hard": 0.6}, "sum to 1"),
        ({"easy": 1.2, "hard": -0.2}, ">= 0"),
        ({}, "sum to 1"),
        ({"easy": 0.5, "odd": 0.5}, "odd"),
    ],
)
def test_bad_weights_are_refused(weights, message):
    sim, real = strata((19, 20), (8, 20), "s"), strata((18, 20), (4, 20), "r")
    with pytest.raises(UsageError, match=message):
        standardised_gap(sim, real, weights)


def test_a_stratum_tried_on_one_side_only_is_refused():
    sim = {"easy": outcomes(9, 10), "hard": outcomes(3, 10)}
    with pytest.raises(UsageError, match="hard"):
        standardised_gap(sim, {"easy": outcomes(9, 10)}, STRATA)


def test_the_relative_drop_counts_repeats_once_and_refuses_lost_trials():
    """Ten successes at one condition out of four are no rate of 10/20."""
    real = {i: i < 3 for i in range(40)}
    four = {i: (i < 2,) * 5 for i in range(4)}
    assert gap(four, real).relative_drop is None
    assert gap({i: i < 36 for i in range(40)}, real).relative_drop is not None
    assert gap({i: (i < 36) if i else None for i in range(40)}, real).relative_drop is None
