"""Economics: units of the ledger, money to reach a rate, break-even points, what was avoided."""

import dataclasses
import json

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.verdicts.studies import ARMS, cells, ledger, rows, study

from simreal.core.errors import UsageError
from simreal.core.types import STAND_IN, Charge
from simreal.verdicts.cost import arm_costs
from simreal.verdicts.cost.breakeven import Variant, planned_cost
from simreal.verdicts.cost.economics import cost_report, economics_of
from simreal.verdicts.cost.prices import prices_from
from simreal.verdicts.cost.schema import COST_REPORT, ECONOMICS
from simreal.verdicts.cost.usage import Units, draw_prices, training_hours, units_of
from simreal.verdicts.cost.variants import Match, break_even_entry

DEFAULTS = prices_from({})
OWN = {"operator": 30, "robot": 5, "wear": 1, "machine": 0.5, "quality_check": 0.2}
MATCHED = (*cells(200, hybrid=182, real_only=170, sim_only=150), *rows("hybrid", "sim", 90, 100))


def evidence(prices=DEFAULTS, trials=MATCHED, charges=None, **more):
    return study(trials, charges=ledger() if charges is None else charges, prices=prices, **more)


def charge(kind, quantity, unit="h", arm="shared", source="twin clock", note=""):
    return Charge("2026-01-01T00:00:00Z", source, arm, kind, quantity, unit, note)


def test_the_franka_preset():
    """STATISTICS: 10,000 demonstrations real 28,108.24, hybrid 13,277.65, break-even 3,204.19."""
    prices = prices_from(
        {"operator": 38.125, "robot": 5.625, "wear": 4, "machine": 1, "engineering": 100}
        | {"setup_hours": 72, "quality_check": 0}
    )
    hours = 3 / 60 / 0.85
    real = {"operator": hours, "robot": hours, "wear": hours}
    training = {"a": {"compute": 20.0}, "b": {"compute": 20.0}}
    units = Units(real, {"compute": 0.055}, training, None, {"engineering": 72.0}, None, False)
    found = Match(dataclasses.replace(ARMS[2], name="a", n_sim=8000, n_real=2000), ARMS[1], 0.8)
    found = dataclasses.replace(
        found, against=dataclasses.replace(ARMS[1], name="b", n_real=10_000)
    )
    entry = break_even_entry(found, units, prices, 1, built=False)
    assert entry["saving"] == pytest.approx([0.5276] * 2, abs=5e-5)
    free = dataclasses.replace(units, sim=None)
    entry = break_even_entry(found, free, prices, 1, built=False)
    assert entry["demonstrations"] == pytest.approx([3_204.19] * 2, abs=5e-3)
    assert break_even_entry(found, free, prices, 1, built=True)["demonstrations"] == [0, 0]


def test_units_of_a_ledger():
    found = units_of(evidence(), DEFAULTS)
    assert found.real == pytest.approx({"operator": 0.2, "robot": 0.2, "wear": 0.2})
    assert found.sim == pytest.approx({"compute": 20 / 600})
    assert found.training == {arm.name: {"compute": 1.0} for arm in ARMS}
    assert found.setup_hours == (40, 160)
    assert found.stand_in


def test_counts_of_the_ledger_come_before_those_of_the_arms():
    counted = (charge("demonstration", 100, "count"), charge("simulate", 1200, "count"))
    found = units_of(evidence(charges=(*ledger(), *counted)), DEFAULTS)
    assert found.real["operator"] == pytest.approx(0.1)
    assert found.real["quality_check"] == pytest.approx(1)
    assert found.sim["compute"] == pytest.approx(20 / 1200)


def test_resets_of_trials_belong_to_trials():
    note = "20 trials on a [trials/hybrid/0/a/nominal/0]"
    trials = (charge("trial", 4, arm="hybrid"), charge("reset", 6, arm="hybrid", note=note))
    found = units_of(evidence(charges=(*ledger(), *trials)), DEFAULTS)
    assert found.real["robot"] == pytest.approx(0.2)
    assert found.trial["robot"] == pytest.approx(10 / 600)


