"""From the records of an exploration to its map, its profiles and its page; made again any time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from simreal.core.errors import BadDataError
from simreal.core.files import read_json, read_jsonl, write_json
from simreal.report.explored import build_page, often
from simreal.study.explore_job import film_name, point_of
from simreal.study.region_profiles import write_profiles
from simreal.study.space import Space
from simreal.verdicts.failure_map import (
    MAP_SCHEMA,
    Evidence,
    Seen,
    bound_from_json,
    bound_json,
    judged,
)
from simreal.verdicts.regions import Region

#: The regions that are to be confirmed, written down before any trial that confirms.
CANDIDATES = "candidates.json"


def write_candidates(out: Path, regions: Sequence[Region]) -> None:
    """Fix the regions that will be confirmed."""
    content = [[bound_json(bound) for bound in region.bounds] for region in regions]
    write_json(out / CANDIDATES, {"regions": content})


def read_candidates(out: Path) -> list[Region]:
    """The regions that were fixed."""
    try:
        content = read_json(out / CANDIDATES)["regions"]
        return [Region(tuple(bound_from_json(bound) for bound in bounds)) for bounds in content]
    except (KeyError, TypeError, ValueError) as error:
        raise BadDataError(
            f"{out / CANDIDATES} holds no regions; restore it from a copy."
        ) from error


def conclude(out: Path, space: Space, about: Mapping[str, Any]) -> dict[str, Any]:
    """Judge what is recorded and write map.json, the profiles and explore.html; returns the map."""
    regions = read_candidates(out)
    found = judged(_evidence(out, space, regions))
    profiles = write_profiles(out, space, regions, found["regions"])
    for number, entry in enumerate(found["regions"]):
        entry["profile"] = profiles.regions[number]
        entry["pictures"] = _pictures(out, number, entry["kinds"])
    content = {
        "schema": MAP_SCHEMA,
        **about,
        **found,
        "next_profile": profiles.following,
    }
    write_json(out / "map.json", content)
    build_page(out)
    return content


def _evidence(out: Path, space: Space, regions: Sequence[Region]) -> Evidence:
    """All trials, in the order of their indices."""
    lines = sorted(read_jsonl(out / "explore.jsonl"), key=lambda line: int(line["index"]))

    def seen(phase: str, region: int | None = None) -> list[Seen]:
        return [
            Seen(space.factors(point_of(line)), line["failure"])
            for line in lines
            if line["phase"] == phase and line["region"] == region
        ]

    return Evidence(
        seen("coverage"),
        seen("search"),
        regions,
        seen("general"),
        [seen("region", number) for number in range(len(regions))],
        [float(np.mean(region.inside(space.reference))) for region in regions],
        space.scales,
    )


def _pictures(out: Path, number: int, kinds: Mapping[str, int]) -> list[str]:
    """The filmstrips of a region's most frequent failure of those that were filmed."""
    for kind in often(kinds):
        found = sorted(path.name for path in (out / "media").glob(film_name(number, kind, "*")))
        if found:
            return found
    return []
