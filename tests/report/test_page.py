from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import jsonschema
import pytest
from tests.report.reader import Page, pieces
from tests.report.test_words import COMPARATIVE

from simreal.core.errors import BadDataError
from simreal.core.files import read_json, write_json
from simreal.report import page as page_module
from simreal.report.canvas import INKS
from simreal.report.page import build_page
from simreal.verdicts.claims import all_claims
from simreal.verdicts.cost.prices import prices_from
from simreal.verdicts.schemas import schema

LABEL = "stand-in (simulated)"
CSS = (Path(page_module.__file__).parent / "templates" / "page.css").read_text()
SECTIONS = ("verdict", "success", "gap", "cost", "failures", "pictures", "claims", "protocol")
every_study = pytest.mark.parametrize("name", ["demo", "edges", "bare"])


def html_of(folder: Path) -> str:
    return (folder / "report.html").read_text()


def copied(folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(folder, tmp_path / "study"))


def section(html: str, name: str) -> str:
    return re.findall(rf'<section[^>]* id="{name}".*?</section>', html, flags=re.S)[0]


@every_study
def test_the_made_up_summaries_keep_the_schema(studies: dict[str, Path], name: str) -> None:
    jsonschema.validate(read_json(studies[name] / "summary.json"), schema("summary"))


@every_study
def test_the_page_stands_alone(studies: dict[str, Path], name: str) -> None:
    html = html_of(studies[name])
    page = Page.of(html)
    assert "<script" not in html
    assert "@import" not in html
    for tag, attributes in page.tags:
        for key in ("src", "href", "xlink:href", "srcset", "data", "poster"):
            value = attributes.get(key)
            assert value is None or value.startswith(("data:", "#")), (tag, value)
    assert not re.findall(r"url\((?!#)", html)
    addresses = set(re.findall(r"https?://[^\s\"'<]+", html))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}


@every_study
def test_the_page_is_well_formed(studies: dict[str, Path], name: str) -> None:
    html = html_of(studies[name])
    page = Page.of(html)
    assert not page.broken
    ids = [a["id"] for _, a in page.tags if "id" in a]
    assert len(ids) == len(set(ids))
    anchors = {a["href"] for a in page.all("a")}
    assert {f"#{part}" for part in SECTIONS} <= anchors
    assert all(str(anchor)[1:] in ids for anchor in anchors)
    assert all(image.get("alt") for image in page.all("img"))
    assert page.all("html")[0]["lang"] == "en"
    assert all(region["tabindex"] == "0" for region in page.all("div") if region.get("role"))
    assert all(name in ids for a in page.all("section") for name in [a["aria-labelledby"]])


@pytest.mark.parametrize("name", ["demo", "edges"])
def test_whatever_holds_target_numbers_carries_the_label(
    studies: dict[str, Path], name: str
) -> None:
    html = html_of(studies[name])
    for svg in pieces(html, "svg"):
        assert LABEL in Page.of(svg).text, svg[:200]
    for table in pieces(html, "table"):
        assert LABEL in Page.of(table).text
    for sentence in pieces(section(html, "success"), "li"):
        assert LABEL in Page.of(sentence).text
    assert LABEL in Page.of(section(html, "verdict")).text
    assert LABEL in Page.of(section(html, "cost")).text


def test_pictures_carry_the_label_of_their_target_and_only_that(demo_study: Path) -> None:
    for figure in pieces(section(html_of(demo_study), "pictures"), "figure"):
        text = Page.of(figure).text
        assert (LABEL in text) == ("twin-7" in text)


def test_a_robot_study_carries_no_label(bare_study: Path) -> None:
    assert "stand-in" not in html_of(bare_study)


@every_study
def test_rates_never_appear_without_counts(studies: dict[str, Path], name: str) -> None:
    """A rate is a percentage with an interval behind it; its counts stand just before."""
    html = re.sub(r"<q>.*?</q>", "", html_of(studies[name]))
    text = Page.of(html).text
    rates = list(re.finditer(r"\d\s%\s\(\d", text))
    assert len(rates) > 10 or name == "bare"
    for found in rates:
        before = text[max(0, found.start() - 90) : found.start()]
        assert re.search(r"\d+/\d+", before), text[found.start() - 90 : found.end() + 20]


def test_numbers_of_the_summary_reach_the_page(demo_study: Path) -> None:
    text = Page.of(html_of(demo_study)).text
    for arm in read_json(demo_study / "summary.json")["arms"]:
        for cell in (arm["sim"], *arm["target"], *arm["suites"].values()):
            assert f"{cell['k']}/{cell['n']}" in text
        assert f"{100 * abs(arm['gap']['points']):.1f}" in text
    assert "$41.05" in text


def test_all_claims_are_listed_with_their_states(studies: dict[str, Path]) -> None:
    for folder in studies.values():
        listed = section(html_of(folder), "claims")
        states = {c["id"]: c["state"] for c in read_json(folder / "summary.json")["claims"]}
        rows = pieces(listed, "tr")[1:]
        assert len(rows) == len(all_claims())
        for claim, row in zip(all_claims(), rows, strict=True):
            text = Page.of(row).text
            assert claim.text in text
            assert states.get(claim.id, "not tested here") in text


