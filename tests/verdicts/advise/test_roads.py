import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.verdicts.advise.surfaces import Plain

from simreal.verdicts.advise.beliefs import TRUSTING, believe
from simreal.verdicts.advise.flips import flips
from simreal.verdicts.advise.measuring import measurements
from simreal.verdicts.advise.plan import Bounds, Have
from simreal.verdicts.advise.rates import Rates
from simreal.verdicts.advise.roads import Question, prospects, runner_up, setups, survey
from simreal.verdicts.advise.voi import evpi
from simreal.verdicts.curves import CellCounts

HAVE = Have(50, 600)
CELLS = (
    CellCounts(50, 0, 30, 50, "real"),
    CellCounts(0, 600, 25, 50, "sim"),
    CellCounts(50, 600, 35, 50, "both"),
)
BUILT = Rates(real_demo=3.0, sim_demo=0.01, training=2.0, trial=1.0)
UNBUILT = Rates(real_demo=3.0, sim_demo=0.01, training=2.0, trial=1.0, setup=(400, 2000))


def steps(real, both, sim=0.1):
    """Rates that reach .99 from so many real demonstrations on, .5 before."""

    def rate(n_real, n_sim):
        if n_real == 0:
            return sim
        return 0.99 if n_real >= (both if n_sim else real) else 0.5

    return Plain(rate)


def look(surface, rates, question=None, cells=CELLS, barred=()):
    question = question or Question(0.85)
    beliefs = believe(surface, cells, TRUSTING)
    found = prospects(beliefs, cells, HAVE, question.goal, barred)
    return found, survey(found, rates, question), beliefs


def test_the_cheapest_of_the_roads_that_are_sure_enough_is_chosen():
    _, seen, _ = look(steps(real=400, both=100), BUILT)
    assert seen.chosen.plan.road == "hybrid"
    assert seen.chosen.mean == pytest.approx(50 * 3 + 600 * 0.01 + 2 + 50)
    assert seen.of("sim-only").p_reach == pytest.approx(0, abs=1e-6)
    assert runner_up(seen).plan.road == "real-only"


def test_building_a_simulator_can_cost_more_than_it_saves():
    found, seen, _ = look(steps(real=200, both=100), UNBUILT)
    assert seen.chosen.plan.road == "real-only"
    assert "hybrid is taken if building the simulator costs less" in " ".join(
        flips(found, UNBUILT, Question(0.85), seen)
    )


def test_the_flip_of_the_setup_is_where_both_cost_the_same():
    question = Question(0.85)
    found, seen, _ = look(steps(real=200, both=100), UNBUILT)
    sentence = next(f for f in flips(found, UNBUILT, question, seen) if "building" in f)
    money = float(sentence.split("USD ")[1].rstrip(".").replace(",", ""))
    real = seen.of("real-only").mean
    hybrid = survey(found, BUILT, question).of("hybrid").mean
    assert money == pytest.approx(real - hybrid, abs=3)


def test_the_flip_of_the_price_is_where_both_cost_the_same():
    question = Question(0.85)
    dear = Rates(real_demo=3.0, sim_demo=0.5, training=2.0, trial=1.0)
    found, seen, _ = look(steps(real=400, both=100), dear)
    assert seen.chosen.plan.road == "hybrid"
    said = flips(found, dear, question, seen)
    price = next(f for f in said if "costs less than" in f)
    assert price.startswith("real-only is taken")
    value = float(price.split("USD ")[1].split(" ")[0])
    # real: 350 more and 3 trainings with tests; hybrid: 50 more, 600 simulated, 1 training
    assert value == pytest.approx((600 * 0.5 - 2 * 52) / 300, rel=0.02)
    few = next(f for f in said if "fewer than" in f)
    assert int(few.split("fewer than ")[1].split(" ")[0]) == (50 * 3 + 300) // 3


def test_many_variants_pay_for_a_simulator():
    question = Question(0.85)
    found, seen, _ = look(steps(real=200, both=100), UNBUILT)
    sentence = next(f for f in flips(found, UNBUILT, question, seen) if "variants" in f)
    number = int(sentence.split("from ")[1].split(" ")[0])
    for variants, road in ((number - 1, "real-only"), (number, "hybrid")):
        asked = Question(0.85, bounds=Bounds(variants=variants))
        assert survey(found, UNBUILT, asked).chosen.plan.road == road


