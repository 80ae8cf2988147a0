"""Judging trials from files: compare, gap, schema."""

from __future__ import annotations

import json
from collections.abc import Hashable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

if TYPE_CHECKING:
    from simreal.verdicts.pairing import Outcome

Json = Annotated[bool, tyro.conf.arg(name="json")]


def _outcomes(a: Path, b: Path) -> tuple[dict[Hashable, Outcome], dict[Hashable, Outcome]]:
    """Both files' outcomes by condition, so that what stands in both makes pairs."""
    from simreal.verdicts.keys import keyed
    from simreal.verdicts.records import read_trials

    return keyed(read_trials(a).rows, read_trials(b).rows, across_targets=True)


def compare(
    a: Annotated[Path, tyro.conf.Positional],
    b: Annotated[Path, tyro.conf.Positional],
    margin: float = 0.05,
    json_output: Json = False,
) -> None:
    """Compare two tables of trials (trials.jsonl or a CSV with condition,success).

    Args:
        a: Trials of one policy.
        b: Trials of the other; conditions that occur in both are pairs.
        margin: Differences within it count as equivalent, a fraction.
        json_output: Print one JSON object and nothing else.
    """
    from simreal.report.lines import comparison_lines
    from simreal.verdicts.compare import compare as judge

    found = judge(*_outcomes(a, b), margin)
    if json_output:
        print(json.dumps(found.to_json()))
        return
    print("\n".join(comparison_lines(found, a.stem, b.stem)))


def gap(
    sim: Annotated[Path, tyro.conf.Positional],
    real: Annotated[Path, tyro.conf.Positional],
    margin: float = 0.05,
    json_output: Json = False,
) -> None:
    """The transfer gap between trials in simulation and on the robot, in points.

    Args:
        sim: Trials in simulation.
        real: Trials on the robot; conditions that occur in both are pairs.
        margin: A gap within it counts as none, a fraction.
        json_output: Print one JSON object and nothing else.
    """
    from simreal.report.lines import gap_lines
    from simreal.verdicts.gap import gap as judge

    found = judge(*_outcomes(sim, real), margin)
    if json_output:
        print(json.dumps(found.to_json()))
        return
    print("\n".join(gap_lines(found)))


def schema(name: Annotated[str, tyro.conf.Positional], example: bool = False) -> None:
    """Print the JSON schema of a record: trials, ledger, summary, compare, gap, ...

    Args:
        name: Which schema.
        example: Print a valid record instead.
    """
    from simreal.verdicts import examples, schemas

    found = examples.example(name) if example else schemas.schema(name)
    print(json.dumps(found, indent=2))
