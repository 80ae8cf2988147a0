"""A failure map as lines of text and as OUT/explore.html, one self-contained page."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from simreal.core.files import read_json, write_text
from simreal.report import numbers, plots
from simreal.report.figures import both
from simreal.report.lines import plain
from simreal.report.media import embed
from simreal.report.numbers import Cell, cell, counts, percent, span
from simreal.report.page import environment
from simreal.report.text import WIDTH, capital, wrap
from simreal.verdicts.failure_map import STANDS_OUT

Content = Mapping[str, Any]

#: What the method is, in a paragraph.
METHOD = (
    "Regions were sought in the trials of coverage and search and then fixed. Their rates come "
    "from trials drawn afterwards: inside each region, and of the profile as it is. Wilson's "
    "intervals, 95 %; p by an exact or score test, corrected over all regions that were tested "
    "(Holm)."
)


def standing(found: Content) -> list[Content]:
    """The regions that stand out."""
    return [region for region in found["regions"] if region["state"] == STANDS_OUT]


def failing(c: Cell) -> str:
    """`fails 62 % (48 to 74)`; counts alone where there are too few trials."""
    if not c.measured:
        return "was not tried"
    if not c.enough:
        return f"fails {counts(c)}"
    return f"fails {percent(c.rate)} % ({span((c.low, c.high))})"


def sentence(region: Content) -> str:
    """`light_ambient below x0.7: fails 62 % (48 to 74) against 9 % (5 to 15) elsewhere; ...`."""
    inside, outside = cell(region["inside"]), cell(region["outside"])
    against = failing(outside).removeprefix("fails ")
    most = next(iter(often(region["kinds"])), None)
    kind = f"; mostly `{most}`" if most else ""
    return f"{region['text']}: {failing(inside)} against {against} elsewhere{kind}"


def often(kinds: Mapping[str, int]) -> dict[str, int]:
    """Failure kinds, the most frequent first."""
    return dict(sorted(kinds.items(), key=lambda item: (-item[1], item[0])))


def explains(region: Content) -> str:
    """What a region holds of the profile and of its failures."""
    part = cell(region["explains"])
    if not part.measured:
        return f"It holds {percent(region['share'])} % of the profile."
    of = f" ({span((part.low, part.high))})" if part.enough else ""
    return (
        f"It holds {percent(region['share'])} % of the profile and {percent(part.rate)} %{of} of "
        "its failures."
    )


def headline(found: Content) -> str:
    """How often it fails, and whether any region stands out."""
    overall = cell(found["failures"])
    whole = f"Under profile {found['profile']} it {failing(overall)}, {counts(overall)}"
    regions = standing(found)
    if not regions:
        return f"{whole}. No region stands out."
    part = cell(found["explained"])
    many = "1 region stands" if len(regions) == 1 else f"{len(regions)} regions stand"
    held = (
        f", with {percent(part.rate)} % ({span((part.low, part.high))}) of these failures in "
        f"{'it' if len(regions) == 1 else 'them'}"
        if part.enough
        else ""
    )
    return f"{whole}. {many} out{held}."


def map_lines(found: Content) -> list[str]:
    """The map for a terminal of 80 columns."""
    lines = wrap(headline(found))
    for region in standing(found):
        lines += ["", *wrap(f"{sentence(region)}.", WIDTH, "- ", "  ")]
        lines += wrap(f"{explains(region)} {_p(region)}", WIDTH, "  ", "  ")
    dropped = [region["text"] for region in found["regions"] if region["state"] != STANDS_OUT]
    if dropped:
        lines += ["", *wrap(f"Looked at and not confirmed: {'; '.join(dropped)}.")]
    lines += ["", *wrap(spent(found))]
    return [plain(line) for line in lines]


def _p(region: Content) -> str:
    """`+53.0 points (+37.9 to +65.5), p < .001.`"""
    difference = numbers.points(region["difference"] or 0.0, region["ci"])
    return f"Difference {difference}, {numbers.p_value(region['p'])}."


def spent(found: Content) -> str:
    """How many trials went where, and whether the search found failures."""
    trials = found["trials"]
    covered, sought = cell(found["found"]["coverage"]), cell(found["found"]["search"])
    return (
        f"{trials['coverage']:,} trials covered the profile ({counts(covered)} failed), "
        f"{trials['search']:,} searched where failure is probable ({counts(sought)} failed), "
        f"{trials['confirmation']:,} fresh ones confirmed."
    )


def build_page(out: Path) -> Path:
    """Write OUT/explore.html from OUT/map.json and its pictures; returns the path."""
    found = read_json(out / "map.json")
    page = environment().get_template("explore.html")
    html = page.render(
        found={**found, "kinds": often(found["kinds"])},
        headline=headline(found),
        spent=spent(found),
        regions=[_region(region, out) for region in standing(found)],
        dropped=[region for region in found["regions"] if region["state"] != STANDS_OUT],
        cell=cell,
        failing=failing,
        p_value=numbers.p_value,
        method=METHOD,
        factors=both("factors", lambda w, prefix: plots.marginals(found["factors"], w, prefix)),
    )
    path = out / "explore.html"
    write_text(path, re.sub(r"(\d) %", rf"\1{numbers.THIN}%", html))
    return path


def _region(region: Content, out: Path) -> dict[str, Any]:
    strips = [(name, out / "media" / name) for name in region["pictures"]]
    return {
        **region,
        "kinds": often(region["kinds"]),
        "sentence": capital(sentence(region).removeprefix(f"{region['text']}: ")),
        "explained": explains(region),
        "strips": [(_caption(name), embed(path)) for name, path in strips if path.is_file()],
    }


def _caption(file: str) -> str:
    """What the name of a filmstrip says, `region-1-never-reached-wrist.png`."""
    _, _, *kind, camera = file.removesuffix(".png").split("-")
    return f"{' '.join(kind)}, {camera} camera, from left to right"
