"""Trials of variants and target into an explanation: sums, pairs, counts, schema, refusals."""

import jsonschema
import numpy as np
import pytest

from simreal.core.errors import BadDataError
from simreal.core.seeds import generator
from simreal.verdicts.compare import estimate
from simreal.verdicts.explain import CAVEAT, EXPLANATION, Case, explanation
from simreal.verdicts.intervals import newcombe, tango
from simreal.verdicts.pairing import match
from simreal.verdicts.records import TrialRow

FACTORS = ("visual", "dynamics", "sensing", "actuation")
CASE = Case("sim-only", 0, "twin-7", "stand-in (simulated)", "bench (by hand)", FACTORS, FACTORS)


def rows(successes, first=0, failure="missed", target="v"):
    return [
        TrialRow(str(first + i), bool(s), "a", target, failure=None if s else failure)
        for i, s in enumerate(successes)
    ]


def variants(n=40, drops=(0.3, 0.1, 0.0, 0.0), seed=0):
    level = generator(seed, "explain").random(n)
    return [
        rows(level < 0.9 - sum(d for i, d in enumerate(drops) if s >> i & 1)) for s in range(16)
    ]


def real(n=30, rate=0.4, first=0):
    return rows(generator(1, "explain real").random(n) < rate, first, "slipped", "twin-7")


def test_it_is_valid_and_its_parts_add_up():
    found = explanation(CASE, variants(), real())
    jsonschema.validate(found, EXPLANATION)
    total = sum(f["share"] for f in found["factors"])
    assert total == pytest.approx(found["sim"]["rate"] - found["calibrated"]["rate"], abs=1e-12)
    assert found["explained"]["points"] == pytest.approx(total)
    assert [f["name"] for f in found["factors"]] == list(FACTORS)
    assert found["note"] == CAVEAT
    assert "no causal claim about the robot" in CAVEAT


def test_the_cells_name_their_factors():
    found = explanation(CASE, variants(), real())
    assert len(found["cells"]) == 16
    by_factors = {tuple(c["factors"]): c for c in found["cells"]}
    assert by_factors[()]["k"] == found["sim"]["k"]
    assert by_factors[FACTORS]["k"] == found["calibrated"]["k"]
    assert by_factors["visual", "sensing"]["k"] == by_factors["visual",]["k"]


def test_the_remainder_is_paired_where_conditions_are_shared():
    cells, target = variants(), real()
    found = explanation(CASE, cells, target)["unexplained"]
    pairs = [(a.success, b.success) for a, b in zip(cells[-1], target, strict=False)]
    b, c = sum(x > y for x, y in pairs), sum(x < y for x, y in pairs)
    assert found["paired"]
    assert found["n"] == 30
    assert found["points"] == pytest.approx((b - c) / 30)
    assert found["ci"] == pytest.approx(tango(b, c, 30))
    left_out = "10 conditions of one side alone left out"
    assert found["method"] == f"paired: Tango score interval, {left_out}; 95 %"


def test_without_shared_conditions_it_is_not():
    found = explanation(CASE, variants(), real(first=1000))["unexplained"]
    counts = explanation(CASE, variants(), real(first=1000))
    k, n = (counts["calibrated"][x] for x in ("k", "n"))
    assert not found["paired"]
    assert found["ci"] == pytest.approx(newcombe(k, n, counts["real"]["k"], 30))


def test_a_target_that_was_not_tried_leaves_the_remainder_open():
    found = explanation(CASE, variants(), [])
    jsonschema.validate(found, EXPLANATION)
    assert found["unexplained"]["points"] is None
    assert found["unexplained"]["ci"] == [-1, 1]
    assert found["real"] == {"k": 0, "n": 0, "rate": None, "ci": [0.0, 1.0]}
    assert found["failures"]["real"] == {}


def test_with_equal_conditions_gap_and_parts_agree():
    found = explanation(CASE, variants(), real(40))
    total = found["explained"]["points"] + found["unexplained"]["points"]
    assert found["gap"]["points"] == pytest.approx(total)
    sim, target = variants()[0], real(40)
    keyed = [{r.condition: r.success for r in x} for x in (sim, target)]
    assert found["gap"]["ci"] == pytest.approx(estimate(match(*keyed)).ci)


def test_failures_are_counted_on_each_side():
    found = explanation(CASE, variants(), real())
    sides = found["failures"]
    assert sides["sim"] == {"missed": found["sim"]["n"] - found["sim"]["k"]}
    assert sides["real"] == {"slipped": found["real"]["n"] - found["real"]["k"]}


def test_earlier_trials_in_simulation_are_compared_with_the_nominal_variant():
    cells = variants()
    again = [TrialRow(r.condition, not r.success) for r in cells[0][:3]] + cells[0][3:10]
    assert explanation(CASE, cells, [], again)["recorded"] == {"n": 10, "differ": 3}
    assert explanation(CASE, cells, [])["recorded"] == {"n": 0, "differ": 0}


def test_what_the_profile_says_nothing_about_is_marked_and_left_out_of_pairs():
    case = Case("a", 0, "t", "", "p", FACTORS, ("visual", "sensing"))
    found = explanation(case, variants(drops=(0.3, 0, 0.2, 0)), [])
    assert [f["described"] for f in found["factors"]] == [True, False, True, False]
    assert [p["factors"] for p in found["interactions"]] == [["visual", "sensing"]]


def test_two_factors_that_hurt_together_show_as_an_interaction():
    """Each alone is harmless; with both on, all is lost."""
    good, bad = np.ones(30), np.zeros(30)
    cells = [rows(bad if s & 1 and s >> 2 & 1 else good) for s in range(16)]
    found = explanation(CASE, cells, [])
    by_name = {f["name"]: f for f in found["factors"]}
    for name in ("visual", "sensing"):
        assert by_name[name]["share"] == pytest.approx(0.5)
        assert (by_name[name]["first_in"], by_name[name]["last_in"]) == (0, 1)
    assert by_name["dynamics"]["share"] == by_name["actuation"]["share"] == 0
    strong = [p["factors"] for p in found["interactions"] if p["ci"][0] > 0]
    assert strong == [["visual", "sensing"]]


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([*variants(40)[:15], variants(39)[15]], "Variant 15 was tried from 39 conditions"),
        ([*variants(40)[:15], [*variants(40)[15], *variants(1)[0]]], "from 41 conditions"),
        ([r[:4] for r in variants()], "4 conditions; an explanation needs 5 or more"),
        ([[TrialRow(str(i), None) for i in range(9)]] * 16, "has no outcome"),
    ],
)
def test_variants_without_common_conditions_are_refused(cells, words):
    with pytest.raises(BadDataError, match=words):
        explanation(CASE, cells, [])
