import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.verdicts.studies import ARMS, BUILT, cells, ledger, rows, study

from simreal.core.errors import UsageError
from simreal.verdicts.advise import Request
from simreal.verdicts.advise.case import ADVICE_STATES
from simreal.verdicts.advise.eligibility import Limits, collision_bound, within_tolerance
from simreal.verdicts.advise.increment import LARGEST_STEP, trials_needed
from simreal.verdicts.advise.measured import case_of, judge
from simreal.verdicts.advise.words import percent
from simreal.verdicts.cost import Arm
from simreal.verdicts.cost.prices import prices_from
from simreal.verdicts.rates import clopper_pearson


def advise(evidence, request):
    """What the measured arms alone say."""
    return judge(case_of(evidence, request))


def ask(trials, target=None, limits=None, **more):
    return advise(study(trials, **more), Request(target, limits or Limits()))


def test_the_only_arm_that_reaches_the_target_is_advised():
    found = ask(cells(sim_only=70, real_only=75, hybrid=95), 0.85)
    assert (found.state, found.strategy) == ("advice", "hybrid")
    assert "Only hybrid is shown to reach 85 %" in found.reason
    assert found.runner_up == "real-only"
    assert any("more failure" in flip for flip in found.flips)


def test_the_stated_failures_to_spare_are_right():
    found = ask(cells(hybrid=95), 0.85, arms=(ARMS[2],))
    words = found.flips[0].split()
    spare = int(words[words.index("with") + 1])
    assert clopper_pearson(95 - spare, 100, side="lower")[0] < 0.85
    assert clopper_pearson(95 - spare + 1, 100, side="lower")[0] >= 0.85


def test_of_those_that_reach_it_the_cheapest_is_advised():
    trials = cells(sim_only=95, real_only=96, hybrid=97)
    found = ask(trials, 0.85, charges=ledger())
    assert found.strategy == "sim-only"
    assert found.runner_up == "hybrid"
    assert found.cost.name == "sim-only"
    assert ask(trials, 0.85, charges=ledger(sim_hours=2000)).strategy == "real-only"


def test_without_a_ledger_the_least_real_data_is_advised():
    found = ask(cells(sim_only=70, real_only=96, hybrid=97), 0.85)
    assert found.strategy == "hybrid"
    assert "least real data" in found.reason


def test_break_even_not_reached_means_do_not_build():
    trials = cells(sim_only=95, real_only=96, hybrid=97)
    found = ask(trials, 0.85, charges=ledger(), prices=prices_from({}))
    assert (found.state, found.strategy) == ("do not build a simulator", "real-only")
    assert "3,000 to 24,000" in found.reason
    assert any("cheaper one if building the simulation costs less" in f for f in found.flips)


def test_a_saving_inside_the_assumed_setup_cost_decides_nothing():
    trials = cells(sim_only=95, real_only=96)
    found = ask(trials, 0.85, charges=ledger(real_hours=250), prices=prices_from({}))
    assert found.state == "not enough evidence"
    assert "setup_hours" in found.next.why


def test_a_saving_beyond_any_assumed_setup_cost_is_advised():
    trials = cells(sim_only=95, real_only=96)
    found = ask(trials, 0.85, charges=ledger(real_hours=2000), prices=prices_from({}))
    assert (found.state, found.strategy) == ("advice", "sim-only")


def test_the_price_flip_is_where_both_cost_the_same():
    trials = cells(real_only=96, hybrid=97)
    evidence = study(trials, charges=ledger(real_hours=10, sim_hours=300))
    found = advise(evidence, Request(0.85))
    flip = next(f for f in found.flips if "a real demonstration costs less" in f)
    price = float(flip.split("USD ")[1].split(" ")[0])
    # 50 p + .47 = 20 p + 301 * .47
    assert price == pytest.approx(300 * 0.47 / 30, abs=0.01)
    assert f"(now {10 * 37.55 / 50:.2f})" in flip


def test_negative_transfer_means_do_not_build():
    trials = [
        r
        for arm, k in (("sim-only", 60), ("hybrid", 70), ("real-only", 97))
        for r in rows(arm, "twin", k, 100)
    ]
    found = ask(trials, 0.85, charges=ledger())
    assert (found.state, found.strategy) == ("do not build a simulator", "real-only")
    assert "shown to be worse" in found.reason


def test_open_questions_name_the_trials_that_would_help():
    found = ask(cells(n=20, sim_only=10, real_only=14, hybrid=19), 0.80)
    assert found.state == "not enough evidence"
    assert found.strategy is None
    assert found.next.arm == "hybrid"
    needed = 20 + found.next.trials
    assert clopper_pearson(int(0.95 * needed), needed, side="lower")[0] >= 0.80


