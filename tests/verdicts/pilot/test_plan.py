import time

import jsonschema
import numpy as np
import pytest

from simreal.verdicts.cost.inputs import Inputs
from simreal.verdicts.cost.prices import prices_from
from simreal.verdicts.curves import fit
from simreal.verdicts.pilot import CHOICES, Project, make_plan
from simreal.verdicts.pilot.outlook import outlook
from simreal.verdicts.pilot.pilots import NONE, Pilot
from simreal.verdicts.pilot.rule import rule_of, span
from simreal.verdicts.pilot.schema import PLAN
from simreal.verdicts.pilot.value import value

PRICES = prices_from({})


def project(**more):
    return Project(0.85, PRICES.times["easy"], PRICES, **more)


@pytest.fixture(scope="module")
def view():
    return outlook(project(built=True), fit([], draws=3000))


def test_a_pilot_never_lowers_what_is_expected_apart_from_its_own_cost(view):
    nothing = value(view, NONE)
    for pilot in (Pilot("a", ((20, 0),), 20), Pilot("b", ((20, 0), (20, 1000)), 20)):
        found = value(view, pilot)
        assert found.net + pilot.cost(view).mean() >= nothing.net - 1e-6
        assert found.weights.sum(axis=1) == pytest.approx(1)


def test_more_trials_lead_to_the_right_choice_more_often(view):
    few, many = (value(view, Pilot("p", ((25, 0), (100, 0)), n)) for n in (3, 200))
    assert many.right > few.right
    assert many.net + many.pilot.cost(view).mean() > few.net + few.pilot.cost(view).mean()


def test_weights_are_those_of_a_posterior(view):
    """After a result, the weighted draws say what a fit to that result says."""
    pilot = Pilot("p", ((20, 0), (20, 1000)), 20)
    found = value(view, pilot)
    row = int(np.argmax(found.results[:, 1] - found.results[:, 0]))
    rates = view.surfaces.success([50], [1000])[:, 0]
    from simreal.verdicts.curves import CellCounts

    cells = [CellCounts(20, s, int(found.results[row, i]), 20) for i, s in enumerate((0, 1000))]
    assert found.weights[row] @ rates == pytest.approx(
        fit(cells).success([50], [1000]).mean(), abs=0.04
    )


def test_the_rule_covers_every_result_and_follows_the_calculation(view):
    found = value(view, Pilot("p", ((20, 0), (20, 1000)), 20))
    rule = rule_of(view, found)
    assert sum(branch.share for branch in rule.branches) == pytest.approx(1)
    assert rule.agrees > 0.8
    assert {branch.choice for branch in rule.branches} <= set(CHOICES)
    assert len(rule.branches) > 1
    going = [branch for branch in rule.branches if branch.choice != "stop"]
    assert all(branch.cost.p50 <= branch.cost.p90 for branch in going)
    # Who goes on has a higher chance than nobody knowing anything.
    assert max(branch.reach for branch in going) > view.reached[:, 0].mean()


def test_a_costly_simulator_is_not_built_for_one_easy_variant():
    found = make_plan(project())
    assert found.chosen.sim == 0
    assert found.worth_building < 40 * 75  # less than the cheapest set-up of the price file
    free = make_plan(project(built=True))
    assert free.chosen.sim > 0


def test_stopping_is_an_answer():
    found = make_plan(project(most=10, worth=1))
    assert found.chosen == NONE
    assert [branch.choice for branch in found.rule.branches] == ["stop"]


def test_without_anybody_to_build_it_there_is_no_simulation():
    found = make_plan(project(lab=Inputs(can_build=False)))
    assert [road.name for road in found.roads] == ["real-only"]
    assert {branch.choice for branch in found.rule.branches} <= {"real-only", "stop"}


def test_the_object_keeps_its_schema_and_says_what_it_rests_on():
    found = make_plan(project(lab=Inputs(variants=4, deadline_days=30))).to_json()
    jsonschema.validate(found, PLAN)
    assert found["trials"]["shown"][0] == {"failures": 0, "trials": 19}
    assert 0 <= found["roads"][0]["by_deadline"] <= found["roads"][0]["p_reach"]
    assert any("setup_hours" in line for line in found["assumptions"])
    assert any("--worth" in line for line in found["assumptions"])


def test_it_takes_less_than_ten_seconds():
    start = time.process_time()
    make_plan(project())
    assert time.process_time() - start < 10


def test_a_span_is_weighted():
    values = np.arange(10.0)
    assert (span(values).p50, span(values).p90) == (4.0, 8.0)
    weights = np.where(values == 7, 1.0, 0.0)
    assert (span(values, weights).p50, span(values, weights).p90) == (7.0, 7.0)
