"""What a training run is asked for: settings, stages, and what comes back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from simreal.core.errors import BadDataError, UsageError, unknown
from simreal.core.files import sha256_of
from simreal.policies.augment import Augmentation
from simreal.policies.batches import Part, Sampler
from simreal.policies.checkpoint import execute_error, load_checkpoint
from simreal.policies.network import WRENCH_INPUTS
from simreal.policies.runfolder import sha256_of_file


@dataclass(frozen=True)
class TrainConfig:
    """How to train; the fields up to `threads` change the result, the others do not.

    seed: of weights and augmentation (the sampler has its own). chunk, execute: predicted and
    executed steps. dither: size of the wobble on top of executed targets (`policies.dither`).
    warmup: steps of learning-rate ramp, at most a twentieth of a stage.
    ema_decay: of the averaged weights, which are the ones reported. precision: `auto`, `bf16` or
    `fp32`. threads: torch threads. wrench: what the policy makes of the force/torque window,
    `none`, `full` or `slow` (see `NetworkShape`); `auto` is full where the data have one.
    keep_raw: also write the weights before averaging. The rest say how often to log (steps), save
    the state and report progress (seconds).
    """

    seed: int = 0
    chunk: int = 8
    execute: int = 4
    dither: float = 0.0
    weight_decay: float = 1e-2
    clip_norm: float = 1.0
    warmup: int = 100
    ema_decay: float = 0.99
    augmentation: Augmentation = field(default_factory=Augmentation)
    precision: str = "auto"
    device: str = "cpu"
    threads: int = 1
    wrench: str = "auto"
    keep_raw: bool = False
    log_every: int = 50
    held_out_every: int = 500
    save_every_s: float = 30.0
    progress_every_s: float = 0.5

    def request(self) -> dict[str, Any]:
        """The fields that change the result."""
        free = ["keep_raw", "log_every", "held_out_every", "save_every_s", "progress_every_s"]
        if self.wrench == "auto":  # follows from the data, as it did before there was a choice
            free.append("wrench")
        asked = {key: value for key, value in asdict(self).items() if key not in free}
        if not self.dither:
            del asked["dither"]
        if not self.augmentation.wrench:
            del asked["augmentation"]["wrench"]
        return asked


@dataclass(frozen=True)
class TrainingStage:
    """Parts (the sampler's part index counts them), a sampler, optimizer steps, a peak rate.

    held_out: parts made of other episodes, whose losses are logged and never choose anything.

    Each stage has its own warm-up and cosine; a later stage begins at the averaged weights of the
    one before with a fresh optimizer, as from a base checkpoint.
    """

    parts: tuple[Part, ...]
    sampler: Sampler
    steps: int
    peak_lr: float = 1e-3
    held_out: tuple[Part, ...] = ()


@dataclass(frozen=True)
class Progress:
    """How a run stands: steps done and to do, speed, losses (standardized L1)."""

    step: int
    total: int
    stage: int
    steps_per_s: float
    loss: float
    held_out: float | None


@dataclass(frozen=True)
class TrainResult:
    """What a finished run left. seconds: wall time over all its pieces; losses: standardized L1."""

    checkpoint: Path
    steps: int
    seconds: float
    loss: float
    held_out: float | None
    precision: str


def check_request(
    stages: Sequence[TrainingStage], config: TrainConfig, joint_names: Sequence[str]
) -> None:
    """Refuse a request that cannot be trained, and say what can."""
    if not stages or any(stage.steps < 1 or not stage.parts for stage in stages):
        raise UsageError("Training needs at least one stage, each with parts and 1 step or more.")
    if any(not 0 < stage.peak_lr < 1 for stage in stages):
        raise UsageError("The peak learning rate of a stage must lie between 0 and 1.")
    if not 0 <= config.ema_decay < 1:
        raise UsageError(f"ema_decay {config.ema_decay} must be at least 0 and below 1.")
    if min(config.threads, config.log_every, config.held_out_every) < 1:
        raise UsageError("threads, log_every and held_out_every must be 1 or more.")
    if not 1 <= config.execute <= config.chunk:
        raise execute_error(config.execute, config.chunk)
    if not 0 <= config.dither < float("inf"):
        raise UsageError(f"dither {config.dither} must be 0 or more.")
    if config.wrench not in ("auto", *WRENCH_INPUTS):
        raise unknown("use of the force/torque window", config.wrench, ("auto", *WRENCH_INPUTS))
    for part in (part for stage in stages for part in (*stage.parts, *stage.held_out)):
        if part.joint_pos.shape[1] != len(joint_names):
            raise BadDataError(
                f"{part.name} has {part.joint_pos.shape[1]} joints, the policy "
                f"{len(joint_names)}: {', '.join(joint_names)}."
            )


def describe_request(
    stages: Sequence[TrainingStage],
    config: TrainConfig,
    joint_names: Sequence[str],
    base: Path | None,
) -> dict[str, Any]:
    """A JSON fingerprint of everything that decides the resulting weights."""
    described = []
    for stage in stages:
        steps = (0, stage.steps // 2, stage.steps - 1)
        drawn = [[a.tolist() for a in stage.sampler.draw(step)] for step in steps]
        described.append(
            {
                "steps": stage.steps,
                "peak_lr": stage.peak_lr,
                "parts": [part.digest() for part in stage.parts],
                "draws": sha256_of(drawn),
            }
        )
    if base is not None:
        load_checkpoint(base)
    weights = None if base is None else sha256_of_file(base / "model.safetensors")
    return {
        "config": config.request(),
        "stages": described,
        "joint_names": list(joint_names),
        "base_sha256": weights,
    }
