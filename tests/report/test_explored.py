"""A failure map as text of 80 columns and as one page that needs nothing else."""

import re

import numpy as np
import pytest
from tests.report.test_words import COMPARATIVE

from simreal.core.files import write_bytes, write_json
from simreal.report import explored
from simreal.report.media import filmstrip
from simreal.verdicts.examples import example


@pytest.fixture
def found():
    return example("explore")


def without_regions(found):
    """The same map with nothing confirmed."""
    regions = [{**r, "state": "not confirmed", "profile": None} for r in found["regions"]]
    return {**found, "regions": regions, "next_profile": None}


def page(found, folder):
    write_json(folder / "map.json", found)
    return explored.build_page(folder).read_text()


def test_a_region_is_one_readable_sentence(found):
    region = found["regions"][0]
    assert explored.sentence(region).startswith("light_ambient below x0.8: fails ")
    assert re.search(
        r"fails \d+ % \(\d+ to \d+\) against \d+ % \(\d+ to \d+\) elsewhere; "
        r"mostly `never reached`$",
        explored.sentence(region),
    )


def test_the_most_frequent_kind_is_named_whatever_the_order(found):
    region = {**found["regions"][0], "kinds": {"dropped": 1, "missed": 7, "slipped": 2}}
    assert explored.sentence(region).endswith("; mostly `missed`")
    assert "mostly" not in explored.sentence({**region, "kinds": {}})


def test_lines_fit_a_terminal_and_compare_nothing(found):
    for content in (found, without_regions(found)):
        lines = explored.map_lines(content)
        assert max(map(len, lines)) <= 80
        assert not COMPARATIVE.findall(" ".join(lines))
    assert "1 region stands out" in " ".join(explored.map_lines(found))


def test_nothing_is_said_to_stand_out_that_was_not_confirmed(found, tmp_path):
    content = without_regions(found)
    text = " ".join(explored.map_lines(content))
    assert "No region stands out." in text
    assert "not confirmed: light_ambient below x0.8" in text
    html = page(content, tmp_path)
    assert "No region stands out" in html
    assert "not confirmed" in html
    assert "<h3>" not in html


def test_the_page_is_self_contained_and_shows_film_and_factors(found, tmp_path):
    frames = np.random.default_rng(0).integers(0, 255, (9, 16, 16, 3)).astype(np.uint8)
    for name in found["regions"][0]["pictures"]:
        write_bytes(tmp_path / "media" / name, filmstrip(frames))
    html = page(found, tmp_path)
    assert "data:image/" in html
    assert "scene camera" in html
    assert "region-1.toml" in html
    assert "explored.toml" in html
    assert html.count("<svg") == 2
    assert not re.findall(r'(?:src|href)="(?!data:|#)[^"]+"', html.replace('xlink:href="#', ""))
    assert not COMPARATIVE.findall(re.sub(r"<style>.*?</style>|<[^>]+>", " ", html, flags=re.S))


def test_a_missing_film_and_a_policy_without_failures_still_make_a_page(found, tmp_path):
    empty = without_regions(found) | {"regions": [], "kinds": {}}
    empty["failures"] = {"k": 0, "n": 100, "rate": 0.0, "ci": [0.0, 0.037]}
    assert "no profile for a next round" in page(empty, tmp_path)
    assert "fails 0" in " ".join(explored.map_lines(empty))
    assert page(found, tmp_path).count("<img") == 0
