"""The stages of a study one by one, for the verbs of the command line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from rich.console import Console

from simreal.compute.executor import Executor, make_executor
from simreal.compute.machine import workers
from simreal.compute.progress import Progress, Step
from simreal.core.errors import UsageError
from simreal.core.files import append_jsonl, read_jsonl, sha256_of
from simreal.core.seeds import check_seed
from simreal.core.types import Form, Mixture, Part, Stage, TargetSpec
from simreal.demos.dataset import open_dataset
from simreal.report.media import contact_sheet
from simreal.robots.twinfile import TwinFile, write_twin
from simreal.study.collection import Collection
from simreal.study.data import collect_live, collect_sim
from simreal.study.ledger import Ledger
from simreal.study.targets import TargetJob, close_kept, initial_values, open_target
from simreal.study.training import TrainJob, steps_done, train_charge, train_job
from simreal.study.trying import TrialJob, ledger_beside, trial_charges, trial_job
from simreal.trials.plan import SHARD, draw_conditions
from simreal.trials.run import record
from simreal.verdicts.rates import Rate
from simreal.worlds.randomize import profile
from simreal.worlds.simulated import SimConfig, draw_scenario, simulated_world
from simreal.worlds.tasks import task as find_task

#: Memory of one worker that renders and plays.
PLAY_BYTES = 2**30

#: Fills a data set: (workers, ledger, told how many more) -> what is in it.
Fill = Callable[[Executor, Ledger, Callable[[int], None]], Collection]

_EXPERT_ONLY = (
    "--randomize, --appearances and --backgrounds are for --from expert; an operator records what "
    "the target shows."
)


def pool_of(requested: int | None) -> Executor:
    """As many worker processes as were asked for, or fit the machine."""
    fit = workers(requested, PLAY_BYTES)
    if fit.message:
        print(fit.message, file=sys.stderr)
    return make_executor("processes", fit.count)


def collect_one(
    *,
    task: str,
    out: Path,
    episodes: int,
    operator: bool,
    on: str,
    randomize: str,
    appearances: int,
    backgrounds: Path | None,
    form: Form,
    size: int,
    shadows: bool,
    seed: int,
    workers: int | None,
) -> None:
    """Fill one data set; see `simreal collect --help`."""
    robot = find_task(task).robot
    check_seed(seed)
    if episodes < 1:
        raise UsageError(f"--episodes {episodes}; ask for at least 1.")
    if not operator and on != "sim":
        raise UsageError(f"--from expert plays in simulation; use --from operator on {on}.")
    fill: Fill
    if operator:
        if randomize != "none" or appearances != 1 or backgrounds:
            raise UsageError(_EXPERT_ONLY)
        job = TargetJob(on, task, form, size, shadows, seed=seed)
        open_target(job).close()
        fill = partial(collect_live, out, job, episodes, seed)
    else:
        config = SimConfig(
            task=task,
            form=form,
            size_px=size,
            profile=profile(randomize, robot),
            seed=seed,
            appearances=appearances,
            shadows=shadows,
            backgrounds=str(backgrounds) if backgrounds else None,
        )
        draw_scenario(config, 0)
        fill = partial(collect_sim, out, config, episodes)
    _fill(fill, out, episodes, workers)


def _fill(fill: Fill, out: Path, episodes: int, workers: int | None) -> None:
    """Collect with progress, and say what came of it."""
    ledger = ledger_beside(out)
    with pool_of(workers) as pool, Progress([Step("Demonstrations", episodes)]) as progress:
        progress.start("Demonstrations", episodes, "demos")
        done = fill(pool, ledger, progress.advance)
    failed = sum(len(line["failed"]) for line in done.lines)
    print(f"{done.stored} demonstrations in {out}; {failed} attempts failed and are not stored.")


def train_one(
    data: Sequence[str],
    out: Path,
    stage: tuple[int, float],
    *,
    base: Path | None,
    seed: int,
    resume: bool,
    device: str,
    wrench: str,
) -> None:
    """Train one policy, `stage`: steps and peak rate; see `simreal train --help`."""
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out} is a file; give a folder.")
    if out.exists() and any(out.iterdir()) and not resume:
        raise UsageError(f"{out} is not empty; go on with --resume or choose another folder.")
    parts = tuple(_part(text) for text in data)
    joints = open_dataset(parts[0].dataset).spec.joint_names
    job = TrainJob(
        out.name,
        (Stage(Mixture(parts), *stage),),
        str(out),
        seed,
        joints,
        str(base) if base else None,
        device,
        wrench,
    )
    trained = train_job(job)
    ledger_beside(out).add([train_charge(trained, out.name)], once=f"train/{out.name}")
    print(f"{trained.checkpoint}: {steps_done(out)} steps in {trained.seconds:.0f} s.")


def _part(text: str) -> Part:
    """`FOLDER` or `FOLDER:WEIGHT`."""
    folder, colon, weight = text.rpartition(":")
    if not colon:
        folder, weight = text, "1"
    try:
        share = float(weight)
    except ValueError:
        folder, share = text, 1.0
    if not share > 0 or not np.isfinite(share):
        raise UsageError(f"--data {text}: the weight must be a positive number.")
    open_dataset(folder)
    return Part(folder, share)


def evaluate_one(
    checkpoint: Path,
    on: str,
    out: Path,
    *,
    trials: int,
    suite: str,
    task: str,
    form: Form,
    seed: int,
    workers: int | None,
    starts: str | None = None,
) -> Rate:
    """Try one checkpoint on one target; see `simreal evaluate --help`."""
    from simreal.policies.runfolder import sha256_of_file
    from simreal.policies.runner import CompactRunner

    runner = CompactRunner.load(checkpoint)
    found = find_task(task)
    if trials < 1:
        raise UsageError(f"--trials {trials}; ask for at least 1.")
    draw = initial_values(task, on, starts, suite)
    size = next(iter(runner.cameras.values()), (64, 64))
    target = TargetJob(on, task, form, size_px=size[0])
    spec = spec_of(target)
    runner.check_target(spec)
    file = Path(on.partition(":")[2])
    request: dict[str, Any] = {
        "on": [on, sha256_of_file(file) if file.is_file() else None],
        "weights": sha256_of_file(checkpoint / "model.safetensors"),
        "conditions": [task, suite, seed, trials],
        "form": form,
    }
    if starts is not None:
        request["starts"] = sha256_of_file(Path(starts))
    name = checkpoint.parent.name
    shard = TrialJob(
        sha256_of(request), name, seed, str(checkpoint), target, on, spec.kind, (), found.horizon
    )
    drawn = draw_conditions(draw, trials, seed, found.suites.get("nominal"))
    conditions = [replace(c, suite=suite) for c in drawn]
    count = min(SHARD, spec.batch)
    firsts = range(0, trials, count)
    jobs = [replace(shard, conditions=tuple(conditions[i : i + count])) for i in firsts]
    return _run_jobs(jobs, out, workers)


def spec_of(job: TargetJob) -> TargetSpec:
    """What the target says of itself; it is closed again."""
    opened = open_target(job)
    try:
        return opened.spec
    finally:
        opened.close()


def _run_jobs(jobs: Sequence[TrialJob], out: Path, workers: int | None) -> Rate:
    """Play what `out` does not hold yet; a robot in this process, where a person can be asked."""
    lines, ledger = list(read_jsonl(out)), ledger_beside(out)
    if any(line["plan_sha"] != jobs[0].plan_sha for line in lines):
        raise UsageError(f"{out} holds trials of another evaluation; choose another file.")
    done = {int(line["condition"]) for line in lines}
    left = [job for job in jobs if not {c.index for c in job.conditions} <= done]
    total = sum(len(job.conditions) for job in jobs)
    robot = jobs[0].role == "robot"
    lines_only = Console(file=sys.stderr, highlight=False, force_terminal=False) if robot else None
    pool = make_executor("inline") if robot else pool_of(workers)
    try:
        with Progress([Step("Trials", 0.2 * total)], console=lines_only) as progress, pool:
            progress.start("Trials", total, "trials")
            progress.advance(total - sum(len(job.conditions) for job in left))
            for index, tried in pool.run(trial_job, left):
                fresh = [t for t in tried.trials if t.condition not in done]
                ledger.add(trial_charges(left[index], tried), once=left[index].once)
                append_jsonl(out, [record(t) for t in fresh])
                progress.advance(len(left[index].conditions))
    finally:
        close_kept()
    results = [bool(line["success"]) for line in read_jsonl(out)]
    return Rate.of(sum(results), len(results))


def print_profile(name: str, task: str) -> None:
    """Print a profile's axes."""
    robot = find_task(task).robot
    chosen = SimConfig(task, profile=profile(name, robot)).profile
    for axis in chosen.axes:
        unit = robot.terms[axis.term].unit
        print(f"{axis.term:24} {axis.operation:6} {axis.distribution}  [{unit}]")
    for starts in chosen.starts:
        print(f"Starts: {starts.text}.")
    print(f"{len(chosen.axes)} axes in profile {chosen.name}.")


