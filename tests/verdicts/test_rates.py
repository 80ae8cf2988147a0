import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simreal.core.errors import UsageError
from simreal.verdicts.rates import (
    Rate,
    clopper_pearson,
    clustered_rate,
    effective_trials,
    intraclass_correlation,
    jeffreys,
    rate_with_missing,
    wilson,
)

SOME = st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
METHODS = [wilson, clopper_pearson, jeffreys]


@pytest.mark.parametrize("method", METHODS)
def test_no_data_says_nothing(method):
    assert method(0, 0) == (0.0, 1.0)


def test_a_rate_without_data_has_no_estimate():
    rate = Rate.of(0, 0)
    assert rate.rate is None
    assert rate.ci == (0.0, 1.0)
    assert not rate.enough


def test_fewer_than_five_trials_are_not_enough():
    assert [Rate.of(n, n).enough for n in range(7)] == [False] * 5 + [True] * 2


def test_json_has_the_documented_fields():
    content = json.loads(json.dumps(Rate.of(17, 20).to_json()))
    assert content == {"k": 17, "n": 20, "rate": 0.85, "ci": list(wilson(17, 20))}


@pytest.mark.parametrize("method", METHODS)
@given(counts=SOME)
def test_intervals_hold_the_rate_and_mirror(method, counts):
    k, n = counts
    lower, upper = method(k, n)
    assert 0 <= lower < upper <= 1
    if method is not jeffreys:  # Jeffreys' ends may miss an all-or-nothing rate by a hair
        assert lower <= k / n <= upper
    assert method(n - k, n) == pytest.approx((1 - upper, 1 - lower), abs=1e-9)


@pytest.mark.parametrize("method", METHODS)
@given(counts=SOME)
def test_intervals_grow_with_successes_and_with_confidence(method, counts):
    k, n = counts
    if k < n:
        more = method(k + 1, n)
        assert more[0] >= method(k, n)[0]
        assert more[1] >= method(k, n)[1]
    wide = method(k, n, 0.99)
    assert wide[0] <= method(k, n)[0]
    assert wide[1] >= method(k, n)[1]


@given(SOME)
def test_one_sided_bounds_are_the_ends_of_the_90_percent_interval(counts):
    lower = clopper_pearson(*counts, side="lower")
    upper = clopper_pearson(*counts, side="upper")
    assert (lower[0], upper[1]) == pytest.approx(clopper_pearson(*counts, confidence=0.90))
    assert lower[1] == 1
    assert upper[0] == 0


@pytest.mark.parametrize("counts", [(-1, 5), (6, 5), (float("nan"), 5), (1, float("inf"))])
@pytest.mark.parametrize("method", METHODS)
def test_impossible_counts_are_refused(method, counts):
    with pytest.raises(UsageError, match=r"0 <= successes <= trials"):
        method(*counts)


@pytest.mark.parametrize("confidence", [0, 1, 1.5, -0.1])
def test_impossible_confidence_is_refused(confidence):
    with pytest.raises(UsageError, match="between 0 and 1"):
        wilson(1, 2, confidence)


@given(SOME, st.integers(0, 50))
def test_missing_trials_give_the_union_of_what_they_allow(counts, missing):
    k, n = counts
    found = rate_with_missing(k, n, missing)
    assert (found.k, found.n) == (k, n)
    for extra in {0, missing // 2, missing}:
        lower, upper = wilson(k + extra, n + missing)
        assert found.ci[0] <= lower
        assert upper <= found.ci[1]
    assert (found.method == "Wilson") == (missing == 0)


def test_a_negative_number_of_missing_trials_is_refused():
    with pytest.raises(UsageError, match="-1"):
        rate_with_missing(1, 2, -1)


def test_deterministic_repeats_add_nothing():
    """Case C069: four seeds, five times each, are four trials."""
    assert effective_trials([5, 5, 5, 5]) == pytest.approx(4)
    rate = clustered_rate([3, 3, 2, 2], [5, 5, 5, 5])
    assert (rate.k, rate.n, rate.rate) == (10, 20, 0.5)
    assert rate.ci == pytest.approx(wilson(2, 4))
    assert "4.0 effective" in rate.method


def test_effective_trials_follow_the_formula():
    assert effective_trials([4] * 10, 0.25) == pytest.approx(40 / (1 + 3 * 0.25))
    assert effective_trials([1] * 10) == 10
    assert effective_trials([]) == 0


@given(st.lists(st.integers(1, 9), min_size=1, max_size=20), st.floats(0, 1))
def test_effective_trials_lie_between_states_and_trials(repeats, icc):
    found = effective_trials(repeats, icc)
    assert found <= sum(repeats) + 1e-9
    assert found <= effective_trials(repeats, 0) + 1e-9
    assert found >= effective_trials(repeats, 1) - 1e-9


def test_unrepeated_states_give_the_plain_interval():
    assert clustered_rate([1, 0, 1, 1, 1], [1] * 5) == Rate.of(4, 5)


def test_intraclass_correlation():
    assert intraclass_correlation([4, 0, 4, 0], [4] * 4) == pytest.approx(1)
    assert intraclass_correlation([2, 2, 2, 2], [4] * 4) == 0
    # By hand, rates 1 0 .5 1 0: between 2 / 4 = .5, within .5 / 5 = .1.
    assert intraclass_correlation([2, 0, 1, 2, 0], [2] * 5) == pytest.approx(0.4 / 0.6)
    with pytest.raises(UsageError, match="2 initial states"):
        intraclass_correlation([1, 1], [1, 1])
