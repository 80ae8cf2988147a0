"""Declared goals, forces and suites: what is met only by its bound, and what is counted where."""

import dataclasses

import pytest
from tests.verdicts.studies import ARMS, ledger, rows, study

from simreal.verdicts.by_suite import by_suite, operator_of
from simreal.verdicts.cost import Arm
from simreal.verdicts.evidence import simulation_for
from simreal.verdicts.force import force_of
from simreal.verdicts.goals import Goal, goals_of
from simreal.verdicts.rates import clopper_pearson

TWINS = ("a", "b", "c")


def on_twins(arm, counts, n=100, suite="nominal"):
    return [r for t, k in zip(TWINS, counts, strict=True) for r in rows(arm, t, k, n, suite)]


def verdict(evidence, **goal):
    (found,) = goals_of(evidence, [Goal("A goal.", **goal)])
    return found


@pytest.mark.parametrize(
    ("k", "state"), [(100, "met"), (93, "not shown"), (85, "not shown"), (70, "missed")]
)
def test_a_rate_is_met_only_by_its_one_sided_bound(k, state):
    found = verdict(study(rows("hybrid", "twin", k, 100)), arm="hybrid", at_least=0.9)
    low, high = clopper_pearson(k, 100, 0.9)
    assert (found.state, found.estimate) == (state, k / 100)
    assert found.bounds == (low, high)


def test_targets_that_happen_to_agree_are_no_proof():
    evidence = study(on_twins("hybrid", (20, 20, 20), 20), targets=TWINS)
    found = verdict(evidence, arm="hybrid", at_least=0.97)
    assert found.estimate == 1.0
    assert found.state == "not shown"  # a t interval alone would have no width
    assert found.bounds[0] == pytest.approx(clopper_pearson(60, 60, 0.9)[0])


def test_targets_that_differ_widen_the_bound():
    evidence = study(on_twins("hybrid", (99, 99, 80)), targets=TWINS)
    assert verdict(evidence, arm="hybrid", at_least=0.85).state == "not shown"
    pooled = clopper_pearson(278, 300, 0.9)[0]
    assert verdict(evidence, arm="hybrid", at_least=0.85).bounds[0] < pooled - 0.1


def test_the_best_arm_pays_for_having_been_picked():
    trials = [*rows("hybrid", "twin", 97, 100), *rows("real-only", "twin", 60, 100)]
    alone = verdict(study(trials), arm="hybrid", at_least=0.92)
    best = verdict(study(trials), arm="best", at_least=0.92)
    assert alone.state == "met"
    assert best.state == "not shown"
    assert best.bounds[0] == pytest.approx(clopper_pearson(97, 100, 1 - 0.1 / 2)[0])
    assert "hybrid: 97 of 100" in best.method
    assert "corrected for 2 arms" in best.method


def test_a_variant_is_not_the_best_arm():
    arms = (*ARMS, Arm("blind", 0, 50))
    evidence = study(rows("blind", "twin", 100, 100), arms=arms, variants=("blind",))
    assert verdict(evidence, arm="best", at_least=0.5).state == "not tested here"
    assert verdict(evidence, arm="blind", at_least=0.5).state == "met"


def test_the_operator_is_counted_by_attempts():
    operator = {"a": {"wide": (58, 60)}, "b": {"wide": (60, 60), "nominal": (3, 4)}}
    evidence = study([], targets=("a", "b"), operator=operator)
    found = verdict(evidence, arm="operator", suite="wide", at_least=0.9)
    assert "118 of 120 on 2 targets" in found.method
    assert found.bounds[0] < 58 / 60
    few = verdict(evidence, arm="operator", at_least=0.9)
    assert (few.state, few.bounds) == ("not shown", (0.0, 1.0))
    assert verdict(evidence, arm="operator", suite="tight", at_least=0.9).state == "not tested here"
    assert next((o["target"], o["suite"], o["k"], o["n"]) for o in operator_of(evidence)) == (
        ("a", "wide", 58, 60)
    )


LESS = {"arm": "hybrid", "against": "real-only", "margin": 0.05, "less_real": 0.9}


@pytest.mark.parametrize(
    ("counts", "state"),
    [((90, 91, 92), "met"), ((90, 80, 95), "not shown"), ((70, 71, 72), "missed")],
)
def test_not_worse_with_less_real_data(counts, state):
    arms = (Arm("real-only", 0, 100), Arm("hybrid", 600, 10))
    trials = [*on_twins("hybrid", counts), *on_twins("real-only", (90, 90, 90))]
    found = verdict(study(trials, arms=arms, targets=TWINS), **LESS)
    assert found.state == state
    assert "hybrid (10 real) minus real-only (100 real)" in found.method
    assert "t interval over 3 targets" in found.method


def test_too_much_real_data_is_no_saving():
    trials = [*rows("hybrid", "twin", 90, 100), *rows("real-only", "twin", 90, 100)]
    found = verdict(study(trials), **LESS)  # 20 of 50
    assert (found.state, found.method) == (
        "not tested here",
        "needs hybrid with at most 5 real demonstrations",
    )


