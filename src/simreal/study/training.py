"""Training one arm: from data sets on disk to a checkpoint, in a worker process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from simreal.core.files import read_jsonl
from simreal.core.types import Mixture
from simreal.demos.dataset import Frames, open_dataset
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


class TrainingDraws:
    """A `Sampler` over the frames that are trained on, as frame numbers of the whole source."""

    def __init__(self, sampler: Sampler, rows: Sequence[npt.NDArray[np.int64]]) -> None:
        self._sampler, self._rows = sampler, rows

    def batch(self, step: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """(part index (B,), frame index within that part (B,)) of optimizer step `step`."""
        part, frame = self._sampler.draw(step)
        frames = np.empty_like(frame)
        for p, rows in enumerate(self._rows):
            chosen = part == p
            frames[chosen] = rows[frame[chosen]]
        return part, frames


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

    parts, rows = [], []
    for part in stage.mixture.parts:
        frames = open_dataset(part.dataset).load(slice(0, part.episodes))
        held_out = _held_out(frames, seed)
        parts.append(Part(frames, held_out, name=part.dataset))
        rows.append(np.flatnonzero(~held_out))
    sampler = Sampler(stage.mixture, [len(r) for r in rows], BATCH, seed=seed * 1000 + number)
    return TrainingStage(tuple(parts), TrainingDraws(sampler, rows), stage.steps, stage.peak_lr)


def _held_out(frames: Frames, seed: int) -> npt.NDArray[np.bool_]:
    """Marks the frames of the episodes that are kept for validation, (F,)."""
    numbers = np.unique(frames.episode)
    held = held_out_episodes(len(numbers), HELD_OUT, seed)[1]
    return np.isin(frames.episode, numbers[held])


def steps_done(out: Path) -> int:
    """Optimizer steps a run has logged so far (for progress)."""
    last = 0
    for line in read_jsonl(out / "train_log.jsonl"):
        last = int(line.get("step", last))
    return last
