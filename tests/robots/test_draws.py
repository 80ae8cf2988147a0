import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from simreal.robots.draws import BLOCK, EpisodeDraws


def drawn(seeds, twin_seed=1, purpose="test", size=2):
    draws = EpisodeDraws(twin_seed, purpose, size)
    draws.reset(seeds)
    return draws


@given(st.lists(st.integers(0, 4 * BLOCK), min_size=1, max_size=12))
def test_numbers_depend_on_the_step_and_not_on_the_order_of_asking(steps):
    forwards = drawn([7, 8])
    table = [forwards.uniform(step).copy() for step in range(max(steps) + 1)]
    other = drawn([7, 8])
    for step in steps:
        assert np.array_equal(other.uniform(step), table[step])


def test_numbers_depend_on_the_condition_and_not_on_its_batch():
    assert np.array_equal(drawn([3, 4, 5]).uniform(70)[1:2], drawn([4]).uniform(70))
    assert not np.array_equal(drawn([3]).uniform(0), drawn([4]).uniform(0))


def test_twins_and_purposes_draw_differently():
    base = drawn([3]).uniform(5)
    assert not np.array_equal(base, drawn([3], twin_seed=2).uniform(5))
    assert not np.array_equal(base, drawn([3], purpose="other").uniform(5))


def test_no_step_repeats_another():
    draws = drawn([1], size=1)
    values = [float(draws.uniform(step)[0, 0]) for step in range(3 * BLOCK)]
    assert len(set(values)) == len(values)
    assert 0 <= min(values) < 0.1
    assert 0.9 < max(values) < 1


def test_a_reset_starts_over():
    draws = drawn([1])
    first = draws.uniform(0).copy()
    draws.reset([2])
    assert not np.array_equal(draws.uniform(0), first)
    draws.reset([1])
    assert np.array_equal(draws.uniform(0), first)
