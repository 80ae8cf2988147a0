"""The page in a real browser: nothing loads, nothing fails, nothing runs off a phone's edge.

Where no Chromium is on the path these tests are skipped; SIMREAL_NEED_CHROMIUM=1 makes that a
failure.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.report.chromium import Chromium, find

from simreal.core.files import read_json

BINARY = find()
NEEDED = os.environ.get("SIMREAL_NEED_CHROMIUM") == "1"
pytestmark = pytest.mark.skipif(BINARY is None and not NEEDED, reason="no chromium on the path")
FIGURES = (
    *("success", "gap", "waterfall", "curves", "roads", "cost", "trade"),
    *("reach", "breakeven", "calendar"),
)
FORCES = ("force-way", "force-time")
STUDIES = ("full", "demo", "edges", "bare", "felt")
CONTRAST = (Path(__file__).parent / "contrast.js").read_text()
both_schemes = pytest.mark.parametrize("scheme", ["light", "dark"])


@pytest.fixture(scope="module")
def browser() -> Iterator[Chromium]:
    assert BINARY is not None, "SIMREAL_NEED_CHROMIUM=1, and no chromium is on the path"
    with Chromium(BINARY) as opened:
        yield opened


def expected(folder: Path) -> list[str]:
    """The figures that a study has data for; those of `full` are all."""
    summary = read_json(folder / "summary.json")
    economics, time = summary.get("economics") or {}, summary.get("time") or {}
    priced = any(arm["cost"] for arm in summary["arms"])
    has = {
        "success": True,
        "gap": True,
        "waterfall": summary.get("explanation"),
        "curves": summary.get("curves"),
        "roads": summary["advice"].get("roads"),
        "cost": priced,
        "trade": priced,
        "reach": economics.get("reach"),
        "breakeven": economics.get("break_even"),
        "calendar": time.get("roads"),
    }
    found = [name for name in FIGURES if has[name]]
    assert len(found) == len(FIGURES) or folder.name != "full"
    return [found[0], *(FORCES if summary.get("force") else ()), *found[1:]]


@both_schemes
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", STUDIES)
def test_a_page_shows_whole(
    browser: Chromium, studies: dict[str, Path], name: str, width: int, scheme: str
) -> None:
    browser.problems.clear()
    browser.requests.clear()
    browser.open(studies[name] / "report.html", width, scheme)
    assert browser.problems == []
    assert [url for url in browser.requests if not url.startswith(("file:", "data:"))] == []
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    assert browser.evaluate("[...document.images].every(i => i.complete && i.naturalWidth > 0)")
    found = browser.evaluate("[...document.querySelectorAll('figure[id]')].map(f => f.id)")
    figures = expected(studies[name])
    assert found == [f"figure-{figure}" for figure in figures]
    for figure in figures:
        shown = f"[...document.querySelectorAll('#figure-{figure} svg')]"
        seen = browser.evaluate(f"{shown}.map(s => s.getBoundingClientRect().width)")
        assert sorted(size > 300 for size in seen) == [False, True], (figure, seen)
    size = "Math.min(...[...document.querySelectorAll('svg text')].filter(t => t.getClientRects()"
    size += (
        ".length && t.getBoundingClientRect().width).map(t => t.getBoundingClientRect().height))"
    )
    assert browser.evaluate(size) >= 11, "text in figures must stay readable"


@pytest.mark.parametrize("width", [1280, 390])
def test_the_text_of_figures_stays_inside_them(
    browser: Chromium, studies: dict[str, Path], width: int
) -> None:
    browser.open(studies["full"] / "report.html", width)
    outside = """[...document.querySelectorAll('figure svg text')].filter(t => {
        const text = t.getBoundingClientRect(), all = t.closest('svg').getBoundingClientRect();
        return text.width && (text.left < all.left - 3 || text.right > all.right + 3
            || text.top < all.top - 3 || text.bottom > all.bottom + 3);
    }).map(t => t.closest('figure').id + ': ' + t.textContent.trim())"""
    assert browser.evaluate(outside) == []


@both_schemes
@pytest.mark.parametrize("name", ["full", "bare"])
def test_all_text_has_the_contrast_of_wcag_aa(
    browser: Chromium, studies: dict[str, Path], name: str, scheme: str
) -> None:
    browser.open(studies[name] / "report.html", 1280, scheme)
    browser.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
    found = browser.evaluate(CONTRAST)
    assert found["seen"] > (600 if name == "full" else 50)
    assert found["failures"] == []


def test_text_without_contrast_would_be_found(browser: Chromium, full_study: Path) -> None:
    browser.open(full_study / "report.html", 1280)
    browser.evaluate("document.querySelector('h1').style.color = '#999999'")
    browser.evaluate("document.querySelector('#figure-curves .wide text').style.fill = '#8f8f8f'")
    found = browser.evaluate(CONTRAST)
    assert [float(ratio) for _, ratio in found["failures"]] == [2.85, pytest.approx(3.2, abs=0.1)]


def test_colours_follow_the_scheme_and_print_is_light(browser: Chromium, demo_study: Path) -> None:
    colour = "getComputedStyle(document.body).backgroundColor"
    seen = []
    for scheme, media in (("light", "screen"), ("dark", "screen"), ("dark", "print")):
        browser.open(demo_study / "report.html", 1280, scheme, media)
        seen.append(browser.evaluate(colour))
    assert seen[0] == seen[2] == "rgb(255, 255, 255)"
    assert seen[1] != seen[0]


def test_the_keyboard_reaches_everything_that_acts(browser: Chromium, full_study: Path) -> None:
    """Tab visits all links, tables, folds and the switch of the films, in the order of the page."""
    browser.open(full_study / "report.html", 1280)
    acting = "[...document.querySelectorAll('a[href], summary, input, [tabindex]')]"
    shown = f"{acting}.filter(e => e.checkVisibility())"
    count = browser.evaluate(f"window.acting = {shown}; window.acting.length")
    assert count > 30
    for number in range(count):
        browser.press_tab()
        at = "window.acting.indexOf(document.activeElement)"
        assert browser.evaluate(at) == number
        style = "getComputedStyle(document.activeElement)"
        assert browser.evaluate(f"{style}.outlineStyle + parseFloat({style}.outlineWidth)") == (
            "solid2"
        )
    assert browser.evaluate("document.querySelector('.skip').textContent").startswith("Skip")


def test_the_keyboard_opens_a_fold(browser: Chromium, full_study: Path) -> None:
    browser.open(full_study / "report.html", 1280)
    browser.evaluate("document.querySelector('#gap summary').focus()")
    browser.press("Enter", 13, "\r")
    assert browser.evaluate("document.querySelector('#gap details').open")


MOVING = "document.getAnimations().length"


def test_films_play_until_they_are_held(browser: Chromium, full_study: Path) -> None:
    browser.open(full_study / "report.html", 1280)
    films = browser.evaluate("document.querySelectorAll('.window img').length")
    assert browser.evaluate(MOVING) == films > 0
    seen = "document.querySelector('.window').getBoundingClientRect().width"
    one = browser.evaluate(seen)
    browser.evaluate("document.querySelector('#still').focus()")
    browser.press(" ", 32, " ")
    assert browser.evaluate(MOVING) == 0
    assert browser.evaluate(seen) > 4 * one, "held films are shown as whole strips"


@pytest.mark.parametrize(("media", "motion"), [("screen", "reduce"), ("print", "no-preference")])
def test_nothing_moves_for_who_asks_and_on_paper(
    browser: Chromium, full_study: Path, media: str, motion: str
) -> None:
    browser.open(full_study / "report.html", 1280, "light", media, motion)
    assert browser.evaluate(MOVING) == 0
    assert not browser.evaluate("document.querySelector('.still').getClientRects().length")


def test_a_film_shows_one_moment_at_a_time(browser: Chromium, full_study: Path) -> None:
    """In the middle of each step a moment stands exactly in its window."""
    browser.open(full_study / "report.html", 1280)
    browser.evaluate("window.film = document.getAnimations()[0]; window.film.pause()")
    for moment in range(8):
        browser.evaluate(f"window.film.currentTime = 300 * {moment} + 150")
        offset = browser.evaluate(
            "(() => { const i = window.film.effect.target, w = i.parentElement;"
            "return (w.getBoundingClientRect().left - i.getBoundingClientRect().left)"
            "/ i.getBoundingClientRect().width * i.naturalWidth })()"
        )
        assert offset == pytest.approx(65 * moment, abs=0.5)


def test_the_printed_page_is_whole_and_not_too_long(
    browser: Chromium, full_study: Path, tmp_path: Path
) -> None:
    browser.open(full_study / "report.html", 1280)
    browser.pdf(tmp_path / "report.pdf")
    content = (tmp_path / "report.pdf").read_bytes()
    pages = len(re.findall(rb"/Type /Page\b", content))
    assert 8 <= pages <= 20
    browser.open(full_study / "report.html", 700, "light", "print")
    assert browser.evaluate("document.documentElement.scrollWidth") <= 700
    hidden = "[...document.querySelectorAll('details.list')].filter(d => d.scrollHeight < 40)"
    assert browser.evaluate(f"{hidden}.length") == 0


@pytest.mark.parametrize("width", [1280, 390])
def test_no_label_lies_over_another(
    browser: Chromium, studies: dict[str, Path], width: int
) -> None:
    """With the fonts that the browser really uses; `full` has more arms than can be named."""
    overlaps = """['trade', 'curves'].flatMap(name => {
        const texts = [...document.querySelectorAll(`#figure-${name} svg text`)];
        const boxes = texts.map(t => [t.textContent.trim(), t.getBoundingClientRect()])
            .filter(([_, b]) => b.width);
        return boxes.flatMap(([a, p], i) => boxes.slice(i + 1).filter(([_, q]) =>
            p.left < q.right && q.left < p.right && p.top + 3 < q.bottom - 3 && q.top + 3 <
            p.bottom - 3).map(([b, _]) => `${name}: ${a} / ${b}`));
    })"""
    for name in ("full", "demo", "edges"):
        browser.open(studies[name] / "report.html", width)
        assert browser.evaluate(overlaps) == []
