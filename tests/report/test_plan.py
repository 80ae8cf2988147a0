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
