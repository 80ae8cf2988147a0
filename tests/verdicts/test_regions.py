"""Regions are found where they are, written as they are tested, and absent from noise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simreal.core.seeds import generator
from simreal.verdicts.regions import Region, bound, candidates, scale_of

N = 1200


def space(seed, factors=30, n=N):
    x = generator(seed, "test/regions").random((n, factors))
    return {f"f{i}": x[:, i] for i in range(factors)}


def fails(columns, rate, seed=0):
    chance = generator(seed, "test/outcome").random(len(columns["f0"]))
    return chance < rate(columns)


def found(columns, failed, weights=None):
    scales = {name: scale_of(np.linspace(0, 1, 1001)) for name in columns}
    return candidates(columns, scales, failed, np.ones(len(failed)) if weights is None else weights)


def test_a_planted_range_is_found_and_read():
    columns = space(1)
    failed = fails(columns, lambda c: np.where(c["f3"] < 0.25, 0.6, 0.1))
    first, *_ = found(columns, failed)
    assert first.text == "f3 below 0.25"
    assert (first.inside(columns) == (columns["f3"] <= 0.25)).all()


def test_an_inner_range_is_found():
    columns = space(2)
    failed = fails(columns, lambda c: np.where(abs(c["f3"] - 0.5) < 0.125, 0.6, 0.1))
    assert found(columns, failed)[0].text == "f3 between 0.375 and 0.625"


def test_a_corner_of_two_factors_is_found():
    columns = space(3)
    corner = lambda c: (c["f1"] > 0.5) & (c["f2"] < 0.5)  # noqa: E731
    first, *_ = found(columns, fails(columns, lambda c: np.where(corner(c), 0.7, 0.05)))
    assert {b.text for b in first.bounds} == {"f1 above 0.5", "f2 below 0.5"}


def test_two_ranges_are_found_apart():
    columns = space(4)
    rate = lambda c: np.where((c["f1"] < 0.25) | (c["f7"] > 0.75), 0.7, 0.05)  # noqa: E731
    first, second = found(columns, fails(columns, rate))[:2]
    assert {first.text, second.text} == {"f1 below 0.25", "f7 above 0.75"}


def test_noise_gives_few_candidates_and_no_failures_give_none():
    columns = space(5)
    many = [len(found(space(s), fails(space(s), lambda c: 0.3, s))) for s in range(6)]
    assert np.mean(many) < 4
    assert found(columns, np.zeros(N, bool)) == []
    assert found(columns, np.ones(N, bool)) == []


def test_weights_take_back_where_the_search_went():
    """Twice as many trials at high f1, which fail as often as others: no region of f1."""
    rng = generator(6, "test")
    columns = {"f0": rng.random(N), "f1": np.where(rng.random(N) < 0.5, rng.random(N), 0.99)}
    failed = fails(columns, lambda c: np.where(c["f0"] < 0.5, 0.5, 0.1))
    weights = np.where(columns["f1"] == 0.99, 0.02, 1.0)
    assert [r.text for r in found(columns, failed, weights)][:1] == ["f0 below 0.5"]


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([0, 1], ["f at 0", "f at 1"]),
        ([1, 2, 3], ["f 1 or less", "f at 2", "f 3 or more"]),
        ([0.0001, 0.0002, 0.0005], ["f below 0.00015", None, "f above 0.00035"]),
    ],
)
def test_discrete_factors_are_cut_between_their_values(values, texts):
    scale = scale_of(np.repeat(np.array(values, dtype=float), 50))
    assert len(scale.edges) == len(values) - 1
    for i, text in enumerate(texts):
        one = bound("f", scale, i, i)
        assert text is None or one.text == text or (len(values) == 2 and one.text.startswith("f "))
        assert one.holds(np.array(values, float)).tolist() == [j == i for j in range(len(values))]


def test_numbers_carry_what_the_axis_says():
    scale = scale_of(np.linspace(0.5, 1.5, 1001), prefix="x")
    assert bound("light", scale, 0, 0).text == "light below x0.625"
    assert bound("cam", scale_of(np.linspace(-1, 1, 801), suffix=" deg"), 7, 7).text == (
        "cam above 0.75 deg"
    )


@given(st.integers(0, 7), st.integers(0, 7), st.integers(0, 50))
def test_a_bound_holds_in_its_bins_and_nowhere_else(i, j, seed):
    values = generator(seed, "test").standard_normal(500)
    scale = scale_of(values)
    i, j = sorted((min(i, len(scale.edges)), min(j, len(scale.edges))))
    if (i, j) == (0, len(scale.edges)):
        return  # the whole range is no bound
    bins = np.searchsorted(scale.edges, values, side="right")
    one = Region((bound("f", scale, i, j),))
    assert (one.inside({"f": values}) == ((bins >= i) & (bins <= j))).all()