def test_a_budget_below_every_plan_leaves_no_road():
    _, seen, _ = look(steps(real=400, both=100), BUILT, Question(0.85, bounds=Bounds(budget=100)))
    assert seen.chosen is None
    assert seen.miss == 100


def test_a_barred_road_is_not_looked_at():
    found, seen, _ = look(steps(real=400, both=100), BUILT, barred=("hybrid",))
    assert {p.plan.road for p in found} == {"real-only", "sim-only"}
    assert seen.chosen.plan.road == "real-only"


def test_a_road_nobody_tried_may_only_be_measured():
    found, seen, beliefs = look(steps(real=400, both=100), BUILT, cells=CELLS[:2])
    assert seen.of("hybrid") is None
    assert [o.plan.road for o in seen.untried] == ["hybrid"]
    assert seen.chosen.plan.road == "real-only"
    opened = [m for m in measurements(found, beliefs, seen, BUILT) if m.road == "hybrid"]
    assert [m.fresh for m in opened] == [True]
    assert opened[0].value > 0
    assert opened[0].cost == pytest.approx(2 + 50)  # trained on what is there


@given(st.integers(1, 50), st.floats(0, 1000), st.floats(0, 1000))
def test_setups_fill_their_band_evenly(draws, low, width):
    rates = Rates(1, 1, 1, 1, setup=(low, low + width))
    found = np.sort(setups(rates, draws))
    assert found.min() >= low
    assert found.max() <= low + width + 1e-9
    assert found.mean() == pytest.approx(low + width / 2)


def test_pareto_roads_are_those_no_other_beats():
    _, seen, _ = look(steps(real=400, both=100), BUILT)
    front = {o.plan.road for o in seen.outlooks if seen.pareto(o)}
    for one in seen.outlooks:
        beaten = any(
            o.mean <= one.mean and o.p_reach >= one.p_reach and o is not one for o in seen.outlooks
        )
        assert (one.plan.road in front) != beaten


def test_without_a_budget_a_miss_costs_the_dearest_plan():
    _, seen, _ = look(steps(real=400, both=100), BUILT)
    assert math.isfinite(seen.miss)
    assert seen.miss >= max(o.mean for o in seen.outlooks)


def test_a_budget_that_one_training_fits_is_not_spent_on_a_test_first():
    """Walked the way of least loss, the road seemed closed: the test left no money to train."""
    surface = steps(real=100, both=5000)
    stage = 50 * BUILT.real_demo + BUILT.training + 50 * BUILT.trial
    question = Question(0.85, bounds=Bounds(budget=stage + 10))
    _, seen, _ = look(surface, BUILT, question)
    assert seen.of("real-only").p_reach == pytest.approx(1, abs=1e-3)
    assert seen.chosen.plan.road == "real-only"


def test_less_confidence_may_be_enough_for_a_cheaper_road():
    surface = steps(real=100, both=100)
    found, seen, _ = look(surface, UNBUILT)
    real = next(o for o in seen.outlooks if o.plan.road == "real-only")
    both = next(o for o in seen.outlooks if o.plan.road == "hybrid")
    assert real.mean < both.mean
    odds = {one.plan.road: one for one in found}
    some = np.full_like(odds["real-only"].passed, 0.0)
    some[:, 1] = 0.7
    mixed = [replace(odds["real-only"], passed=some, kept=None), odds["hybrid"]]
    now = survey(mixed, UNBUILT, Question(0.85))
    assert now.chosen.plan.road == "hybrid"
    said = flips(mixed, UNBUILT, Question(0.85), now)
    assert any("real-only is taken if" in s and "sure is enough" in s for s in said)


def test_knowing_the_truth_is_measured_against_the_road_that_is_taken():
    losses = np.array([[10.0, 0.0], [0.0, 30.0]])
    assert evpi(losses) == pytest.approx(5.0)
    assert evpi(losses, taken=losses[:, 1]) == pytest.approx(15.0)
