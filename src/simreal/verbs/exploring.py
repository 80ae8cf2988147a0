"""Where a policy fails: explore."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Literal

import tyro

from simreal.verbs.options import Json

#: Memory of one worker that plays and renders 50 worlds, with torch.
WORKER_BYTES = 3 * 2**29
#: Rough seconds a trial, for the estimate before there is anything to go by.
TRIAL_S = 0.15


def explore(
    checkpoint: Annotated[Path, tyro.conf.Positional],
    task: str,
    out: Path | None = None,
    profile: str = "full",
    trials: int = 3000,
    form: Literal["primitive", "mesh"] = "primitive",
    seed: int = 0,
    workers: int | None = None,
    resume: bool = False,
    json_output: Json = False,
) -> None:
    """Search a randomization profile in simulation for where a checkpoint fails.

    Args:
        checkpoint: Folder of the checkpoint.
        task: Name of the task.
        out: Folder to write; explore-TASK if left out.
        profile: What is searched: visual, dynamics, full, or a TOML file.
        trials: How many trials in all: coverage, search and confirmation.
        form: Look of the robot: fitted boxes, or its full meshes.
        seed: Of everything that is drawn.
        workers: Worker processes; as many as fit the machine if left out.
        resume: Go on with an interrupted exploration.
        json_output: Print one JSON object (the failure map) and nothing else.
    """
    from simreal.compute.executor import make_executor
    from simreal.compute.machine import workers as fitting
    from simreal.compute.progress import Progress, Step
    from simreal.report.explored import map_lines
    from simreal.study.exploring import Asked, Exploring

    folder = out or Path(f"explore-{task}")
    fit = fitting(workers, WORKER_BYTES)
    asked = Exploring(Asked(checkpoint, task, folder, profile, trials, form, seed, resume))
    if fit.message:
        print(fit.message, file=sys.stderr)
    total = asked.budget.total
    with (
        make_executor("processes", fit.count) as pool,
        Progress([Step("Exploration", TRIAL_S * total / fit.count)]) as progress,
    ):
        progress.start("Exploration", total, "trials")
        asked.play(pool, progress.advance)
    found = asked.conclude()
    if json_output:
        print(json.dumps(found))
        return
    print("\n".join(map_lines(found)))
    print(
        f"\nWritten to {folder}: explore.html, map.json, {found['next_profile'] or 'no profile'}."
    )