def test_nothing_compares_where_no_test_decided(edge_study: Path) -> None:
    """Claims are quoted and the advisor's reasons are its own; all else must stay neutral."""
    summary = read_json(edge_study / "summary.json")
    assert {v["state"] for v in summary["verdicts"]} == {"cannot tell"}
    html = re.sub(r"<q>.*?</q>", "", html_of(edge_study))
    text = Page.of(html).text.replace(summary["advice"]["reason"], "")
    assert not COMPARATIVE.findall(text)


def test_names_are_text_and_never_markup(edge_study: Path) -> None:
    html = html_of(edge_study)
    assert "<b>" not in html
    assert "<b>markup & $money$</b>" in Page.of(html).text


def test_edges_are_told_in_words(edge_study: Path) -> None:
    text = Page.of(html_of(edge_study)).text
    for part in (
        "no data",
        "too few for an interval",
        "no interval over targets",
        "mean 72 % (23 to 100)",
        "were not compared on the target",
        "not measured",
        "not tried",
        "The picture strip-7.png is missing.",
        "not shown, for lack of trials: hybrid",
        "trials recorded",
    ):
        assert part in text, part


def test_an_empty_study_says_what_is_not_there(bare_study: Path) -> None:
    text = Page.of(html_of(bare_study)).text
    for part in (
        "Not enough evidence to choose a road.",
        "No cost was recorded",
        "No trials were recorded",
        "No pictures were kept",
        "There is no plan.json",
    ):
        assert part in text


def test_the_page_is_the_same_every_time(demo_study: Path, tmp_path: Path) -> None:
    folder = copied(demo_study, tmp_path)
    before = html_of(folder)
    assert build_page(folder) == folder / "report.html"
    assert html_of(folder) == before


def test_failure_counts_add_up_to_the_failures(demo_study: Path) -> None:
    trials = [json.loads(line) for line in (demo_study / "trials.jsonl").read_text().splitlines()]
    missed = [t for t in trials if t["failure"] == "missed" and t["arm"] == "real-only"]
    rows = pieces(section(html_of(demo_study), "failures"), "tr")
    counts = [re.findall(r"\d+", Page.of(row).text)[1] for row in rows if "missed" in row]
    assert sum(map(int, counts)) == len(missed) > 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda plan: plan.update(shard=25), "does not match the hash"),
        (lambda plan: plan.update(sha256="0" * 64), "carry the hash of another plan"),
        (lambda plan: plan["seeds"].append(1), "100 trials recorded, 200 planned"),
    ],
)
def test_deviations_from_the_plan_are_listed(
    demo_study: Path, tmp_path: Path, change: object, words: str
) -> None:
    folder = copied(demo_study, tmp_path)
    assert "None: every planned trial was recorded" in html_of(folder)
    plan = read_json(folder / "plan.json")
    change(plan)  # type: ignore[operator]
    write_json(folder / "plan.json", plan)
    text = Page.of(build_page(folder).read_text()).text
    assert words in text
    assert "None: every planned trial was recorded" not in text


def test_totals_made_with_other_prices_are_not_split(demo_study: Path) -> None:
    html = html_of(demo_study)
    assert "operator and review" in html
    try:
        other = build_page(demo_study, prices_from({"operator": 99.0})).read_text()
        assert "not split into parts" in other
        assert "operator and review" not in other
        assert "$41.05" in other
    finally:
        build_page(demo_study)


def test_a_price_file_in_the_study_is_used(demo_study: Path, tmp_path: Path) -> None:
    folder = copied(demo_study, tmp_path)
    (folder / "prices.toml").write_text("operator = 99.0\n")
    assert "not split into parts" in build_page(folder).read_text()


def test_a_folder_without_a_summary_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadDataError, match=r"summary\.json is missing"):
        build_page(tmp_path)


def test_a_summary_without_its_parts_is_refused(tmp_path: Path) -> None:
    write_json(tmp_path / "summary.json", {"study": "x", "arms": []})
    with pytest.raises(BadDataError, match="lacks advice, claims, targets, verdicts"):
        build_page(tmp_path)


def _palette(block: str) -> dict[str, str]:
    return dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", block))


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    high, low = sorted((_luminance(a), _luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_what_wcag_says() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_text_and_marks_reach_wcag_aa(scheme: int) -> None:
    colours = _palette(CSS.split(":root")[1 + scheme].split("}")[0])
    assert set(INKS) <= set(colours)
    for ground in ("paper", "card"):
        for text in ("ink", "soft", "yes", "no"):
            assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)
    for mark in ("sim", "target", "unseen", "robot", "operator", "engineering", "compute", "focus"):
        assert contrast(colours[mark], colours["paper"]) >= 3, mark


def test_the_style_sheet_stays_small() -> None:
    assert len(CSS) < 10_000
