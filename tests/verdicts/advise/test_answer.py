import json
import time

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.verdicts.studies import BUILT, cells, rows, study

from simreal.core.errors import UsageError
from simreal.core.types import Charge
from simreal.report.advice import advice_lines
from simreal.verdicts.advise import ADVICE_STATES, Limits, Request, advise
from simreal.verdicts.advise.increment import LARGEST_STEP
from simreal.verdicts.cost import Arm
from simreal.verdicts.cost.prices import prices_from
from simreal.verdicts.rates import clopper_pearson
from simreal.verdicts.schemas import schema

ARMS = (
    Arm("real-10", 0, 10),
    Arm("real-50", 0, 50),
    Arm("sim-only", 600, 0),
    Arm("hybrid-10", 600, 10),
    Arm("hybrid-50", 600, 50),
)


def ledger():
    """50 real demonstrations for 2.50 each, 600 simulated ones, five trainings."""
    when = "2026-01-01T00:00:00Z"
    return (
        Charge(when, "twin clock", "shared", "demonstration", 125 / 37.55, "h"),
        Charge(when, "process clock", "shared", "simulate", 2.0, "h"),
        *(Charge(when, "process clock", arm.name, "train", 1.0, "h") for arm in ARMS),
    )


def pilot(real=(10, 27), sim=28, hybrid=(36, 41), n=50, **more):
    counts = (real[0], real[1], sim, hybrid[0], hybrid[1])
    trials = [r for a, k in zip(ARMS, counts, strict=True) for r in rows(a.name, "twin", k, n)]
    return study(trials, arms=ARMS, **{"charges": ledger(), **more})


def test_a_road_is_advised_with_all_that_it_rests_on():
    found = advise(pilot(), Request(0.85))
    assert (found.state, found.road, found.strategy) == ("advice", "hybrid", "hybrid-50")
    assert 0.8 <= found.p_reach <= 1
    assert found.p_reach == {r.road: r for r in found.roads}["hybrid"].p_reach
    assert found.next.trials == 50
    assert found.runner_up == "real-50"
    assert found.evpi >= max(m.value for m in found.evsi) - 1e-6
    assert any("real-only is taken if it needs fewer" in flip for flip in found.flips)
    text = " ".join(found.assumptions)
    assert "43 of 50" in text
    assert "only the next increment" in text


def test_next_is_the_next_increment_only():
    for request in (Request(0.85), Request(0.95), Request(0.7)):
        for counts in ({}, {"hybrid": (20, 30)}, {"real": (30, 44)}):
            found = advise(pilot(**counts), request)
            assert found.next.n_real <= 2 * 50
            assert found.next.n_sim <= 2 * 600


def test_far_away_no_strategy_reaches_it():
    found = advise(pilot(real=(1, 1), sim=0, hybrid=(1, 2)), Request(0.95, budget=200))
    assert (found.state, found.strategy, found.p_reach) == ("no strategy reaches it", None, None)
    assert "within the budget" in found.reason


def test_little_evidence_is_not_enough_and_names_a_measurement():
    found = advise(pilot(real=(1, 3), sim=3, hybrid=(4, 4), n=6), Request(0.9))
    assert found.state == "not enough evidence"
    assert found.strategy is None
    assert found.next.why.startswith("Next: ")
    assert found.next.trials == 50


def test_an_unbuilt_simulator_that_does_not_pay_is_not_to_be_built():
    evidence = pilot(real=(20, 38), sim=15, hybrid=(38, 41), prices=prices_from({}))
    found = advise(evidence, Request(0.8))
    assert (found.state, found.road) == ("do not build a simulator", "real-only")
    assert "would be taken if it were there" in found.reason
    there = advise(evidence, Request(0.8, built=True))
    assert (there.state, there.road) == ("advice", "hybrid")


def test_simulation_that_hurts_is_not_to_be_built():
    found = advise(pilot(real=(14, 36), sim=1, hybrid=(2, 5)), Request(0.75))
    assert (found.state, found.road) == ("do not build a simulator", "real-only")
    assert "lower success" in found.reason


def test_many_variants_spread_the_setup():
    prices = prices_from({"setup_hours": 20, "engineering": 100})
    evidence = pilot(real=(15, 33), sim=30, hybrid=(40, 42), prices=prices)
    one, many = (advise(evidence, Request(0.8, variants=n)) for n in (1, 200))
    assert one.road == "real-only"
    assert many.road == "hybrid"
    said = next(flip for flip in one.flips if "variants of the task" in flip)
    assert 1 < int(said.split("from ")[1].split(" ")[0]) <= 200


@pytest.mark.parametrize("stage_days", [None, 5])
def test_time_ends_a_plan_like_money(stage_days):
    evidence = pilot()
    free, late = (
        advise(evidence, Request(0.85, days=days, stage_days=stage_days)) for days in (1000, 5)
    )
    chance = {r.road: r.p_reach for r in free.roads}
    for road in late.roads:
        assert road.p_reach <= chance[road.road] + 1e-9
    assert sum(r.p_reach for r in late.roads) < sum(chance.values())


