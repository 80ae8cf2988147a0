"""Calendar time: hand-made cases, and laws of a lab with more of everything."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simreal.core.errors import UsageError
from simreal.verdicts.cost.calendar import Draws, Plan, _ends, days
from simreal.verdicts.cost.inputs import Inputs

NO_TEST = Inputs(trials=0)
REAL = Plan("real", 10_000, 0)


def draws(d=1, **more):
    defaults = {"minutes": 3, "usable": 1, "trial_minutes": 3, "setup_hours": 80}
    values = {**defaults, "per_core_hour": 1000, **more}
    return Draws(**{name: np.broadcast_to(np.asarray(x, float), d) for name, x in values.items()})


def took(plan, inputs=NO_TEST, **more):
    return days(plan, inputs, draws(**more)).days[0]


def test_ten_thousand_demonstrations():
    """3 minutes each, 85 % usable: 588.2 robot hours, 73.5 shifts of 8 h, 103 calendar days."""
    found = days(REAL, NO_TEST, draws(usable=0.85))
    assert found.robot_hours[0] == pytest.approx(10_000 * 3 / 60 / 0.85)
    assert found.days[0] == pytest.approx(588.235 / 8 * 7 / 5, rel=1e-5)
    four = dataclasses.replace(NO_TEST, robots=4, shifts=2)
    assert took(REAL, four, usable=0.85) == pytest.approx(found.days[0] / 8)


def test_an_operator_tends_one_robot():
    short = dataclasses.replace(NO_TEST, robots=4, operators=2)
    assert took(REAL, short) == took(REAL, dataclasses.replace(NO_TEST, robots=2))
    assert took(REAL, dataclasses.replace(short, operators=9)) == took(
        REAL, dataclasses.replace(NO_TEST, robots=4)
    )


def test_a_simulation_is_built_in_shifts_and_runs_day_and_night():
    plan = Plan("sim", 0, 10_000, build=True)
    assert took(plan) == pytest.approx(10 * 7 / 5 + 10 / 8 / 24)
    assert took(dataclasses.replace(plan, build=False)) == pytest.approx(10 / 8 / 24)
    two = dataclasses.replace(NO_TEST, engineers=2, shifts=2)
    assert took(plan, two) == pytest.approx(5 * 7 / 5 + 10 / 8 / 24), "engineers work one shift"


def test_collecting_goes_on_while_the_simulator_is_built_and_trained_with():
    real_days = 100 * 3 / 60 / 8 * 7 / 5
    plan = Plan("hybrid", 100, 1000, pretrain_hours=6, train_hours=3, build=True)
    assert took(plan, setup_hours=0) == pytest.approx(real_days + 3 / 24)
    built = 10 * 7 / 5 + 1 / 8 / 24
    assert took(plan) == pytest.approx(built + 9 / 24)


def test_trainings_of_variants_overlap_with_collecting():
    plan = Plan("real", 100, 0, train_hours=12)
    each = 100 * 3 / 60 / 8 * 7 / 5
    many = dataclasses.replace(NO_TEST, variants=10)
    assert took(plan, many) == pytest.approx(10 * each + 0.5)
    slow = dataclasses.replace(plan, train_hours=48)
    queue = dataclasses.replace(many, gpus=1)
    assert took(slow, queue) == pytest.approx(each + 10 * 2)


def test_a_road_that_is_closed_or_reaches_nothing_takes_for_ever():
    nobody = dataclasses.replace(NO_TEST, can_build=False)
    assert took(Plan("sim", 0, 10, build=True), nobody) == np.inf
    assert took(Plan("sim", 0, 10), nobody) < 1
    found = days(Plan("real", np.array([10.0, np.inf]), 0), NO_TEST, draws(2))
    assert np.isfinite(found.days).tolist() == [True, False]
    assert found.robot_hours[1] == np.inf


def test_the_test_at_the_end_takes_the_robot():
    inputs = Inputs(trials=80)
    assert took(Plan("real", 0, 0), inputs) == pytest.approx(80 * 3 / 60 / 8 * 7 / 5)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"robots": 0}, "robots = 0"),
        ({"robots": 1.5}, "whole number"),
        ({"operators": 0}, "operators = 0"),
        ({"shift_hours": 0}, "more than 0 h and at most 24 h"),
        ({"shift_hours": 9, "shifts": 3}, "more than 0 h and at most 24 h"),
        ({"days_a_week": 8}, "at most 7"),
        ({"deadline_days": -1}, "deadline_days = -1"),
        ({"stopped_line": float("nan")}, "stopped_line = nan"),
        ({"can_build": 1}, "true or false"),
        ({"variants": True}, "variants = True"),
    ],
)
def test_an_impossible_lab_is_refused(bad, message):
    with pytest.raises(UsageError, match=message):
        Inputs(**bad)


PLANS = st.builds(
    Plan,
    st.just("road"),
    st.integers(0, 500),
    st.integers(0, 5000),
    st.floats(0, 50),
    st.floats(0, 50),
    st.booleans(),
)
LABS = st.builds(
    Inputs,
    robots=st.integers(1, 5),
    operators=st.none() | st.integers(1, 5),
    shift_hours=st.floats(1, 8),
    shifts=st.integers(1, 2),
    days_a_week=st.floats(1, 6),
    cores=st.integers(1, 16),
    gpus=st.integers(0, 4),
    engineers=st.integers(1, 4),
    variants=st.integers(1, 6),
    trials=st.integers(0, 60),
)
MORE = {
    "robots": lambda i: i.robots + 1,
    "operators": lambda i: None if i.operators is None else i.operators + 1,
    "shifts": lambda i: i.shifts + 1,
    "shift_hours": lambda i: i.shift_hours * 1.2,
    "days_a_week": lambda i: min(7, i.days_a_week + 0.5),
    "engineers": lambda i: i.engineers + 1,
    "gpus": lambda i: i.gpus + 1 if i.gpus else 0,
    "cores": lambda i: i.cores + 1,
}


@settings(deadline=None)
@given(PLANS, LABS, st.sampled_from(sorted(MORE)))
def test_more_of_anything_never_takes_longer(plan, lab, name):
    if lab.day_hours > 12:
        lab = dataclasses.replace(lab, shift_hours=lab.shift_hours / 2)
    ampler = dataclasses.replace(lab, **{name: MORE[name](lab)})
    assert took(plan, ampler) <= took(plan, lab) + 1e-9


@settings(deadline=None)
@given(PLANS, LABS, st.sampled_from(["n_real", "n_sim", "train_hours", "pretrain_hours"]))
def test_more_to_do_never_takes_less(plan, lab, name):
    more = dataclasses.replace(plan, **{name: getattr(plan, name) + 7})
    assert took(more, lab) >= took(plan, lab) - 1e-9
    busier = dataclasses.replace(lab, variants=lab.variants + 1)
    assert took(plan, busier) >= took(plan, lab) - 1e-9


def followed(lab, build, simulate, collect, pretrain, train, test):
    """One variant after the other, as the module's docstring tells it."""
    free, tested = [0.0] * lab.slots, lab.variants * collect
    for number in range(lab.variants):
        begun = max(build + (number + 1) * simulate, free[number % len(free)])
        trained = max(begun + pretrain, (number + 1) * collect) + train
        free[number % len(free)] = trained
        tested = max(tested, trained) + test
    return tested


DAYS = st.floats(0, 9)


@given(st.integers(1, 40), st.integers(1, 7), st.tuples(*[DAYS] * 6))
def test_the_end_is_that_of_following_every_variant(variants, slots, spent):
    lab = Inputs(variants=variants, cores=slots)
    names = ("build", "simulate", "collect", "pretrain", "train", "test")
    one = {
        name: x if "train" in name else np.array([x]) for name, x in zip(names, spent, strict=True)
    }
    assert _ends(lab, **one)[0] == pytest.approx(followed(lab, *spent))


def test_a_million_variants_are_soon_counted():
    lab = Inputs(variants=1_000_000)
    assert np.isfinite(took(Plan("hybrid", 50, 1000, 1, 1, build=True), lab))
