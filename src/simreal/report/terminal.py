"""The study in 80 columns of plain text, printed when `simreal demo` or `simreal report` ends."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from simreal.report import words
from simreal.report.numbers import MINUS, NO_DATA, THIN, Cell, cell, counts, money, percent, signed
from simreal.report.records import Arm, Study, study_of

COLUMNS = 80


def terminal_summary(summary: Mapping[str, Any]) -> str:
    """Arms against places with counts and intervals, the gap, the cost, the advice, the label.

    summary: the content of summary.json. Plain text, no line longer than 80 columns.
    """
    study = study_of(summary)
    parts = [_table(study), _suites(study), *(_wrapped(line) for line in _lines(study))]
    text = (
        "\n".join(part for part in parts if part is not None).replace(THIN, " ").replace(MINUS, "-")
    )
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def _table(study: Study) -> str:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    table.add_column("arm", max_width=14, overflow="fold")
    for name in ("simulation, %", "target, %", "unseen, %"):
        table.add_column(name, min_width=12, no_wrap=True)
    table.add_column("gap, points", no_wrap=True)
    table.add_column("cost", justify="right", no_wrap=True)
    for arm in study.arms:
        unseen = arm.suites.get("backgrounds")
        table.add_row(
            Text(arm.name),
            _rate(arm.sim),
            _targets(arm),
            _rate(unseen) if unseen else "not tried",
            _gap(arm),
            money(arm.cost["total"], arm.cost["currency"]) if arm.cost else "unknown",
            end_section=True,
        )
    return _printed(table)


def _suites(study: Study) -> str | None:
    """The suites that the first table has no column for; None where there are none."""
    entries = study.summary.get("by_suite") or ()
    names = [str(e["suite"]) for e in entries if e["suite"] not in ("nominal", "backgrounds")]
    found = {(e["arm"], e["suite"]): e for e in entries}
    shown = list(dict.fromkeys(names))[:4]
    if not shown:
        return None
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    table.add_column("target, %", max_width=14, overflow="fold")
    for name in shown:
        table.add_column(name, min_width=12, no_wrap=True)
    for arm in study.arms:
        cells = [found.get((arm.name, name)) for name in shown]
        if any(cells):
            told = [_on_suite(entry) if entry else "not tried" for entry in cells]
            table.add_row(Text(arm.name), *told, end_section=True)
    return "\n" + _printed(table)


def _on_suite(entry: Mapping[str, Any]) -> str:
    pooled, over = cell(entry["target"]), entry.get("over_targets")
    return (
        f"{counts(pooled)}, mean\n{_percent(over['mean'], over['ci'])}" if over else _rate(pooled)
    )


def _goals(study: Study) -> list[str]:
    """Every declared goal, its state first, and whose trials say so or what they lack."""
    goals = study.summary.get("goals") or ()
    found = ["", "Goals, each met only by its one-sided 95 % bound:"] if goals else []
    for goal in goals:
        _, state = words.goal(goal["state"])
        said = f"{goal['text']} {words.goal_numbers(goal)}".rstrip()
        found.append(f"- {state}: {said} ({goal['method'].partition(';')[0]}).")
    return found


def _force(study: Study) -> list[str]:
    """Trials on the targets whose force stayed within the limit, nominal suite."""
    force = study.summary.get("force")
    if not force:
        return []
    told = [
        f"{one['arm']} {counts(cell(one['within']))}"
        for one in force["cells"]
        if one["place"] == "targets" and one["suite"] == "nominal"
    ]
    return ["", f"Within {force['limit_n']:g} N on the target: {', '.join(told)}."] if told else []


def _printed(table: Table) -> str:
    buffer = io.StringIO()
    Console(file=buffer, width=COLUMNS, color_system=None, highlight=False).print(table)
    return buffer.getvalue().rstrip()


def _rate(c: Cell) -> str:
    if not c.enough:
        return f"{counts(c)}\ntoo few" if c.measured else "no data"
    return f"{counts(c)}\n{_percent(c.rate, (c.low, c.high))}"


def _percent(rate: float, ci: Sequence[float]) -> str:
    return f"{percent(rate)} ({percent(ci[0])}-{percent(ci[1])})"


def _targets(arm: Arm) -> str:
    if len(arm.targets) < 2:
        return _rate(next(iter(arm.targets.values()), NO_DATA))
    pooled = f"{sum(c.k for c in arm.targets.values())}/{sum(c.n for c in arm.targets.values())}"
    if not arm.over_targets:
        return f"{pooled}\nof {len(arm.targets)} targets"
    mean = _percent(arm.over_targets["mean"], arm.over_targets["ci"])
    return f"{pooled}, mean\n{mean}"


def _gap(arm: Arm) -> str:
    gap = arm.gap
    if not gap or gap.get("points") is None:
        return "unknown"
    low, high = gap["ci"]
    return f"{signed(gap['points'])}\n({100 * low:+.0f} to {100 * high:+.0f})"


def _lines(study: Study) -> list[str]:
    advice = study.summary["advice"]
    lines = ["", words.headline(study), str(advice.get("reason") or "")]
    what, why = words.next_step(study)
    lines.append(f"Next: {what}. {why}")
    lines += [*_goals(study), *_force(study)]
    if study.label:
        lines += ["", f"Target, unseen and gap: {study.label}. Intervals: 95 %."]
    else:
        lines += ["", "Intervals: 95 %."]
    return lines


def _wrapped(line: str) -> str:
    return "\n".join(textwrap.wrap(line, COLUMNS)) if line else ""
