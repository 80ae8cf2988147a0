"""The failure map: candidate regions judged by fresh trials, and failure rate by factor.

All rates here are of *failures*. What a search found decides only which regions are tested: their
rates come from trials that were drawn afterwards, in numbers fixed before any was played, and the
tests are corrected for how many regions there are (Holm).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from simreal.verdicts.compare import Comparison, compare, within_family
from simreal.verdicts.pairing import Outcomes
from simreal.verdicts.rates import Rate
from simreal.verdicts.regions import Bound, Flags, Region, Scale, columns_of, effect
from simreal.verdicts.schema_parts import (
    CI,
    COUNT,
    FLAG,
    FRACTION,
    NAME,
    NUMBER,
    RATE,
    RATE_FIELDS,
    Schema,
    array,
    mapping,
    one_of,
    optional,
    record,
)

MAP_SCHEMA = "simreal.failure-map/1"
STANDS_OUT, NOT_CONFIRMED = "stands out", "not confirmed"
#: Factors whose failure rates are listed, the strongest first; those of regions always are.
LISTED = 8

_BOUND = record(factor=NAME, low=optional(NUMBER), high=optional(NUMBER), text=NAME)
_REGION = record(
    text=NAME,
    bounds=array(_BOUND),
    state=one_of(STANDS_OUT, NOT_CONFIRMED),
    share=FRACTION,
    inside=RATE,
    outside=RATE,
    difference=optional(NUMBER),
    ci=CI,
    p=optional(FRACTION),
    method=NAME,
    kinds=mapping(COUNT),
    explains=RATE,
    profile=optional(NAME),
    pictures=array(NAME),
)
_FACTOR = record(
    name=NAME,
    in_region=FLAG,
    bins=array(record(low=optional(NUMBER), high=optional(NUMBER), text=NAME, **RATE_FIELDS)),
)

FAILURE_MAP: Schema = record(
    schema={"const": MAP_SCHEMA},
    task=NAME,
    profile=NAME,
    checkpoint=NAME,
    seed=COUNT,
    trials=record(coverage=COUNT, search=COUNT, confirmation=COUNT),
    failures=RATE,
    kinds=mapping(COUNT),
    found=record(coverage=RATE, search=RATE),
    regions=array(_REGION),
    explained=RATE,
    factors=array(_FACTOR),
    next_profile=optional(NAME),
)


@dataclass(frozen=True)
class Seen:
    """One trial: its factors, and the failure kind (None: success)."""

    factors: Mapping[str, float]
    failure: str | None


@dataclass(frozen=True)
class Evidence:
    """All trials of an exploration by where they came from.

    general: fresh ones of the profile as it is. inside: for each candidate, fresh ones within it.
    share: of the profile that each candidate holds. scales: how factors are cut and written.
    """

    coverage: Sequence[Seen]
    search: Sequence[Seen]
    regions: Sequence[Region]
    general: Sequence[Seen]
    inside: Sequence[Sequence[Seen]]
    share: Sequence[float]
    scales: Mapping[str, Scale]


def judged(evidence: Evidence) -> dict[str, Any]:
    """The statistical part of map.json: rates, regions, factors."""
    general = _Table(evidence.general)
    regions = _regions(evidence, general)
    standing = [
        region
        for region, found in zip(evidence.regions, regions, strict=True)
        if found["state"] == STANDS_OUT
    ]
    in_any = general.within(standing)
    return {
        "trials": {
            "coverage": len(evidence.coverage),
            "search": len(evidence.search),
            "confirmation": len(evidence.general) + sum(map(len, evidence.inside)),
        },
        "failures": _failures(evidence.general),
        "kinds": _kinds(evidence.general),
        "found": {
            "coverage": _failures(evidence.coverage),
            "search": _failures(evidence.search),
        },
        "regions": regions,
        "explained": _rate(int((in_any & general.failed).sum()), int(general.failed.sum())),
        "factors": _factors(evidence, standing),
    }


class _Table:
    """Trials as columns."""

    def __init__(self, trials: Sequence[Seen]) -> None:
        self.failed = np.array([t.failure is not None for t in trials], dtype=bool)
        self.columns = columns_of([t.factors for t in trials])

    def within(self, regions: Sequence[Region]) -> Flags:
        """Which trials lie in any of the regions."""
        found = np.zeros(len(self.failed), dtype=bool)
        if len(found):
            for region in regions:
                found |= region.inside(self.columns)
        return found


def _regions(evidence: Evidence, general: _Table) -> list[dict[str, Any]]:
    """Each candidate inside against outside; one family of tests."""
    found, compared = [], []
    for region, drawn, share in zip(evidence.regions, evidence.inside, evidence.share, strict=True):
        there = general.within([region])
        inside = [*drawn, *(t for t, is_in in zip(evidence.general, there, strict=True) if is_in)]
        outside = [t for t, is_in in zip(evidence.general, there, strict=True) if not is_in]
        compared.append(_compared(inside, outside))
        found.append(
            {
                "text": region.text,
                "bounds": [bound_json(bound) for bound in region.bounds],
                "share": share,
                "inside": _failures(inside),
                "outside": _failures(outside),
                "kinds": _kinds(inside),
                "explains": _rate(int((there & general.failed).sum()), int(general.failed.sum())),
                "profile": None,
                "pictures": [],
            }
        )
    for entry, test in zip(found, within_family(compared), strict=True):
        entry |= {
            "state": STANDS_OUT if test.state == "better" else NOT_CONFIRMED,
            "difference": test.difference,
            "ci": list(test.ci),
            "p": test.p,
            "method": test.method,
        }
    return found


def _compared(inside: Sequence[Seen], outside: Sequence[Seen]) -> Comparison:
    """Failure rate inside against outside; independent trials."""
    return compare(_outcomes("inside", inside), _outcomes("outside", outside), paired=False)


def _outcomes(side: str, trials: Sequence[Seen]) -> Outcomes:
    return {(side, i): t.failure is not None for i, t in enumerate(trials)}


def _factors(evidence: Evidence, standing: Sequence[Region]) -> list[dict[str, Any]]:
    """Failure rate by factor over all trials that are spread as the profile is."""
    spread = [*evidence.coverage, *evidence.general]
    table = _Table(spread)
    ones = np.ones(len(spread))
    bounded = {bound.factor for region in standing for bound in region.bounds}
    strength = {
        name: effect(table.columns[name], scale, table.failed, ones)
        for name, scale in evidence.scales.items()
        if scale.edges
    }
    ordered = sorted(strength, key=lambda name: (name not in bounded, -strength[name], name))
    return [
        {
            "name": name,
            "in_region": name in bounded,
            "bins": _bins(table, name, evidence.scales[name]),
        }
        for name in ordered[: max(LISTED, len(bounded))]
    ]


def _bins(table: _Table, name: str, scale: Scale) -> list[dict[str, Any]]:
    """At most eight bins between the edges of a scale."""
    at = np.searchsorted(scale.edges, table.columns[name], side="right")
    ends: list[float | None] = [None, *scale.edges, None]
    found = []
    for i, (low, high) in enumerate(pairwise(ends)):
        here = at == i
        text = " to ".join(scale.number(x) for x in (low, high) if x is not None)
        text = f"below {text}" if low is None else f"above {text}" if high is None else text
        k, n = int((here & table.failed).sum()), int(here.sum())
        found.append({"low": low, "high": high, "text": text, **_rate(k, n)})
    return found


def bound_json(bound: Bound) -> dict[str, Any]:
    """A bound as it stands in map.json."""
    return {"factor": bound.factor, "low": bound.low, "high": bound.high, "text": bound.text}


def bound_from_json(content: Mapping[str, Any]) -> Bound:
    """The inverse of `bound_json`."""
    return Bound(content["factor"], content["low"], content["high"], content["text"])


def _failures(trials: Sequence[Seen]) -> dict[str, Any]:
    return _rate(sum(t.failure is not None for t in trials), len(trials))


def _kinds(trials: Sequence[Seen]) -> dict[str, int]:
    """Failure kind -> how often, the most frequent first."""
    return dict(Counter(t.failure for t in trials if t.failure is not None).most_common())


def _rate(k: int, n: int) -> dict[str, Any]:
    return Rate.of(k, n).to_json()
