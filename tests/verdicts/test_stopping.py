import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simreal.core.errors import UsageError
from simreal.verdicts.betting import difference_sequence
from simreal.verdicts.judged_schema import EVALUATE
from simreal.verdicts.rates import Rate
from simreal.verdicts.sequential import confidence_sequence
from simreal.verdicts.stopping import Result, Rule, judge

PAIRED = Rule(("a", "b"), "success", 50)


def side(successes, score=None):
    return [Result(bool(s), float(s) if score is None else score) for s in successes]


def test_two_arms_are_compared_by_success():
    found = judge(PAIRED, {"a": side([1] * 10), "b": side([0] * 10)})
    assert (found.state, found.decided, found.at) == ("better", True, 8)
    assert (found.trials, found.conditions, found.saved) == (20, 10, 80)
    assert found.e == pytest.approx(28.4444, abs=5e-5)
    assert found.estimate == 1
    assert judge(PAIRED, {"a": side([0] * 10), "b": side([1] * 10)}).state == "worse"


def test_by_score_the_same_trials_answer_another_question():
    trials = {"a": side([0] * 30, 0.75), "b": side([0] * 30, 0.25)}
    assert judge(PAIRED, trials).state == "cannot tell"
    found = judge(Rule(("a", "b"), "score", 50), trials)
    assert found.state == "better"
    assert found.estimate == pytest.approx(0.5)
    assert [arm.k for arm in found.arms] == [0, 0]
    assert [arm.score for arm in found.arms] == [0.75, 0.25]
    assert "mean stage score" in found.rule.method


def test_one_arm_is_held_against_a_rate():
    rule = Rule(("a",), "success", 100, goal=0.8)
    reached = judge(rule, {"a": side([1] * 40)})
    assert (reached.state, reached.saved, reached.e, reached.p) == ("reached", 60, None, None)
    assert reached.ci[0] > 0.8
    assert judge(rule, {"a": side([0, 1] * 20)}).state == "missed"
    open_yet = judge(rule, {"a": side([1] * 5)})
    assert (open_yet.state, open_yet.saved, open_yet.trials) == ("cannot tell", 0, 5)


def test_the_interval_of_a_decision_leaves_the_goal_out():
    """Decided within a block whose last trials fail: the interval at its end alone reaches over."""
    successes = [1] * 48 + [0, 0]
    found = judge(Rule(("a",), "success", 100, goal=0.85), {"a": side(successes)})
    assert (found.state, found.at) == ("reached", 42)
    assert found.ci[0] > 0.85
    assert confidence_sequence(48, 50)[0] < 0.85


def test_a_decision_once_made_stands():
    """Later trials of the same block move the estimate and never the answer."""
    turned = judge(PAIRED, {"a": side([1] * 8 + [0] * 12), "b": side([0] * 8 + [1] * 12)})
    assert (turned.state, turned.at) == ("better", 8)
    assert turned.estimate == pytest.approx(-0.2)


def test_conditions_that_only_one_arm_tried_do_not_count():
    found = judge(PAIRED, {"a": side([1] * 10), "b": side([0] * 7)})
    assert (found.state, found.conditions) == ("cannot tell", 7)
    assert found.e == pytest.approx(16)


def test_no_trials_no_answer():
    found = judge(PAIRED, {"a": [], "b": []})
    assert (found.state, found.estimate, found.ci) == ("cannot tell", None, (-1, 1))
    jsonschema.validate(found.to_json("5f1c", ""), EVALUATE)


SIDE = st.lists(st.tuples(st.booleans(), st.sampled_from([0.0, 0.5, 0.75])), max_size=40)


@pytest.mark.parametrize("by", ["success", "score"])
@given(SIDE, SIDE)
def test_the_answer_is_the_same_whenever_one_asks(by, a, b):
    rule = Rule(("a", "b"), by, 40)
    trials = {
        name: [Result(s, 1.0 if s else x) for s, x in rows] for name, rows in (("a", a), ("b", b))
    }
    n = min(len(a), len(b))
    whole = judge(rule, trials)
    jsonschema.validate(whole.to_json("5f1c", "stand-in (simulated)"), EVALUATE)
    for k in range(n + 1):
        early = judge(rule, {name: rows[:k] for name, rows in trials.items()})
        if early.decided:
            assert (whole.state, whole.at) == (early.state, early.at)
            break
    else:
        assert not whole.decided
    if n and by == "success":
        pairs = [(float(x), float(y)) for (x, _), (y, _) in zip(a, b, strict=False)]
        assert whole.ci == difference_sequence(pairs)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Rule(("a",), "success", 10), "Two arms are compared"),
        (lambda: Rule(("a", "b"), "success", 10, goal=0.5), "Two arms are compared"),
        (lambda: Rule(("a",), "success", 10, goal=85), "fraction such as 0.85, not 85"),
        (lambda: Rule(("a", "b"), "success", 5, block=6), "got 6 of 5"),
        (lambda: Rule(("a", "b"), "success", 5, block=0), "got 0 of 5"),
    ],
)
def test_rules_that_cannot_be_are_refused(call, words):
    with pytest.raises(UsageError, match=words):
        call()


def test_the_schema_takes_a_plain_rate_too():
    jsonschema.validate(Rate.of(17, 20).to_json(), EVALUATE)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"k": 1}, EVALUATE)
