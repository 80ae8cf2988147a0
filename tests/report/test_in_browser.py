"""The page in a real browser: nothing loads, nothing fails, nothing runs off a phone's edge."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.report.chromium import Chromium, find

BINARY = find()
pytestmark = pytest.mark.skipif(BINARY is None, reason="no chromium on the path")
FIGURES = ("success", "gap", "cost", "trade")


@pytest.fixture(scope="module")
def browser() -> Iterator[Chromium]:
    assert BINARY is not None
    with Chromium(BINARY) as opened:
        yield opened


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", ["demo", "edges", "bare"])
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
    figures = FIGURES if name != "bare" else FIGURES[:2]
    for figure in figures:
        shown = f"[...document.querySelectorAll('#figure-{figure} svg')]"
        seen = browser.evaluate(f"{shown}.map(s => s.getBoundingClientRect().width)")
        assert sorted(size > 300 for size in seen) == [False, True], (figure, seen)
    size = "Math.min(...[...document.querySelectorAll('svg text')].filter(t => t.getClientRects()"
    size += (
        ".length && t.getBoundingClientRect().width).map(t => t.getBoundingClientRect().height))"
    )
    assert browser.evaluate(size) >= 11, "text in figures must stay readable"


def test_colours_follow_the_scheme_and_print_is_light(browser: Chromium, demo_study: Path) -> None:
    colour = "getComputedStyle(document.body).backgroundColor"
    seen = []
    for scheme, media in (("light", "screen"), ("dark", "screen"), ("dark", "print")):
        browser.open(demo_study / "report.html", 1280, scheme, media)
        seen.append(browser.evaluate(colour))
    assert seen[0] == seen[2] == "rgb(255, 255, 255)"
    assert seen[1] != seen[0]


def test_the_keyboard_reaches_links_tables_and_folded_pictures(
    browser: Chromium, demo_study: Path
) -> None:
    browser.open(demo_study / "report.html", 1280)
    reached = []
    for _ in range(24):
        browser.press_tab()
        reached.append(browser.evaluate("document.activeElement.tagName"))
    assert reached[0] == "A"
    assert browser.evaluate("document.querySelector('.skip').textContent").startswith("Skip")
    assert {"A", "DIV", "SUMMARY"} <= set(reached)
    outline = browser.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
