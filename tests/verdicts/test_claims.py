import itertools
import json
import tomllib
from importlib import resources

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.architecture.tree import ROOT
from tests.verdicts.studies import ARMS, BUILT, cells, ledger, rows, study

from simreal.verdicts.claim_parts import in_range
from simreal.verdicts.claim_tests import TESTS
from simreal.verdicts.claims import CLAIM_STATES, all_claims, evaluate_claims
from simreal.verdicts.cost import Arm
from simreal.verdicts.cost.prices import prices_from

#: The fixed list. A claim may be added; none may go.
IDS = {
    "sim-only-85",
    "gap-12",
    "gap-10-15",
    "real-no-gap",
    "backgrounds-15-25",
    "distractors",
    "orientations",
    "precision-10-20",
    "precision-10-20-wide",
    "precision-10-20-tight",
    "cost-70-90",
    "cost-5-10x",
    "hybrid-80",
    "mix-90-10",
    "choice",
}


def found(evidence):
    return {verdict.claim.id: verdict for verdict in evaluate_claims(evidence)}


def state(evidence, claim):
    return found(evidence)[claim].state


def test_every_claim_is_listed_once_with_words_and_a_test():
    claims = all_claims()
    assert {c.id for c in claims} == IDS
    assert len(claims) == len(IDS)
    assert all(c.text.endswith(".") and c.test in TESTS for c in claims)


def test_the_list_at_the_root_is_the_one_that_the_package_reads():
    listed = ROOT / "studies" / "claims.toml"
    assert listed.read_text() == resources.files("simreal.verdicts").joinpath(
        "claims.toml"
    ).read_text("utf-8")
    assert {entry["id"] for entry in tomllib.loads(listed.read_text())["claim"]} == IDS


def test_without_any_trial_every_claim_is_not_tested_here():
    verdicts = evaluate_claims(study([], arms=(), targets=()))
    assert [v.claim for v in verdicts] == list(all_claims())
    assert {v.state for v in verdicts} == {"not tested here"}
    assert all(v.method.startswith("needs ") for v in verdicts)


SUITES = ("nominal", "backgrounds", "distractors", "orientations", "session", "unit")
CELL = st.tuples(
    st.sampled_from([a.name for a in ARMS]),
    st.sampled_from(["sim", "twin", "other"]),
    st.sampled_from(SUITES),
    st.integers(0, 12),
    st.integers(0, 12),
)


@settings(max_examples=40)
@given(st.lists(CELL, max_size=8), st.booleans(), st.sampled_from(["lift", "insert"]))
def test_no_claim_ever_vanishes(drawn, priced, task):
    trials = [r for arm, t, s, k, n in drawn for r in rows(arm, t, min(k, n), n, s)]
    evidence = study(
        trials, charges=ledger() if priced else (), targets=("twin", "other"), task=task
    )
    verdicts = evaluate_claims(evidence)
    assert [v.claim.id for v in verdicts] == [c.id for c in all_claims()]
    for verdict in verdicts:
        assert verdict.state in CLAIM_STATES
        content = verdict.to_json()
        assert set(content) == {"id", "state", "estimate", "ci", "method"}
        json.dumps(content, allow_nan=False)
        if verdict.state in ("supported", "contradicted") and verdict.ci:
            assert verdict.ci[0] <= verdict.ci[1]


@pytest.mark.parametrize(
    ("k", "expected"), [(95, "supported"), (70, "contradicted"), (87, "cannot tell")]
)
def test_sim_only_85(k, expected):
    assert state(study(cells(sim_only=k)), "sim-only-85") == expected


def test_a_rate_over_several_targets_rests_on_the_targets():
    trials = [r for t, k in (("a", 99), ("b", 97), ("c", 80)) for r in rows("sim-only", t, k, 100)]
    verdict = found(study(trials, targets=("a", "b", "c")))["sim-only-85"]
    assert verdict.state == "cannot tell"
    assert verdict.estimate == pytest.approx(0.92)
    assert "over 3 targets" in verdict.method


