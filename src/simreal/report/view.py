"""From a study folder to what the page shows: rows, marks and facts. Nothing is judged here."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from simreal.core.files import sha256_of
from simreal.core.types import Charge
from simreal.report.marks import ArmDots, CostBar, Dot, GapBar
from simreal.report.numbers import Cell, cell
from simreal.report.records import Arm, Study, suite_names, target_cell
from simreal.report.words import suite
from simreal.verdicts.cost import Arm as PricedArm
from simreal.verdicts.cost import ArmCost, arm_costs
from simreal.verdicts.cost.prices import Prices
from simreal.verdicts.rates import Interval

#: Which priced resources make up each part of the cost picture.
_PARTS = {
    "robot": ("robot", "wear", "incident"),
    "operator": ("operator", "quality_check"),
    "engineering": ("engineering",),
    "compute": ("compute",),
}
_RESOURCES = tuple(resource for resources in _PARTS.values() for resource in resources)


@dataclass(frozen=True)
class Column:
    """A column of the success table: its heading, the small print under it, one cell an arm."""

    heading: str
    small: str
    cells: tuple[Cell, ...]
    means: tuple[Mapping[str, Any] | None, ...] = ()
    suite: str = "nominal"


@dataclass(frozen=True)
class Cost:
    """The cost of one arm: the bar, its hours, and what building the simulation may add."""

    bar: CostBar
    hours: Mapping[str, float]
    setup: Interval | None


@dataclass(frozen=True)
class FailureGroup:
    """Failure kinds on one target and suite: arm -> trials, and kind -> arm -> count.

    place: `sim`, `target` or `unseen`, the colour of its marks.
    """

    where: str
    label: str
    place: str
    trials: Mapping[str, int]
    kinds: Mapping[str, Mapping[str, int]]


def target_names(study: Study) -> list[tuple[str, str, str]]:
    """(name in the records, name in the text, label) of every target."""
    one = len(study.places) == 1
    return [(p.name, "target" if one else f"target {p.name}", p.label) for p in study.places]


def suite_text(study: Study, name: str) -> str:
    """A suite as people call it, with what it sets: `wide, clearance 0.5 mm`."""
    values = (study.plan.get("suites") or {}).get(name)
    if not values:
        return suite(name)
    return ", ".join([name, *(_value(key, value) for key, value in values.items())])


def _value(key: str, value: float) -> str:
    """`clearance_m` of 0.0005 as `clearance 0.5 mm`."""
    name, _, unit = key.rpartition("_")
    shown = f"{1000 * value:g} mm" if unit == "m" else f"{value:g} {unit}"
    return f"{name.replace('_', ' ')} {shown}"


def planned(study: Study, of_suite: str, arm: str) -> bool:
    """Whether the plan tries an arm on a suite; without a plan nobody knows."""
    cells = [c for c in study.plan.get("cells", ()) if c["suite"] == of_suite]
    return not cells or any(arm in (c.get("arms") or [arm]) for c in cells)


def success_columns(study: Study) -> list[Column]:
    """Simulation, every target, their mean where there are several, every held-out suite."""
    arms = study.arms
    columns = [Column("simulation", "", tuple(a.sim for a in arms))]
    for name, text, label in target_names(study):
        small = ", ".join(x for x in (name if text == "target" else "", label) if x)
        columns.append(Column(text, small, tuple(target_cell(a, name) for a in arms)))
    if len(study.places) > 1:
        pooled = tuple(_pooled(a) for a in arms)
        means = tuple(a.over_targets for a in arms)
        small = "; ".join(x for x in ("counts pooled, these targets only", study.label) if x)
        columns.append(Column("mean of targets", small, pooled, means))
    order = list((study.plan.get("study") or {}).get("suites") or ())
    names = suite_names(arms)
    for name in sorted(names, key=lambda n: order.index(n) if n in order else len(order)):
        cells = tuple(a.suites.get(name, cell(None)) for a in arms)
        columns.append(Column(suite_text(study, name), study.label, cells, suite=name))
    return columns


def success_dots(study: Study) -> list[ArmDots]:
    """The same rates as marks, grouped by arm."""
    columns = success_columns(study)
    ranking = study.summary.get("ranking") or {}
    letters = {str(arm["arm"]): str(arm["letters"]) for arm in ranking.get("arms", ())}
    found = []
    for i, arm in enumerate(study.arms):
        dots = []
        for column in columns:
            place = {"simulation": "sim"}.get(column.heading, "unseen")
            if column.heading.startswith(("target", "mean")):
                place = "target"
            if column.means:
                dots.extend(_mean_dot(column.means[i], column.cells[i]))
                continue
            short = column.heading.removesuffix(" backgrounds").removeprefix("target ")
            short = short.partition(",")[0]
            if place == "unseen" and not planned(study, column.suite, arm.name):
                continue
            dots.append(Dot(place, column.heading, short, column.cells[i]))
        found.append(ArmDots(arm.name, tuple(dots), letters.get(arm.name, "")))
    return found


def _mean_dot(over: Mapping[str, Any] | None, pooled: Cell) -> list[Dot]:
    """The mean over targets with its interval; nothing where no target was tried."""
    if not pooled.measured:
        return []
    if over is None:
        return [Dot("target", "mean of targets", "mean", pooled, None, over_targets=True)]
    shown = Cell(pooled.k, pooled.n, *_inside(over["ci"]))
    return [Dot("target", "mean of targets", "mean", shown, over["mean"], over_targets=True)]


def _inside(ci: Sequence[float]) -> Interval:
    """A t interval of a rate, cut at 0 and 1."""
    return max(0.0, float(ci[0])), min(1.0, float(ci[1]))


def _pooled(arm: Arm) -> Cell:
    cells = list(arm.targets.values())
    return Cell(sum(c.k for c in cells), sum(c.n for c in cells), 0.0, 1.0)


def on_target(arm: Arm) -> Dot:
    """The arm's rate on its one target, or its mean over several."""
    if len(arm.targets) > 1:
        return _mean_dot(arm.over_targets, _pooled(arm))[0]
    only = next(iter(arm.targets.values()), cell(None))
    return Dot("target", "target", "target", only)