def test_a_training_is_one_of_all_seeds_and_comes_with_its_base():
    arms = tuple(dataclasses.replace(arm, seeds=(0, 1)) for arm in ARMS)
    spent = (
        charge("train", 8, arm="sim-only+hybrid"),
        charge("train", 6, arm="hybrid"),
        charge("train", 5, arm="real-only"),
    )
    found = evidence(charges=spent, arms=arms)
    hours = {arm.name: training_hours(found, arm) for arm in arms}
    assert hours == {"sim-only": (4, 0), "hybrid": (4, 3), "real-only": (0, 2.5)}


def test_economics_keep_their_schema_and_their_labels():
    found = economics_of(evidence())
    jsonschema.validate(json.loads(json.dumps(found, allow_nan=False)), ECONOMICS)
    by_name = {entry["arm"]: entry for entry in found["per_arm"]}
    assert by_name["real-only"]["label"] == by_name["hybrid"]["label"] == STAND_IN
    assert by_name["real-only"]["per_demonstration"] == {"real": pytest.approx(7.51), "sim": None}
    assert by_name["hybrid"]["setup"] == [3000, 24000]
    for entry in found["per_arm"]:
        assert sum(entry["stack"].values()) == pytest.approx(entry["total"])
    real = by_name["real-only"]
    assert real["per_success_point"] == pytest.approx(real["total"] / 85)


def test_no_ledger_no_economics():
    assert economics_of(evidence(charges=())) is None
    assert economics_of(evidence(prices=None)) is None
    with pytest.raises(UsageError, match="no charges yet"):
        cost_report(evidence(charges=()))


def test_the_set_up_is_a_band_and_never_a_headline_where_it_is_a_default():
    report = cost_report(evidence())
    jsonschema.validate(json.loads(json.dumps(report, allow_nan=False)), COST_REPORT)
    assert report["setup"] == [3000, 24000]
    assert not report["headline"]
    (first, *_) = report["break_even"]
    low, high = first["demonstrations"]
    assert 0 < low < high
    assert high / low > 8
    own = prices_from({**OWN, "setup_hours": 60, "engineering": 100})
    report = cost_report(evidence(prices=own))
    assert report["headline"]
    assert report["setup"] is None
    (first, *_) = report["break_even"]
    assert first["demonstrations"][0] == pytest.approx(first["demonstrations"][1])


def test_a_built_simulator_costs_nothing_more():
    spent = (*ledger(), charge("engineering", 50), charge("validation", 10))
    prices = prices_from({**OWN, "engineering": 100})
    before, after = (
        {e["arm"]: e["total"] for e in economics_of(found, built=built)["per_arm"]}
        for found, built in ((evidence(prices, charges=spent), b) for b in (False, True))
    )
    assert before["hybrid"] - after["hybrid"] == pytest.approx(6000)
    assert before["real-only"] == after["real-only"]
    assert {e["built"] for e in economics_of(evidence(), built=True)["break_even"]} == {True}


def test_costs_are_compared_only_where_success_is_shown_to_match():
    found = economics_of(evidence(trials=cells(50, hybrid=40, real_only=40, sim_only=10)))
    assert found["break_even"] == []
    assert "hybrid and sim-only not shown" in found["note"]
    lonely = economics_of(
        evidence(trials=cells(50, hybrid=40), arms=ARMS[2:], charges=ledger()[:2])
    )
    assert "needs a real-only arm" in lonely["note"]


def test_more_variants_share_the_set_up():
    entries = economics_of(evidence(), variants=(1, 4, 64), built=False)["break_even"]
    numbers = [entry["demonstrations"] for entry in entries]
    assert [entry["variants"] for entry in entries] == [1, 4, 64]
    assert numbers[0][0] > numbers[1][0] > numbers[2][0]
    assert numbers[0][1] > numbers[1][1] > numbers[2][1]


def test_money_to_reach_a_rate_rises_and_its_quantiles_are_in_order():
    reach = economics_of(evidence())["reach"]
    assert [road["road"] for road in reach] == ["real-only", "hybrid, 600 simulated", "sim-only"]
    for road in reach:
        points = road["points"]
        for point in points:
            known = [point[q] for q in ("p10", "p50", "p90") if point[q] is not None]
            assert known == sorted(known)
        middle = [p["p50"] for p in points if p["p50"] is not None]
        assert middle == sorted(middle)
    hybrid = reach[1]["points"][0]
    assert hybrid["p10"] > 3000


