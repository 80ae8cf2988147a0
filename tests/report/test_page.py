from __future__ import annotations

import inspect
import json
import re
import shutil
import time
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from tests.report import synthetic
from tests.report.reader import Page, pieces
from tests.report.test_words import COMPARATIVE

from simreal.cli import VERBS
from simreal.core.errors import BadDataError
from simreal.core.files import read_json, write_json
from simreal.report import page as page_module
from simreal.report.album import album
from simreal.report.canvas import INKS
from simreal.report.media import filmstrip
from simreal.report.page import build_page
from simreal.report.records import read_study
from simreal.verdicts.claims import all_claims
from simreal.verdicts.cost.prices import prices_from
from simreal.verdicts.schemas import schema

LABEL = "stand-in (simulated)"
CSS = (Path(page_module.__file__).parent / "templates" / "page.css").read_text()
SECTIONS = (
    *("verdict", "success", "gap", "curves", "roads", "cost", "time"),
    *("failures", "data", "pictures", "claims", "protocol"),
)
every_study = pytest.mark.parametrize("name", ["full", "demo", "edges", "bare"])


def html_of(folder: Path) -> str:
    return (folder / "report.html").read_text()


def copied(folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(folder, tmp_path / "study"))


def section(html: str, name: str) -> str:
    return re.findall(rf'<section[^>]* id="{name}".*?</section>', html, flags=re.S)[0]


@every_study
def test_the_made_up_summaries_keep_the_schema(studies: dict[str, Path], name: str) -> None:
    """`bare` is of an older version: it lacks what newer ones hold, and the page reads it still."""
    summary = read_json(studies[name] / "summary.json")
    validator = jsonschema.Draft202012Validator(schema("summary"))
    errors = {f"{e.validator}: {e.message}" for e in validator.iter_errors(summary)}
    old = {e for e in errors if e.startswith(("required", "const"))} if name == "bare" else set()
    assert errors - old == set()


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


@pytest.mark.parametrize("name", ["full", "demo", "edges"])
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
    """Claims are quoted, reasons of a verdict are its own; all else must stay neutral."""
    summary = read_json(edge_study / "summary.json")
    assert {v["state"] for v in summary["verdicts"]} == {"cannot tell"}
    html = re.sub(r"<q>.*?</q>", "", html_of(edge_study))
    text = Page.of(html).text
    for own in (summary["advice"]["reason"], summary["economics"]["note"]):
        text = text.replace(own, "")
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


def test_an_older_summary_says_what_would_fill_each_section(bare_study: Path) -> None:
    html = html_of(bare_study)
    for part, command in (
        ("success", "simreal report STUDY"),
        ("gap", "simreal gap --explain STUDY --profile FILE"),
        ("curves", "simreal study curve"),
        ("roads", "simreal advise STUDY --target 0.85"),
        ("cost", "simreal cost STUDY"),
        ("time", "simreal days STUDY"),
        ("data", "simreal study study.toml"),
        ("pictures", "simreal study study.toml"),
    ):
        text = section(html, part)
        assert f"<code>{command}</code>" in text
        assert "<svg" not in text or part in ("success", "gap")


def test_the_commands_it_names_exist(bare_study: Path) -> None:
    commands = re.findall(r"<code>simreal (.*?)</code>", html_of(bare_study))
    assert len(commands) > 6
    for command in commands:
        verb, *words = command.split()
        assert verb in VERBS, command
        options = [word.removeprefix("--") for word in words if word.startswith("--")]
        assert set(options) <= set(inspect.signature(VERBS[verb]).parameters), command


def test_null_keys_read_like_absent_ones(bare_study: Path, tmp_path: Path) -> None:
    folder = copied(bare_study, tmp_path)
    before = html_of(folder)
    summary = read_json(folder / "summary.json")
    keys = [
        "goal",
        "curves",
        "time",
        "economics",
        "explanation",
        "acceptance",
        "ranking",
        "recipes",
    ]
    advice = summary["advice"] | {"roads": [], "evpi": None, "evsi": [], "p_reach": None}
    write_json(folder / "summary.json", summary | dict.fromkeys(keys) | {"advice": advice})
    assert build_page(folder).read_text() == before


def test_the_card_answers_in_four_sentences(full_study: Path) -> None:
    text = Page.of(section(html_of(full_study), "verdict")).text
    for part in (
        "stand-in (simulated) : no figure here comes from a real arm",
        "Take hybrid: train on 600 simulated and 20 real demonstrations.",
        "91 % likely to pass a test of 85 %, by the fitted curves. Measured so far: 87/100",
        "about $74.00 In nine of ten cases at most $141.",
        "20 more real demonstrations, 50 more trials",
        "What would change the answer: real-only wins if",
    ):
        assert part in text, part


