import pytest
from tests.verdicts.studies import BUILT, cells, ledger, study

from simreal.core.errors import UsageError
from simreal.core.types import Charge
from simreal.verdicts.advise.rates import Rates, rates_of
from simreal.verdicts.cost.prices import prices_from

WHEN = "2026-01-01T00:00:00Z"


def charge(arm, kind, quantity, unit="h"):
    return Charge(WHEN, "twin clock", arm, kind, quantity, unit)


def test_without_a_ledger_planning_figures_count():
    prices = prices_from({"operator": 30, "robot": 5, "wear": 1, "quality_check": 0.5})
    found = rates_of(study(cells(hybrid=50)), prices)
    assert found.real_demo == pytest.approx(11 / 60 * 36 + 0.5)
    assert found.trial == pytest.approx(11 / 60 * 36)
    assert found.sim_demo == pytest.approx(prices.compute.value / 13310)
    assert set(found.sources.values()) == {"prices"}


def test_the_ledger_says_what_one_of_each_cost():
    charges = (*ledger(real_hours=10, sim_hours=20), charge("hybrid", "trial", 2.0))
    found = rates_of(study(cells(hybrid=50), charges=charges), BUILT)
    hourly = BUILT.operator.value + BUILT.robot.value + BUILT.wear.value
    assert found.real_demo == pytest.approx(10 * hourly / 50)
    assert found.sim_demo == pytest.approx(20 * BUILT.compute.value / 600)
    assert found.training == pytest.approx(BUILT.compute.value)
    assert found.trial == pytest.approx(2 * hourly / 100)
    assert set(found.sources.values()) == {"ledger"}


def test_a_trial_that_nobody_charged_is_as_long_as_a_demonstration():
    charges = (*ledger(real_hours=10), charge("shared", "demonstration", 50, "count"))
    found = rates_of(study(cells(hybrid=50), charges=charges), BUILT)
    assert found.real_demo == pytest.approx(found.trial + BUILT.quality_check.value)


def test_the_setup_is_a_band_until_it_is_there():
    evidence = study(cells(hybrid=50))
    default = prices_from({})
    assert rates_of(evidence, default).setup == (3000.0, 24000.0)
    assert rates_of(evidence, default, built=True).built
    assert rates_of(evidence, BUILT).built  # 0 hours are declared
    done = study(cells(hybrid=50), charges=(charge("shared", "engineering", 30.0),))
    assert rates_of(done, default).built


@pytest.mark.parametrize("bad", [{"trial": -1}, {"real_demo": float("nan")}, {"setup": (5, 1)}])
def test_rates_that_cannot_be_are_refused(bad):
    with pytest.raises(UsageError):
        Rates(**{"real_demo": 1, "sim_demo": 1, "training": 1, "trial": 1, **bad})
