"""The page and the terminal of a study with several suites, forces, goals and an operator."""

import json
import re

import pytest
from tests.report.inserted import ARMS

from simreal.core.files import read_json
from simreal.core.types import STAND_IN
from simreal.report import felt
from simreal.report.records import read_study
from simreal.report.terminal import terminal_summary
from simreal.report.view import deviations, success_dots, suite_text


@pytest.fixture(scope="module")
def read(felt_study):
    return read_study(felt_study)


@pytest.fixture(scope="module")
def page(felt_study):
    html = (felt_study / "report.html").read_text()
    return re.sub(r"\s+", " ", re.sub(r"<(style|svg).*?</\1>", "", html, flags=re.S))


def section(page, name):
    return re.search(rf'<section id="{name}".*?</section>', page)[0]


def test_suites_are_named_by_what_they_set(read):
    assert suite_text(read, "nominal") == "nominal, clearance 0.2 mm"
    assert suite_text(read, "wide") == "wide, clearance 0.5 mm"
    assert suite_text(read, "backgrounds") == "unseen backgrounds"


def test_arms_by_suites_with_counts_means_and_gaps(read, page):
    names, rows = felt.suites(read)
    assert [name.partition(",")[0] for name in names] == [
        "nominal",
        "wide",
        "tight",
        "unseen backgrounds",
    ]
    assert [arm for arm, _ in rows] == ["sim-only", "real-only", "hybrid"]
    shown = section(page, "suites")
    for entry in read.summary["by_suite"]:
        if entry["arm"] in dict(rows):
            assert f"{entry['target']['k']}/{entry['target']['n']}" in shown
    assert shown.count("gap") == 1 + 3 * 3  # not for backgrounds, which simulation has none of
    assert STAND_IN in shown


def test_an_arm_that_skips_a_suite_is_no_deviation_and_has_no_empty_mark(read):
    assert deviations(read) == []
    dots = {arm.arm: [dot.label for dot in arm.dots] for arm in success_dots(read)}
    assert "wide, clearance 0.5 mm" in dots["hybrid"]
    assert not any("clearance" in label for label in dots["real-only-vision"])


def test_every_goal_stands_there_with_state_bounds_and_method(read, page):
    shown = section(page, "goals")
    for goal in read.summary["goals"]:
        assert goal["state"] in shown
        assert goal["method"].partition(";")[0] in shown
    assert "66/76" not in shown  # targets stand apart
    assert shown.count("33/38") == 2
    assert STAND_IN in shown


def test_forces_are_counted_drawn_and_labelled(read, page, felt_study):
    shown = section(page, "force")
    for cell in read.summary["force"]["cells"]:
        assert f"{cell['within']['k']}/{cell['within']['n']}" in shown
    profiles = felt.read_profiles(felt_study / "media")
    panels = felt.way_panels(read, profiles)
    assert [panel.name for panel in panels] == list(ARMS)
    assert all(len(panel.curves) == 2 for panel in panels)
    curve = panels[0].curves[1]
    assert list(curve.low) <= list(curve.middle) <= list(curve.high)
    middle = dict(zip(curve.at, curve.middle, strict=True))
    assert middle[20.5] < middle[10.5] < middle[0.5]
    kinds = [panel.name for panel in felt.film_panels(read, profiles, 20.0)]
    assert kinds[-1] == "success"
    assert {"jammed", "force stop"} < set(kinds)
    assert 'id="figure-force-way"' in page
    assert 'id="figure-force-time"' in page


def test_the_terminal_has_suites_goals_and_forces_in_80_columns(felt_study):
    text = terminal_summary(read_json(felt_study / "summary.json"))
    assert max(map(len, text.splitlines())) <= 80
    assert re.search(r"target, %\s+wide\s+tight", text)
    assert "Goals, each met only by its one-sided 95 % bound:" in text
    assert re.search(r"- (met|missed|not shown): The operator inserts 95 % at 0.5 mm.", text)
    flat = " ".join(text.split())
    for goal in read_json(felt_study / "summary.json")["goals"]:  # never a rate without its counts
        assert f"({goal['method'].partition(';')[0]})." in flat
    assert "Within 30 N on the target: sim-only" in text
    assert STAND_IN in text


def test_force_profiles_are_small_and_made_again_alike(felt_study):
    from simreal.study.forces import write_profiles

    path = felt_study / "media" / "forces.json"
    before = path.read_text()
    content = json.loads(before)
    for profile in content["profiles"]:
        assert set(profile["way_mm"]) == {"at", "p10", "p50", "p90"}
    lines = (felt_study / "forces.jsonl").read_text().splitlines()
    (felt_study / "forces.jsonl").write_text("\n".join([*lines, lines[0], ""]))  # played again
    write_profiles(felt_study, [t for t in {p["target"] for p in content["profiles"]} if "@" in t])
    assert path.read_text().count("way_mm") == before.count("way_mm")
    (felt_study / "forces.jsonl").write_text("\n".join([*lines, ""]))


def test_a_study_without_forces_shows_none(demo_study):
    html = (demo_study / "report.html").read_text()
    for name in ("force", "goals", "suites"):
        assert f'<section id="{name}"' not in html