def test_nothing_less_than_no_real_data():
    arms = (Arm("real-only", 600, 0), Arm("hybrid", 600, 0))
    trials = [*rows("hybrid", "twin", 95, 100), *rows("real-only", "twin", 90, 100)]
    found = verdict(study(trials, arms=arms), **LESS)
    assert (found.state, found.method) == (
        "not tested here",
        "needs real-only with real demonstrations, of which to have less",
    )
    assert verdict(study(trials, arms=arms), **{**LESS, "less_real": 0.0}).state == "met"


def test_a_goal_that_asks_for_no_saving_takes_any_data():
    trials = [*rows("hybrid", "twin", 95, 100), *rows("sim-only", "twin", 80, 100)]
    arms = (Arm("sim-only", 600, 0), Arm("hybrid", 600, 20))
    found = verdict(study(trials, arms=arms), arm="hybrid", against="sim-only", margin=0.05)
    assert found.state == "met"


def pressed(arm, target, forces, failure=None):
    return [
        dataclasses.replace(r, peak_force=f, seconds=4.0 + i, failure=failure)
        for i, (r, f) in enumerate(zip(rows(arm, target, 6, len(forces)), forces, strict=True))
    ]


def test_forces_are_counted_against_the_limit_and_by_their_failure():
    trials = [
        *pressed("hybrid", "a", [10, 20, 30, 30.1, 5, 5, 5, 5]),
        *pressed("hybrid", "b", [10] * 10),
        *pressed("hybrid", "sim", [12] * 7, failure="force stop"),
        *rows("real-only", "a", 3, 9),  # no force was measured
    ]
    evidence = study(trials, targets=("a", "b"), force_limit_n=30)
    cells = {(c["arm"], c["place"]): c for c in force_of(evidence)["cells"]}
    assert set(cells) == {("hybrid", "simulation"), ("hybrid", "targets")}
    on = cells["hybrid", "targets"]
    assert (on["within"]["k"], on["within"]["n"]) == (17, 18)
    assert on["lower"] == clopper_pearson(17, 18, side="lower")[0]
    assert on["over_targets"]["mean"] == pytest.approx((7 / 8 + 1) / 2)
    assert on["peak_n"]["p50"] == 10
    assert (on["successes"], on["cycle_s"]["p50"]) == (12, 6.5)
    assert cells["hybrid", "simulation"]["within"]["k"] == 0
    assert force_of(study(trials, targets=("a", "b"))) is None
    found = verdict(evidence, arm="hybrid", of="force", at_least=0.5)
    assert "17 of 18" in found.method


def test_every_suite_has_its_own_gap_of_its_own_checkpoints():
    sims = [simulation_for("sim", t) for t in ("a", "b")]
    trials = [
        *rows("hybrid", sims[0], 90, 100),
        *rows("hybrid", sims[1], 80, 100),
        *rows("hybrid", "a", 70, 100),
        *rows("hybrid", "b", 60, 100),
        *rows("hybrid", sims[0], 50, 100, "tight"),
        *rows("hybrid", "a", 45, 100, "tight"),
        *rows("sim-only", "sim", 90, 100),
        *rows("sim-only", "a", 80, 100),
        *rows("sim-only", "b", 40, 100),
    ]
    evidence = study(trials, targets=("a", "b"))
    found = {(e["arm"], e["suite"]): e for e in by_suite(evidence)}
    nominal = found["hybrid", "nominal"]
    assert (nominal["sim"]["k"], nominal["sim"]["n"]) == (170, 200)
    assert nominal["gap"]["points"] == pytest.approx(0.2)
    assert nominal["gap"]["ci"] == pytest.approx([0.2, 0.2])  # 20 points on each target
    assert nominal["over_targets"]["mean"] == pytest.approx(0.65)
    assert [(t["name"], t["k"], t["n"]) for t in nominal["targets"]] == [
        ("a", 70, 100),
        ("b", 60, 100),
    ]
    assert found["hybrid", "tight"]["gap"]["points"] == pytest.approx(0.05)
    assert found["hybrid", "tight"]["over_targets"] is None
    assert found["sim-only", "nominal"]["gap"]["points"] == pytest.approx(0.3)


def test_roads_leave_out_variants_and_what_they_took():
    arms = (*ARMS, Arm("blind", 0, 50), Arm("deaf", 0, 50))
    charges = (
        *ledger(),
        *(dataclasses.replace(ledger()[2], arm=a) for a in ("blind", "hybrid+deaf")),
    )
    evidence = study(
        [*rows("blind", "twin", 1, 10), *rows("hybrid", "twin", 1, 10)],
        arms=arms,
        charges=charges,
        variants=("blind", "deaf"),
    ).roads()
    assert [arm.name for arm in evidence.arms] == [arm.name for arm in ARMS]
    assert {row.arm for row in evidence.trials} == {"hybrid"}
    assert [c.arm for c in evidence.charges][-1] == "hybrid"
    assert set(evidence.costs) == {arm.name for arm in ARMS}
