import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simreal.core.errors import UsageError
from simreal.verdicts.advise.voi import evpi, evsi

#: Real for $4,000 sure; hybrid for $2,000, and $4,000 more where it fails.
TOY = np.array([[4000.0, 2000.0], [4000.0, 6000.0]])
WORKS = np.array([0.6, 0.4])
TEST = np.array([[0.8, 0.2], [0.1, 0.9]])  # sensitivity .8, specificity .9


def test_the_toy_of_one_test_before_a_choice():
    assert evpi(TOY, WORKS) == pytest.approx(800)
    assert evsi(TOY, TEST, WORKS) == pytest.approx(480)


def test_draws_of_equal_weight_are_what_weights_say():
    draws = np.repeat(TOY, [6, 4], axis=0)
    assert evpi(draws) == pytest.approx(800)
    assert evsi(draws, np.repeat(TEST, [6, 4], axis=0)) == pytest.approx(480)


def tables(most):
    size = st.tuples(st.integers(1, 6), st.integers(1, 4))
    return size.flatmap(
        lambda shape: st.lists(
            st.lists(st.floats(0, most), min_size=shape[1], max_size=shape[1]),
            min_size=shape[0],
            max_size=shape[0],
        )
    )


@given(tables(1e4), st.integers(0, 10_000))
def test_a_measurement_is_worth_at_most_the_truth_and_at_least_nothing(rows, seed):
    losses = np.array(rows)
    draws = len(losses)
    noise = np.random.default_rng(seed).dirichlet(np.ones(3), draws)
    most = evpi(losses)
    assert 0 <= evsi(losses, noise) <= most + 1e-6
    assert evsi(losses, np.eye(draws)) == pytest.approx(most, abs=1e-6)
    assert evsi(losses, np.full((draws, 3), 1 / 3)) == pytest.approx(0, abs=1e-6)


def test_an_action_that_a_measurement_opens_adds_to_its_worth():
    opened = np.concatenate([TOY, [[0.0], [9000.0]]], axis=1)
    assert evsi(TOY, TEST, WORKS, after=opened) > evsi(TOY, TEST, WORKS)


@pytest.mark.parametrize(
    ("losses", "outcomes"),
    [(TOY, TEST / 2), (TOY, TEST[:1]), (TOY[:0], TEST[:0]), (TOY[0], TEST)],
)
def test_wrong_shapes_are_refused(losses, outcomes):
    with pytest.raises(UsageError):
        evsi(losses, outcomes)


def test_weights_must_weigh_something():
    with pytest.raises(UsageError, match="weight"):
        evpi(TOY, np.zeros(2))
