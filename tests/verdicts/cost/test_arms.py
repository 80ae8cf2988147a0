import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simreal.core.errors import BadDataError, UsageError
from simreal.core.types import Charge
from simreal.verdicts.cost import (
    KINDS,
    Arm,
    arm_costs,
    data_charges,
    ledger_total,
    purpose,
    saving,
)
from simreal.verdicts.cost.breakeven import (
    Variant,
    break_even,
    break_even_band,
    demonstration_cost,
    learning_curve_saving,
    planned_cost,
)
from simreal.verdicts.cost.prices import prices_from

ARMS = (Arm("sim-only", 600, 0), Arm("real-only", 0, 50), Arm("hybrid", 600, 20))
ROUND = prices_from(
    {
        "operator": 30,
        "robot": 5,
        "wear": 1,
        "machine": 0.5,
        "engineering": 100,
        "quality_check": 0.2,
        "setup_hours": 0,
    }
)
OWN_WAGE = {"operator": 30, "engineering": 100}


def charge(kind, quantity, unit="s", arm="shared", source="twin clock"):
    return Charge("2026-01-01T00:00:00Z", source, arm, kind, quantity, unit)


def costs(*charges, prices=ROUND, arms=ARMS):
    return {cost.name: cost for cost in arm_costs(charges, arms, prices)}


def test_an_hour_of_demonstrations_costs_operator_robot_and_wear():
    found = costs(charge("demonstration", 3600, arm="real-only"))["real-only"]
    assert found.total == pytest.approx(36)
    assert found.to_json() == {
        "total": found.total,
        "currency": "USD",
        "robot_h": 1,
        "operator_h": 1,
        "engineering_h": 0,
        "compute_h": 0,
    }
    assert found.by_kind == {"demonstration": pytest.approx(36)}
    assert found.stand_in


def test_seconds_minutes_and_hours_are_the_same_time():
    found = [
        costs(charge("train", q, unit, arm="hybrid"))["hybrid"].total
        for q, unit in ((7200, "s"), (120, "min"), (2, "h"))
    ]
    assert found == pytest.approx([1.0] * 3)


def test_simulation_is_charged_to_arms_with_simulation():
    found = costs(charge("simulate", 2, "h"), charge("engineering", 3, "h", source="user"))
    assert found["real-only"].total == 0
    assert found["sim-only"].total == found["hybrid"].total == pytest.approx(301)
    assert found["hybrid"].used["engineering"] == 3


def test_shared_demonstrations_are_charged_by_how_many_an_arm_uses():
    found = costs(charge("demonstration", 5, "h"), charge("demonstration", 50, "count"))
    assert found["real-only"].total == pytest.approx(5 * 36 + 50 * 0.2)
    assert found["hybrid"].total == pytest.approx((5 * 36 + 50 * 0.2) * 20 / 50)
    assert found["sim-only"].total == 0


def test_one_charge_may_name_several_arms():
    found = costs(charge("train", 2, "h", arm="sim-only+hybrid"))
    assert [found[arm.name].total for arm in ARMS] == pytest.approx([1, 0, 1])


def test_the_ledger_counts_each_charge_once():
    charges = [charge("demonstration", 1, "h"), charge("simulate", 2, "h")]
    assert ledger_total(charges, ROUND) == pytest.approx(37)


def test_robot_time_measured_on_a_robot_is_no_stand_in():
    found = costs(charge("trial", 1, "h", arm="hybrid", source="robot clock"))
    assert not found["hybrid"].stand_in


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (charge("coffee", 1), "Unknown kind of charge 'coffee'"),
        (charge("train", 1, "days"), "Unknown unit of a charge 'days'"),
        (charge("train", 1, arm="sim_only"), "Did you mean 'sim-only'"),
        (charge("train", -1), "between 0 and"),
        (charge("train", float("nan")), "between 0 and"),
    ],
)
def test_a_bad_charge_is_refused(bad, message):
    with pytest.raises((UsageError, BadDataError), match=message):
        costs(bad)


def test_building_a_simulation_nobody_measured_is_a_band_beside_the_total():
    found = costs(charge("simulate", 1, "h"), prices=prices_from({}))
    assert found["sim-only"].setup == (40 * 75, 160 * 150)
    assert found["real-only"].setup is None
    assert found["sim-only"].total < 1
    assert "setup_hours" in found["sim-only"].assumptions


def test_measured_engineering_takes_the_place_of_the_assumption():
    found = costs(charge("engineering", 12, "h", source="clock"), prices=prices_from(OWN_WAGE))
    assert found["sim-only"].setup is None
    assert found["sim-only"].total == pytest.approx(1200)
    assert found["sim-only"].assumptions == ()


def test_declared_setup_hours_enter_the_total_of_arms_with_simulation():
    found = costs(charge("simulate", 0, "h"), prices=prices_from({**OWN_WAGE, "setup_hours": 10}))
    assert [found[arm.name].total for arm in ARMS] == pytest.approx([1000, 0, 1000])
    assert found["sim-only"].used["engineering"] == 10


LEDGER = (
    charge("demonstration", 100, "h"),
    charge("simulate", 30, "h"),
    charge("train", 2, "h", arm="sim-only"),
    charge("train", 3, "h", arm="hybrid"),
)


def test_no_headline_where_the_setup_is_a_default():
    prices = prices_from({})
    found = costs(*LEDGER, prices=prices)
    result = saving(found["real-only"], found["hybrid"], prices)
    assert not result.headline
    assert result.band[0] < 0 < result.value < 1
    assert result.band[0] <= result.value <= result.band[1] + 1


