import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from simreal.core.errors import UsageError
from simreal.core.seeds import generator
from simreal.verdicts.exact import mcnemar_mid_p
from simreal.verdicts.rates import wilson
from simreal.verdicts.sequential import confidence_sequence, e_paired, follow_pairs, log_e_paired

COUNT = st.integers(0, 200)


def test_the_published_numbers():
    assert confidence_sequence(17, 20) == pytest.approx((0.5292, 0.9862), abs=5e-5)
    assert confidence_sequence(85, 100) == pytest.approx((0.7099, 0.9414), abs=5e-5)
    assert e_paired(6, 1) == pytest.approx(2.2857, abs=5e-5)
    assert e_paired(7, 0) == pytest.approx(16.0)
    assert e_paired(8, 0) == pytest.approx(28.4444, abs=5e-5)
    assert e_paired(7, 0, "better") == pytest.approx(31.875)


@given(COUNT, COUNT)
def test_evidence_is_symmetric_and_one_sided_evidence_has_a_side(b, c):
    assert log_e_paired(b, c) == pytest.approx(log_e_paired(c, b))
    mean = (e_paired(b, c, "better") + e_paired(c, b, "better")) / 2
    if b + c < 500:
        assert mean == pytest.approx(e_paired(b, c), rel=1e-9)
    if b > c:
        assert log_e_paired(b, c, "better") > log_e_paired(b, c) - 1e-12


@pytest.mark.parametrize("alternative", ["two-sided", "better"])
@pytest.mark.parametrize("m", [0, 1, 5, 12])
def test_the_expected_evidence_without_a_difference_is_at_most_one(m, alternative):
    """The law that makes it an e-value, by full enumeration."""
    fair = sum(stats.binom.pmf(b, m, 0.5) * e_paired(b, m - b, alternative) for b in range(m + 1))
    assert fair == pytest.approx(1.0)
    if alternative == "better":
        worse = sum(
            stats.binom.pmf(b, m, 0.3) * e_paired(b, m - b, alternative) for b in range(m + 1)
        )
        assert worse <= 1.0 + 1e-12


def test_no_discordant_pair_is_no_evidence():
    assert e_paired(0, 0) == 1
    assert e_paired(0, 0, "better") == 1


@given(st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_a_confidence_sequence_is_wider_than_a_fixed_interval(counts):
    s, n = counts
    lower, upper = confidence_sequence(s, n)
    assert 0 <= lower <= s / n <= upper <= 1
    fixed = wilson(s, n)
    assert lower <= fixed[0] + 1e-9
    assert upper >= fixed[1] - 1e-9
    mirrored = confidence_sequence(n - s, n)
    assert mirrored == pytest.approx((1 - upper, 1 - lower), abs=1e-9)


def test_a_confidence_sequence_of_nothing_is_everything():
    assert confidence_sequence(0, 0) == (0, 1)
    with pytest.raises(UsageError, match="alpha"):
        confidence_sequence(1, 2, alpha=0)


def test_it_stops_as_soon_as_it_is_decided():
    read = []

    def pairs():
        for i in itertools.count():
            read.append(i)
            yield True, False

    found = follow_pairs(pairs(), most=50)
    assert found.state == "better"
    assert found.decided
    assert found.pairs == len(read) == 8  # E(7, 0) = 16 < 20 <= E(8, 0)
    assert found.saved == 42
    assert found.p == pytest.approx(1 / 28.4444, rel=1e-4)
    one_sided = follow_pairs(itertools.repeat((True, False)), 50, alternative="better")
    assert one_sided.pairs == 7


def test_worse_is_found_two_sided_and_never_one_sided():
    losing = [(False, True)] * 30
    assert follow_pairs(losing, 30).state == "worse"
    assert follow_pairs(losing, 30, alternative="better").state == "cannot tell"


def test_at_the_limit_it_gives_up_and_nothing_was_saved():
    found = follow_pairs([(True, True)] * 100, most=20)
    assert (found.pairs, found.state, found.saved, found.p) == (20, "cannot tell", 0, 1.0)
    with pytest.raises(UsageError, match="At least one pair"):
        follow_pairs([], 0)


def test_fewer_pairs_than_allowed_are_no_saving():
    found = follow_pairs([(True, False)] * 3, most=20)
    assert (found.pairs, found.saved) == (3, 0)


def peeked(random, n=50, first=5):
    """One experiment without a difference, looked at after every pair from `first` on.

    Conditions that are hard for one arm are somewhat harder for the other (correlation 1/4).
    """
    hard = random.random(n)
    a, b = (np.where(random.random(n) < 0.5, hard, random.random(n)) < 0.6 for _ in range(2))
    wins, losses = np.cumsum(a & ~b), np.cumsum(b & ~a)
    looks = range(first - 1, n)
    mid = any(mcnemar_mid_p(int(wins[i]), int(losses[i])) <= 0.05 for i in looks)
    e = max(log_e_paired(int(wins[i]), int(losses[i])) for i in looks) >= math.log(20)
    z = max(pooled_z(int(a[: i + 1].sum()), int(b[: i + 1].sum()), i + 1) for i in looks) > 1.959964
    return mid, z, e


def pooled_z(k1, k2, n):
    pooled = (k1 + k2) / (2 * n)
    return abs(k1 - k2) / n / math.sqrt(max(1e-12, 2 * pooled * (1 - pooled) / n))


@pytest.mark.slow
def test_peeking_is_safe_with_the_e_process_and_not_with_p_values():
    """Peeking each block from 5 to 50: mid-p McNemar errs .180, pooled z .166, this .015."""
    runs = 3000
    found = np.array([peeked(generator(7, "peek", i)) for i in range(runs)])
    mid, z, e = found.mean(axis=0)
    assert mid == pytest.approx(0.180, abs=0.025)
    assert z == pytest.approx(0.166, abs=0.025)
    assert e <= 0.05
    assert e == pytest.approx(0.015, abs=0.01)


@pytest.mark.slow
def test_the_confidence_sequence_holds_at_all_times():
    runs, n, p = 400, 300, 0.8
    missed = 0
    for index in range(runs):
        s = np.cumsum(generator(8, "sequence", index).random(n) < p)
        missed += any(
            not low <= p <= high
            for low, high in (confidence_sequence(int(s[i - 1]), i) for i in range(1, n + 1))
        )
    assert missed / runs <= 0.05
