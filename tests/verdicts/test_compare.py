import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simreal.core.errors import UsageError
from simreal.verdicts.compare import STATES, compare, decide, within_family
from simreal.verdicts.exact import holm
from simreal.verdicts.noninferiority import noninferior
from simreal.verdicts.rates import wilson

TRIALS = st.lists(st.booleans(), min_size=0, max_size=40)
FIELDS = {"a", "b", "paired", "difference", "ci", "p", "method", "state", "smallest_detectable"}


def keyed(trials, name="c"):
    return {(name, i): success for i, success in enumerate(trials)}


def outcomes(k, n, name="c"):
    return keyed([i < k for i in range(n)], name)


def paired(both, a_only, b_only, neither):
    a = [True] * (both + a_only) + [False] * (b_only + neither)
    b = [True] * both + [False] * a_only + [True] * b_only + [False] * neither
    return keyed(a), keyed(b)


def test_shared_conditions_are_pairs_and_the_rest_is_listed():
    a = {"1": True, "2": False, "3": True, "only a": True}
    b = {"3": False, "2": False, "1": True, "only b": False}
    found = compare(a, b)
    assert found.paired
    assert (found.a.n, found.b.n) == (3, 3)
    assert found.excluded == ("only a", "only b")
    assert found.discordant == (1, 0)


def test_no_shared_condition_means_no_pairs():
    found = compare(outcomes(17, 20, "a"), outcomes(12, 20, "b"))
    assert not found.paired
    assert found.discordant is None
    assert found.excluded == ()


def test_the_design_can_be_declared():
    a, b = paired(10, 5, 1, 4)
    assert not compare(a, b, paired=False).paired
    with pytest.raises(UsageError, match="no condition occurs on both sides"):
        compare(outcomes(1, 9, "a"), outcomes(1, 9, "b"), paired=True)


def test_clear_differences_are_called_by_their_sign():
    better = compare(outcomes(48, 50, "a"), outcomes(25, 50, "b"))
    assert better.state == "better"
    assert compare(*reversed(paired(20, 0, 25, 5))).state == "better"
    assert compare(*paired(20, 0, 25, 5)).state == "worse"


def test_equivalence_needs_the_interval_inside_the_margin():
    a, b = paired(180, 1, 1, 18)
    assert compare(a, b, margin=0.05).state == "equivalent"
    assert compare(a, b, margin=0.01).state == "cannot tell"


@pytest.mark.parametrize(("n_a", "n_b"), [(0, 0), (4, 50), (50, 4), (0, 30)])
def test_too_few_trials_give_no_verdict(n_a, n_b):
    found = compare(outcomes(n_a, n_a, "a"), outcomes(0, n_b, "b"))
    assert found.state == "cannot tell"


def test_no_data_at_all():
    found = compare({}, {})
    assert found.difference is None
    assert found.ci == (-1, 1)
    assert found.p is None
    assert found.smallest_detectable is None
    json.dumps(found.to_json(), allow_nan=False)


def test_all_success_on_both_sides_is_no_difference():
    found = compare(outcomes(20, 20), outcomes(20, 20))
    assert (found.difference, found.p) == (0, 1)
    assert found.state == "cannot tell"
    assert found.ci[0] < 0 < found.ci[1]


@given(TRIALS, TRIALS, st.booleans())
def test_comparison_is_antisymmetric_and_bounded(first, second, pairs):
    a, b = keyed(first), keyed(second, "c" if pairs else "d")
    one, other = compare(a, b), compare(b, a)
    flipped = {"better": "worse", "worse": "better"}
    assert one.state in STATES
    assert other.state == flipped.get(one.state, one.state)
    assert other.ci == pytest.approx((-one.ci[1], -one.ci[0]), abs=1e-9)
    assert -1 <= one.ci[0] <= one.ci[1] <= 1
    if one.difference is not None:
        assert one.ci[0] <= one.difference <= one.ci[1]
        assert other.difference == pytest.approx(-one.difference)
        assert one.p == pytest.approx(other.p, rel=1e-6)
        assert 0 <= one.p <= 1
    assert set(one.to_json()) == FIELDS
    json.dumps(one.to_json(), allow_nan=False)


@given(TRIALS, TRIALS)
def test_better_needs_both_interval_and_test(first, second):
    found = compare(keyed(first), keyed(second))
    if found.state == "better":
        assert found.ci[0] > 0
        assert found.p <= 0.05
    if found.state == "equivalent":
        assert found.ci[0] > -0.05
        assert found.ci[1] < 0.05


def test_results_do_not_depend_on_the_order_of_trials():
    a, b = paired(10, 6, 1, 3)
    shuffled = dict(sorted(b.items(), key=lambda item: hash(item[0])))
    assert compare(a, b).to_json() == compare(a, shuffled).to_json()


def test_lost_trials_widen_the_interval_to_the_union():
    a, b = paired(30, 12, 1, 7)
    whole = compare(a, b)
    lost = {**a, ("c", 0): None, ("c", 35): None}
    found = compare(lost, b)
    assert found.missing == 2
    assert found.a.n == 48
    assert found.ci[0] < whole.ci[0]
    for fill in (True, False):
        filled = compare({k: fill if v is None else v for k, v in lost.items()}, b)
        assert found.ci[0] <= filled.ci[0] + 1e-12
        assert found.ci[1] >= filled.ci[1] - 1e-12
        assert found.p >= filled.p - 1e-12
    assert "union over 2 missing" in found.method


