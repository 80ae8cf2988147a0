import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.verdicts.studies import ARMS, rows

from simreal.core.errors import UsageError
from simreal.verdicts.acceptance import accept, acceptance_of, trials_needed
from simreal.verdicts.evidence import Evidence
from simreal.verdicts.judged_schema import ACCEPTANCE
from simreal.verdicts.planning import trials_without_failure
from simreal.verdicts.rates import clopper_pearson
from simreal.verdicts.records import TrialRow


def test_the_published_numbers():
    assert [trials_needed(p) for p in (0.8, 0.9, 0.95, 0.99)] == [14, 29, 59, 299]
    assert [trials_needed(0.95, f) for f in range(4)] == [59, 93, 124, 153]


@given(st.integers(0, 30), st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99]))
def test_so_many_trials_show_it_and_one_fewer_does_not(failures, goal):
    n = trials_needed(goal, failures)
    assert clopper_pearson(n - failures, n, side="lower")[0] >= goal - 1e-9
    fewer = clopper_pearson(n - 1 - failures, n - 1, side="lower")[0]
    assert fewer < goal
    assert trials_needed(goal, failures + 1) > n
    if failures == 0:
        assert n == trials_without_failure(goal)


def test_forty_one_without_a_failure_are_not_enough():
    found = accept(rows("hybrid", "twin", 41, 41), "hybrid", "twin", 0.95, "stand-in (simulated)")
    assert found.sentence == (
        "At least 95 % with 95 % confidence needs 59 trials without a failure; hybrid has 41 of "
        "41 on twin, stand-in (simulated), which shows at least 92.9 %."
    )
    assert not found.shown
    assert found.lower == pytest.approx(0.05 ** (1 / 41))


def test_fifty_nine_are_and_sixty_with_a_failure_are_not():
    shown = accept(rows("a", "arm", 59, 59), "a", "arm")
    assert shown.shown
    assert shown.sentence == (
        "At least 95 % is shown with 95 % confidence: a has 59 of 59 on arm (at least 95 %)."
    )
    failed = accept(rows("a", "arm", 59, 60), "a", "arm")
    assert (failed.shown, failed.trials_needed) == (False, 93)
    assert "needs 93 trials with 1 failure; a has 59 of 60 on arm" in failed.sentence


def test_what_lies_below_the_goal_is_said():
    found = accept(rows("a", "arm", 30, 60), "a", "arm", 0.95)
    assert "with 30 failures; a has 30 of 60" in found.sentence
    upper = clopper_pearson(30, 60, side="upper")[1]
    assert found.sentence.endswith(f"at most {100 * upper + 0.05:.1f} %.")


def test_a_lost_trial_counts_as_a_failure_and_a_repeat_once():
    lost = [*rows("a", "arm", 59, 59), TrialRow("59", None, "a", "arm")]
    found = accept(lost, "a", "arm")
    assert (found.k, found.n, found.failures, found.shown) == (59, 59, 1, False)
    assert found.upper == 1
    twice = accept(rows("a", "arm", 40, 40) * 2, "a", "arm")
    assert (twice.k, twice.n) == (80, 80)
    assert twice.lower == pytest.approx(0.05 ** (1 / 40))


def test_every_arm_on_every_target_it_was_tried_on():
    trials = [
        *rows("sim-only", "one", 20, 20),
        *rows("sim-only", "two", 9, 10),
        *rows("hybrid", "one", 300, 300),
        *rows("hybrid", "sim", 5, 5),
    ]
    evidence = Evidence("lift", ARMS, tuple(trials), ("one", "two"), "sim")
    found = acceptance_of(evidence, 0.9, {"one": "stand-in (simulated)"})
    assert [(a.arm, a.target, a.shown) for a in found] == [
        ("sim-only", "one", False),
        ("sim-only", "two", False),
        ("hybrid", "one", True),
    ]
    assert ["stand-in" in a.sentence for a in found] == [True, False, True]
    jsonschema.validate([a.to_json() for a in found], ACCEPTANCE)
    assert {a.goal for a in acceptance_of(evidence)} == {0.95}


@pytest.mark.parametrize("call", [lambda: trials_needed(1.0), lambda: trials_needed(0.9, -1)])
def test_impossible_questions_are_refused(call):
    with pytest.raises(UsageError):
        call()


def test_a_negative_number_of_failures_is_refused():
    with pytest.raises(UsageError, match="negative"):
        trials_needed(0.9, -1)
