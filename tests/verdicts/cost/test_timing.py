"""The `time` of a study: roads, quantiles, deadline, and what it rests on."""

import dataclasses
import json

import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.verdicts.studies import ARMS, cells, ledger, study

from simreal.core.errors import UsageError
from simreal.core.types import STAND_IN, Charge
from simreal.verdicts.cost.calendar import Plan
from simreal.verdicts.cost.inputs import Inputs
from simreal.verdicts.cost.prices import prices_from
from simreal.verdicts.cost.schema import TIME
from simreal.verdicts.cost.speeds import planned_speeds, speeds_of
from simreal.verdicts.cost.timing import schedule, time_of

DEFAULTS = prices_from({})
TRIALS = cells(200, hybrid=182, real_only=170, sim_only=150)


def evidence(charges=None, prices=DEFAULTS, **more):
    return study(TRIALS, charges=ledger() if charges is None else charges, prices=prices, **more)


def roads(found):
    return {road["name"]: road for road in found["roads"]}


def test_time_keeps_its_schema_and_says_what_stands_in():
    for goal in (None, 0.85):
        found = time_of(evidence(), goal=goal)
        jsonschema.validate(json.loads(json.dumps(found, allow_nan=False)), TIME)
        assert found["label"] == STAND_IN
        assert found["inputs"]["minutes"]["source"] == "this study's ledger"
        assert found["inputs"]["setup_hours"]["source"].startswith("Assumption")
    assert time_of(evidence(prices=None)) is None


def test_robot_days_are_those_of_the_ledger():
    """20 demonstrations of 12 minutes and 50 trials of 12: 14 hours of a robot."""
    found = roads(time_of(evidence()))
    assert found["hybrid"]["robot_days"]["p50"] == pytest.approx(14 / 8)
    assert found["sim-only"]["robot_days"]["p50"] == pytest.approx(10 / 8)


def test_minutes_of_ones_own_replace_those_of_the_ledger():
    prices = prices_from({"calendar": {"minutes": 6, "usable": 0.5}})
    found = speeds_of(evidence(prices=prices), prices)
    assert set(found.draws.minutes) == {6}
    assert set(found.draws.usable) == {0.5}
    assert found.label == ""
    named = prices_from({"calendar": {"minutes": "dexterous"}})
    assert speeds_of(evidence(prices=named), named).draws.minutes.min() >= 15


def test_without_a_ledger_planning_figures_say_so():
    found = planned_speeds(DEFAULTS)
    assert 6 <= found.draws.minutes.min() < found.draws.minutes.max() <= 16
    assert "operator-day" in found.shown["minutes"]["source"]


def test_shards_that_differ_make_a_spread():
    def shard(number, hours):
        note = f"x [real-a/{number}]"
        when = "2026-01-01T00:00:00Z"
        return (
            Charge(when, "robot clock", "shared", "demonstration", hours, "h", note),
            Charge(when, "robot clock", "shared", "demonstration", 10, "count", note),
        )

    spent = (*shard(0, 1), *shard(1, 2), *shard(2, 3))
    found = speeds_of(evidence(charges=spent), DEFAULTS)
    minutes = found.draws.minutes
    assert (minutes.min(), minutes.max()) == (6, 18)
    assert np.mean(minutes) == pytest.approx(12, rel=0.03)
    assert found.label == ""


def test_a_deadline_gives_the_probability_to_keep_it():
    found = roads(time_of(evidence(), Inputs(deadline_days=18)))
    assert found["real-only"]["by_deadline"] == 1
    assert 0.2 < found["hybrid"]["by_deadline"] < 0.6
    wanted = roads(time_of(evidence(), Inputs(deadline_days=1000), goal=0.85))
    assert 0.3 < wanted["real-only"]["by_deadline"] < 1
    assert roads(time_of(evidence()))["hybrid"]["by_deadline"] is None


def test_as_tried_a_goal_is_reached_as_surely_as_the_trials_say():
    few = ARMS[1:]
    spent = tuple(c for c in ledger() if c.arm != "sim-only")
    found = study(cells(200, hybrid=182, real_only=120), arms=few, charges=spent, prices=DEFAULTS)
    by_name = roads(time_of(found, Inputs(deadline_days=1000), goal=0.85))
    assert by_name["hybrid"]["by_deadline"] > 0.95
    assert by_name["real-only"]["by_deadline"] < 0.01


def test_nobody_to_build_closes_the_roads_with_simulation():
    found = time_of(evidence(), Inputs(can_build=False, deadline_days=99))
    assert roads(found)["hybrid"]["days"] == {"p50": None, "p90": None}
    assert roads(found)["hybrid"]["by_deadline"] == 0
    assert found["fastest"] == found["cheapest"] == "real-only"
    built = time_of(evidence(), Inputs(can_build=False), built=True)
    assert roads(built)["hybrid"]["days"]["p50"] is not None


def test_fastest_and_cheapest_may_differ():
    plans = [Plan("real", 10_000, 0), Plan("simulation", 0, 10_000, build=True)]
    prices = prices_from({"operator": 1, "wear": 0, "engineering": 1000})
    found = schedule(plans, Inputs(), planned_speeds(prices), prices)
    assert (found["fastest"], found["cheapest"]) == ("simulation", "real")


def test_a_stopped_line_is_paid_for_every_robot_hour():
    plan = [Plan("real", 100, 0)]
    prices = prices_from({"calendar": {"minutes": 6}})
    base, stopped = (
        schedule(plan, Inputs(stopped_line=x, trials=0), planned_speeds(prices), prices)
        for x in (0.0, 500.0)
    )
    more = stopped["roads"][0]["cost"]["p50"] - base["roads"][0]["cost"]["p50"]
    assert more == pytest.approx(100 * 0.1 * 500)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2000), st.integers(0, 5000), st.integers(1, 6), st.integers(1, 9))
def test_nine_in_ten_take_no_less_than_half(n_real, n_sim, robots, variants):
    lab = Inputs(robots=robots, variants=variants)
    plan = Plan("road", n_real, n_sim, 1, 1, build=n_sim > 0)
    (road,) = schedule([plan], lab, planned_speeds(DEFAULTS, 200), DEFAULTS)["roads"]
    for name in ("days", "robot_days", "cost"):
        assert road[name]["p50"] <= road[name]["p90"]
    more = dataclasses.replace(lab, robots=robots + 1)
    (faster,) = schedule([plan], more, planned_speeds(DEFAULTS, 200), DEFAULTS)["roads"]
    assert faster["days"]["p90"] <= road["days"]["p90"] + 1e-9


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"robot": 2}, "Did you mean 'robots'"),
        ({"minutes": "eazy"}, "Did you mean 'easy'"),
        ({"usable": 1.5}, "usable must lie"),
        ({"per_core_hour": 0}, "per_core_hour be above 0"),
        ({"robots": 0}, "robots = 0"),
        (3, r"\[calendar\] must be a table"),
    ],
)
def test_a_bad_calendar_table_is_refused(table, message):
    with pytest.raises(UsageError, match=message):
        prices_from({"calendar": table})