def test_lost_trials_that_could_turn_the_sign_leave_no_evidence():
    a = {**outcomes(5, 10, "a"), **{("a", 90 + i): None for i in range(8)}}
    found = compare(a, outcomes(3, 10, "b"))
    assert found.p == 1
    assert found.state == "cannot tell"


def test_repeats_of_a_condition_count_once():
    a = dict.fromkeys(range(4), (True,) * 5)
    b = dict.fromkeys(range(4), (False,) * 5)
    found = compare(a, b)
    assert (found.a.k, found.a.n) == (20, 20)
    assert found.a.ci == pytest.approx(wilson(4, 4))
    assert found.state == "cannot tell"  # four conditions are fewer than five
    once = compare(dict.fromkeys(range(12), True), dict.fromkeys(range(12), False))
    repeated = compare(dict.fromkeys(range(12), (True, True)), dict.fromkeys(range(12), (False,)))
    assert repeated.ci == pytest.approx(once.ci)
    assert "counted once" in repeated.method


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(1, 3)), min_size=1))
def test_repeats_with_equal_outcomes_change_nothing_but_the_raw_counts(rows):
    plain = compare(
        {i: a for i, (a, _, _) in enumerate(rows)}, {i: b for i, (_, b, _) in enumerate(rows)}
    )
    found = compare(
        {i: (a,) * m for i, (a, _, m) in enumerate(rows)},
        {i: b for i, (_, b, _) in enumerate(rows)},
    )
    assert found.ci == pytest.approx(plain.ci)
    assert found.difference == pytest.approx(plain.difference)


@pytest.mark.parametrize("margin", [0, 1, -0.1, 5])
def test_a_margin_in_points_is_refused(margin):
    with pytest.raises(UsageError, match=r"5 points = 0\.05"):
        compare(outcomes(3, 9), outcomes(4, 9), margin=margin)


def test_smallest_detectable_shrinks_with_trials():
    few = compare(*paired(10, 4, 2, 4)).smallest_detectable
    many = compare(*paired(100, 40, 20, 40)).smallest_detectable
    assert 0 < many < few < 1
    assert compare(outcomes(2, 5, "a"), outcomes(3, 5, "b")).smallest_detectable is not None


def test_decide_reads_interval_and_p():
    assert decide((0.1, 0.2), 0.01, 0.05, True) == "better"
    assert decide((0.1, 0.2), 0.06, 0.05, True) == "cannot tell"
    assert decide((-0.2, -0.1), 0.01, 0.05, True) == "worse"
    assert decide((-0.04, 0.04), 0.9, 0.05, True) == "equivalent"
    assert decide((-0.05, 0.04), 0.9, 0.05, True) == "cannot tell"
    assert decide((0.1, 0.2), 0.01, 0.05, False) == "cannot tell"
    assert decide((0.1, 0.2), None, 0.05, True) == "cannot tell"


def test_a_family_is_judged_by_holm():
    near = compare(*paired(20, 8, 1, 21))
    clear = compare(*paired(5, 30, 0, 15))
    none = compare({}, {})
    assert near.state == clear.state == "better"
    found = within_family([near, clear, near, none])
    assert found[0].p == pytest.approx(holm([near.p, clear.p, near.p, 1.0])[0])
    assert found[0].state == "cannot tell"
    assert found[1].state == "better"
    assert found[3].p is None
    assert all("Holm over 4" in c.method for c in found)


def test_non_inferiority():
    assert noninferior(*paired(90, 4, 3, 3), margin=0.05).state == "non-inferior"
    assert noninferior(*paired(40, 2, 30, 28), margin=0.05).state == "inferior"
    assert (
        noninferior(outcomes(15, 20, "a"), outcomes(16, 20, "b"), margin=0.05).state
        == "cannot tell"
    )
    assert (
        noninferior(outcomes(4, 4, "a"), outcomes(0, 40, "b"), margin=0.05).state == "cannot tell"
    )


@given(TRIALS, TRIALS, st.floats(0.01, 0.4))
def test_a_wider_margin_never_undoes_non_inferiority(first, second, margin):
    a, b = keyed(first), keyed(second)
    if noninferior(a, b, margin).state == "non-inferior":
        assert noninferior(a, b, margin * 1.5).state == "non-inferior"


@given(TRIALS, TRIALS)
def test_better_implies_non_inferior(first, second):
    a, b = keyed(first), keyed(second)
    if compare(a, b).state == "better":
        assert noninferior(a, b, 0.05).state == "non-inferior"


def test_the_method_says_what_one_side_alone_has():
    some, more = dict.fromkeys(range(20), True), {i: i < 45 for i in range(50)}
    assert compare(more, some).method.endswith("30 conditions of one side alone left out")
    assert "left out" not in compare(some, some).method


def test_many_unpaired_trials_take_the_score_test():
    """Boschloo's test of so many would not end."""
    a = {("a", i): i < 30_500 for i in range(50_000)}
    b = {("b", i): i < 30_000 for i in range(50_000)}
    found = compare(a, b)
    assert found.method == "unpaired: Newcombe interval, score test"
    assert found.p == pytest.approx(0.001219, abs=1e-6)
    assert found.state == "better"
