"""Trials that stop when they have decided: one checkpoint against a rate, or two paired.

The plan (OUT.plan.json: arms, target, conditions, rule, most trials) is written and hashed before
the first trial, and every trial repeats its hash. Conditions are tried in fixed blocks, and the
rule is asked after each; what it says can be made again from the trials alone.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console

from simreal.compute.executor import Executor, make_executor
from simreal.compute.progress import Progress, Step
from simreal.core.errors import UsageError
from simreal.core.files import read_jsonl
from simreal.core.types import Condition, Form, TargetSpec
from simreal.study.single import pool_of, spec_of
from simreal.study.targets import TargetJob, close_kept, initial_values
from simreal.study.trying import TrialJob, ledger_beside, play
from simreal.trials.plan import Cell, Plan, draw_conditions, load_plan, make_plan, plan_path
from simreal.trials.run import done_trials
from simreal.verdicts.stopping import By, Decision, Result, Rule, judge
from simreal.worlds.tasks import task as find_task


@dataclass(frozen=True)
class Decided:
    """A sequential evaluation with the plan it was declared in and what its target is called."""

    decision: Decision
    plan: Path
    plan_sha: str
    label: str

    def to_json(self) -> dict[str, Any]:
        """The object printed by `simreal evaluate --until-decided --json`."""
        return self.decision.to_json(self.plan_sha, self.label)


def _own(parts: Sequence[str]) -> int:
    """How many parts of a run's path are its name: ARM/TARGET/SEED in a study, else the last."""
    return 3 if len(parts) > 3 and parts[-4] == "runs" else 1


def arm_names(checkpoints: Sequence[Path]) -> tuple[str, ...]:
    """Names of checkpoints: of their runs, with as many parents as tell them apart."""
    parts = [path.resolve().parent.parts for path in checkpoints]
    if len(set(parts)) < len(parts):
        raise UsageError(f"{checkpoints[0]} is compared with itself; give two checkpoints.")
    for depth in range(max(map(_own, parts)), max(map(len, parts)) + 1):
        names = tuple("/".join(part[-depth:]) for part in parts)
        if len(set(names)) == len(names):
            return names
    raise UsageError(f"{checkpoints[0]} and {checkpoints[-1]} cannot be told apart by name.")


def _declare(path: Path, out: Path, plan: Plan) -> None:
    """Write the plan before the first trial, or accept the very same one."""
    if path.exists():
        there = load_plan(path)
        if there.sha == plan.sha:
            return
        differs = ", ".join(plan.differing(there))
        raise UsageError(
            f"{path} declares another evaluation (it differs in {differs}); choose "
            "another file with --out, or run it as it was declared."
        )
    if out.exists() and out.stat().st_size:
        raise UsageError(
            f"{out} holds trials that no plan at {path} declared; choose another file with --out."
        )
    plan.save(path)


def evaluate_until_decided(
    checkpoints: Sequence[Path],
    on: str,
    out: Path,
    *,
    goal: float | None,
    by: By,
    most: int,
    block: int,
    suite: str,
    task: str,
    form: Form,
    seed: int,
    workers: int | None,
    starts: str | None = None,
) -> Decided:
    """Try one or two checkpoints until decided; see `simreal evaluate --help`."""
    from simreal.policies.runfolder import sha256_of_file
    from simreal.policies.runner import CompactRunner

    runners = [CompactRunner.load(path) for path in checkpoints]
    found, names = find_task(task), arm_names(checkpoints)
    rule = Rule(names, by, most, min(block, most), goal)
    size = next(iter(runners[0].cameras.values()), (64, 64))
    target = TargetJob(on, task, form, size_px=size[0])
    spec = spec_of(target)
    for runner in runners:
        runner.check_target(spec)
    draw = initial_values(task, on, starts, suite)
    plan = make_plan(
        study={"name": "evaluate", "task": task, "suite": suite, "form": form, "seed": seed},
        arms=[
            {"name": name, "weights": sha256_of_file(path / "model.safetensors")}
            for name, path in zip(names, checkpoints, strict=True)
        ],
        seeds=[seed],
        cells=[Cell(on, suite, spec.kind)],
        conditions=draw_conditions(draw, most, seed, found.suites.get("nominal")),
        targets=[_target(on, spec)],
        tests={"sequential": rule.to_json()},
        power={},
        randomization={},
        shard=rule.block,
    )
    path = plan_path(out)
    _declare(path, out, plan)
    job = TrialJob(plan.sha, "", seed, "", target, on, spec.kind, (), found.horizon)
    policies = {n: str(c) for n, c in zip(names, checkpoints, strict=True)}
    with _playing(spec.kind == "robot", workers) as (pool, console):
        decision = _follow(plan, rule, suite, job, policies, spec.batch, out, pool, console)
    return Decided(decision, path, plan.sha, spec.label)


