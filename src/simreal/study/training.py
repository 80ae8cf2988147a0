"""Training a study's arms: from data sets on disk to checkpoints, in worker processes."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from simreal.compute.executor import Executor
from simreal.compute.meter import SOURCE as PROCESS_CLOCK
from simreal.compute.meter import utc_now
from simreal.compute.progress import Progress
from simreal.core.files import read_jsonl
from simreal.core.types import Charge, Mixture, Stage
from simreal.demos.dataset import Dataset, Frames, open_dataset
from simreal.demos.mix import Sampler, held_out_episodes
from simreal.demos.pictures import load_mapped
from simreal.study.spec import TrainingSpec

if TYPE_CHECKING:
    from simreal.policies.recipe import TrainingStage
    from simreal.study.run import Run, Study

BATCH = 64
#: Share of each source's episodes that is never trained on; its loss is logged and chooses nothing.
HELD_OUT = 0.05


@dataclass(frozen=True)
class TrainJob:
    """One arm and training seed. base: checkpoint folder to continue from. wrench: what the policy
    makes of the force/torque window (see `TrainConfig`). training: settings all arms share.
    pictures: folder where decoded pictures lie for all jobs that share it, None: in memory.
    """

    name: str
    stages: tuple[Stage, ...]
    out: str
    seed: int
    joint_names: tuple[str, ...]
    base: str | None = None
    device: str = "cpu"
    wrench: str = "auto"
    training: TrainingSpec = field(default_factory=TrainingSpec)
    pictures: str | None = None


@dataclass(frozen=True)
class Trained:
    """What a training job left. seconds: wall time over all its pieces."""

    name: str
    checkpoint: str
    steps: int
    seconds: float


def train_job(job: TrainJob) -> Trained:
    """Train (or go on training) and return where the checkpoint lies."""
    from simreal.policies.augment import Augmentation
    from simreal.policies.recipe import TrainConfig
    from simreal.policies.train import train

    changes = asdict(job.training)
    config = TrainConfig(
        seed=job.seed,
        device=job.device,
        wrench=job.wrench,
        weight_decay=changes.pop("weight_decay"),
        dither=changes.pop("dither"),
        augmentation=Augmentation(**changes),
    )
    result = train(
        [_stage(job, number) for number in range(len(job.stages))],
        config,
        Path(job.out),
        joint_names=job.joint_names,
        base=Path(job.base) if job.base else None,
        resume=True,
    )
    return Trained(job.name, str(result.checkpoint), result.steps, result.seconds)


def _stage(job: TrainJob, number: int) -> TrainingStage:
    """Load a stage's data sets and set up its exact, resumable draws."""
    from simreal.policies.batches import Part
    from simreal.policies.recipe import TrainingStage

    stage, seed = job.stages[number], job.seed
    parts, held_out = [], []
    for part, name in zip(stage.mixture.parts, _names(stage.mixture), strict=True):
        dataset = open_dataset(part.dataset)
        count = min(part.episodes or len(dataset), len(dataset))
        train, held = held_out_episodes(count, HELD_OUT, seed)
        parts.append(Part(_frames(dataset, train.tolist(), job.pictures), name))
        if len(held):
            held_out.append(Part(_frames(dataset, held.tolist(), job.pictures), name))
    frames = [len(part) for part in parts]
    sampler = Sampler(stage.mixture, frames, BATCH, seed=seed * 1000 + number)
    return TrainingStage(tuple(parts), sampler, stage.steps, stage.peak_lr, tuple(held_out))


def _frames(dataset: Dataset, episodes: list[int], pictures: str | None) -> Frames:
    if pictures is None:
        return dataset.load(episodes)
    return load_mapped(dataset, episodes, Path(pictures) / dataset.root.name)


def _names(mixture: Mixture) -> list[str]:
    """What a run calls its data sets: their folders' names, so that a study may be moved."""
    names = [Path(part.dataset).name for part in mixture.parts]
    return names if len(set(names)) == len(names) else [part.dataset for part in mixture.parts]


def steps_done(out: Path) -> int:
    """Optimizer steps a run has logged so far (for progress)."""
    last = 0
    for line in read_jsonl(out / "train_log.jsonl"):
        last = int(line.get("step", last))
    return last


def train_runs(study: Study, executor: Executor, progress: Progress) -> None:
    """Train every run of a study that has no checkpoint yet, and charge for it."""
    runs = study.runs()
    progress.start("Training", sum(s.steps for r in runs for s in r.arm.stages), "steps")
    with _followed(study, runs, progress):
        for wave in _waves(study, [run for run in runs if not _trained(study, run)]):
            for index, trained in executor.run(train_job, [study.train_job(r) for r in wave]):
                _charge_training(study, wave[index], trained)
    shutil.rmtree(study.pictures, ignore_errors=True)


def _trained(study: Study, run: Run) -> bool:
    """Whether a run is done: it is charged for once it is, by the name of its job."""
    checkpoint = run.folder(study.out) / "checkpoint"
    return checkpoint.exists() and study.ledger.has(piece(study.train_job(run).name))


def piece(name: str) -> str:
    """What the ledger calls the training of that name."""
    return f"train/{name}"


def _waves(study: Study, runs: Sequence[Run]) -> Iterator[list[Run]]:
    """Runs in the order of their bases: from scratch first, then what continues from them."""
    depth = {a.name: 0 for a in study.spec.arms}
    for arm in study.spec.arms:
        if arm.base is not None:
            depth[arm.name] = depth[arm.base] + 1
    for level in sorted(set(depth.values())):
        yield [r for r in runs if depth[r.arm.name] == level]


@contextmanager
def _followed(study: Study, runs: Sequence[Run], progress: Progress) -> Iterator[None]:
    """Follow the training logs of worker processes while they run."""
    over = threading.Event()

    def follow() -> None:
        seen = 0
        while not over.wait(1.0):
            now = sum(steps_done(run.folder(study.out)) for run in runs)
            progress.advance(now - seen)
            seen = now

    thread = threading.Thread(target=follow, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _charge_training(study: Study, run: Run, trained: Trained) -> None:
    """Training is paid by the arm and by every arm that continues from it."""
    heirs = [run.arm.name]
    for arm in study.spec.arms:
        if arm.base in heirs:
            heirs.append(arm.name)
    charge = train_charge(trained, "+".join(heirs))
    study.ledger.add([charge], once=piece(trained.name))


def train_charge(trained: Trained, arm: str) -> Charge:
    """What a training took, over all its pieces."""
    note, seconds = f"{trained.steps} steps, one core", round(trained.seconds, 3)
    return Charge(utc_now(), PROCESS_CLOCK, arm, "train", seconds, "s", note)
