"""Whole studies: demo, study, report."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import tyro

from simreal.core.errors import UsageError
from simreal.core.files import read_json

#: Memory of one worker: a training set of a few hundred megabytes, torch, a renderer.
WORKER_BYTES = 3 * 2**30


def demo(out: Path = Path("out/demo"), workers: int | None = None) -> None:
    """Run the built-in study: one task, three ways to fine-tune, one twin.

    Args:
        out: Folder of the study; a finished or broken one of the same plan is gone on with.
        workers: Worker processes; as many as fit the machine if left out.
    """
    _run("demo", out, resume=True, workers=workers)


def study(
    name: Annotated[str, tyro.conf.Positional],
    out: Path | None = None,
    resume: bool = False,
    dry_run: bool = False,
    workers: int | None = None,
    seed: int | None = None,
    quick: bool = False,
) -> None:
    """Run a named study or one from a TOML file.

    Args:
        name: Name of a built-in study, or a file.
        out: Folder of the study; out/NAME (out/NAME-quick) if left out.
        resume: Go on with a folder that already holds this study.
        dry_run: Print the plan and its estimate, and run nothing.
        workers: Worker processes; as many as fit the machine if left out.
        seed: Replace the training seeds by this one.
        quick: Run the short form that the file's table [quick] describes.
    """
    folder = out or Path("out") / (Path(name).stem + ("-quick" if quick else ""))
    _run(name, folder, resume, workers, dry_run=dry_run, seed=seed, quick=quick)


def _run(
    name: str,
    out: Path,
    resume: bool,
    workers: int | None,
    dry_run: bool = False,
    seed: int | None = None,
    quick: bool = False,
) -> None:
    from simreal.compute import executor, machine
    from simreal.study.estimate import foretold
    from simreal.study.run import Study, run_study
    from simreal.study.spec import load_study, study_from_json, study_text

    spec = load_study(name, quick)
    if seed is not None:
        spec = study_from_json({**spec.to_json(), "seeds": [seed]})
    planned = Study(spec, out)
    if dry_run:
        print(json.dumps({**planned.plan.content, "sha256": planned.plan.sha}, indent=2))
        print(foretold(planned), file=sys.stderr)
        return
    if (out / "plan.json").exists() and not resume:
        raise UsageError(f"{out} already holds a study; go on with --resume or choose --out.")
    note = "# Run with --quick: as shortened by the table [quick].\n" if quick else ""
    note += "" if seed is None else f"# Run with --seed {seed}, which replaced `seeds`.\n"
    planned.open(text=note + study_text(name))
    fit = machine.workers(workers, WORKER_BYTES)
    if fit.message:
        print(fit.message, file=sys.stderr)
    with executor.make_executor("processes", fit.count) as pool:
        page = run_study(planned, pool)
    _show(page)
    if spec.quick:
        print("This was the quick form: too little data and too few trials to conclude from.")


def _show(page: Path) -> None:
    from simreal.report.terminal import terminal_summary

    print(terminal_summary(read_json(page.parent / "summary.json")))
    print(f"Report: {page}")


def report(folder: Annotated[Path, tyro.conf.Positional], prices: Path | None = None) -> None:
    """Make verdicts, summary and report of a study again from its raw records.

    Args:
        folder: A study's folder.
        prices: A TOML file of prices in place of the shipped ones.
    """
    from simreal.study.conclude import conclude

    _show(conclude(folder, prices=prices))
