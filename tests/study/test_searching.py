"""The search goes where failure is probable, to several places, and can be weighted back."""

import numpy as np
import pytest

from simreal.core.seeds import generator
from simreal.study.drawing import Drawing, budget_of
from simreal.study.searching import FACTORS, PLACES, Proposal, Search, Surrogate, ranks
from simreal.study.space import Space
from simreal.worlds.randomize import Profile, profile
from simreal.worlds.simulated import SimConfig
from simreal.worlds.so101_rig import SO101

#: A dozen axes with 40 numbers of the built-in profile: few enough to be quick.
NAMES = ("exposure", "light_intensity", "camera_fov", "joint_offset", "object_mass", "table_colour")
AXES = tuple(a for a in profile("full", SO101).axes if a.term in NAMES)


@pytest.fixture(scope="module")
def space():
    return Space(SimConfig(size_px=16, profile=Profile("mine", AXES)))


def failing(space, points):
    """Two modes: dark pictures, and a cube that lies far on one side under a bright exposure."""
    found = []
    for point in points:
        f = space.factors(point)
        dark = f["exposure"] < -0.4
        aside = f["object_y_m"] > 0.05 and f["exposure"] > 0.2
        chance = 0.8 if dark or aside else 0.05
        found.append(generator(point.index, "test/fails").random() < chance)
    return np.array(found)


@pytest.fixture(scope="module")
def searched(space):
    """Points of coverage and two rounds, what failed, and the rounds."""
    drawing, search = Drawing(space, 0), Search(space, 0)
    points, rounds = drawing.coverage(400), []
    failed = failing(space, points)
    for number in range(2):
        proposal = search.propose(number, points, failed, rounds)
        points = [*points, *drawing.searched(len(points), 200, number, proposal)]
        rounds.append((proposal, 200))
        failed = failing(space, points)
    return points, failed, rounds


def test_a_surrogate_finds_a_corner():
    rng = generator(0, "test")
    x = rng.random((600, 3))
    failed = rng.random(600) < np.where((x[:, 0] > 0.6) & (x[:, 1] < 0.4), 0.9, 0.05)
    one = Surrogate(x, failed)
    mean, spread = one.logit(np.array([[0.95, 0.05, 0.5], [0.05, 0.95, 0.5]]))
    assert mean[0] > 1 > -1 > mean[1]
    assert (spread > 0).all()


def test_the_search_fails_more_often_than_the_coverage(searched):
    _, failed, _ = searched
    assert failed[400:].mean() > 1.5 * failed[:400].mean()


def test_it_goes_to_both_modes(space, searched):
    points, failed, rounds = searched
    assert {"exposure", "object_y_m"} <= set(rounds[-1][0].names)
    rows = [space.factors(p) for p, f in zip(points[400:], failed[400:], strict=True) if f]
    dark = sum(r["exposure"] < -0.4 for r in rows)
    aside = sum(r["object_y_m"] > 0.05 and r["exposure"] > 0.2 for r in rows)
    assert min(dark, aside) > 25


def test_places_keep_apart(searched):
    for proposal, _ in searched[2]:
        places = np.array(proposal.places)
        assert places.shape == (PLACES, FACTORS)
        apart = [np.linalg.norm(a - b) for i, a in enumerate(places) for b in places[:i]]
        assert min(apart) > 0.2


def test_weights_give_back_the_profile(space, searched):
    points, failed, rounds = searched
    weights = Search(space, 0).weights(points, rounds)
    assert weights.mean() == pytest.approx(1, abs=0.1)
    assert np.average(failed, weights=weights) == pytest.approx(failed[:400].mean(), abs=0.05)
    assert failed.mean() > failed[:400].mean() + 0.08
    for name in rounds[-1][0].names:
        x = Search(space, 0).ranks(points, [name])[:, 0]
        assert np.average(x, weights=weights) == pytest.approx(0.5, abs=0.06), name


def test_a_proposal_survives_json_and_is_found_again(space, searched):
    points, failed, rounds = searched
    again = Search(space, 0).propose(0, points[:400], failed[:400], [])
    assert again == rounds[0][0]
    assert Proposal.from_json(again.to_json()) == again


def test_ranks_are_shares_of_the_reference():
    reference = np.array([1.0, 2.0, 2.0, 3.0])
    assert ranks(np.array([0.0, 2.0, 9.0]), reference).tolist() == [0.0, 0.5, 1.0]


@pytest.mark.parametrize("trials", [400, 777, 1000, 3000, 20_000])
def test_a_budget_spends_what_it_was_given(trials):
    budget = budget_of(trials)
    assert budget.total == trials
    assert min(budget.coverage, budget.general, budget.inside, *budget.search) > 0
    assert 0.2 * trials <= budget.coverage <= 0.5 * trials


def test_coverage_is_even(space):
    points = Drawing(space, 0).coverage(256)
    x = Search(space, 0).ranks(points, list(space.slots))
    for column in x.T:
        counts, _ = np.histogram(column, 8, (0, 1))
        assert counts.min() > 24  # a random sample of 256 has fewer than 24 in some eighth
