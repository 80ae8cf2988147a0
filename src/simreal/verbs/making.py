"""Making things: collect, randomize, train, evaluate, twin, doctor."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from simreal.core.errors import BadDataError, UsageError
from simreal.verbs.options import Json, refuse

Form = Literal["primitive", "mesh"]

#: Conditions that trials may declare to stop within.
MOST_TRIALS = 10_000


def collect(
    task: Annotated[str, tyro.conf.Positional],
    out: Path,
    episodes: int,
    source: Annotated[Literal["expert", "operator"], tyro.conf.arg(name="from")] = "expert",
    on: str = "sim",
    randomize: str = "none",
    appearances: int = 1,
    backgrounds: Path | None = None,
    form: Form = "primitive",
    size: int = 64,
    shadows: bool = False,
    seed: int = 0,
    workers: int | None = None,
) -> None:
    """Collect demonstrations into a LeRobotDataset v3.0; an interrupted one is gone on with.

    Args:
        task: Name of the task.
        out: Folder of the data set; its ledger and shard log lie beside it.
        episodes: How many successful demonstrations to store.
        source: The scripted expert in simulation, or the human-like operator on a target.
        on: Target the operator works on, such as twin:FILE.
        randomize: The expert's profile: none, visual, dynamics, full, or a TOML file.
        appearances: The expert's trajectories are each rendered under so many looks.
        backgrounds: Folder of PNG or JPEG pictures to use as textures, for the expert.
        form: Look of the robot: fitted boxes, or its full meshes.
        size: Height and width of the pictures, px.
        shadows: Render shadows.
        seed: Of everything that is drawn.
        workers: Worker processes; as many as fit the machine if left out.
    """
    from simreal.study.single import collect_one

    collect_one(
        task=task,
        out=out,
        episodes=episodes,
        operator=source == "operator",
        on=on,
        randomize=randomize,
        appearances=appearances,
        backgrounds=backgrounds,
        form=form,
        size=size,
        shadows=shadows,
        seed=seed,
        workers=workers,
    )


def randomize_show(
    profile: Annotated[str, tyro.conf.Positional],
    grid: str | None = None,
    out: Path | None = None,
    task: str = "lift",
    form: Form | None = None,
    size: int | None = None,
    shadows: bool = False,
    seed: int | None = None,
    backgrounds: Path | None = None,
) -> None:
    """Print a randomization profile, or draw a contact sheet of what it makes.

    Args:
        profile: none, visual, dynamics, full, or a TOML file.
        grid: With --out: columns x rows of the sheet; 5x5 if left out.
        out: PNG file; without it the axes are printed.
        task: Task whose profile it is, and whose scene is drawn.
        form: With --out: look of the robot; primitive if left out.
        size: With --out: height and width of each picture, px; 96 if left out.
        shadows: With --out: render shadows.
        seed: With --out: scenarios 0, 1, 2, ... of this seed are drawn; 0 if left out.
        backgrounds: With --out: folder of PNG or JPEG pictures to use as textures.
    """
    from simreal.study.single import draw_profile, print_profile

    options: dict[str, Any] = {
        "grid": grid,
        "form": form,
        "size": size,
        "shadows": shadows or None,
        "seed": seed,
        "backgrounds": backgrounds,
    }
    if out is None:
        refuse(options, "only with --out FILE; without it the axes are printed")
        print_profile(profile, task)
        return
    given = {name: x for name, x in options.items() if x is not None}
    draw_profile(profile, out, task=task, **given)


def train(
    data: list[str],
    out: Path,
    steps: int = 5000,
    peak_lr: float = 1e-3,
    base: Path | None = None,
    seed: int = 0,
    resume: bool = False,
    device: str = "cpu",
    wrench: Literal["auto", "none", "full", "slow"] = "auto",
) -> None:
    """Train the compact policy on one or more data sets.

    Args:
        data: Folders of data sets, each with an optional weight: sim:0.9 real:0.1.
        out: Folder of the run; the checkpoint is its subfolder.
        steps: Optimizer steps.
        peak_lr: Peak of the cosine learning rate.
        base: Checkpoint to continue from; its normalization is kept.
        seed: Of weights, batches and augmentation.
        resume: Go on with an interrupted run.
        device: cpu, or a CUDA device.
        wrench: Use of forces, auto: full where the data have them; slow: not what is above 20 Hz.
    """
    from simreal.study.single import train_one

    stage = (steps, peak_lr)
    train_one(data, out, stage, base=base, seed=seed, resume=resume, device=device, wrench=wrench)


@dataclass(frozen=True)
class Stopping:
    """Options of trials that stop when they have decided."""

    until_decided: bool = False
    """Stop as soon as it is decided; needs --max-trials and a question."""
    against: Path | None = None
    """The question: do this checkpoint and that one differ, on the same conditions?"""
    at_least: float | None = None
    """The question: does the checkpoint reach this rate, a fraction?"""
    max_trials: int | None = None
    """Initial conditions at most, declared beforehand."""
    by: Literal["success", "score"] = "success"
    """Decide on success, or on the mean stage score (another question)."""
    block: int | None = None
    """Conditions between two looks, 10 if left out."""

    def check(self, trials: int | None) -> None:
        """Refuse options that contradict one another or would be ignored."""
        if not self.until_decided:
            self._refuse_alone()
            return
        if trials is not None or self.max_trials is None:
            raise UsageError("--until-decided goes with --max-trials N (not --trials).")
        if (self.against is None) == (self.at_least is None):
            raise UsageError("--until-decided needs --against CHECKPOINT or --at-least RATE.")
        for option, value in (("--max-trials", self.max_trials), ("--block", self.block)):
            if value is not None and not 1 <= value <= MOST_TRIALS:
                raise UsageError(f"{option} {value}; ask for at least 1 and at most {MOST_TRIALS}.")

    def _refuse_alone(self) -> None:
        given = {
            "--against": self.against is not None,
            "--at-least": self.at_least is not None,
            "--max-trials": self.max_trials is not None,
            "--by": self.by != "success",
            "--block": self.block is not None,
        }
        if wrong := [name for name, there in given.items() if there]:
            raise UsageError(f"{' and '.join(wrong)}: only with --until-decided.")


def evaluate(
    checkpoint: Annotated[Path, tyro.conf.Positional],
    on: str,
    out: Path,
    trials: int | None = None,
    suite: str = "nominal",
    task: str = "lift",
    form: Form = "primitive",
    starts: str | None = None,
    seed: int = 0,
    workers: int | None = None,
    json_output: Json = False,
    stop: Annotated[Stopping, tyro.conf.arg(name="")] = Stopping(),
) -> None:
    """Try a checkpoint on a target; finished shards of an interrupted run are kept.

    Args:
        checkpoint: Folder of the checkpoint.
        on: sim, sim:PROFILE, twin:FILE, robot:FILE or a plug-in's NAME:ARGUMENT.
        out: trials.jsonl to write.
        trials: How many initial conditions; 100 if left out.
        suite: nominal or backgrounds.
        task: Name of the task.
        form: Look of the robot in simulation; a twin's stands in its file.
        starts: Profile (TOML) whose [[starts]] bound the initial values, on any target; those of
            sim:PROFILE always do.
        seed: Of the initial conditions; equal seeds make trials paired.
        workers: Worker processes; as many as fit the machine if left out.
        json_output: Print one JSON object and nothing else on standard output.
        stop: Until when.
    """
    from simreal.report.lines import rate_line
    from simreal.study.single import evaluate_one

    stop.check(trials)
    how: dict[str, Any] = {
        "suite": suite,
        "task": task,
        "form": form,
        "seed": seed,
        "workers": workers,
        "starts": starts,
    }
    if stop.until_decided:
        _decide(checkpoint, on, out, stop, json_output, how)
        return
    rate = evaluate_one(checkpoint, on, out, trials=100 if trials is None else trials, **how)
    print(json.dumps(rate.to_json()) if json_output else rate_line(rate, on))


def _decide(
    checkpoint: Path, on: str, out: Path, stop: Stopping, json_output: bool, how: dict[str, Any]
) -> None:
    from simreal.report.lines import decided_lines
    from simreal.study.deciding import evaluate_until_decided
    from simreal.verbs.tables import show
    from simreal.verdicts.stopping import BLOCK

    assert stop.max_trials is not None
    decided = evaluate_until_decided(
        [checkpoint] if stop.against is None else [checkpoint, stop.against],
        on,
        out,
        goal=stop.at_least,
        by=stop.by,
        most=stop.max_trials,
        block=BLOCK if stop.block is None else stop.block,
        **how,
    )
    if json_output:
        print(json.dumps(decided.to_json()))
        return
    lines = decided_lines(decided.decision, on, decided.label)
    show([*lines, f"Declared beforehand in {decided.plan}."])


def twin_new(
    seed: int,
    severity: Literal["mild", "moderate", "harsh"] = "moderate",
    task: str = "lift",
    form: Form = "primitive",
    out: Path | None = None,
) -> None:
    """Write a twin's file: a stand-in for a robot whose parameters stay hidden.

    Args:
        seed: Which draw of reality.
        severity: How far it is from the nominal simulation.
        task: Name of the task on its table.
        form: Look of its robot.
        out: File to write; twin-SEED.toml if left out.
    """
    from simreal.study.single import new_twin

    path = out or Path(f"twin-{seed}.toml")
    if path.exists():
        raise UsageError(f"{path} exists; choose another file with --out.")
    new_twin(path, seed, severity, task, form)
    print(path)


def doctor() -> None:
    """Say whether this machine can run simreal: versions, cores, memory, renderer, targets.

    Exits with 1 where it cannot.
    """
    from simreal.study.doctor import diagnose

    found = diagnose()
    print("\n".join(found.lines))
    if found.problems:
        raise BadDataError(" ".join(found.problems))
