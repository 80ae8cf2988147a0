"""The transfer gap and where it comes from: gap, twin profile."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from simreal.core.errors import UsageError
from simreal.verbs.options import Json, refuse

if TYPE_CHECKING:
    from simreal.study.explain import Explaining

#: Memory of one worker that plays and renders 50 worlds, with torch.
WORKER_BYTES = 3 * 2**29
#: Rough seconds a trial, for the estimate before there is anything to go by.
TRIAL_S = 0.15

_NO_PROFILE = (
    "--explain needs --profile FILE, which says how the target looks and behaves: write it by hand "
    "(docs/explain.md), or for a target that is a twin say --profile twin, which reveals its "
    "hidden parameters."
)


def gap(
    sim: Annotated[Path | None, tyro.conf.Positional] = None,
    real: Annotated[Path | None, tyro.conf.Positional] = None,
    margin: float | None = None,
    explain: Path | None = None,
    profile: str | None = None,
    arm: str | None = None,
    seed: int | None = None,
    target: str | None = None,
    conditions: int | None = None,
    workers: int | None = None,
    json_output: Json = False,
) -> None:
    """The transfer gap between simulation and robot in points, or where a study's gap comes from.

    Args:
        sim: Trials in simulation; of a table that holds others too, those on sim or simulation.
        real: Trials on the robot; conditions that occur in both are pairs. May be the same table.
        margin: A gap within it counts as none, a fraction; 0.05 if left out.
        explain: Folder of a study, in place of the two tables: its gap is shared out among looks,
            dynamics, sensing and actuation.
        profile: With --explain: a target profile (TOML), or twin for the parameters of the study's
            own twin.
        arm: Which arm, where the tables hold several (else all are pooled); with --explain the
            study's first without real data if left out.
        seed: With --explain: its training seed; the first if left out.
        target: Which target, where the second table holds several; with --explain the study's first
            if left out.
        conditions: With --explain: trials of each variant, the study's own conditions first; 200 if
            left out.
        workers: With --explain: worker processes; as many as fit the machine if left out.
        json_output: Print one JSON object and nothing else.
    """
    if explain is not None:
        if sim is not None:
            raise UsageError("Give either two tables of trials or --explain STUDY, not both.")
        if margin is not None:
            raise UsageError("--margin is for two tables of trials; leave it out with --explain.")
        if profile is None:
            raise UsageError(_NO_PROFILE)
        _explain(explain, profile, arm, seed, target, conditions, workers, json_output)
        return
    if sim is None or real is None:
        raise UsageError("Give the trials in simulation and on the robot, or --explain STUDY.")
    given = {"profile": profile, "seed": seed, "conditions": conditions, "workers": workers}
    refuse(given, "only with --explain STUDY")
    _measure(sim, real, margin, arm, target, json_output)


def _measure(
    sim: Path,
    real: Path,
    margin: float | None,
    arm: str | None,
    target: str | None,
    json_output: bool,
) -> None:
    from simreal.report.lines import gap_lines
    from simreal.verbs import tables
    from simreal.verdicts.compare import MARGIN
    from simreal.verdicts.gap import gap as judge
    from simreal.verdicts.keys import keyed

    first, second = tables.on_one_side(tables.read(sim), True), tables.read(real, target)
    if target is None:
        second = tables.on_one_side(second, False)
    if arm is not None:
        first, second = first.of(arm), second.of(arm)
    tables.check_distinct(first, second)
    within = MARGIN if margin is None else margin
    found = judge(*keyed(first.rows, second.rows, across_targets=True), within)
    if json_output:
        print(json.dumps(found.to_json()))
        return
    pooled = dict.fromkeys(
        f"Note: {table.path.name}: the arms {', '.join(table.arms)} are pooled; choose with --arm."
        for table in (first, second)
        if len(table.arms) > 1
    )
    tables.show([*gap_lines(found), *tables.notes(first, second), *pooled])


def _explain(
    study: Path,
    profile: str,
    arm: str | None,
    seed: int | None,
    target: str | None,
    conditions: int | None,
    workers: int | None,
    json_output: bool,
) -> None:
    from simreal.report.waterfall import explanation_lines
    from simreal.study.explain import CONDITIONS, Asked, Explaining

    each = CONDITIONS if conditions is None else conditions
    asked = Explaining(Asked(study, profile, arm, seed, target, each))
    found = _played(asked, workers)
    if json_output:
        print(json.dumps(found))
        return
    print("\n".join(explanation_lines(found)))
    print(f"\nWritten to {study / 'explain.json'}.")


def _played(asked: Explaining, workers: int | None) -> dict[str, Any]:
    """Play the variants with progress, and judge them."""
    from simreal.compute.executor import make_executor
    from simreal.compute.machine import workers as fitting
    from simreal.compute.progress import Progress, Step

    fit = fitting(workers, WORKER_BYTES)
    if fit.message:
        print(fit.message, file=sys.stderr)
    total = sum(len(job.conditions) for job in asked.jobs())
    title = "Simulator variants"
    with (
        make_executor("processes", fit.count) as pool,
        Progress([Step(title, TRIAL_S * total / fit.count)]) as progress,
    ):
        progress.start(title, total, "trials")
        asked.play(pool, progress.advance)
    return asked.conclude()


def twin_profile(
    file: Annotated[Path, tyro.conf.Positional],
    out: Path | None = None,
) -> None:
    """Write the hidden parameters of a twin as a target profile, to explain a gap with.

    Args:
        file: The twin's file.
        out: Profile (TOML) to write; NAME-profile.toml if left out.
    """
    from simreal.core.files import write_text
    from simreal.robots.twinfile import read_twin
    from simreal.study.profilefile import profile_text
    from simreal.study.variants import profile_of

    twin = read_twin(file)
    path = out or file.with_name(f"{file.stem}-profile.toml")
    if path.exists():
        raise UsageError(f"{path} exists; choose another file with --out.")
    write_text(path, profile_text(profile_of(twin, file.stem)))
    print(f"{path}: this reveals the hidden parameters of twin {twin.seed} ({twin.severity}).")
    print("Use it to explain a gap; whoever trains or tunes with it has no stand-in any more.")