def test_fewer_than_five_trials_support_nothing():
    assert state(study(cells(n=4, sim_only=4)), "sim-only-85") == "cannot tell"


@pytest.mark.parametrize(
    ("sim", "twin", "expected"),
    [(1800, 1560, "supported"), (1900, 1300, "contradicted"), (180, 156, "cannot tell")],
)
def test_gap_12(sim, twin, expected):
    n = 2000 if sim > 1000 else 200
    trials = rows("sim-only", "sim", sim, n) + rows("sim-only", "twin", twin, n)
    verdict = found(study(trials))["gap-12"]
    assert verdict.state == expected
    assert verdict.estimate == pytest.approx((sim - twin) / n)


def test_no_gap_at_all_contradicts_ten_to_fifteen_points():
    trials = rows("sim-only", "sim", 180, 200) + rows("sim-only", "twin", 180, 200)
    assert state(study(trials), "gap-10-15") == "contradicted"


def real_only(own, session=None, unit=None, n=200):
    places = (("nominal", own), ("session", session), ("unit", unit))
    return [
        r for suite, k in places if k is not None for r in rows("real-only", "twin", k, n, suite)
    ]


def test_real_no_gap_needs_another_session_and_unit():
    assert state(study(real_only(180)), "real-no-gap") == "not tested here"
    assert state(study(real_only(180, session=180)), "real-no-gap") == "cannot tell"
    assert state(study(real_only(180, 180, 180, n=2000)), "real-no-gap") == "supported"
    assert state(study(real_only(180, 180, 120)), "real-no-gap") == "contradicted"
    assert state(study(real_only(180, session=120)), "real-no-gap") == "contradicted"


def test_backgrounds_are_held_against_the_strongest_real_only_recipe():
    arms = (*ARMS, Arm("real-varied", 0, 60))
    trials = [
        *cells(sim_only=90, real_only=80, real_varied=92),
        *cells(n=1000, suite="backgrounds", sim_only=700, real_only=100, real_varied=500),
    ]
    verdict = found(study(trials, arms=arms))["backgrounds-15-25"]
    assert verdict.state == "supported"
    assert verdict.estimate == pytest.approx(0.2)
    assert "sim-only minus real-varied" in verdict.method


@pytest.mark.parametrize(
    ("sim", "real", "expected"),
    [(80, 40, "supported"), (40, 80, "contradicted"), (50, 45, "cannot tell")],
)
def test_distractors(sim, real, expected):
    trials = [
        r
        for arm, k in (("sim-only", sim), ("real-only", real))
        for r in rows(arm, "twin", k, 100, "distractors", seed=0)
    ]
    trials += cells(sim_only=90, real_only=80)
    if expected == "cannot tell":  # conditions that do not succeed together
        trials = [r if r.arm == "sim-only" or r.suite == "nominal" else flipped(r) for r in trials]
    assert state(study(trials), "distractors") == expected


def flipped(row):
    from dataclasses import replace

    return replace(row, condition=str(99 - int(row.condition)))


def test_precision_is_tested_on_insertion_only():
    trials = cells(n=1000, real_only=850, sim_only=700)
    assert state(study(trials), "precision-10-20") == "not tested here"
    assert state(study(trials, task="insert"), "precision-10-20") == "supported"


def matched(charges, prices=BUILT, sim=90, **more):
    trials = cells(n=400, sim_only=4 * sim, real_only=360)
    return found(study(trials, charges=charges, prices=prices, **more))


def test_costs_are_compared_where_success_matches():
    # 10 h * (35 + .05 + 2.5) = 375.5 against 20 h * .47 = 9.4 to simulate
    verdict = matched(ledger())["cost-70-90"]
    assert verdict.state == "contradicted"
    assert verdict.estimate == pytest.approx(1 - 9.4 / 375.5)
    assert matched(ledger(sim_hours=10))["cost-5-10x"].state == "contradicted"
    # Price bands on both sides leave more room than the claimed range.
    assert matched(ledger(sim_hours=160))["cost-70-90"].state == "cannot tell"


