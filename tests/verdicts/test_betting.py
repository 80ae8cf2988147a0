import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate

from simreal.core.errors import UsageError
from simreal.core.seeds import generator
from simreal.verdicts.betting import (
    difference_sequence,
    follow_mean,
    follow_scores,
    log_e_mean,
    log_e_scores,
    mean_sequence,
)
from simreal.verdicts.sequential import (
    confidence_sequence,
    e_paired,
    follow_pairs,
    log_e_paired,
)

SCORE = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])
PAIR = st.tuples(SCORE, SCORE)


def pairs_of(b, c, ties=0):
    return [(1.0, 0.0)] * b + [(0.0, 1.0)] * c + [(1.0, 1.0)] * ties


@pytest.mark.parametrize("alternative", ["two-sided", "better"])
@given(b=st.integers(0, 60), c=st.integers(0, 60), ties=st.integers(0, 9))
def test_successes_give_the_binary_e_process(alternative, b, c, ties):
    scores = log_e_scores(pairs_of(b, c, ties), alternative)
    assert scores == pytest.approx(log_e_paired(b, c, alternative), abs=1e-8)


def test_the_published_numbers_come_out_of_scores_too():
    assert math.exp(log_e_scores(pairs_of(6, 1))) == pytest.approx(2.2857, abs=5e-5)
    assert math.exp(log_e_scores(pairs_of(7, 0))) == pytest.approx(16.0)
    assert math.exp(log_e_scores(pairs_of(8, 0))) == pytest.approx(28.4444, abs=5e-5)
    assert math.exp(log_e_scores(pairs_of(7, 0), "better")) == pytest.approx(31.875)
    assert e_paired(7, 0, "better") == pytest.approx(31.875)
    found = mean_sequence([1] * 17 + [0] * 3)
    assert found == pytest.approx((0.5292, 0.9862), abs=5e-5)
    assert mean_sequence([1] * 85 + [0] * 15) == pytest.approx((0.7099, 0.9414), abs=5e-5)


def test_the_mixture_is_the_integral():
    values, m = np.array([0.0, 0.25, 1.0, 0.5, 0.75]), 0.3

    def wealth(p):
        return float(np.prod(values * p / m + (1 - values) * (1 - p) / (1 - m)))

    expected = integrate.quad(wealth, 0, 1)[0]
    assert math.exp(log_e_mean(values, m)) == pytest.approx(expected)
    above = integrate.quad(wealth, m, 1)[0] / (1 - m)
    assert math.exp(log_e_mean(values, m, "better")) == pytest.approx(above)


#: Distributions of a score with mean 1/2: (values, probabilities).
SHAPES = [
    ((0, 1), (0.5, 0.5)),
    ((0.5,), (1.0,)),
    ((0, 0.25, 1), (0.2, 0.4, 0.4)),
    ((0.25, 0.75), (0.5, 0.5)),
]


