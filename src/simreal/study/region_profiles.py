"""Randomization profiles from a failure map: one a region, and one to train the next round with."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from simreal.core.files import write_text
from simreal.study.space import Space
from simreal.verdicts.failure_map import STANDS_OUT
from simreal.verdicts.regions import Bound, Region
from simreal.worlds.randomize import Profile
from simreal.worlds.starts import Starts
from simreal.worlds.variation import (
    Axis,
    Distribution,
    Each,
    Integers,
    LogUniform,
    Mixture,
    Normal,
    Uniform,
)

#: How often an axis of the next round's profile is drawn from its failing range.
WEIGHT = 0.5
#: The file for the next round.
FOLLOWING = "explored.toml"


@dataclass(frozen=True)
class Profiles:
    """What was written: a file for each region (None: it has none), one for the next round."""

    regions: tuple[str | None, ...]
    following: str | None


def write_profiles(
    out: Path, space: Space, regions: Sequence[Region], found: Sequence[Mapping[str, Any]]
) -> Profiles:
    """Write region-N.toml for each region that stands out, and explored.toml for all of them.

    found: the judged regions.
    """
    files: list[str | None] = []
    standing: list[Region] = []
    for number, (region, entry) in enumerate(zip(regions, found, strict=True), start=1):
        name = f"region-{number}.toml" if entry["state"] == STANDS_OUT else None
        if name:
            narrow = inside(space, region, name.removesuffix(".toml"))
            write_text(out / name, toml(narrow, f"Only where {region.text}."))
            standing.append(region)
        files.append(name)
    if standing:
        about = "; ".join(region.text for region in standing)
        write_text(out / FOLLOWING, toml(following(space, standing), f"More often where {about}."))
    return Profiles(tuple(files), FOLLOWING if standing else None)


def inside(space: Space, region: Region, name: str) -> Profile:
    """The profile with the region's factors kept within it.

    A bound on the mean of an axis' numbers holds for each of them, which is a part of the region.
    """
    axes = {axis.term: axis for axis in space.config.profile.axes}
    for bound in _steered(space, region):
        axes = _with(space, axes, bound, narrowed)
    starts = _starts(space, region, 1.0)
    return Profile(name, tuple(axes.values()), (starts,) if starts else ())


def following(space: Space, regions: Sequence[Region]) -> Profile:
    """The profile with every bounded number drawn from the failing ranges half of the time.

    Of several ranges of one number each gets its share of that half, and so do several regions
    that bound initial values.
    """
    ranges: dict[str, list[Bound]] = {}
    for region in regions:
        for bound in _steered(space, region):
            ranges.setdefault(bound.factor, []).append(bound)
    axes = {axis.term: axis for axis in space.config.profile.axes}
    for factor, bounds in ranges.items():

        def mixed(d: Distribution, _: Bound, bounds: Sequence[Bound] = bounds) -> Distribution:
            return Mixture(d, _blend([narrowed(d, bound) for bound in bounds]), WEIGHT)

        axes = _with(space, axes, Bound(factor, None, None, factor), mixed)
    bounded = [region for region in regions if len(_steered(space, region)) < len(region.bounds)]
    starts = [_starts(space, region, WEIGHT / len(bounded)) for region in bounded]
    return Profile("explored", tuple(axes.values()), tuple(s for s in starts if s))


def _steered(space: Space, region: Region) -> list[Bound]:
    """The bounds on what axes draw; the others are on initial values."""
    return [bound for bound in region.bounds if space.axes_of(bound.factor)]


def _starts(space: Space, region: Region, weight: float) -> Starts | None:
    """The bounds on initial values, in a share of the draws; None: there are none."""
    steered = _steered(space, region)
    bounds = [
        (b.factor, -math.inf if b.low is None else b.low, math.inf if b.high is None else b.high)
        for b in region.bounds
        if b not in steered
    ]
    return Starts(weight, tuple(bounds)) if bounds else None


def _blend(parts: Sequence[Distribution]) -> Distribution:
    """All parts alike."""
    first, *rest = parts
    return Mixture(first, _blend(rest), len(rest) / len(parts)) if rest else first


def _with(space: Space, axes: Mapping[str, Axis], bound: Bound, change: Any) -> dict[str, Axis]:
    """The axes with one factor's distributions changed."""
    found = space.axes_of(bound.factor)
    assert found is not None
    axis, chosen = axes[found[0].term], found[1]
    size = space.task.robot.terms[axis.term].size
    whole = axis.distribution
    parts = list(whole.parts) if isinstance(whole, Each) else [whole] * size
    for i in chosen:
        parts[i] = change(parts[i], bound)
    same = all(part == parts[0] for part in parts)
    made = replace(axis, distribution=parts[0] if same else Each(tuple(parts)))
    return {**axes, axis.term: made}


def narrowed(distribution: Distribution, bound: Bound) -> Distribution:
    """A distribution kept within a bound; a Gaussian becomes uniform there.

    What has no part in the bound stands at its nearer end.
    """
    low = -math.inf if bound.low is None else bound.low
    high = math.inf if bound.high is None else bound.high
    match distribution:
        case Integers(a, b):
            first = min(max(a, math.ceil(low)), b) if low > a else a
            return Integers(first, max(first, min(b, math.floor(high))) if high < b else b)
        case Uniform(a, b) | LogUniform(a, b):
            kind = type(distribution)
            least = min(max(a, low), b)
            return kind(least, max(least, min(b, high)))
        case Normal(mean, std, clip):
            return narrowed(Uniform(mean - clip * std, mean + clip * std), bound)
        case Mixture(first, second, weight):
            return Mixture(narrowed(first, bound), narrowed(second, bound), weight)
        case Each(parts):
            return Each(tuple(narrowed(part, bound) for part in parts))


def toml(profile: Profile, comment: str) -> str:
    """A profile as a file that `--randomize` and `sim:FILE` read."""
    lines = [f"# {comment}", f"name = {json.dumps(profile.name)}"]
    for axis in profile.axes:
        lines += ["", f"[axes.{axis.term}]"]
        lines += [f"{key} = {_value(value)}" for key, value in axis.to_json().items()]
    for starts in profile.starts:
        lines += ["", "[[starts]]"]
        lines += [f"{key} = {_value(value)}" for key, value in starts.to_json().items()]
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    """A JSON value in TOML, tables on one line."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{k} = {_value(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_value(v) for v in value) + "]"
    return json.dumps(value)