def test_expectations_reach_the_page(full_study: Path) -> None:
    text = Page.of(html_of(full_study)).text
    for part in (
        "hybrid (a), real-100 (ab), hybrid-5 (bc), real-only (bc), sim-only (c), real-12 (d)",
        "At least 85 % is shown with 95 % confidence: hybrid-5 has 95 of 100 on twin-7",
        "needs 120 trials with 13 failures; hybrid has 87 of 100 on twin-7",
        "87/100, one-sided Clopper-Pearson bound: 80 % or more",
        "1 of 2 claims about recipes are not tested",
        "sim-only has 1 training seed",
        "visual and sensing −1.5 points (−5.0 to +2.0)",
        "Of 100 trials recorded in the nominal simulator before, 0 ended otherwise",
        "$0.77 real",
        "<$0.01 simulated",
        "hybrid against real-only",
        "The recipe hybrid and the recipe real-only cannot be told apart",
        "is no causal claim about the robot",
        "All 16 variants of the simulator",
        "takes an estimated 81 % fewer real ones than without simulation (80 % band 58 to 92 %)",
        "real data alone in 71 %, the hybrid in 96 %",
        "multiplicative 58 %, additive 31 %",
        "worth $18.40 on average",
        "50 more trials of hybrid: worth more than it costs",
        "a cell with 200 real demonstrations: not worth its cost",
        "no figure: the set-up cost is an assumption",
        "1,240 unsafe events happened in simulation",
        "Expected to be fastest: real-only; expected to be cheapest: hybrid.",
        "70 % simulated",
        "goes on from sim-only",
        "multiplied by 0.5 to 1.5, uniform",
        "0.015, standard deviation 0.005, normal",
    ):
        assert part in text, part


def test_failures_on_both_sides_are_counted(full_study: Path) -> None:
    table = next(
        t for t in pieces(section(html_of(full_study), "gap"), "table") if "How these" in t
    )
    rows = [Page.of(row).text.strip() for row in pieces(table, "tr")]
    assert "missed 6 of 200 41 of 200 21 of 100" in rows
    assert "dropped 0 of 200 0 of 200 2 of 100" in rows


def test_each_kind_of_ending_has_a_film_and_none_is_shown_twice(full_study: Path) -> None:
    html = html_of(full_study)
    films = pieces(section(html, "failures"), "figure")
    assert [Page.of(film).text.split()[0] for film in films] == ["slipped", "success"]
    sources = [image["src"] for image in Page.of(html).all("img")]
    films_only = re.findall(r"<img[^>]*condition[^>]*>", html)
    assert len(films_only) > 20
    assert len({re.findall(r'alt="[^"]*"', film)[0] for film in films_only}) >= len(films) * 2
    assert all(source and source.startswith("data:image/") for source in sources)


def test_pictures_stop_where_the_page_is_full(full_study: Path) -> None:
    study = read_study(full_study)
    whole = album(study, full_study / "media")
    assert whole.left_out == 0
    size = sum(len(picture.uri) for picture in whole.embedded.values() if picture)
    half = album(study, full_study / "media", size // 2)
    shown = sum(len(p.uri) for p in half.embedded.values() if p)
    assert shown <= size // 2
    assert half.left_out > 0
    assert half.kinds == whole.kinds, "one film of each kind goes first"
    films = [f for g in half.strips for f in (*g.opened, *g.folded)]
    assert all(p.file in half.embedded for film in films for p in film)


def test_a_page_is_small_and_made_quickly(full_study: Path, tmp_path: Path) -> None:
    """Pictures as noisy as a ray tracer's: 6 arms, 40 films by 2 cameras."""
    folder = copied(full_study, tmp_path)
    noise = np.random.default_rng(0).normal(0, 9, (8, 64, 64, 3))
    for path in sorted((folder / "media").glob("strip-*.png")):
        frames = np.clip(synthetic.frames(8, 1, True) + noise, 0, 255).astype(np.uint8)
        path.write_bytes(filmstrip(frames, 8, 1))
    started = time.process_time()
    build_page(folder)
    assert time.process_time() - started < 8
    assert (folder / "report.html").stat().st_size < 3_000_000


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
    head, *rows = pieces(section(html_of(demo_study), "failures"), "tr")
    kinds = [Page.of(cell).text.strip() for cell in pieces(head.replace("<thead>", ""), "th")]
    column = kinds.index("missed") - 1
    of_arm = [Page.of(row).text for row in rows if ">real-only<" in row]
    counts = [re.findall(r"\d+", text)[column] for text in of_arm]
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


def test_totals_made_with_other_prices_are_not_split(demo_study: Path, tmp_path: Path) -> None:
    """An older summary holds totals alone; the parts come from the ledger and the prices."""
    folder = copied(demo_study, tmp_path)
    summary = read_json(folder / "summary.json")
    write_json(folder / "summary.json", {k: v for k, v in summary.items() if k != "economics"})
    assert "operator and review" in build_page(folder).read_text()
    other = build_page(folder, prices_from({"operator": 99.0})).read_text()
    assert "not split into parts" in other
    assert "operator and review" not in other
    assert "$41.05" in other
    (folder / "prices.toml").write_text("operator = 99.0\n")
    assert "not split into parts" in build_page(folder).read_text()


def test_totals_are_split_as_the_summary_says(demo_study: Path) -> None:
    assert "operator and review" in html_of(demo_study)


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
    assert len(CSS) < 12_000
