"""What a study of several suites, with forces and goals, adds to the page: rows and curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simreal.core.files import read_json
from simreal.report.marks import ForceCurve, ForcePanel
from simreal.report.numbers import NO_DATA, Cell, cell
from simreal.report.records import Study
from simreal.report.view import suite_text

#: Arms and kinds of ending that the figures have room for.
MOST_PANELS = 9


@dataclass(frozen=True)
class SuiteCell:
    """One arm on one suite. target: counts pooled over targets; over: their mean, if several."""

    suite: str
    sim: Cell
    target: Cell
    over: Mapping[str, Any] | None
    gap: Mapping[str, Any] | None


@dataclass(frozen=True)
class ForceRow:
    """Forces and times of one arm on one suite: on the targets, and in simulation beside."""

    arm: str
    suite: str
    targets: Mapping[str, Any] | None
    simulation: Mapping[str, Any] | None

    def within(self, place: str) -> Cell:
        """Trials within the limit there."""
        found = self.targets if place == "targets" else self.simulation
        return cell(found["within"] if found else None)


def suites(study: Study) -> tuple[list[str], list[tuple[str, list[SuiteCell | None]]]]:
    """(headings, rows of every arm tried on more than one suite); empty for fewer than 3 suites."""
    entries = study.summary.get("by_suite") or ()
    names = list(dict.fromkeys(str(entry["suite"]) for entry in entries))
    if len(names) < 3:
        return [], []
    found = {(e["arm"], e["suite"]): _suite_cell(e) for e in entries}
    rows = [(arm.name, [found.get((arm.name, name)) for name in names]) for arm in study.arms]
    kept = [row for row in rows if sum(one is not None for one in row[1]) > 1]
    return [suite_text(study, name) for name in names], kept


def _suite_cell(entry: Mapping[str, Any]) -> SuiteCell:
    gap = entry.get("gap")
    return SuiteCell(
        str(entry["suite"]),
        cell(entry.get("sim")),
        cell(entry.get("target")),
        entry.get("over_targets"),
        gap if gap and gap.get("points") is not None else None,
    )


def force_rows(study: Study) -> list[ForceRow]:
    """Every arm on every suite on which forces were measured; nominal ones first."""
    force = study.summary.get("force") or {}
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for entry in force.get("cells") or ():
        found.setdefault((entry["suite"], entry["arm"]), {})[entry["place"]] = entry
    order = sorted(found, key=lambda key: key[0] != "nominal")
    return [
        ForceRow(arm, suite, found[suite, arm].get("targets"), found[suite, arm].get("simulation"))
        for suite, arm in order
    ]


def operator(study: Study) -> tuple[list[str], list[tuple[str, list[Cell]]]]:
    """(suites in words, attempts on them by target) of the demonstrations' operator."""
    entries = study.summary.get("operator") or ()
    found = {(str(e["target"]), str(e["suite"])): cell(e) for e in entries}
    names = _ordered(study, [suite for _, suite in found])
    targets = dict.fromkeys(target for target, _ in found)
    rows = [(t, [found.get((t, name), NO_DATA) for name in names]) for t in targets]
    return [suite_text(study, name) for name in names], rows


def _ordered(study: Study, names: Sequence[str]) -> list[str]:
    """Suites in the order of the plan, each once."""
    order = list(study.plan.get("suites") or ())
    return sorted(dict.fromkeys(names), key=lambda n: order.index(n) if n in order else len(order))


def read_profiles(media: Path) -> Mapping[str, Any]:
    """media/forces.json; empty where no force was kept."""
    path = media / "forces.json"
    return read_json(path) if path.is_file() else {}


def way_panels(study: Study, profiles: Mapping[str, Any]) -> list[ForcePanel]:
    """A panel an arm: force over the way to the lowest point, of trials that succeeded."""
    found: dict[tuple[str, str], Mapping[str, Any]] = {
        (p["arm"], p["target"]): p
        for p in profiles.get("profiles") or ()
        if p["suite"] == "nominal"
    }
    panels = []
    for arm in study.arms:
        curves = []
        for place, target in (("sim", "simulation"), ("target", "targets")):
            one = found.get((arm.name, target))
            if one and one["way_mm"]["at"]:
                way = one["way_mm"]
                curves.append(ForceCurve(place, *(tuple(way[k]) for k in ("at", *_ENDS))))
        counted = [
            f"{one['successes']}/{one['trials']} {words}"
            for target, words in (("targets", "target"), ("simulation", "simulation"))
            if (one := found.get((arm.name, target)))
        ]
        if curves:
            panels.append(ForcePanel(arm.name, "; ".join(counted), tuple(curves)))
    return panels[:MOST_PANELS]


_ENDS = ("p10", "p50", "p90")


def film_panels(study: Study, profiles: Mapping[str, Any], rate_hz: float) -> list[ForcePanel]:
    """A panel a way of ending: force over time of one filmed trial, on a target if any was."""
    places = {place.name for place in study.places}
    films = sorted(profiles.get("films") or (), key=lambda f: f["target"] not in places)
    kinds: dict[str, Mapping[str, Any]] = {}
    for film in films:
        kinds.setdefault(str(film["failure"] or "success"), film)
    panels = []
    for kind, film in sorted(kinds.items(), key=lambda pair: pair[0] == "success"):
        force = [float("nan") if v is None else float(v) for v in film["force_n"]]
        at = tuple(i / rate_hz for i in range(len(force)))
        place = "target" if film["target"] in places else "sim"
        told = f"{film['arm']}, {film['target']}, start {film['condition']}"
        panels.append(ForcePanel(kind, told, (ForceCurve(place, at, (), tuple(force), ()),)))
    return panels[:MOST_PANELS]


def goals(study: Study) -> Sequence[Mapping[str, Any]]:
    """What was to be shown; each met only by its bound."""
    return study.summary.get("goals") or ()