def test_an_arm_that_is_shown_to_reach_it_needs_no_forecast():
    found = advise(pilot(hybrid=(36, 50)), Request(0.85))
    assert (found.state, found.strategy) == ("advice", "hybrid-50")
    assert "shown to reach" in found.reason
    assert found.roads


def test_without_a_target_roads_are_judged_by_the_best_rate():
    found = advise(pilot())
    assert found.goal == pytest.approx(41 / 50)
    assert not found.wanted
    assert {r.road for r in found.roads} == {"real-only", "hybrid", "sim-only"}


def test_a_single_cell_makes_no_surface():
    found = advise(study(cells(hybrid=50), arms=(Arm("hybrid", 600, 20),)), Request(0.85))
    assert found.roads == ()
    assert found.evpi is None


def test_unsafe_roads_are_barred():
    evidence = pilot()
    trials = [*evidence.trials]
    for arm, collisions in (("hybrid-10", 20), ("hybrid-50", 20)):
        trials += rows(arm, "sim", 250, 300, collisions=collisions)
    for arm in ("real-10", "real-50", "sim-only"):
        trials += rows(arm, "sim", 250, 300)
    found = advise(
        study(trials, arms=ARMS, charges=ledger()), Request(0.85, Limits(collisions=0.02))
    )
    assert "hybrid" not in {r.road for r in found.roads}
    assert found.road != "hybrid"


def test_precision_bars_sim_only():
    limits = Limits(tolerance_mm=1, bias_mm=2, spread_mm=1)
    found = advise(pilot(sim=40), Request(0.85, limits))
    assert "sim-only" not in {r.road for r in found.roads}


def test_sim_only_without_trials_on_the_target_may_only_be_measured():
    trials = [r for r in pilot().trials if r.arm != "sim-only"]
    found = advise(study(trials, arms=ARMS, charges=ledger()), Request(0.85))
    assert {r.road: r.tried for r in found.roads}["sim-only"] is False
    assert found.road != "sim-only"


@pytest.mark.parametrize(
    "bad",
    [
        {"confidence": 0.3},
        {"confidence": 1},
        {"budget": 0},
        {"variants": 0},
        {"stage_days": 3},
        {"days": 0, "stage_days": 1},
    ],
)
def test_requests_that_cannot_be_are_refused(bad):
    with pytest.raises(UsageError):
        Request(0.8, **bad)


def test_it_answers_in_a_few_seconds():
    start = time.process_time()
    advise(pilot(prices=prices_from({})), Request(0.85, budget=5000, variants=3))
    assert time.process_time() - start < 5


COUNTS = st.tuples(st.integers(0, 50), st.integers(0, 50))


@settings(max_examples=15)
@given(
    st.dictionaries(st.sampled_from([a.name for a in ARMS]), COUNTS, max_size=5),
    st.one_of(st.none(), st.floats(0.05, 0.95)),
    st.sampled_from([None, 300.0, 3000.0]),
    st.sampled_from([BUILT, prices_from({})]),
)
def test_every_answer_keeps_the_rules(counts, target, budget, prices):
    trials = [r for arm, (k, n) in counts.items() for r in rows(arm, "twin", min(k, n), n)]
    evidence = study(trials, arms=ARMS, charges=ledger(), prices=prices)
    request = Request(target, budget=budget)
    found = advise(evidence, request)
    assert found == advise(evidence, request)
    assert found.state in ADVICE_STATES
    silent = found.state in ("not enough evidence", "no strategy reaches it")
    assert (found.strategy is None) == silent
    if found.strategy is not None and target is not None:
        rate = evidence.pooled_rate(found.strategy)
        shown = clopper_pearson(rate.k, rate.n, 0.9)[0] >= target - 1e-9
        assert shown or found.p_reach >= request.confidence
        assert rate.n >= 5
    assert found.next.n_real <= LARGEST_STEP * 50
    assert found.next.n_sim <= LARGEST_STEP * 600
    content = json.loads(json.dumps(found.to_json(), allow_nan=False))
    jsonschema.validate(content, schema("advice"), cls=jsonschema.Draft202012Validator)
    assert max(map(len, advice_lines(found))) <= 80


def test_repeats_of_a_condition_count_once_on_the_roads_too():
    once = pilot(charges=())
    thrice = study(once.trials * 3, arms=ARMS)
    assert advise(thrice, Request(0.85)).roads == advise(once, Request(0.85)).roads


def test_success_that_falls_with_more_data_is_said():
    arms = (Arm("r10", 0, 10), Arm("r100", 0, 100))
    trials = [*rows("r10", "twin", 50, 100), *rows("r100", "twin", 20, 100)]
    found = advise(study(trials, arms=arms), Request(0.8))
    assert any(
        "success falls from 50/100 at 10 real to 20/100 at 100" in a for a in found.assumptions
    )


def test_days_without_sense_are_named():
    with pytest.raises(UsageError, match="days until the deadline are a number above 0; got 0"):
        Request(0.8, days=0.0)
    with pytest.raises(UsageError, match="days of a stage are a number above 0; got inf"):
        Request(0.8, days=3.0, stage_days=float("inf"))