@pytest.mark.parametrize("alternative", ["two-sided", "better"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", [1, 2, 4])
def test_the_expected_evidence_at_the_mean_is_one(shape, n, alternative):
    """The law that makes it an e-value, by full enumeration: the shape does not matter."""
    values, weights = shape
    total = sum(
        math.prod(weights[i] for i in drawn)
        * math.exp(log_e_mean([values[i] for i in drawn], 0.5, alternative))
        for drawn in itertools.product(range(len(values)), repeat=n)
    )
    assert total == pytest.approx(1.0)


@pytest.mark.parametrize("first", SHAPES)
@pytest.mark.parametrize("second", SHAPES)
def test_equal_means_of_different_shapes_are_no_difference(first, second):
    options = [
        ((x, y), p * q) for x, p in zip(*first, strict=True) for y, q in zip(*second, strict=True)
    ]
    total = sum(
        math.prod(weight for _, weight in drawn)
        * math.exp(log_e_scores([pair for pair, _ in drawn]))
        for drawn in itertools.product(options, repeat=2)
    )
    assert total == pytest.approx(1.0)


def test_one_sided_evidence_is_unlikely_where_the_first_is_behind():
    values, weights = (0, 0.5, 1), (0.5, 0.3, 0.2)  # mean 0.35
    total = sum(
        math.prod(weights[i] for i in drawn)
        * math.exp(log_e_mean([values[i] for i in drawn], 0.5, "better"))
        for drawn in itertools.product(range(3), repeat=4)
    )
    assert total < 1


@given(st.lists(PAIR, max_size=40))
def test_exchanging_the_sides_exchanges_the_answer(pairs):
    swapped = [(y, x) for x, y in pairs]
    assert log_e_scores(swapped) == pytest.approx(log_e_scores(pairs), abs=1e-9)
    lower, upper = difference_sequence(pairs)
    assert difference_sequence(swapped) == pytest.approx((-upper, -lower), abs=1e-7)
    shuffled = sorted(pairs)
    assert log_e_scores(shuffled) == pytest.approx(log_e_scores(pairs), abs=1e-9)


@given(st.lists(SCORE, min_size=1, max_size=60))
def test_an_interval_holds_the_mean_and_mirrors(scores):
    lower, upper = mean_sequence(scores)
    mean = float(np.mean(scores))
    assert 0 <= lower <= mean + 1e-12
    assert mean - 1e-12 <= upper <= 1
    mirrored = mean_sequence([1 - x for x in scores])
    assert mirrored == pytest.approx((1 - upper, 1 - lower), abs=1e-7)
    wider = mean_sequence(scores, alpha=0.01)
    assert wider[0] <= lower + 1e-9
    assert wider[1] >= upper - 1e-9


@given(st.lists(SCORE, min_size=1, max_size=40), st.floats(0.05, 0.95))
def test_the_interval_is_what_the_test_does_not_reject(scores, mean):
    lower, upper = mean_sequence(scores)
    if min(abs(mean - lower), abs(mean - upper)) > 1e-6:
        rejected = log_e_mean(scores, mean) >= math.log(20)
        assert rejected == (not lower <= mean <= upper)


@given(st.integers(0, 80), st.integers(1, 80))
def test_of_successes_it_is_the_beta_binomial_sequence(s, extra):
    n = s + extra
    exact = confidence_sequence(s, n)
    assert mean_sequence([1] * s + [0] * extra) == pytest.approx(exact, abs=1e-7)


def test_of_nothing_it_is_everything():
    assert mean_sequence([]) == (0, 1)
    assert difference_sequence([]) == (-1, 1)
    assert log_e_scores([]) == pytest.approx(0)


def test_less_spread_is_a_narrower_interval():
    steady, wild = mean_sequence([0.5] * 40), mean_sequence([0, 1] * 20)
    assert steady[1] - steady[0] < 0.7 * (wild[1] - wild[0])


def test_it_reads_no_further_than_needed_and_agrees_with_the_binary_test():
    read = []

    def pairs():
        for i in itertools.count():
            read.append(i)
            yield 1.0, 0.0

    found = follow_scores(pairs(), most=50)
    assert (found.state, found.pairs, len(read), found.saved) == ("better", 8, 8, 42)
    assert found.decided
    assert found.e == pytest.approx(28.4444, abs=5e-5)
    assert found.p == pytest.approx(1 / 28.4444, rel=1e-4)
    assert (found.a, found.b) == (1, 0)
    assert found.ci[0] > 0
    assert follow_scores(itertools.repeat((1, 0)), 50, alternative="better").pairs == 7
    assert follow_scores(itertools.repeat((0, 1)), 50, alternative="better").state == "cannot tell"
    assert follow_scores(itertools.repeat((0, 1)), 50).state == "worse"


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=60))
def test_followed_successes_end_where_the_binary_test_ends(outcomes):
    binary = follow_pairs(outcomes, 60)
    scores = follow_scores([(float(a), float(b)) for a, b in outcomes], 60)
    assert (scores.pairs, scores.state, scores.saved) == (
        binary.pairs,
        binary.state,
        binary.saved,
    )
    assert scores.e == pytest.approx(binary.e)


def test_partial_credit_sees_what_success_does_not():
    partial = [(0.75, 0.25)] * 25
    assert follow_scores(partial, 25).state == "better"
    assert follow_pairs([(False, False)] * 25, 25).state == "cannot tell"


def test_at_the_limit_it_gives_up():
    found = follow_scores([(0.5, 0.5)] * 100, most=20)
    assert (found.pairs, found.state, found.saved, found.p) == (20, "cannot tell", 0, 1.0)
    empty = follow_scores([], most=20)
    assert (empty.pairs, empty.a, empty.b, empty.ci) == (0, None, None, (-1, 1))


def test_a_goal_is_reached_missed_or_open():
    reached = follow_mean(itertools.repeat(1.0), 0.8, most=100)
    assert (reached.state, reached.mean) == ("reached", 1.0)
    assert reached.ci[0] >= 0.8
    assert confidence_sequence(reached.n - 1, reached.n - 1)[0] < 0.8
    assert reached.saved == 100 - reached.n
    assert follow_mean(itertools.repeat(0.5), 0.8, most=100).state == "missed"
    open_yet = follow_mean([1.0, 0.5, 1.0], 0.8, most=3)
    assert (open_yet.state, open_yet.decided, open_yet.saved) == ("cannot tell", False, 0)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: follow_scores([], 0), "At least one"),
        (lambda: follow_scores([(1.5, 0)], 5), "Scores lie between 0 and 1; got 1.5"),
        (lambda: mean_sequence([float("nan")]), "between 0 and 1"),
        (lambda: mean_sequence([1], alpha=1), "alpha"),
        (lambda: log_e_mean([1], 0), "mean must lie strictly"),
        (lambda: follow_mean([1], 1.0, 5), "goal must lie strictly"),
    ],
)
def test_what_cannot_be_is_refused(call, words):
    with pytest.raises(UsageError, match=words):
        call()


@pytest.mark.slow
def test_looking_after_every_trial_errs_at_most_alpha():
    """No difference in the mean: half successes against a score that is always 1/2, and alike."""
    runs, n, wrong = 1500, 120, 0
    for index in range(runs):
        random = generator(11, "betting", index)
        a, b = (random.random(n) < 0.5).astype(float), np.full(n, 0.5)
        wrong += follow_scores(zip(a.tolist(), b.tolist(), strict=True), n).decided
    assert wrong / runs <= 0.05


@pytest.mark.slow
def test_the_mean_is_covered_at_all_times():
    runs, n, missed = 300, 150, 0
    values, weights = np.array([0, 0.25, 0.5, 1.0]), [0.1, 0.2, 0.1, 0.6]
    mean = float(values @ weights)
    for index in range(runs):
        scores = generator(12, "betting", index).choice(values, n, p=weights)
        missed += follow_mean(scores.tolist(), mean, n).decided
    assert missed / runs <= 0.05
