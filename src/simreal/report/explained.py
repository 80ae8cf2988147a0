"""Where the gap comes from: the rows of its waterfall and of its tables, from `explanation`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from simreal.report import waterfall
from simreal.report.marks import Fall, Level
from simreal.report.numbers import MINUS, Cell, cell
from simreal.verdicts.rates import Interval, Rate


@dataclass(frozen=True)
class Factor:
    """One factor's share of the gap, and its effect when changed first and last (fractions).

    described: whether the profile says anything of it; else it shares in nothing.
    """

    name: str
    share: float
    ci: Interval | None
    first_in: float | None
    first_ci: Interval | None
    last_in: float | None
    last_ci: Interval | None
    described: bool = True


@dataclass(frozen=True)
class Variant:
    """One variant of the simulator: which factors follow the target's profile, and its rate."""

    factors: tuple[str, ...]
    cell: Cell


def factors(content: Mapping[str, Any]) -> list[Factor]:
    """The factors in the order of the explanation."""
    return [
        Factor(
            str(f["name"]),
            float(f["share"]),
            _interval(f.get("ci")),
            f.get("first_in"),
            _interval(f.get("first_in_ci")),
            f.get("last_in"),
            _interval(f.get("last_in_ci")),
            bool(f.get("described", True)),
        )
        for f in content.get("factors") or ()
    ]


def steps(content: Mapping[str, Any]) -> list[Level | Fall]:
    """Simulation, each factor, the simulator in the target's image, what is open, the target."""
    if not content:
        return []
    falls = [Fall(f.name, f.share, f.ci) for f in factors(content) if f.described]
    rows: list[Level | Fall] = [Level("simulation, nominal", cell(content["sim"]), "sim"), *falls]
    rows.append(Level("simulation, all factors", cell(content["calibrated"]), "sim"))
    rest = content.get("unexplained")
    if rest and rest.get("points") is not None:
        rows.append(Fall("unexplained", float(rest["points"]), _interval(rest.get("ci")), True))
    return [*rows, Level("target", cell(content["real"]), "target")]


def variants(content: Mapping[str, Any]) -> list[Variant]:
    """The simulator variants that were played, those with fewest factors first."""
    found = [
        Variant(tuple(c["factors"]), cell(Rate.of(c["k"], c["n"]).to_json()))
        for c in content.get("cells") or ()
    ]
    return sorted(found, key=lambda v: (len(v.factors), v.factors))


def failures(content: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    """Failure kind -> side (sim, calibrated, real) -> trials; kinds by how often they occur."""
    sides = content.get("failures") or {}
    kinds: dict[str, dict[str, int]] = {}
    for side, counted in sides.items():
        for kind, count in (counted or {}).items():
            kinds.setdefault(kind, {})[side] = int(count)
    return dict(sorted(kinds.items(), key=lambda item: (-sum(item[1].values()), item[0])))


def pairs(content: Mapping[str, Any]) -> dict[str, list[Mapping[str, Any]]]:
    """Pairs of factors that are shown not to add up (`shown`), and the others (`open`)."""
    found: dict[str, list[Mapping[str, Any]]] = {"shown": [], "open": []}
    for pair in content.get("interactions") or ():
        low, high = pair["ci"]
        found["shown" if low > 0 or high < 0 else "open"].append(pair)
    return found


def shared_out(content: Mapping[str, Any]) -> str:
    """How the gap is shared out, in a sentence; empty where it is not taken apart."""
    text = waterfall.headline(content) if content else ""
    return re.sub(r"(?<=[ (])-(?=\d)", MINUS, text)


def _interval(ci: Any) -> Interval | None:
    return (float(ci[0]), float(ci[1])) if ci else None
