import numpy as np
import pytest
from tests.verdicts.advise.surfaces import Plain

from simreal.verdicts.advise.beliefs import DEFAULT, TRUSTING, Doubt, believe
from simreal.verdicts.advise.surface import log_mass, masses, pass_chance
from simreal.verdicts.curves import CellCounts


def curve(n_real, n_sim):
    return 1 - 0.9 * (1 + (n_real + 0.05 * n_sim) / 20) ** -0.8


SURFACE = Plain(curve)
CELLS = (
    CellCounts(50, 0, 30, 50, "real"),
    CellCounts(0, 600, 25, 50, "sim"),
    CellCounts(50, 600, 40, 50, "both"),
)


def test_without_doubt_the_surface_is_taken_at_its_word():
    beliefs = believe(SURFACE, CELLS, TRUSTING)
    rate = beliefs.along("hybrid", (50, 600), (2, 4))
    assert rate == pytest.approx(SURFACE.success([100, 200], [1200, 2400]))


def test_a_plateau_ends_learning_at_the_last_level_before_it():
    beliefs = believe(SURFACE, CELLS, Doubt(0, 0, plateau=1, leap=0, reach=16))
    rate = beliefs.along("real-only", (50, 0), (2, 4, 8))
    levels = SURFACE.success([50, 100, 200, 400], [0] * 4)[0]
    for ends, row in zip(beliefs.ends, rate, strict=True):
        last = max(i for i, multiple in enumerate((1, 2, 4, 8)) if multiple <= ends)
        assert row == pytest.approx(np.minimum(levels[1:], levels[last]))


def test_a_leap_raises_all_later_levels():
    beliefs = believe(SURFACE, CELLS, Doubt(0, 0, plateau=0, leap=1, height=3))
    rate = beliefs.along("real-only", (50, 0), (2, 4, 8, 16))
    plain = SURFACE.success([100, 200, 400, 800], [0] * 4)
    assert np.all(rate >= plain - 1e-9)
    assert (rate[:, -1] > plain[:, -1] + 1e-4).mean() > 0.9
    assert (rate[:, 0] > plain[:, 0] + 1e-4).mean() < 0.5


def test_cells_that_contradict_the_surface_move_their_road_only():
    poor = (*CELLS[:2], CellCounts(50, 600, 5, 50, "both"))
    beliefs = believe(SURFACE, poor, Doubt(road=1, session=0, plateau=0, leap=0))
    assert beliefs.shifts["hybrid"].mean() < -1
    assert abs(beliefs.shifts["sim-only"].mean()) < 0.4


def test_a_checkpoint_is_known_by_its_own_trials_and_by_the_surface():
    noisy = Plain(curve, noise=50.0)
    beliefs = believe(noisy, CELLS, TRUSTING)
    wins, losses = beliefs.checkpoint(CellCounts(50, 0, 10, 50, "real"))
    rate = curve(50, 0)
    assert wins[0, 0] == pytest.approx(rate * 50 + 10)
    assert losses[0, 0] == pytest.approx((1 - rate) * 50 + 40)


def test_a_session_widens_what_is_to_come():
    calm = believe(SURFACE, CELLS, TRUSTING).along("hybrid", (50, 600), (2,))
    shifting = believe(SURFACE, CELLS, Doubt(0, 0.5, 0, 0)).along("hybrid", (50, 600), (2,))
    assert calm.std() < 1e-9
    assert shifting.std() > 0.02


def test_the_same_cells_give_the_same_beliefs():
    one, two = (believe(SURFACE, CELLS, DEFAULT, seed=3) for _ in range(2))
    assert np.array_equal(one.rows, two.rows)
    assert np.array_equal(one.session, two.session)


@pytest.mark.parametrize("wins", [1e-5, 0.5, 30.0, 79.999])
def test_chances_of_a_test_are_those_of_the_beta_binomial(wins):
    a, b = np.array([[wins]]), np.array([[80.0 - wins]])
    mass = np.exp(log_mass(np.arange(51), 50, a, b))
    assert mass.sum() == pytest.approx(1)
    assert masses(a, b, 50) == pytest.approx(mass, abs=1e-9)
    assert pass_chance(a, b, 50, 43)[0, 0] == pytest.approx(mass[0, 43:].sum(), abs=1e-9)
    assert pass_chance(a, b, 50, 0)[0, 0] == pytest.approx(1)