def gap_bars(study: Study) -> list[GapBar]:
    """The transfer gap of every arm."""
    found = []
    for arm in study.arms:
        gap = arm.gap or {"points": None}
        ci = None if gap["points"] is None else (float(gap["ci"][0]), float(gap["ci"][1]))
        found.append(GapBar(arm.name, gap["points"], ci, arm.sim, on_target(arm).cell))
    return found


def costs(study: Study, prices: Prices) -> list[Cost]:
    """What each arm cost, by part, from the ledger; arms without a cost are left out.

    Where the prices given here are not those of the summary, its totals cannot be split, and the
    bar holds them as one part under the name `total`.
    """
    arms = [PricedArm(a.name, a.n_sim, a.n_real, a.seeds or (0,)) for a in study.arms]
    names = {f.name for f in fields(Charge)}
    ledger = [Charge(**{k: v for k, v in c.items() if k in names}) for c in study.ledger]
    priced = {c.name: c for c in arm_costs(ledger, arms, prices)} if ledger else {}
    economics = study.summary.get("economics") or {}
    stacks = {str(one["arm"]): one["stack"] for one in economics.get("per_arm") or ()}
    return [
        _cost(arm, priced.get(arm.name), prices, stacks.get(arm.name))
        for arm in study.arms
        if arm.cost is not None
    ]


def _cost(
    arm: Arm, priced: ArmCost | None, prices: Prices, stack: Mapping[str, float] | None
) -> Cost:
    assert arm.cost is not None
    total = float(arm.cost["total"])
    if stack is None and priced is not None:
        stack = {r: priced.used[r] * prices.of(r).value for r in _RESOURCES}
    parts = {"total": total}
    if stack and abs(sum(stack.values()) - total) <= 0.005 * max(total, 0.01):
        parts = {part: sum(stack[r] for r in names) for part, names in _PARTS.items()}
    hours = {part: float(arm.cost[f"{part}_h"]) for part in _PARTS}
    bar = CostBar(arm.name, parts, str(arm.cost["currency"]), on_target(arm))
    return Cost(bar, hours, priced.setup if priced else None)


