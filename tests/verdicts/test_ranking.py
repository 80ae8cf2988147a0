import itertools

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.verdicts.studies import ARMS, rows

from simreal.core.errors import UsageError
from simreal.verdicts.evidence import Evidence
from simreal.verdicts.judged_schema import RANKING
from simreal.verdicts.ranking import letters, rank, ranking_of

NAMES = [f"arm{i}" for i in range(7)]
PAIRS = list(itertools.combinations(NAMES, 2))


def test_letters_of_a_chain():
    """The best differs from the worst; the middle is told apart from neither."""
    assert letters(["x", "y", "z"], [("x", "z")]) == {"x": "a", "y": "ab", "z": "b"}


def test_no_difference_is_one_letter_and_all_differences_are_as_many_as_arms():
    assert set(letters(NAMES, []).values()) == {"a"}
    assert list(letters(NAMES, PAIRS).values()) == list("abcdefg")


@given(st.sets(st.sampled_from(PAIRS)))
def test_two_arms_share_a_letter_if_and_only_if_they_do_not_differ(different):
    marks = letters(NAMES, different)
    for first, second in PAIRS:
        shared = set(marks[first]) & set(marks[second])
        assert bool(shared) == ((first, second) not in different)


@given(st.sets(st.sampled_from(PAIRS)))
def test_no_letter_is_superfluous(different):
    marks = letters(NAMES, different)
    used = sorted(set("".join(marks.values())))
    assert used == list("abcdefghijklmnopqrstuvwxyz"[: len(used)])
    for letter in used:
        members = {name for name in NAMES if letter in marks[name]}
        others = [
            {name for name in NAMES if other in marks[name]} for other in used if other != letter
        ]
        assert not any(members <= group for group in others)


def test_a_pair_that_is_none_is_refused():
    with pytest.raises(UsageError, match="'q'"):
        letters(["x", "y"], [("x", "q")])
    with pytest.raises(UsageError, match="pair"):
        letters(["x", "y"], [("x", "x")])


def arm(k, n=60):
    return {i: i < k for i in range(n)}


def test_arms_are_ranked_by_rate_and_told_apart_by_holm():
    found = rank({"poor": arm(20), "best": arm(55), "good": arm(51), "other": arm(52)})
    assert [a.name for a in found.arms] == ["best", "other", "good", "poor"]
    assert [a.letters for a in found.arms] == ["a", "a", "a", "b"]
    assert all("Holm over 6" in c.method for c in found.comparisons.values())


def test_one_arm_or_none():
    assert rank({}).arms == ()
    assert [a.letters for a in rank({"only": arm(3)}).arms] == ["a"]


def study(*targets, seeds=(0,), **successes):
    trials = [
        row
        for name, k in successes.items()
        for target in targets
        for seed in seeds
        for row in rows(name.replace("_", "-"), target, k, 60, seed=seed)
    ]
    return Evidence("lift", ARMS, tuple(trials), targets)


def test_the_arms_of_a_study_are_ranked():
    found = ranking_of(study("twin", sim_only=20, real_only=51, hybrid=55))
    content = found.to_json()
    jsonschema.validate(content, RANKING)
    assert [(a["arm"], a["k"], a["n"], a["letters"]) for a in content["arms"]] == [
        ("hybrid", 55, 60, "a"),
        ("real-only", 51, 60, "a"),
        ("sim-only", 20, 60, "b"),
    ]
    assert content["method"] == ("paired: Tango score interval, exact McNemar test; Holm over 3")


def test_pooled_targets_and_seeds_are_labelled():
    found = ranking_of(study("one", "two", seeds=(0, 1), sim_only=20, hybrid=55))
    assert [a.rate.n for a in found.arms] == [240, 240]
    assert "2 targets pooled: these targets only" in found.method
    assert "2 training seeds pooled: not the recipe" in found.method


def test_one_arm_alone_is_not_ranked():
    assert ranking_of(study("twin", hybrid=55)) is None
    assert ranking_of(study("twin")) is None