def draw_profile(
    name: str,
    out: Path,
    *,
    grid: str = "5x5",
    task: str = "lift",
    form: Form = "primitive",
    size: int = 96,
    shadows: bool = False,
    seed: int = 0,
    backgrounds: Path | None = None,
) -> None:
    """Draw scenarios 0, 1, 2, ... of a profile as a contact sheet."""
    columns, rows = _grid(grid)
    config = SimConfig(
        task=task,
        form=form,
        size_px=size,
        profile=profile(name, find_task(task).robot),
        seed=seed,
        shadows=shadows,
        backgrounds=str(backgrounds) if backgrounds else None,
        batch=columns * rows,
    )
    world = simulated_world(config)
    world.reset(draw_conditions(find_task(task).draw, columns * rows, seed))
    images = world.observe().images
    pairs = np.concatenate(list(images.values()), axis=2)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_bytes(contact_sheet(pairs, rows, columns, scale=1))
    with Image.open(out) as sheet:
        print(f"{out}: {columns * rows} scenarios, {sheet.width} x {sheet.height} pixels.")


def _grid(text: str) -> tuple[int, int]:
    columns, _, rows = text.lower().partition("x")
    if not (columns.isdigit() and rows.isdigit() and 1 <= int(columns) * int(rows) <= 400):
        raise UsageError(f"--grid {text}; give columns x rows, such as 5x5, at most 400 cells.")
    return int(columns), int(rows)


def new_twin(path: Path, seed: int, severity: str, task: str, form: Form) -> None:
    """Write a twin's file; see `simreal twin new --help`."""
    write_twin(path, TwinFile(seed, severity, find_task(task).name, form))
