import re
from dataclasses import replace

from tests.verdicts.pilot.test_plan import project

from simreal.report.plan import plan_lines
from simreal.verdicts.cost.inputs import Inputs
from simreal.verdicts.pilot import make_plan


def test_the_text_fits_a_terminal() -> None:
    lines = plan_lines(make_plan(project(lab=Inputs(variants=50, robots=3, deadline_days=99))))
    assert max(map(len, lines)) <= 80
    text = " ".join(" ".join(lines).split())
    assert "3 robots with operator" in text
    assert "within 99 days" in text


def test_a_stop_and_a_closed_road_are_said() -> None:
    stop = plan_lines(make_plan(project(most=10, worth=1)))
    assert "No pilot is worth its cost" in "\n".join(stop)
    closed = plan_lines(make_plan(project(lab=Inputs(can_build=False))))
    assert "Nobody can build a simulation" in "\n".join(closed)


def test_numbers_of_every_size_keep_their_columns() -> None:
    """Costs of millions once ran into the number beside them, and 99.9 % was said as 100 %."""
    large = Inputs(variants=1_000_000)
    lines = plan_lines(make_plan(replace(project(lab=large, most=10**12), target=0.999)))
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("Target: 99.9 % success on 1,000,000 task variants")
    assert "To show 99.9 % with 95 % confidence" in " ".join(lines)
    tables = [line for line in lines if " / " in line and line[0] in "rh* "]
    assert len(tables) > 4
    assert not any(re.search(r"\d,\d{3}\.\d|\.\d{2}", line) for line in tables)


def test_what_is_unlikely_is_not_said_to_be_impossible() -> None:
    """A share of one in a thousand draws is not 0 %."""
    made = make_plan(project())
    rare = [replace(road, reach=0.0004) for road in made.roads]
    lines = plan_lines(replace(made, roads=tuple(rare)))
    assert sum(" 0.1 % " in line for line in lines) == len(rare)
