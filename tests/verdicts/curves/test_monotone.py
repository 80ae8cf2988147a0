from hypothesis import given
from hypothesis import strategies as st

from simreal.verdicts.curves import CellCounts, drops

COUNT = st.integers(0, 10)
CELL = st.builds(
    CellCounts, st.sampled_from([0, 5, 20]), st.sampled_from([0, 50]), COUNT, st.just(10)
)


def test_a_fall_that_chance_may_explain_is_still_named():
    (drop,) = drops([CellCounts(20, 0, 13, 20), CellCounts(20, 20, 10, 20)])
    assert "13/20 at 0 simulated to 10/20 at 20" in drop.sentence
    assert "chance may explain it" in drop.sentence


def test_a_significant_fall_is_called_one():
    (drop,) = drops([CellCounts(5, 0, 19, 20), CellCounts(20, 0, 6, 20), CellCounts(50, 0, 9, 20)])
    assert (drop.less.n_real, drop.more.n_real) == (5, 20)
    assert drop.p < 0.05
    assert "more than trials alone explain" in drop.sentence
    (harm,) = drops([CellCounts(5, 0, 19, 20), CellCounts(5, 1000, 6, 20)])
    assert "simulated data may hurt" in harm.sentence


def test_only_neighbours_that_differ_in_one_kind_of_data_are_held_together():
    assert drops([CellCounts(5, 0, 19, 20), CellCounts(20, 100, 3, 20)]) == ()
    cells = [CellCounts(5, 0, 10, 20), CellCounts(20, 0, 15, 20), CellCounts(50, 0, 14, 20)]
    assert [(d.less.n_real, d.more.n_real) for d in drops(cells)] == [(20, 50)]


def test_trainings_of_one_recipe_are_added_up():
    cells = [CellCounts(5, 0, 2, 20), CellCounts(5, 0, 18, 20), CellCounts(20, 0, 12, 20)]
    assert drops(cells) == ()


@given(st.lists(CELL, max_size=6))
def test_every_named_fall_is_one(cells):
    for drop in drops(cells):
        assert drop.less.k / drop.less.n > drop.more.k / drop.more.n
        assert 0 < drop.p <= 1
        more = (drop.more.n_real - drop.less.n_real, drop.more.n_sim - drop.less.n_sim)
        assert sorted(x > 0 for x in more) == [False, True]


def test_very_many_trials_take_the_score_test():
    """Boschloo's test of so many would not end."""
    (drop,) = drops([CellCounts(5, 0, 30_000, 40_000), CellCounts(20, 0, 29_900, 40_000)])
    assert "(score test p = 0.41, Holm)" in drop.sentence
