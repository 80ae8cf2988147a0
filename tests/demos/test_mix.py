"""Laws of the sampler: exact shares, whole epochs, and no memory beyond (seed, step)."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simreal.core.errors import UsageError
from simreal.core.types import Mixture, Part
from simreal.demos.mix import Sampler, default_sim_share, held_out_episodes, share_bounds

weights = st.lists(
    st.one_of(st.floats(0.001, 1000), st.sampled_from([0.0, 0.1, 0.9, 1.0, 1 / 3])),
    min_size=1,
    max_size=5,
).filter(lambda drawn: sum(drawn) > 0)


def mixture(*shares: float) -> Mixture:
    return Mixture(tuple(Part(f"part-{i}", share) for i, share in enumerate(shares)))


def exact(shares: list[float]) -> list[Fraction]:
    total = sum(map(Fraction, shares))
    return [Fraction(share) / total for share in shares]


@given(weights, st.integers(1, 70))
@settings(max_examples=60, deadline=None)
def test_counts_stay_within_one_sample_of_the_share_at_every_step(shares, batch):
    sampler = Sampler(mixture(*shares), [7] * len(shares), batch, seed=0)
    before = (0,) * len(shares)
    for step in range(120):
        taken = sampler.taken(step)
        assert sum(taken) == batch * step
        assert all(now >= then for now, then in zip(taken, before, strict=True))
        for share, count in zip(exact(shares), taken, strict=True):
            assert abs(count - share * batch * step) < 1
        before = taken


@given(st.floats(0.001, 0.999), st.integers(1, 70))
@settings(max_examples=40, deadline=None)
def test_two_sources_deviate_by_less_than_one_sample_over_any_window(share, batch):
    sampler = Sampler(mixture(share, 1 - share), [7, 7], batch, seed=0)
    error = [
        sampler.taken(step)[0] - exact([share, 1 - share])[0] * batch * step for step in range(200)
    ]
    assert max(error) - min(error) < 1


def test_nine_to_one_in_batches_of_64():
    sampler = Sampler(mixture(0.9, 0.1), [1000, 50], 64, seed=3)
    counts = [int((sampler.draw(step).part == 1).sum()) for step in range(50)]
    assert set(counts) == {6, 7}
    assert sum(counts) == 320


@given(st.integers(0, 2**31 - 1), st.integers(0, 60))
@settings(max_examples=25, deadline=None)
def test_a_draw_depends_on_seed_and_step_alone(seed, step):
    fresh = Sampler(mixture(3.0, 1.0, 0.5), [40, 9, 3], 16, seed)
    used = Sampler(mixture(3.0, 1.0, 0.5), [40, 9, 3], 16, seed)
    for other in (59, 0, 17, 3):
        used.draw(other)
    np.testing.assert_array_equal(np.stack(fresh.draw(step)), np.stack(used.draw(step)))


def test_another_seed_draws_other_frames():
    one, other = (Sampler(mixture(1.0), [1000], 64, seed).draw(0).frame for seed in (1, 2))
    assert (one != other).any()


@given(
    st.lists(st.integers(1, 40), min_size=1, max_size=4),
    st.integers(1, 33),
    st.integers(0, 1000),
)
@settings(max_examples=40, deadline=None)
def test_every_frame_comes_once_an_epoch(frames, batch, seed):
    sampler = Sampler(mixture(*range(1, len(frames) + 1)), frames, batch, seed)
    drawn: list[list[int]] = [[] for _ in frames]
    steps = 2 + 4 * sum(frames) * len(frames) // batch
    for step in range(steps):
        counts = np.subtract(sampler.taken(step + 1), sampler.taken(step))
        part, frame = sampler.draw(step)
        for p in range(len(frames)):
            assert (part == p).sum() == counts[p]
            drawn[p].append(sorted(frame[part == p]))
    for p, count in enumerate(frames):
        seen = np.bincount(np.concatenate(drawn[p]).astype(int), minlength=count)
        assert len(seen) == count
        assert seen.max() - seen.min() <= 1, "a frame came twice before another came once"


def test_epochs_are_shuffled_anew():
    sampler = Sampler(mixture(1.0), [500], 500, seed=0)
    first, second = sampler.draw(0).frame, sampler.draw(1).frame
    assert sorted(first) == sorted(second) == list(range(500))
    assert (first != second).any()
    assert sampler.epochs(2) == (2.0,)


def test_a_part_of_weight_nought_is_never_drawn():
    sampler = Sampler(mixture(1.0, 0.0), [5, 0], 8, seed=0)
    assert (sampler.draw(3).part == 0).all()
    assert sampler.shares == (1.0, 0.0)


@pytest.mark.parametrize(
    ("shares", "frames", "batch", "said"),
    [
        ((1.0,), [3, 4], 8, "2 frame counts for 1 parts"),
        ((1.0,), [0], 8, "part-0 has weight 1.0 and no frames"),
        ((1.0,), [3], 0, "batch is 0"),
        ((0.0, 0.0), [3, 3], 8, "not all 0"),
        ((-1.0, 2.0), [3, 3], 8, "finite ones from 0"),
        ((float("nan"), 2.0), [3, 3], 8, "finite ones from 0"),
    ],
)
def test_wrong_requests_are_named(shares, frames, batch, said):
    with pytest.raises(UsageError, match=said):
        Sampler(mixture(*shares), frames, batch, seed=0)


def test_the_default_share_lies_on_the_flat_part_of_the_published_curve():
    low, high = share_bounds(20, 1000)
    assert low == pytest.approx(1 - np.sqrt(20 / 1000))
    assert high == pytest.approx(1000 / 1020)
    assert 0.90 <= default_sim_share(20, 1000) <= 0.99


def test_few_simulated_demonstrations_take_the_second_bound():
    low, high = share_bounds(50, 200)  # M/N = 4
    assert low == pytest.approx(0.5)  # 50 * .8 / (.2 * 200 + 50 * .8)
    assert high == pytest.approx(200 / 250)


@given(st.integers(0, 5000), st.integers(0, 5000), st.floats(0.1, 10))
def test_share_bounds_are_ordered_and_hold_the_default(n_real, n_sim, raised):
    if n_real + n_sim == 0:
        with pytest.raises(UsageError):
            share_bounds(n_real, n_sim, raised)
        return
    low, high = share_bounds(n_real, n_sim, raised)
    share = default_sim_share(n_real, n_sim, raised)
    assert 0 <= low <= high <= 1
    assert low - 1e-12 <= share <= high + 1e-12
    if n_real and n_sim:
        assert low >= 0.5  # the weight of the real ones is capped at one half
        assert share_bounds(n_real, n_sim, raised * 2)[0] <= low
    else:
        assert share == (1.0 if n_real == 0 else 0.0)


@given(st.integers(0, 300), st.floats(0, 0.99), st.integers(0, 99))
def test_held_out_episodes_split_all_without_overlap(n, fraction, seed):
    train, validation = held_out_episodes(n, fraction, seed)
    assert sorted([*train, *validation]) == list(range(n))
    assert list(train) == sorted(train)
    if n >= 2 and fraction > 0:
        assert 1 <= len(validation) < n
        assert abs(len(validation) - n * fraction) <= 1
    again = held_out_episodes(n, fraction, seed)
    assert (again[0] == train).all()
    assert (again[1] == validation).all()


def test_held_out_episodes_depend_on_the_seed():
    assert (held_out_episodes(100, 0.2, 1)[1] != held_out_episodes(100, 0.2, 2)[1]).any()
    with pytest.raises(UsageError, match="0 <= fraction < 1"):
        held_out_episodes(10, 1.0, 0)
