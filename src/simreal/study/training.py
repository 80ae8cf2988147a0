"""Training one arm: from data sets on disk to a checkpoint, in a worker process."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from simreal.core.files import read_jsonl
from simreal.core.types import Mixture
from simreal.demos.dataset import open_dataset
from simreal.demos.mix import Sampler, held_out_episodes

if TYPE_CHECKING:
    from simreal.policies.recipe import TrainingStage

BATCH = 64
#: Share of each source's episodes that is never trained on; its loss is logged and chooses nothing.
HELD_OUT = 0.05


@dataclass(frozen=True)
class TrainStage:
    """A mixture of data sets on disk, optimizer steps, and the peak learning rate."""

    mixture: Mixture
    steps: int
    peak_lr: float


@dataclass(frozen=True)
class TrainJob:
    """One arm and training seed. base: checkpoint folder to continue from."""

    name: str
    stages: tuple[TrainStage, ...]
    out: str
    seed: int
    joint_names: tuple[str, ...]
    base: str | None = None
    device: str = "cpu"


@dataclass(frozen=True)
class Trained:
    """What a training job left. seconds: wall time over all its pieces."""

    name: str
    checkpoint: str
    steps: int
    seconds: float


def train_job(job: TrainJob) -> Trained:
    """Train (or go on training) and return where the checkpoint lies."""
    from simreal.policies.recipe import TrainConfig
    from simreal.policies.train import train

    result = train(
        [_stage(stage, job.seed, number) for number, stage in enumerate(job.stages)],
        TrainConfig(seed=job.seed, device=job.device),
        Path(job.out),
        joint_names=job.joint_names,
        base=Path(job.base) if job.base else None,
        resume=True,
    )
    return Trained(job.name, str(result.checkpoint), result.steps, result.seconds)


def _stage(stage: TrainStage, seed: int, number: int) -> TrainingStage:
    """Load a stage's data sets and set up its exact, resumable draws."""
    from simreal.policies.batches import Part
    from simreal.policies.recipe import TrainingStage

    parts, held_out = [], []
    for part in stage.mixture.parts:
        dataset = open_dataset(part.dataset)
        count = min(part.episodes or len(dataset), len(dataset))
        train, held = held_out_episodes(count, HELD_OUT, seed)
        parts.append(Part(dataset.load(train.tolist()), part.dataset))
        if len(held):
            held_out.append(Part(dataset.load(held.tolist()), part.dataset))
    frames = [len(part) for part in parts]
    sampler = Sampler(stage.mixture, frames, BATCH, seed=seed * 1000 + number)
    return TrainingStage(tuple(parts), sampler, stage.steps, stage.peak_lr, tuple(held_out))


def steps_done(out: Path) -> int:
    """Optimizer steps a run has logged so far (for progress)."""
    last = 0
    for line in read_jsonl(out / "train_log.jsonl"):
        last = int(line.get("step", last))
    return last
