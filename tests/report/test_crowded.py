"""A page of many arms: long lists fold, nothing is drawn empty, what was not reached says so."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import jsonschema
import pytest
from tests.report.crowded import ARMS, RATES, crowded
from tests.report.reader import Page, pieces

from simreal.core.files import read_json, write_json
from simreal.report.page import build_page
from simreal.verdicts.schemas import schema


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("studies") / "crowded"
    found.mkdir()
    crowded(found)
    build_page(found)
    return found


@pytest.fixture(scope="module")
def html(folder: Path) -> str:
    return (folder / "report.html").read_text()


def section(html: str, name: str) -> str:
    return re.findall(rf'<section[^>]* id="{name}".*?</section>', html, flags=re.S)[0]


def test_the_made_up_summary_keeps_the_schema(folder: Path) -> None:
    validator = jsonschema.Draft202012Validator(schema("summary"))
    assert [e.message for e in validator.iter_errors(read_json(folder / "summary.json"))] == []


def test_every_number_of_the_figure_has_its_line_in_the_key(html: str) -> None:
    table = next(t for t in pieces(section(html, "cost"), "table") if "The numbers of the" in t)
    rows = [Page.of(row).text.strip() for row in pieces(table, "tr")[1:]]
    assert len(rows) == len(ARMS)
    for number, (arm, k, row) in enumerate(zip(ARMS, RATES, rows, strict=True), start=1):
        assert re.match(rf"{number} {arm.name} \$\d+\.\d\d {k}/100 {k}\s%", row), row


def test_long_tables_fold(html: str) -> None:
    for name in ("success", "cost"):
        folded = "".join(pieces(section(html, name), "details"))
        tables = [t for t in pieces(folded, "table") if t.count("<tr>") > len(ARMS)]
        assert len(tables) == {"success": 1, "cost": 2}[name]


def test_a_road_without_an_end_draws_no_calendar(html: str) -> None:
    time = section(html, "time")
    assert "<svg" not in time
    assert "<table" not in time
    text = Page.of(time).text
    assert "None of the roads is expected to show the goal of 85 % within" in text
    assert "simreal days STUDY --target 0.8 " in text
    assert "never" not in text


def test_a_deadline_keeps_the_table(folder: Path, tmp_path: Path) -> None:
    other = Path(shutil.copytree(folder, tmp_path / "study"))
    summary = read_json(other / "summary.json")
    summary["time"]["roads"][0]["by_deadline"] = 0.2
    write_json(other / "summary.json", summary)
    text = Page.of(section(build_page(other).read_text(), "time")).text
    assert "real-only not reached not reached 20 % not reached" in text


def test_a_cost_without_any_middle_is_no_figure(folder: Path, tmp_path: Path) -> None:
    other = Path(shutil.copytree(folder, tmp_path / "study"))
    summary = read_json(other / "summary.json")
    for road in summary["economics"]["reach"]:
        for point in road["points"]:
            point |= {"p50": None, "p90": None}
    write_json(other / "summary.json", summary)
    html = build_page(other).read_text()
    assert "figure-reach" not in html
    assert "None of the roads is expected to reach any of the rates" in html


def test_a_road_that_reaches_nothing_says_so_in_its_panel(html: str) -> None:
    text = Page.of(section(html, "cost")).text
    assert "half of the futures reach none" in text
    assert "half reach 90 %, nine in ten 85 %" in text


def test_savings_and_incidents_are_told_with_care(html: str) -> None:
    text = Page.of(section(html, "cost")).text
    assert "at 50 a variant: >99 %" in text
    assert "at 50 a variant: none, it costs more" in text
    assert "92 unsafe events" in text
    assert "priced at nothing until the file of prices says" in text


def test_curves_that_miss_the_measurements_are_named(html: str) -> None:
    text = Page.of(section(html, "curves")).text
    assert "The curve with 600 simulated does not follow the measurements: at 4 of 5" in text


def test_arms_that_may_all_be_advised_take_one_line(html: str) -> None:
    text = Page.of(section(html, "roads")).text
    assert "Which arms may be advised All 10 of them." in text


def test_failures_have_a_row_for_each_arm(html: str) -> None:
    text = Page.of(section(html, "failures")).text
    assert "target, of 100 trials each" in text
    rows = [Page.of(row).text.split() for row in pieces(section(html, "failures"), "tr")]
    for arm, k in zip(ARMS, RATES, strict=True):
        counts = [sum(map(int, row[1:])) for row in rows if row[:1] == [arm.name]]
        assert counts[1] == 100 - k
