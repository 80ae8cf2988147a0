import pytest
from hypothesis import given
from hypothesis import strategies as st

from simreal.core.errors import UsageError
from simreal.verdicts import planning
from simreal.verdicts.exact import boschloo, holm
from simreal.verdicts.intervals import t_interval, t_test, weighted_sum
from simreal.verdicts.numerics import binomial_mass, likely_counts, root

RATE = st.floats(0.05, 0.95)


@given(RATE, RATE)
def test_smaller_differences_and_more_power_take_more_trials(p1, p2):
    if abs(p1 - p2) < 0.02:
        return
    n = planning.trials_to_compare(p1, p2)
    assert n == planning.trials_to_compare(p2, p1) == planning.trials_to_compare(1 - p1, 1 - p2)
    assert planning.trials_to_compare(p1, p2, power=0.9) >= n
    nearer = p1 + (p2 - p1) * 0.7
    assert planning.trials_to_compare(p1, nearer) >= n


@given(RATE, st.floats(0.02, 0.3))
def test_a_narrower_margin_or_interval_takes_more_trials(rate, margin):
    assert planning.trials_for_noninferiority(
        rate, margin / 2
    ) > planning.trials_for_noninferiority(rate, margin)
    assert planning.trials_for_half_width(rate, margin / 2) > planning.trials_for_half_width(
        rate, margin
    )


def test_more_power_takes_more_trials():
    assert planning.trials_to_compare(0.6, 0.85, power=0.9) == 65


def test_a_smaller_sample_sees_what_it_was_planned_for():
    n = planning.trials_to_compare(0.6, 0.85)
    assert planning.smallest_detectable(0.725, n, n) == pytest.approx(0.25, abs=0.002)


def test_too_few_trials_see_nothing():
    assert planning.smallest_detectable(0.5, 0, 10) is None
    assert planning.smallest_detectable(0.5, 1, 1) is None
    assert planning.smallest_detectable_paired(5, 0.3) is None


@pytest.mark.parametrize(
    "call",
    [
        lambda: planning.trials_to_compare(0.5, 0.5),
        lambda: planning.trials_to_compare(0.5, 1.5),
        lambda: planning.trials_to_compare(0.5, 0.6, power=0.01),
        lambda: planning.trials_for_noninferiority(0.8, 0),
        lambda: planning.trials_for_half_width(0.8, 0.7),
        lambda: planning.trials_for_half_width(0.8, 1e-9),
        lambda: planning.trials_without_failure(1.0),
        lambda: planning.mcnemar_power(10, 0.5, 0.3),
        lambda: planning.mcnemar_power(-1, 0.1, 0.3),
        lambda: planning.trials_to_compare_paired(0, 0.3),
        lambda: holm([0.1, 1.2]),
        lambda: boschloo(3, 2, 1, 2),
        lambda: t_interval([0.5]),
        lambda: t_test([0.5]),
        lambda: weighted_sum([1.0], [], [1.0]),
        lambda: root(lambda x: 1.0, 0.0, 1.0),
    ],
)
def test_impossible_questions_are_refused(call):
    with pytest.raises(UsageError):
        call()


def test_no_discordance_no_power():
    assert planning.mcnemar_power(50, 0, 0) == 0


@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_orders_and_bounds(values):
    adjusted = holm(values)
    assert len(adjusted) == len(values)
    for p, q in zip(values, adjusted, strict=True):
        assert p <= q <= min(1.0, len(values) * p) + 1e-12
    pairs = sorted(zip(values, adjusted, strict=True))
    assert [q for _, q in pairs] == sorted(q for _, q in pairs)


def test_a_weighted_sum_of_one_keeps_its_interval():
    value, interval = weighted_sum([0.3], [(0.1, 0.6)], [1.0])
    assert value == 0.3
    assert interval == pytest.approx((0.1, 0.6))
    value, interval = weighted_sum([0.3, 0.3], [(0.1, 0.6), (0.1, 0.6)], [1.0, -1.0])
    assert value == 0
    assert interval[0] == pytest.approx(-interval[1])


def test_what_many_pairs_can_see_is_found_quickly():
    """Against the normal approximation, which so many pairs keep to."""
    disc, n = 0.5, 30_000
    found = planning.smallest_detectable_paired(n, disc)
    sd = disc**0.5
    assert found == pytest.approx((1.96 + 0.8416) * sd / n**0.5, rel=0.01)


@given(st.integers(0, 300), st.floats(0.01, 1))
def test_counts_left_out_hold_no_mass(n, rate):
    kept = likely_counts(n, rate, rate)
    assert binomial_mass(kept, n, rate).sum() == pytest.approx(1, abs=1e-12)