def test_without_a_curve_arms_stand_at_the_rate_they_reached():
    arms = ARMS[1:]
    spent = tuple(c for c in ledger() if c.arm != "sim-only")
    found = economics_of(
        evidence(trials=cells(100, hybrid=90, real_only=80), arms=arms, charges=spent)
    )
    assert [(r["road"], r["basis"], r["points"][0]["rate"]) for r in found["reach"]] == [
        ("real-only", "measured arm", 0.8),
        ("hybrid", "measured arm", 0.9),
    ]


def test_collisions_in_simulation_are_counted_and_priced_as_avoided():
    collided = rows("hybrid", "sim", 90, 100, collisions=7)
    found = evidence(trials=(*cells(200, hybrid=182, real_only=170), *collided))
    assert economics_of(found)["avoided"] == {"events": 7, "money": [0, 0]}
    priced = prices_from({**OWN, "incident": {"low": 10, "high": 50}})
    charged = (*ledger(), charge("avoided", 20, "count", source="simulation"))
    found = evidence(priced, found.trials, charged)
    assert economics_of(found)["avoided"] == {"events": 20, "money": [200, 1000]}
    real_only = evidence(
        trials=cells(50, real_only=40), arms=ARMS[1:2], charges=ledger()[:1], sim=None
    )
    assert economics_of(real_only)["avoided"] is None


def test_price_draws_stay_in_their_bands():
    drawn = draw_prices(DEFAULTS, 500)
    assert 25 <= drawn.values["operator"].min() < drawn.values["operator"].max() <= 45
    assert set(drawn.values["incident"]) == {0}
    again = draw_prices(DEFAULTS, 500)
    assert (drawn.values["wear"] == again.values["wear"]).all()


RAISED = st.floats(1, 3)
NAMES = ("operator", "robot", "wear", "machine", "engineering", "quality_check", "incident")


@given(st.sampled_from(NAMES), RAISED)
def test_totals_never_fall_when_a_price_rises(name, factor):
    base = {**OWN, "engineering": 100, "setup_hours": 10, "incident": 40}
    spent = (*ledger(), charge("incident", 2, "count", arm="hybrid"))
    totals = [
        [cost.total for cost in arm_costs(spent, ARMS, prices_from(p))]
        for p in (base, {**base, name: factor * base[name]})
    ]
    assert all(after >= before - 1e-9 for before, after in zip(*totals, strict=True))


@given(st.floats(0, 200), st.floats(0, 400), st.floats(0.05, 1), st.integers(1, 50), st.booleans())
def test_break_even_bands_are_ordered(low, more, saved, variants, built):
    prices = prices_from({"setup_hours": {"low": low, "high": low + more, "assumption": True}})
    units = units_of(evidence(prices), prices)
    found = Match(ARMS[2], ARMS[1], saved)
    entry = break_even_entry(found, units, prices, variants, built)
    assert 0 <= entry["demonstrations"][0] <= entry["demonstrations"][1]
    assert entry["saving"][0] <= entry["saving"][1] <= saved + 1e-9


@given(st.floats(0, 100), st.floats(0.1, 50), st.floats(0.001, 0.99), st.integers(1, 30))
def test_break_even_is_where_both_roads_cost_the_same(hours, c_real, saved, variants):
    prices = prices_from({**OWN, "operator": c_real, "robot": 0, "wear": 0, "engineering": 100})
    real = {"operator": 1.0}
    training = {"hybrid": {"compute": 3.0}, "real-only": {"compute": 1.0}}
    units = Units(real, {"compute": 0.01}, training, None, {"engineering": hours}, None, False)
    entry = break_even_entry(Match(ARMS[2], ARMS[1], saved), units, prices, variants, built=False)
    n = entry["demonstrations"][0]
    dear = planned_cost([Variant(n, 0, 0.5)] * variants, c_real, 0)
    other = planned_cost(
        [Variant((1 - saved) * n, 600, 1.5)] * variants, c_real, 0.005, 100 * hours
    )
    assert other == pytest.approx(dear, rel=1e-6)
