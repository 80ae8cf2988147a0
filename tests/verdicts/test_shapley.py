"""Shapley shares: the number of the design notes, the axioms, exact sums, intervals that hold."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simreal.core.errors import BadDataError, UsageError
from simreal.core.seeds import generator
from simreal.verdicts.intervals import tango
from simreal.verdicts.shapley import (
    checked,
    first_in,
    interaction,
    interactions,
    last_in,
    mean_effect,
    paired_effect,
    shapley,
    shares,
)


@st.composite
def outcomes(draw, k=None):
    """(2^k, n) of 0 and 1."""
    factors = draw(st.integers(1, 4)) if k is None else k
    n = draw(st.integers(2, 12))
    bits = draw(
        st.lists(
            st.lists(st.integers(0, 1), min_size=n, max_size=n),
            min_size=2**factors,
            max_size=2**factors,
        )
    )
    return np.array(bits, dtype=float)


def by_orders(values):
    """The definition: mean over all orders of what switching a factor on takes away."""
    k = len(values).bit_length() - 1
    total, orders = np.zeros((k, values.shape[1])), list(permutations(range(k)))
    for order in orders:
        on = 0
        for i in order:
            total[i] += values[on] - values[on | 1 << i]
            on |= 1 << i
    return total / len(orders)


def test_the_number_of_the_design_notes():
    """v = .90 / .70 (V) / .80 (D) / .50 (VD) -> .25, .15."""
    rates = np.array([0.90, 0.70, 0.80, 0.50])[:, None] * np.ones((1, 2))
    parts = shapley(rates)
    assert parts[:, 0] == pytest.approx([0.25, 0.15])
    assert first_in(rates, 0)[0] == pytest.approx(0.20)
    assert last_in(rates, 0)[0] == pytest.approx(0.30)
    assert interaction(rates, 0, 1)[0] == pytest.approx(0.10)
    found = shares(rates, ("visual", "dynamics"))
    assert [s.share.points for s in found] == pytest.approx([0.25, 0.15])


@given(outcomes())
@settings(max_examples=60)
def test_shares_are_the_mean_over_orders(values):
    assert shapley(values) == pytest.approx(by_orders(values), abs=1e-12)


@given(outcomes())
def test_efficiency_the_sum_is_exact_in_every_seed(values):
    assert shapley(values).sum(axis=0) == pytest.approx(values[0] - values[-1], abs=1e-12)


@given(outcomes(k=3))
def test_linearity(values):
    other = values[:, ::-1] * 0.5 + 1
    assert shapley(values + other) == pytest.approx(shapley(values) + shapley(other), abs=1e-12)


@given(outcomes(k=3), st.integers(0, 2))
def test_null_player(values, null):
    """A factor that changes nothing gets nothing, whatever the others do."""
    same = values.copy()
    for on in range(8):
        same[on] = values[on & ~(1 << null)]
    assert not shapley(same)[null].any()
    assert not first_in(same, null).any()
    assert not last_in(same, null).any()
    for other in {0, 1, 2} - {null}:
        assert not interaction(same, null, other).any()


@given(outcomes(k=3))
def test_symmetry(values):
    """Swapping two factors swaps their shares; factors that act alike get the same."""
    swapped = np.array([values[(s & 4) | (s & 1) << 1 | (s & 2) >> 1] for s in range(8)])
    assert shapley(swapped) == pytest.approx(shapley(values)[[1, 0, 2]], abs=1e-12)
    alike = (values + swapped) / 2
    assert shapley(alike)[0] == pytest.approx(shapley(alike)[1], abs=1e-12)


@given(outcomes(k=4))
def test_shares_lie_between_the_extreme_marginals(values):
    for i, part in enumerate(shapley(values)):
        steps = [values[s] - values[s | 1 << i] for s in range(16) if not s >> i & 1]
        assert (part >= np.min(steps, axis=0) - 1e-12).all()
        assert (part <= np.max(steps, axis=0) + 1e-12).all()


@given(outcomes(k=3))
def test_additive_outcomes_have_equal_bounds_and_no_interaction(values):
    drops = values[:3]
    additive = np.array(
        [
            10 - sum(drops[i] for i in range(3) if s >> i & 1) * np.ones(values.shape[1])
            for s in range(8)
        ]
    )
    for i in range(3):
        assert first_in(additive, i) == pytest.approx(last_in(additive, i))
        assert shapley(additive)[i] == pytest.approx(drops[i])
    assert interaction(additive, 0, 1) == pytest.approx(0)


def test_no_spread_is_no_certainty():
    """No trial of 200 differed: the interval is that of no discordant pair, not of zero width."""
    flat = np.ones((4, 200))
    (share, _) = shares(flat, ("a", "b"))
    assert share.share.points == 0
    assert share.share.ci == pytest.approx(tango(0, 0, 200))
    assert share.first_in.ci == pytest.approx(tango(0, 0, 200))
    assert mean_effect(np.ones(50)).ci[1] == 1


def test_first_and_last_in_are_paired_differences():
    effect = paired_effect(np.array([1.0] * 6 + [-1.0] + [0.0] * 13))
    assert effect.points == pytest.approx(0.25)
    assert effect.ci == pytest.approx((-0.0112, 0.4882), abs=5e-5)
    assert paired_effect(np.array([0.5, 0.25, 0.0])).points == pytest.approx(0.25)


def test_pairs_are_judged_together():
    rng = generator(0, "shapley pairs")
    values = (rng.random((8, 100)) < 0.5).astype(float)
    pairs = interactions(values, ("a", "b", "c"))
    assert [p.names for p in pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    alone = mean_effect(interaction(values, 0, 1))
    assert pairs[0].effect.points == alone.points
    assert pairs[0].effect.ci[1] - pairs[0].effect.ci[0] > alone.ci[1] - alone.ci[0]


@pytest.mark.parametrize(
    ("values", "k", "error", "words"),
    [
        (np.ones((4, 3)), 9, UsageError, "9 factors; allowed: 1 to 8"),
        (np.ones((4, 3)), 3, BadDataError, r"need \(8, n\)"),
        (np.ones((4, 1)), 2, BadDataError, "n >= 2"),
        (np.full((4, 3), np.nan), 2, BadDataError, "not a finite number"),
    ],
)
def test_what_cannot_be_shared_out_is_refused(values, k, error, words):
    with pytest.raises(error, match=words):
        checked(values, k)


@pytest.mark.slow
def test_intervals_of_shares_cover_as_they_say():
    """200 common seeds, factors with true shares; the t interval covers in 93 to 97 of 100."""
    truth_drop = (0.15, 0.05, 0.0, 0.1)
    rng = generator(1, "shapley coverage")
    hits, rounds = np.zeros(4), 1500
    for _ in range(rounds):
        level = rng.random(200)
        values = np.array(
            [
                level < 0.9 - sum(d for i, d in enumerate(truth_drop) if s >> i & 1)
                for s in range(16)
            ]
        ).astype(float)
        for i, share in enumerate(shares(values, "vdsa")):
            hits[i] += share.share.ci[0] <= truth_drop[i] <= share.share.ci[1]
    covered = hits / rounds
    assert ((covered > 0.925) & (covered <= 1)).all(), covered