def test_a_rate_under_the_target_asks_for_data_not_for_trials():
    found = ask(cells(n=20, real_only=14, hybrid=15), 0.80, arms=ARMS[1:])
    assert found.state == "not enough evidence"
    assert found.next.n_real == 40
    assert "twice the data" in found.next.why


def test_no_strategy_reaches_it():
    found = ask(cells(sim_only=40, real_only=50, hybrid=60), 0.85)
    assert found.state == "no strategy reaches it"
    assert found.strategy is None
    assert found.runner_up == "hybrid"


def test_an_untried_arm_keeps_the_question_open():
    found = ask(cells(real_only=50, hybrid=60), 0.85)
    assert found.state == "not enough evidence"
    assert found.next.arm == "sim-only"
    assert found.next.trials > 0


def test_sim_only_is_never_advised_on_faith():
    trials = [*rows("sim-only", "sim", 100, 100), *rows("sim-only", "twin", 3, 3)]
    found = ask(trials, 0.5, arms=ARMS[:1])
    assert found.state == "not enough evidence"
    assert "never advised without trials on the target" in found.eligibility[0].reasons[0]


def test_without_a_target_the_better_arm_is_advised():
    """Case C078: 17 of 20 against 5 of 20."""
    trials = cells(n=20, hybrid=17, real_only=5)
    found = ask(trials, arms=ARMS[1:])
    assert (found.state, found.strategy) == ("advice", "hybrid")
    assert "better than every other arm" in found.reason


def test_without_a_difference_the_trials_to_decide_are_named():
    """Case C078: 11 of 20 against 9 of 20, about 390 trials an arm for 10 points."""
    trials = [*rows("hybrid", "twin", 11, 20), *rows("real-only", "twin", 9, 20)]
    found = ask(trials, arms=ARMS[1:])
    assert found.state == "not enough evidence"
    assert "392 trials an arm" in found.next.why
    assert found.next.trials == LARGEST_STEP * 20


def test_equal_arms_are_decided_by_cost():
    trials = cells(n=400, real_only=360, hybrid=361)
    found = ask(trials, charges=ledger(sim_hours=10))
    assert (found.state, found.strategy) == ("advice", "hybrid")
    assert "at most 5 points behind" in found.reason
    dear = ask(trials, charges=ledger(sim_hours=1000))
    assert dear.strategy == "real-only"


def test_one_arm_alone_has_nothing_beside_it():
    assert ask(cells(hybrid=90), arms=ARMS[2:]).state == "not enough evidence"


def test_collisions_rule_an_arm_out():
    trials = [
        *cells(sim_only=95, hybrid=95),
        *rows("sim-only", "sim", 95, 300, collisions=0),
        *rows("hybrid", "sim", 95, 300, collisions=9),
    ]
    found = ask(trials, 0.85, Limits(collisions=0.02), arms=(ARMS[0], ARMS[2]))
    assert found.strategy == "sim-only"
    rule = {e.arm: e for e in found.eligibility}["hybrid"]
    assert not rule.eligible
    assert "9 of 300" in rule.reasons[0]


def test_unknown_collisions_are_not_taken_for_safe():
    found = ask(cells(hybrid=95), 0.85, Limits(collisions=0.02), arms=ARMS[2:])
    assert found.strategy is None
    assert "0 of 0 trials" in found.eligibility[0].reasons[0]


def test_precision_rules_out_sim_only_and_nothing_else():
    limits = Limits(tolerance_mm=1, bias_mm=2, spread_mm=1)
    found = ask(cells(sim_only=95, hybrid=95), 0.85, limits, arms=(ARMS[0], ARMS[2]))
    assert found.strategy == "hybrid"
    assert "±1 mm in only 8 %" in {e.arm: e for e in found.eligibility}["sim-only"].reasons[0]


def test_several_targets_are_judged_over_targets():
    targets = ("a", "b", "c")
    trials = [r for t in targets for r in rows("hybrid", t, 95, 100)]
    found = ask(trials, 0.85, arms=ARMS[2:], targets=targets)
    assert found.strategy == "hybrid"
    assert not any("One target" in a for a in found.assumptions)
    wild = [
        r for t, k in zip(targets, (99, 98, 60), strict=True) for r in rows("hybrid", t, k, 100)
    ]
    assert ask(wild, 0.80, arms=ARMS[2:], targets=targets).state == "not enough evidence"


def test_what_the_advice_rests_on_is_said():
    found = ask(cells(sim_only=70, real_only=96), 0.85, charges=ledger(), prices=prices_from({}))
    text = " ".join(found.assumptions)
    assert "One training seed" in text
    assert "One target" in text
    assert "stand-in (simulated)" in text
    assert "wear" in text


