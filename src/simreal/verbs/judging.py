"""Judging trials from files: compare, schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from simreal.core.errors import UsageError
from simreal.verbs.options import Json, refuse

if TYPE_CHECKING:
    from simreal.verbs.tables import Trials


def compare(
    a: Annotated[Path, tyro.conf.Positional],
    b: Annotated[Path | None, tyro.conf.Positional] = None,
    arm: str | None = None,
    against: str | None = None,
    target: str | None = None,
    suite: str | None = None,
    margin: float = 0.05,
    json_output: Json = False,
) -> None:
    """Compare policies by their trials: two tables, or the arms of one.

    Tables are trials.jsonl files or CSV files with the columns condition,success and, where there
    are any, arm,seed,target,suite,score,failure. Conditions that occur on both sides are pairs.
    One table with three or more arms is ranked.

    Args:
        a: Trials of one policy, or of all.
        b: Trials of the other.
        arm: The first policy, where a table holds several arms.
        against: The other one.
        target: Look at the trials on this target alone.
        suite: Look at the trials of this suite alone.
        margin: Differences within it count as equivalent, a fraction.
        json_output: Print one JSON object and nothing else.
    """
    from simreal.report.lines import comparison_lines
    from simreal.verbs import tables
    from simreal.verdicts.compare import compare as judge
    from simreal.verdicts.keys import keyed

    if b is not None:
        only = {"target": target, "suite": suite}
        first = tables.read_only_arm(a, arm, "--arm", **only)
        second = tables.read_only_arm(b, against, "--against", **only)
        tables.check_distinct(first, second)
        names = tables.named(a, b, arm, against)
    else:
        whole = tables.read(a, target, suite)
        tables.check_one_side(whole)
        chosen = _two_arms(whole, arm, against)
        if chosen is None:
            _rank(whole, margin, json_output)
            return
        first, second, names = whole.of(chosen[0]), whole.of(chosen[1]), chosen
    across = {row.target for row in first.rows} != {row.target for row in second.rows}
    found = judge(*keyed(first.rows, second.rows, across_targets=across), margin)
    if json_output:
        print(json.dumps(found.to_json()))
        return
    tables.show([*comparison_lines(found, *names), *tables.notes(first, second)])


def _two_arms(table: Trials, arm: str | None, against: str | None) -> tuple[str, str] | None:
    """Which arms of one table are compared; None where all are to be ranked."""
    if arm is not None and against is not None:
        if arm == against:
            raise UsageError(f"--arm {arm} is compared with itself.")
        return arm, against
    if arm is not None or against is not None:
        raise UsageError("In one table --arm and --against go together: which two?")
    if len(table.arms) < 2 or any(row.arm is None for row in table.rows):
        raise UsageError(
            f"{table.path} alone is compared by its column arm, which must name two arms or more; "
            "or give a second table."
        )
    return (table.arms[0], table.arms[1]) if len(table.arms) == 2 else None


def _rank(table: Trials, margin: float, json_output: bool) -> None:
    from simreal.report.lines import ranking_lines
    from simreal.verbs import tables
    from simreal.verdicts.keys import keyed_alike
    from simreal.verdicts.ranking import rank

    keyed = keyed_alike([table.of(arm).rows for arm in table.arms])
    found = rank(dict(zip(table.arms, keyed, strict=True)), margin)
    if json_output:
        print(json.dumps(found.to_json()))
        return
    tables.show([*ranking_lines(found), *tables.notes(table)])


def validate(
    sim: Annotated[Path, tyro.conf.Positional],
    real: Annotated[Path | None, tyro.conf.Positional] = None,
    target: str | None = None,
    json_output: Json = False,
) -> None:
    """Does simulation rate policies as the target does? MMRV, Pearson, Spearman over four or more.

    Args:
        sim: Trials of several arms in simulation; or one CSV with the columns arm,sim,real, whose
            cells are fractions (0.85) or counts (17/20).
        real: Trials of the same arms on the target; may be the same table, where its column target
            tells simulation and target apart.
        target: Which target, where the second table holds several.
        json_output: Print one JSON object and nothing else.
    """
    from simreal.report.lines import agreement_lines
    from simreal.verbs import tables
    from simreal.verdicts.agreement import agreement
    from simreal.verdicts.policy_table import sides_of_table, sides_of_trials

    noticed = []
    if real is None:
        refuse({"target": target}, "only with two tables of trials")
        simulated, measured = sides_of_table(sim)
    else:
        first = tables.on_one_side(tables.read(sim), True)
        second = tables.on_one_side(tables.read(real, target), False)
        simulated, measured = sides_of_trials(first.rows, second.rows, (sim.name, real.name))
        noticed = tables.notes(first, second, pooled=False)
        left = sorted(set(simulated) ^ set(measured))
        noticed += [f"Note: left out, tried on one side only: {', '.join(left)}."] if left else []
    found = agreement(measured, simulated)
    if real is not None:
        tables.check_distinct(first, second)
    if json_output:
        print(json.dumps(found.to_json()))
        return
    tables.show([*agreement_lines(found), *noticed])


def schema(name: Annotated[str, tyro.conf.Positional], example: bool = False) -> None:
    """Print the JSON schema of a record: trials, ledger, summary, compare, gap, ...

    Args:
        name: Which schema.
        example: Print a valid record instead.
    """
    from simreal.verdicts import examples, schemas

    found = examples.example(name) if example else schemas.schema(name)
    print(json.dumps(found, indent=2))