def test_with_prices_of_ones_own_a_saving_can_be_supported():
    own = {"operator": 35, "wear": 2, "machine": 0.5, "engineering": 100, "setup_hours": 0}
    found = matched(ledger(sim_hours=120), prices=prices_from(own))
    assert found["cost-70-90"].estimate == pytest.approx(1 - 60 / 370.5)
    assert found["cost-70-90"].state == "supported"
    assert found["cost-5-10x"].estimate == pytest.approx(370.5 / 60)
    assert found["cost-5-10x"].state == "supported"


def test_cheaper_and_worse_is_no_saving():
    verdict = matched(ledger(sim_hours=160), sim=60)["cost-70-90"]
    assert verdict.state == "cannot tell"
    assert verdict.estimate is None
    assert "not shown to match" in verdict.method


def test_an_unknown_setup_leaves_a_band_and_no_headline():
    verdict = matched(ledger(sim_hours=160), prices=prices_from({}))["cost-70-90"]
    assert verdict.estimate is None
    assert verdict.ci[0] < -5
    assert "set-up cost is a default" in verdict.method
    assert verdict.state == "cannot tell"  # a verdict never rests on an assumed set-up cost


def test_no_ledger_no_cost_claim():
    assert matched(())["cost-70-90"].state == "not tested here"


def hybrid_80(k, n_real=10, n=400):
    arms = (Arm("real-only", 0, 50), Arm("hybrid", 600, n_real))
    return found(study(cells(n=n, real_only=9 * n // 10, hybrid=k), arms=arms))["hybrid-80"]


def test_hybrid_80():
    assert hybrid_80(360).state == "supported"
    assert hybrid_80(380).state == "supported"
    assert hybrid_80(300).state == "contradicted"
    assert hybrid_80(38, n=40).state == "supported"
    assert hybrid_80(34, n=40).state == "cannot tell"
    assert "10 real) minus real-only (50 real)" in hybrid_80(360).method


def test_hybrid_with_more_real_data_does_not_test_80_percent_less():
    verdict = hybrid_80(360, n_real=20)
    assert verdict.state == "not tested here"
    assert "at most 10 real" in verdict.method


def mixes(**successes):
    arms = (
        Arm("m50", 500, 500, sim_share=0.5),
        Arm("m90", 900, 100, sim_share=0.9),
        Arm("m99", 990, 10, sim_share=0.99),
    )
    trials = [r for arm, k in successes.items() for r in rows(arm, "twin", k, 400)]
    return found(study(trials, arms=tuple(a for a in arms if a.name in successes)))["mix-90-10"]


def test_mix_90_10():
    assert mixes(m50=340, m90=360, m99=350).state == "supported"
    assert mixes(m50=380, m90=340, m99=350).state == "contradicted"
    assert mixes(m90=360).state == "not tested here"
    assert mixes(m50=340, m99=350).state == "not tested here"


def test_the_share_of_a_mixture_is_counted_where_it_is_not_fixed():
    arms = (Arm("a", 180, 20), Arm("b", 100, 100))
    trials = rows("a", "twin", 90, 100) + rows("b", "twin", 50, 100)
    assert state(study(trials, arms=arms), "mix-90-10") == "supported"


def test_choice_asks_whether_the_advice_changes():
    def choice(*strategies):
        named = {f"s{i}": s for i, s in enumerate(strategies)}
        return state(study([], strategies=named), "choice")

    assert choice("hybrid") == "not tested here"
    assert choice("hybrid", "real-only") == "supported"
    assert choice("hybrid", "hybrid", "hybrid") == "contradicted"


def test_ranges_are_read_strictly():
    ends = [0.05, 0.10, 0.12, 0.15, 0.20]
    for low, high in itertools.combinations(ends, 2):
        inside = low >= 0.10 and high <= 0.15
        outside = high < 0.10 or low > 0.15
        expected = "supported" if inside else "contradicted" if outside else "cannot tell"
        assert in_range((low, high), 0.10, 0.15) == expected
        assert in_range((low, high), 0.10, 0.15, enough=False) == "cannot tell"
