from dataclasses import replace

import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.verdicts.studies import ARMS, rows

from simreal.core.errors import UsageError
from simreal.core.seeds import generator
from simreal.verdicts.compare import compare
from simreal.verdicts.evidence import DeclaredTest, Evidence
from simreal.verdicts.judged_schema import RECIPES
from simreal.verdicts.recipe import (
    PUBLISHED_SPREAD,
    compare_recipes,
    recipes_of,
    run_spread,
    seed_rates,
)


def seeds(*successes, n=100):
    return {seed: {i: i < k for i in range(n)} for seed, k in enumerate(successes)}


def test_one_seed_makes_no_claim_about_a_recipe():
    with pytest.raises(UsageError, match="With one seed only checkpoints can be compared"):
        compare_recipes(seeds(90), seeds(70, 71))


def test_checkpoints_may_differ_where_recipes_are_not_shown_to():
    a, b = seeds(98, 74), seeds(70, 78)
    assert compare(a[0], b[0]).state == "better"
    found = compare_recipes(a, b)
    assert found.state == "cannot tell"
    assert found.difference == pytest.approx(0.12)
    assert found.seeds == (2, 2)


def test_clear_recipes_are_told_apart():
    assert compare_recipes(seeds(95, 96, 94), seeds(60, 62, 61)).state == "better"
    assert compare_recipes(seeds(60, 62, 61), seeds(95, 96, 94)).state == "worse"


def test_the_spread_is_what_trials_do_not_explain():
    assert run_spread(seeds(80, 80, 80)) == PUBLISHED_SPREAD[0]
    wide = run_spread(seeds(60, 90, n=1000), seeds(600, 900, n=1000))
    assert wide > 0.1
    rates = np.array([0.6, 0.7, 0.8, 0.9])
    found = run_spread(seeds(*(int(1000 * r) for r in rates), n=1000))
    noise = (rates * (1 - rates) / 1000).mean()
    assert found == pytest.approx(np.sqrt(rates.var(ddof=1) - noise))


def test_the_declared_spread_enters_with_twice_its_variance():
    a, b = seeds(80, 80), seeds(70, 70)
    narrow, wide = compare_recipes(a, b, spread=0.0), compare_recipes(a, b, spread=0.05)
    half = narrow.ci[1] - narrow.difference
    assert wide.ci[1] - wide.difference == pytest.approx(
        np.sqrt(half**2 + 2 * (1.959964 * 0.05) ** 2)
    )
    assert "declared" in wide.method


@settings(max_examples=30)
@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 40), st.integers(0, 40))
def test_a_recipe_is_never_surer_than_its_checkpoints(k1, k2, k3, k4):
    a, b = seeds(k1, k2, n=40), seeds(k3, k4, n=40)
    found, bare = compare_recipes(a, b), compare_recipes(a, b, spread=0.0)
    assert found.ci[0] <= bare.ci[0] + 1e-12
    assert found.ci[1] >= bare.ci[1] - 1e-12
    other = compare_recipes(b, a)
    assert other.ci == pytest.approx((-found.ci[1], -found.ci[0]), abs=1e-9)


def test_seeds_without_trials_and_recipes_without_common_trials_are_refused():
    with pytest.raises(UsageError, match="seed 1 has no observed trial"):
        seed_rates({0: {0: True}, 1: {0: None}})
    with pytest.raises(UsageError, match="2 training seeds"):
        run_spread(seeds(5))


def study(*targets, **successes):
    """Arms with one number of successes of 100 a training seed, alike on every target."""
    trials = [
        row
        for name, by_seed in successes.items()
        for target in targets
        for seed, k in enumerate(by_seed)
        for row in rows(name.replace("_", "-"), target, k, 100, seed=seed)
    ]
    return Evidence("lift", ARMS, tuple(trials), targets)


TESTS = (
    DeclaredTest("hybrid", "sim-only"),
    DeclaredTest("hybrid", "real-only"),
    DeclaredTest("real-only", "sim-only", "backgrounds"),
)


def test_declared_tests_are_read_as_claims_about_recipes():
    found = recipes_of(study("twin", hybrid=(95, 94), sim_only=(40, 42), real_only=(90,)), TESTS)
    content = [one.to_json() for one in found]
    jsonschema.validate(content, RECIPES)
    assert [one["state"] for one in content] == ["better", "not tested", "not tested"]
    assert content[0]["estimate"] == pytest.approx(0.535)
    assert "spread between runs" in content[0]["method"]
    assert content[0]["method"].endswith("2 or more training seeds an arm; Holm over 1")
    assert content[1]["method"] == (
        "not tested: one training seed of real-only; a claim about a recipe needs 2"
    )
    assert content[2]["method"] == "not tested: no trials of both arms on a common target"


def test_one_seed_an_arm_tests_no_recipe():
    found = recipes_of(study("twin", hybrid=(95,), sim_only=(40,)), TESTS[:1])
    assert [one.state for one in found] == ["not tested"]
    assert found[0].method.startswith("not tested: one training seed")


def test_targets_are_pooled_by_name():
    found = recipes_of(study("one", "two", hybrid=(95, 94), sim_only=(40, 42)), TESTS[:1])
    assert "2 targets pooled: these targets only" in found[0].method


def test_the_family_of_recipes_is_corrected_too():
    arms = {"hybrid": (80, 81), "real_only": (66, 67), "sim_only": (66, 67)}
    alone = recipes_of(study("twin", **arms), TESTS[:1])[0]
    family = recipes_of(study("twin", **arms), TESTS[:2])
    assert alone.ci == family[0].ci
    bare = compare_recipes(seeds(80, 81), seeds(66, 67))
    assert bare.state == alone.state == "better"
    assert (bare.p > 0.025) == (family[0].state == "cannot tell")


@given(st.lists(st.integers(0, 40), min_size=4, max_size=4))
def test_p_and_interval_agree(counts):
    found = compare_recipes(seeds(*counts[:2], n=40), seeds(*counts[2:], n=40))
    if found.p <= 0.05 - 1e-9:
        assert not found.ci[0] < -1e-9 < 1e-9 < found.ci[1]
    swapped = compare_recipes(seeds(*counts[2:], n=40), seeds(*counts[:2], n=40))
    assert swapped.p == pytest.approx(found.p)


def test_a_seed_whose_trials_were_all_lost_is_no_seed():
    evidence = study("twin", hybrid=(95, 94), sim_only=(40, 42))
    lost = tuple(
        replace(row, success=None) if (row.arm, row.seed) == ("hybrid", 1) else row
        for row in evidence.trials
    )
    assert recipes_of(replace(evidence, trials=lost), TESTS[:1])[0].state == "not tested"


@pytest.mark.slow
@pytest.mark.parametrize(("runs_per_arm", "spread"), [(2, 0.08), (3, 0.03), (3, 0.08)])
def test_equal_recipes_are_seldom_told_apart(runs_per_arm, spread):
    wrong, covered, runs = 0, 0, 300
    for index in range(runs):
        random = generator(10, "recipe", index)
        arms = []
        for _ in range(2):
            rates = np.clip(0.75 + spread * random.standard_normal(runs_per_arm), 0, 1)
            arms.append(
                {s: dict(enumerate(random.random(50) < rate)) for s, rate in enumerate(rates)}
            )
        found = compare_recipes(*arms)
        covered += found.ci[0] <= 0 <= found.ci[1]
        wrong += found.state in ("better", "worse")
    assert covered / runs >= 0.92
    assert wrong / runs <= 0.08
