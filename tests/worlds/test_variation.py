"""The laws of distributions, operations and axes."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simreal.core.errors import UsageError
from simreal.core.seeds import generator
from simreal.worlds.variation import (
    DISTRIBUTIONS,
    OPERATIONS,
    Axis,
    Each,
    Integers,
    LogUniform,
    Mixture,
    Normal,
    Uniform,
    axis_from_json,
)

finite = st.floats(-1e9, 1e9)
positive = st.floats(1e-9, 1e9)
whole = st.integers(-(2**53), 2**53)


def ordered(numbers):
    return st.tuples(numbers, numbers).map(sorted)


uniforms = ordered(finite).map(lambda b: Uniform(*b))
log_uniforms = ordered(positive).map(lambda b: LogUniform(*b))
integers = ordered(whole).map(lambda b: Integers(*b))
normals = st.builds(Normal, finite, st.floats(0, 1e6), st.floats(0, 10))
distributions = st.one_of(uniforms, log_uniforms, integers, normals)
mixtures = st.recursive(
    distributions, lambda inner: st.builds(Mixture, inner, inner, st.floats(0, 1)), max_leaves=3
)
eaches = st.lists(mixtures, min_size=1, max_size=4).map(lambda parts: Each(tuple(parts)))
axes = st.builds(
    Axis,
    st.just("object_mass"),
    st.sampled_from(sorted(OPERATIONS)),
    st.one_of(distributions, mixtures, eaches),
)
seeds = st.integers(0, 2**32)


def drawn(distribution, seed, size=20):
    return distribution.draw(generator(seed, "test"), size)


def bounds(distribution):
    if isinstance(distribution, Normal):
        reach = distribution.std * distribution.clip
        return distribution.mean - reach, distribution.mean + reach
    return distribution.low, distribution.high


@given(distributions, seeds)
def test_draws_are_finite_and_inside_the_bounds(distribution, seed):
    values = drawn(distribution, seed)
    low, high = bounds(distribution)
    assert values.shape == (20,)
    assert np.isfinite(values).all()
    assert (low <= values).all()
    assert (values <= high).all()
    if isinstance(distribution, Integers):
        assert all(float(v).is_integer() for v in values)


@given(distributions, seeds)
def test_draws_depend_on_the_generator_alone(distribution, seed):
    assert np.array_equal(drawn(distribution, seed), drawn(distribution, seed))
    shorter = drawn(distribution, seed, 7)
    assert np.array_equal(shorter, drawn(distribution, seed)[:7])


@given(st.one_of(positive), seeds)
def test_a_range_of_zero_width_gives_its_bound_exactly(value, seed):
    for pinned in (Uniform(value, value), LogUniform(value, value), Normal(value, 0.0)):
        assert (drawn(pinned, seed) == value).all()
    assert (drawn(Integers(int(value), int(value)), seed) == int(value)).all()


def test_distributions_reach_the_shape_they_name():
    n = 20_000
    assert drawn(Uniform(2, 6), 1, n).mean() == pytest.approx(4, abs=0.05)
    assert np.median(drawn(LogUniform(0.01, 100), 1, n)) == pytest.approx(1, rel=0.1)
    assert drawn(Normal(3, 2), 1, n).std() == pytest.approx(2, rel=0.05)
    values, counts = np.unique(drawn(Integers(-1, 2), 1, n), return_counts=True)
    assert values.tolist() == [-1, 0, 1, 2]
    assert counts.min() > 0.9 * n / 4


def test_a_clipped_normal_stands_at_its_bound():
    values = drawn(Normal(0, 1, clip=0.5), 3, 1000)
    assert (np.abs(values) <= 0.5).all()
    assert (np.abs(values) == 0.5).mean() == pytest.approx(0.617, abs=0.05)


@given(finite, finite)
def test_operations(nominal, value):
    assert OPERATIONS["set"](nominal, value) == value
    assert OPERATIONS["add"](nominal, value) == nominal + value
    assert OPERATIONS["scale"](nominal, value) == nominal * value
    assert OPERATIONS["add"](nominal, 0.0) == nominal
    assert OPERATIONS["scale"](nominal, 1.0) == nominal


def test_operations_keep_the_shape_of_what_they_change():
    nominal = np.ones((4, 3))
    for operation in OPERATIONS.values():
        assert np.shape(operation(nominal, 2.0)) == (4, 3)
        assert np.shape(operation(nominal, np.full(3, 2.0))) == (4, 3)


@given(axes)
def test_an_axis_survives_json(axis):
    text = json.dumps(axis.to_json(), allow_nan=False)
    again = axis_from_json(axis.term, json.loads(text))
    assert again == axis
    assert json.dumps(again.to_json()) == text


@given(distributions, seeds)
def test_even_fractions_give_the_distribution_in_order(distribution, seed):
    values = distribution.at(np.linspace(0, 1, 101))
    assert (np.diff(values) >= 0).all()
    low, high = bounds(distribution)
    assert low <= values[0] <= values[-1] <= high
    if not isinstance(distribution, Normal):
        assert (values[0], values[-1]) == pytest.approx((low, high))


def test_fractions_and_draws_agree():
    even = (np.arange(20_000) + 0.5) / 20_000
    for one in (Uniform(2, 6), LogUniform(0.01, 100), Normal(3, 2), Integers(-1, 2)):
        mean = one.at(even).mean()
        assert drawn(one, 1, 20_000).mean() == pytest.approx(mean, abs=0.05 * (1 + abs(mean)))


def test_a_mixture_has_its_share_of_the_second():
    values = drawn(Mixture(Uniform(0, 1), Uniform(5, 6), 0.3), 1, 20_000)
    assert (values >= 5).mean() == pytest.approx(0.3, abs=0.01)
    assert values[values < 5].mean() == pytest.approx(0.5, abs=0.02)
    assert (drawn(Mixture(Integers(1, 1), Integers(2, 2), 1.0), 1) == 2).all()
    assert (drawn(Mixture(Integers(1, 1), Integers(2, 2), 0.0), 1) == 1).all()


def test_each_number_has_its_own_distribution():
    each = Each((Uniform(0, 1), Mixture(Integers(5, 5), Integers(6, 6), 0.5)))
    values = np.array([drawn(each, seed, 2) for seed in range(200)])
    assert (values[:, 0] <= 1).all()
    assert set(values[:, 1]) == {5.0, 6.0}
    with pytest.raises(UsageError, match="2 parts for an axis of 3 numbers"):
        drawn(each, 0, 3)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ({"distribution": "mixture", "weight": 0.5}, "None is no distribution"),
        ({"distribution": "mixture", "first": {}, "second": {}, "weight": 1}, "low, high"),
        ({"distribution": "each", "parts": 3}, "a list of parts"),
        ({"distribution": "each", "parts": []}, "needs a part"),
        ({"distribution": "each", "parts": [{"distribution": "unifrom"}]}, "mean 'uniform'"),
    ],
)
def test_a_bad_mixture_is_refused_with_a_sentence(content, says):
    with pytest.raises(UsageError, match=says):
        axis_from_json("object_mass", content)


def test_mixtures_and_each_have_bounds_of_their_own():
    one = Uniform(0, 1)
    with pytest.raises(UsageError, match=r"weight 1\.5"):
        Axis("object_mass", "scale", Mixture(one, one, 1.5))
    with pytest.raises(UsageError, match="no `each` inside"):
        Axis("object_mass", "scale", Mixture(Each((one,)), one, 0.5))
    with pytest.raises(UsageError, match="low 2 is greater"):
        Axis("object_mass", "scale", Each((one, Uniform(2, 1))))


@given(axes, axes)
def test_axes_are_equal_where_their_json_is(one, other):
    assert (one == other) == (one.to_json() == other.to_json())
    assert repr(one) != repr(other) or one == other


@given(ordered(finite).filter(lambda b: b[0] < b[1]))
def test_low_above_high_is_refused(pair):
    low, high = pair
    for kind in (Uniform, LogUniform):
        with pytest.raises(UsageError, match=r"object_mass.*low .* is greater than high"):
            Axis("object_mass", "scale", kind(high, low))


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("kind", [Uniform, LogUniform, Integers, Normal])
def test_numbers_that_are_not_finite_are_refused(kind, bad):
    for numbers in ((bad, 1.0), (1.0, bad)):
        with pytest.raises(UsageError, match=r"Axis 'object_mass': .*finite"):
            Axis("object_mass", "set", kind(*numbers))


@pytest.mark.parametrize(
    ("distribution", "words"),
    [
        (LogUniform(0.0, 1.0), "must be positive"),
        (LogUniform(-1.0, 1.0), "must be positive"),
        (Normal(0.0, -1.0), "must not be negative"),
        (Normal(0.0, 1.0, -3.0), "must not be negative"),
        (Integers(0.5, 2), "whole numbers"),  # type: ignore[arg-type]
        (Integers(0, 10**30), "whole numbers"),
        (Integers(2, 1), "greater than"),
        (Uniform(-1e308, 1e308), "not finite"),
    ],
)
def test_impossible_distributions_are_refused(distribution, words):
    with pytest.raises(UsageError, match=rf"Axis 'exposure': .*{words}"):
        Axis("exposure", "add", distribution)


def test_an_unknown_operation_is_refused_with_the_nearest_one():
    with pytest.raises(UsageError, match=r"object_mass.*add, scale, set.*mean 'scale'"):
        Axis("object_mass", "scael", Uniform(0, 1))


def test_an_unknown_distribution_is_refused_with_the_nearest_one():
    with pytest.raises(UsageError, match=r"object_mass.*mean 'uniform'") as caught:
        axis_from_json("object_mass", {"distribution": "unifrom", "low": 0, "high": 1})
    assert all(name in str(caught.value) for name in DISTRIBUTIONS)


@pytest.mark.parametrize(
    "numbers",
    [
        {},
        {"low": 0},
        {"low": 0, "high": 1, "middle": 0.5},
        {"low": "0", "high": 1},
        {"low": True, "high": 1},
        {"low": [0], "high": 1},
        {"low": None, "high": 1},
        {"low": 0, "high": 10**400},
    ],
)
def test_wrong_numbers_are_refused_with_the_right_ones(numbers):
    with pytest.raises(UsageError, match=r"'exposure': a uniform .* takes the numbers low, high"):
        axis_from_json("exposure", numbers)


def test_distribution_and_operation_have_defaults():
    assert axis_from_json("exposure", {"low": 0, "high": 1}) == Axis(
        "exposure", "set", Uniform(0, 1)
    )
