import numpy as np
import pytest

from simreal.core.errors import UsageError
from simreal.verdicts.cost.breakeven import Variant, demonstration_cost, planned_cost
from simreal.verdicts.cost.inputs import Inputs
from simreal.verdicts.cost.prices import Price, prices_from
from simreal.verdicts.curves import fit
from simreal.verdicts.pilot import Project
from simreal.verdicts.pilot.outlook import outlook
from simreal.verdicts.pilot.pilots import NONE, Pilot, candidates

#: The Franka preset of the cost formulas: 3 minutes, yield .85, 47.75 an hour.
FIXED = {
    "operator": 40,
    "robot": 5.625,
    "wear": 2.125,
    "machine": 0.5,
    "quality_check": 0,
    "engineering": 100,
    "setup_hours": 72,
    "calendar": {"per_core_hour": 5000},
}
MINUTES = Price(3, 3, 3, "minutes", "user")
PRIOR = fit([], draws=500)


def project(prices=None, **more):
    return Project(0.85, MINUTES, prices_from(prices or FIXED), **more)


def test_costs_are_those_of_the_formulas():
    found = outlook(project(lab=Inputs(variants=3)), PRIOR)
    c_real = demonstration_cost(3, 0.85, 47.75)
    assert found.rates.demo[0] == pytest.approx(c_real)
    assert c_real == pytest.approx(2.8088, abs=5e-5)
    shared = {"training": 0.5 * 2, "evaluation": 19 * 3 / 60 * 47.75}
    for row in (0, 100, 400):
        real, hybrid = found.needed[row]
        plans = [Variant(real, 0, **shared)] * 3, [Variant(hybrid, 1000, **shared)] * 3
        assert found.cost()[row, 0] == pytest.approx(planned_cost(plans[0], c_real, 0.0001))
        assert found.cost()[row, 1] == pytest.approx(planned_cost(plans[1], c_real, 0.0001, 7200))


def test_what_a_pilot_collected_is_not_collected_again():
    found = outlook(project(lab=Inputs(variants=2)), PRIOR)
    saved = found.cost() - found.cost(real=50, set_up=True)
    demos = np.minimum(found.needed, 50) * found.rates.demo[:, None]
    assert saved[:, 0] == pytest.approx(demos[:, 0])
    assert saved[:, 1] == pytest.approx(demos[:, 1] + 7200)
    assert np.all(found.left(50) >= 0)
    assert np.all(found.days(real=50, set_up=True) <= found.days() + 1e-9)


def test_a_draw_that_does_not_reach_the_target_pays_for_the_most_and_is_worth_nothing():
    found = outlook(project(most=200, worth=1e6), PRIOR)
    missed = ~found.reached[:, 0]
    assert missed.any()
    assert np.all(found.needed[missed, 0] == 200)
    assert np.all(found.net()[missed, 0] < 0)
    assert np.all(found.net()[~missed, 0] > 0)
    assert np.all(found.net()[:, 2] == 0)


def test_the_default_worth_is_three_times_the_most():
    found = outlook(project(lab=Inputs(variants=2)), PRIOR)
    assert found.worth == pytest.approx(3 * 2 * 1000 * found.rates.demo[0])


def test_building_is_worth_what_the_hybrid_road_gains():
    found = outlook(project(), PRIOR)
    at_that_price = found.net(set_up=True).mean(axis=0)
    assert at_that_price[1] - found.worth_building() == pytest.approx(at_that_price[0])


def test_more_hands_take_fewer_days_and_the_built_simulation_takes_none():
    slow = outlook(project(lab=Inputs(robots=1)), PRIOR).days()
    quick = outlook(project(lab=Inputs(robots=4)), PRIOR).days()
    assert np.all(quick <= slow)
    one = outlook(project(lab=Inputs(robots=4, operators=1)), PRIOR).days()
    assert one == pytest.approx(slow)
    built = outlook(project(built=True), PRIOR)
    assert np.all(built.rates.setup == 0)
    assert built.days()[:, 1].mean() < slow[:, 1].mean()


def test_pilots_cost_what_their_parts_do():
    found = outlook(project(), PRIOR)
    rates = found.rates
    pilot = Pilot("p", ((10, 0), (50, 0), (10, 400)), 20)
    parts = 50 * rates.demo + 400 * rates.sim + 60 * rates.trial + 3 * rates.training + 7200
    assert pilot.cost(found) == pytest.approx(parts)
    assert np.all(NONE.cost(found) == 0)
    assert np.all(NONE.days(found) == 0)
    assert np.all(pilot.days(found) > Pilot("q", ((10, 0),), 20).days(found))


def test_candidates_keep_within_the_project():
    names = [pilot.name for pilot in candidates(project())]
    assert len(set(names)) == len(names) == 9
    assert all(pilot.real <= 30 for pilot in candidates(project(most=30)))
    closed = project(lab=Inputs(can_build=False))
    assert all(pilot.sim == 0 for pilot in candidates(closed))
    assert np.all(outlook(closed, PRIOR).net()[:, 1] < -1e20)
    built = project(lab=Inputs(can_build=False), built=True)
    assert any(pilot.sim for pilot in candidates(built))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"usable": 0}, "--usable 0"),
        ({"most": 0}, "--most 0"),
        ({"n_sim": 0}, "--n-sim 0"),
        ({"training_hours": -1}, "--training-hours -1"),
        ({"worth": 0}, "--worth 0"),
    ],
)
def test_impossible_projects_are_refused(wrong, message):
    with pytest.raises(UsageError, match=message):
        project(**wrong)


def test_impossible_targets_and_times_are_refused():
    with pytest.raises(UsageError, match="--target 85"):
        Project(85, MINUTES, prices_from({}))
    with pytest.raises(UsageError, match="takes time"):
        Project(0.85, Price(0, 0, 0, "minutes", "user"), prices_from({}))