def _target(on: str, spec: TargetSpec) -> dict[str, Any]:
    """The target as the plan names it, with the hash of its file where it has one."""
    from simreal.policies.runfolder import sha256_of_file

    file = Path(on.partition(":")[2])
    sha = sha256_of_file(file) if file.is_file() else None
    return {"name": on, "kind": spec.kind, "label": spec.label, "file_sha256": sha}


@contextmanager
def _playing(robot: bool, workers: int | None) -> Iterator[tuple[Executor, Console | None]]:
    """Who plays: worker processes, or at a robot this process, where a person can be asked."""
    lines_only = Console(file=sys.stderr, highlight=False, force_terminal=False) if robot else None
    try:
        with make_executor("inline") if robot else pool_of(workers) as pool:
            yield pool, lines_only
    finally:
        close_kept()


def _follow(
    plan: Plan,
    rule: Rule,
    suite: str,
    job: TrialJob,
    policies: Mapping[str, str],
    batch: int,
    out: Path,
    pool: Executor,
    console: Console | None,
) -> Decision:
    """Block after block, the rule asked after each, until it has decided or all are tried."""
    total = rule.most * len(rule.arms)
    blocks, ledger = plan.shards(suite), ledger_beside(out)
    with Progress([Step("Trials", 0.2 * total)], console=console) as progress:
        progress.start("Trials, at most", total, "trials")
        for number in range(len(blocks) + 1):
            tried = [c for block in blocks[:number] for c in block]
            decision = judge(rule, _results(rule, tried, out, job.name))
            if decision.decided or number == len(blocks):
                return decision
            jobs = _jobs(job, policies, blocks[number], batch, number)
            done = done_trials(out, plan.sha)
            play(jobs, done, out, pool, ledger, progress.advance)
    raise AssertionError("a plan has at least one block")


def _results(
    rule: Rule, conditions: Sequence[Condition], out: Path, target: str
) -> dict[str, list[Result]]:
    """Each arm's trials of these conditions, in their order, from the records."""
    lines = {(line["arm"], line["condition"]): line for line in read_jsonl(out)}
    return {
        arm: [
            Result(bool(line["success"]), float(line["score"]))
            for condition in conditions
            if (line := lines.get((arm, condition.index)))
        ]
        for arm in rule.arms
    }


def _jobs(
    job: TrialJob,
    policies: Mapping[str, str],
    block: Sequence[Condition],
    batch: int,
    number: int,
) -> list[TrialJob]:
    """One block's shards, all arms on the same conditions; who begins changes every shard."""
    size, jobs = min(len(block), batch), []
    for turn, start in enumerate(range(0, len(block), size)):
        conditions = tuple(block[start : start + size])
        order = list(policies.items())
        if (turn + number) % 2:
            order.reverse()
        jobs += [
            replace(job, arm=arm, checkpoint=checkpoint, conditions=conditions)
            for arm, checkpoint in order
        ]
    return jobs