@pytest.mark.parametrize("target", [0, 1, 85, -0.2])
def test_a_target_in_per_cent_is_refused(target):
    with pytest.raises(UsageError, match="strictly between 0 and 1"):
        Request(target)


@pytest.mark.parametrize(
    "bad", [{"collisions": 2}, {"tolerance_mm": 1}, {"bias_mm": 1, "spread_mm": 1}]
)
def test_bad_limits_are_refused(bad):
    with pytest.raises(UsageError):
        Limits(**bad)


COUNTS = st.tuples(st.integers(0, 60), st.integers(0, 60))


@settings(max_examples=60)
@given(
    st.dictionaries(st.sampled_from([a.name for a in ARMS]), COUNTS, max_size=3),
    st.one_of(st.none(), st.floats(0.05, 0.95)),
    st.booleans(),
    st.sampled_from([BUILT, prices_from({})]),
)
def test_advice_keeps_its_rules(counts, target, priced, prices):
    trials = [r for arm, (k, n) in counts.items() for r in rows(arm, "twin", min(k, n), n)]
    evidence = study(trials, charges=ledger() if priced else (), prices=prices)
    found = advise(evidence, Request(target))
    assert found == advise(evidence, Request(target))
    assert found.state in ADVICE_STATES
    assert (found.strategy is None) == (
        found.state in ("not enough evidence", "no strategy reaches it")
    )
    if found.strategy is not None:
        rate = evidence.pooled_rate(found.strategy)
        assert rate.n >= 5
        if target is not None:
            assert clopper_pearson(rate.k, rate.n, side="lower")[0] >= target
    if found.state == "do not build a simulator":
        assert found.strategy == "real-only"
    assert found.next.n_real <= LARGEST_STEP * 50
    assert found.next.n_sim <= LARGEST_STEP * 600
    assert found.next.trials <= max(
        50, LARGEST_STEP * max((n for _, n in counts.values()), default=0)
    )
    json.dumps(found.to_json(), allow_nan=False)


@given(st.floats(0.5, 0.99), st.floats(0.3, 0.95))
def test_trials_needed_show_the_target(rate, target):
    n = trials_needed(rate, target, 400)
    if n is not None:
        assert rate > target
        assert clopper_pearson(int(rate * n), n, side="lower")[0] >= target


def test_data_of_one_kind_only_is_still_advised():
    arms = (Arm("scripted", 100, 0), Arm("other", 200, 0))
    trials = rows("scripted", "twin", 95, 100) + rows("other", "twin", 50, 100)
    assert ask(trials, 0.85, arms=arms).strategy == "scripted"


@given(st.floats(0.2, 20), st.floats(0, 10), st.floats(0.1, 5))
def test_precision_falls_with_bias_and_rises_with_tolerance(tolerance, bias, spread):
    hit = within_tolerance(tolerance, bias, spread)
    assert 0 <= hit <= 1
    assert within_tolerance(tolerance * 1.5, bias, spread) >= hit - 1e-12
    assert within_tolerance(tolerance, bias + 1, spread) <= hit + 1e-12


def test_collision_bound_of_no_trials_is_one():
    assert collision_bound(0, 0) == 1


def test_an_offset_of_many_spreads_still_has_a_chance():
    """scipy's non-central chi-square gives NaN there, and so was the reason worded."""
    assert within_tolerance(1e9, 1e9, 1e-9) == 0.5
    assert within_tolerance(1e200, 1.0, 1.0) == 1.0
    assert within_tolerance(1.0, 1e200, 1e-200) == 0.0
    near, far = (within_tolerance(x + 1.0, x, 1.0) for x in (999.0, 1001.0))
    assert near == pytest.approx(far, abs=1e-6)
    with pytest.raises(UsageError, match="tolerance > 0"):
        within_tolerance(float("inf"), 1.0, 1.0)


@pytest.mark.parametrize(
    ("rate", "said"),
    [(1.0, "100 %"), (0.999999, "99.9999 %"), (0.9936, "99.4 %"), (0.00001, "0.001 %"), (0, "0 %")],
)
def test_what_is_not_certain_is_not_said_to_be(rate, said):
    assert percent(rate) == said


def test_lost_trials_are_no_trials():
    """Nine trials without an outcome once made an arm eligible."""
    lost = [replace(row, success=None) for row in rows("sim-only", "twin", 0, 9)]
    found = judge(case_of(study([*lost, *rows("hybrid", "twin", 1, 1)]), Request(0.8)))
    assert found.state == "not enough evidence"
    assert "it has 0;" in found.reason
    assert "hybrid: 1 trial on the target; a verdict needs 5" in found.reason


def test_the_next_step_is_said_once():
    found = judge(case_of(study(rows("hybrid", "twin", 9, 9)), Request(0.8)))
    assert found.next.why
    assert found.next.why not in found.reason
