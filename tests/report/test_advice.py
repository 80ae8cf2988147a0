from tests.verdicts.advise.test_answer import pilot
from tests.verdicts.studies import rows, study

from simreal.report.advice import advice_lines
from simreal.verdicts.advise import Request, advise
from simreal.verdicts.cost import Arm
from simreal.verdicts.cost.prices import prices_from


def test_what_rests_on_a_stand_in_says_so() -> None:
    assert "stand-in (simulated)" in advice_lines(advise(pilot(), Request(0.85)))[0]
    assert "stand-in" not in advice_lines(advise(pilot(charges=()), Request(0.85)))[0]


def test_large_sums_stay_in_their_columns() -> None:
    """In a currency of small units a road costs millions."""
    prices = prices_from({"currency": "VND", "operator": 9e5, "engineering": 2.5e6})
    found = advise(pilot(charges=(), prices=prices), Request(0.85))
    assert max(road.p90 for road in found.roads) > 1e7
    lines = advice_lines(found)
    assert "Roads to 85 % (1,000 VND until a test is passed):" in lines
    assert max(map(len, lines)) <= 80


def test_no_runner_up_is_named_where_nothing_is_advised() -> None:
    found = advise(pilot(real=(1, 2), sim=1, hybrid=(2, 3)), Request(0.95))
    assert found.strategy is None
    assert not any(line.startswith("Runner-up") for line in advice_lines(found))


def test_long_names_are_wrapped() -> None:
    arms = (Arm("r" * 90, 0, 10), Arm("h" * 90, 500, 10))
    trials = [*rows("r" * 90, "twin", 50, 100), *rows("h" * 90, "twin", 98, 100)]
    lines = advice_lines(advise(study(trials, arms=arms), Request(0.8)))
    assert max(map(len, lines)) <= 80