def test_a_headline_where_all_that_matters_is_known():
    found = costs(*LEDGER)
    result = saving(found["real-only"], found["hybrid"], ROUND)
    assert result.headline
    assert result.band == pytest.approx((result.value, result.value))
    assert result.value == pytest.approx(1 - (40 * 36 + 30 * 0.5 + 3 * 0.5) / 3600)


def test_the_price_of_the_setup_must_be_known_too():
    prices = prices_from({"setup_hours": 10})
    found = costs(*LEDGER, prices=prices)
    assert not saving(found["real-only"], found["hybrid"], prices).headline


@given(st.floats(20, 60), st.floats(0.1, 3), st.floats(1, 4), st.floats(0, 1))
def test_the_band_holds_every_price_in_it(operator, compute, wear, mix):
    prices = prices_from({"setup_hours": 5, "engineering": {"low": 75, "high": 150}})
    found = costs(*LEDGER, prices=prices)
    result = saving(found["real-only"], found["hybrid"], prices)
    inside = prices_from(
        {
            "setup_hours": 5,
            "operator": min(45, max(25, operator)),
            "machine": min(0.6, max(0.34, compute)),
            "wear": wear,
            "engineering": 75 + 75 * mix,
        }
    )
    exact = costs(*LEDGER, prices=inside)
    value = 1 - exact["hybrid"].total / exact["real-only"].total
    assert result.band[0] - 1e-9 <= value <= result.band[1] + 1e-9


def test_a_free_reference_is_refused():
    found = costs(charge("train", 1, "h", arm="hybrid"))
    with pytest.raises(UsageError, match="'real-only' cost nothing"):
        saving(found["real-only"], found["hybrid"], ROUND)


def test_every_kind_is_priced_or_counted():
    for kind in KINDS.keys() - {"avoided"}:
        unit = "count" if kind == "incident" else "h"
        prices = prices_from({"incident": 100})
        assert ledger_total([charge(kind, 1, unit)], prices) > 0, kind


def test_what_was_avoided_is_counted_and_costs_nothing():
    assert ledger_total([charge("avoided", 9, "count")], prices_from({"incident": 100})) == 0


def test_validation_is_paid_by_the_arms_with_simulation():
    found = costs(charge("validation", 2, "h"), charge("validation_trial", 1, "h"))
    assert [found[arm.name].total for arm in ARMS] == pytest.approx([206, 0, 206])
    assert found["sim-only"].used["operator"] == 0


def test_resets_of_trials_are_no_cost_of_data():
    resets = [charge("reset", 1, "h"), charge("reset", 2, "h", arm="hybrid")]
    resets[1] = replace(resets[1], note="20 trials on a [trials/hybrid/0/a/nominal/0]")
    assert [purpose(c) for c in resets] == ["real data", "trials"]
    both = [*resets, charge("train", 1, "h"), charge("avoided", 1, "count")]
    assert data_charges(both) == (resets[0],)


def test_every_kind_has_a_purpose():
    assert {purpose(charge(kind, 1, "h")) for kind in KINDS} >= {"simulator", "training", "trials"}


def test_json_is_json():
    for cost in costs(*LEDGER).values():
        json.dumps(cost.to_json(), allow_nan=False)


AMOUNT = st.floats(0, 1e4)


@given(st.floats(0.1, 1e4), st.floats(0.1, 50), st.floats(0, 1), AMOUNT, AMOUNT, AMOUNT)
def test_a_cost_reduction_never_exceeds_the_share_of_data_saved(
    n, c_real, saved, setup, training, simulated
):
    real = planned_cost([Variant(n, 0, training)], c_real, 0)
    hybrid = planned_cost([Variant((1 - saved) * n, simulated, training)], c_real, 0.05, setup)
    assert 1 - hybrid / real <= saved + 1e-9


@given(st.floats(1, 1e5), st.floats(0.1, 50), st.floats(0.05, 1))
def test_at_the_break_even_both_roads_cost_the_same(setup, c_real, saved):
    n = break_even(setup, c_real, saved)
    real = planned_cost([Variant(n, 0)], c_real, 0)
    hybrid = planned_cost([Variant((1 - saved) * n, 0)], c_real, 0, setup)
    assert hybrid == pytest.approx(real)


def test_break_even_at_the_ends():
    assert break_even(0, 3, 0.5) == 0
    assert break_even(100, 3, 0) == float("inf")
    assert break_even_band((100, 400), 2, 0.5) == (100, 400)
    with pytest.raises(UsageError, match="saved share"):
        break_even(1, 1, 1.5)


def test_incidents_are_paid_by_their_probability():
    variant = Variant(0, 0, incidents=((0.1, 500), (0.5, 10)))
    assert planned_cost([variant, variant], 1, 1, setup=7) == pytest.approx(7 + 2 * 55)


@pytest.mark.parametrize("bad", [{"usable": 0}, {"usable": 1.2}, {"minutes": -1}])
def test_an_impossible_demonstration_is_refused(bad):
    with pytest.raises(UsageError):
        demonstration_cost(**{"minutes": 3, "usable": 0.9, "hourly": 40, **bad})


def test_an_impossible_power_law_is_refused():
    with pytest.raises(UsageError, match="uplift"):
        learning_curve_saving(1.5, 0.8)