def failure_groups(study: Study) -> list[FailureGroup]:
    """Failure kinds by place and suite; the kinds in order of how often they occurred there.

    Several targets are counted together, and so are their checkpoints in simulation.
    """
    places: dict[tuple[str, str], list[str]] = {}
    names = {place.name for place in study.places}
    for target, of_suite in dict.fromkeys((t, s) for t, s, _ in study.trials):
        role = "target" if target in names else "sim"
        places.setdefault((role, of_suite), []).append(target)
    return [_failure_group(study, *place, targets) for place, targets in places.items()]


def _failure_group(study: Study, role: str, of_suite: str, targets: list[str]) -> FailureGroup:
    trials: dict[str, int] = {}
    kinds: dict[str, dict[str, int]] = {}
    for arm, target in itertools.product((a.name for a in study.arms), targets):
        key = (target, of_suite, arm)
        if key in study.trials:
            trials[arm] = trials.get(arm, 0) + study.trials[key]
        for kind, count in study.failures.get(key, {}).items():
            by_arm = kinds.setdefault(kind, {})
            by_arm[arm] = by_arm.get(arm, 0) + count
    order = sorted(kinds, key=lambda kind: (-sum(kinds[kind].values()), kind))
    where = "simulation"
    if role == "target":
        where = "target" if len(study.places) == 1 else f"{len(targets)} targets together"
    if of_suite != "nominal":
        where = f"{where}, {suite_text(study, of_suite)}"
    labels = {place.name: place.label for place in study.places}
    label = "; ".join(dict.fromkeys(x for x in (labels.get(t, "") for t in targets) if x))
    place = "sim" if role == "sim" else "target" if of_suite == "nominal" else "unseen"
    return FailureGroup(where, label, place, trials, {kind: kinds[kind] for kind in order})


def failure_kinds(groups: Sequence[FailureGroup]) -> list[str]:
    """All kinds of failure, in order of how often they occurred anywhere."""
    counted: dict[str, int] = {}
    for group in groups:
        for kind, by_arm in group.kinds.items():
            counted[kind] = counted.get(kind, 0) + sum(by_arm.values())
    return sorted(counted, key=lambda kind: (-counted[kind], kind))


def deviations(study: Study) -> list[str]:
    """Where the records differ from the plan."""
    if not study.plan:
        return ["There is no plan.json: nothing shows what was declared before the trials."]
    found = []
    content = {k: v for k, v in study.plan.items() if k != "sha256"}
    sha = study.plan.get("sha256")
    if sha != sha256_of(content):
        found.append("plan.json does not match the hash it was saved with.")
    if study.plan_shas - {sha}:
        found.append("Some trials carry the hash of another plan.")
    found.extend(_missing_trials(study))
    return found


def _missing_trials(study: Study) -> Iterator[str]:
    """Cells of the plan with another number of trials than planned (not of arms that skip them)."""
    planned = len(study.plan.get("conditions", ())) * len(study.plan.get("seeds", ()))
    for place in study.plan.get("cells", ()):
        for arm in (a for a in study.arms if a.name in (place.get("arms") or [a.name])):
            got = study.trials.get((place["target"], place["suite"], arm.name), 0)
            if got != planned:
                yield (
                    f"{arm.name} on {place['target']}, {place['suite']}: "
                    f"{got} trials recorded, {planned} planned."
                )


def flat(content: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """A JSON value as (dotted name, text) lines; lists stay on one line."""
    if isinstance(content, Mapping):
        for key, value in content.items():
            yield from flat(value, f"{path}.{key}" if path else str(key))
    elif content is not None:
        yield path, _plain(content)


def _plain(content: Any) -> str:
    if isinstance(content, bool):
        return "yes" if content else "no"
    if isinstance(content, float):
        return f"{content:.4g}"
    if isinstance(content, Mapping):
        return ", ".join(f"{k} {_plain(v)}" for k, v in content.items() if v is not None)
    if isinstance(content, list):
        inner = [_plain(x) for x in content]
        return ("; " if any(isinstance(x, list | Mapping) for x in content) else ", ").join(inner)
    return str(content)
