"""The one training loop. Sim-only, real-only, hybrid and fine-tuning differ in their stages only.

Killed at any instant, a run resumed ends with the same weights as the unbroken one, bit for bit
(one machine, one version, on the CPU). Held-out losses are logged and never choose anything: the
last averaged weights are the result.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch

from simreal.core.errors import BadDataError, InterruptedRunError, SimrealError, UsageError
from simreal.policies.batches import Batcher, have_windows
from simreal.policies.checkpoint import load_checkpoint, read_facts, save_checkpoint
from simreal.policies.learner import (
    Learner,
    learning_rate,
    loss_of,
    resolve_device,
    resolve_precision,
)
from simreal.policies.network import CompactNetwork, NetworkShape
from simreal.policies.pacing import Clock, stop_request, torch_threads
from simreal.policies.preprocess import fit_statistics
from simreal.policies.recipe import (
    Progress,
    TrainConfig,
    TrainingStage,
    TrainResult,
    check_request,
    describe_request,
)
from simreal.policies.runfolder import Position, RunFolder

#: Held-out frames per part that are looked at, evenly spaced.
HELD_OUT_FRAMES = 256


def train(
    stages: Sequence[TrainingStage],
    config: TrainConfig,
    out_dir: Path,
    *,
    joint_names: Sequence[str],
    base: Path | None = None,
    progress: Callable[[Progress], None] | None = None,
    resume: bool = False,
) -> TrainResult:
    """Train a compact policy and write `out_dir`/checkpoint.

    base: a checkpoint to continue from; its weights, sizes and normalization are kept.
    resume: continue what `out_dir` holds (nothing yet, a broken run or a finished one).
    Raises `InterruptedRunError` after saving when interrupted (SIGINT, KeyboardInterrupt).
    """
    check_request(stages, config, joint_names)
    folder = RunFolder(out_dir)
    fresh = folder.begin(describe_request(stages, config, joint_names, base), resume)
    if not folder.done():
        with torch_threads(config.threads), stop_request() as stopped:
            try:
                run = _Run(stages, config, folder, tuple(joint_names), base)
            except SimrealError:
                if fresh:
                    folder.withdraw()
                raise
            try:
                run.loop(stopped, progress)
            except KeyboardInterrupt:
                run.interrupt()
            run.finish()
    facts = read_facts(folder.checkpoint)
    numbers = {key: facts[key] for key in ("steps", "seconds", "loss", "held_out", "precision")}
    return TrainResult(checkpoint=folder.checkpoint, **numbers)


class _Run:
    """A run in progress."""

    def __init__(
        self,
        stages: Sequence[TrainingStage],
        config: TrainConfig,
        folder: RunFolder,
        joint_names: tuple[str, ...],
        base: Path | None,
    ) -> None:
        self.stages, self.config, self.folder, self.base = stages, config, folder, base
        self.total = sum(stage.steps for stage in stages)
        asked = (config.chunk, config.augmentation, config.wrench != "none")
        self.batchers = [Batcher(stage.parts, *asked) for stage in stages]
        for stage in stages:
            Batcher((*stage.parts, *stage.held_out), *asked)
        device = resolve_device(config.device)
        saved = folder.read_position()
        self.position = saved or Position(resolve_precision(config.precision, device))
        network = _network(self.batchers, config, joint_names, base).to(device)
        self.learner = Learner(
            network,
            self.position.precision,
            config.weight_decay,
            config.clip_norm,
            config.ema_decay,
        )
        if saved:
            self.learner.restore(folder.read_state(), saved.step, folder.state_name)
        folder.rewind_log(self.done)
        self.clock = Clock(self.position.seconds)

    @property
    def done(self) -> int:
        """Steps done over all stages."""
        return sum(s.steps for s in self.stages[: self.position.stage]) + self.position.step

    def loop(
        self, stopped: Callable[[], bool], progress: Callable[[Progress], None] | None
    ) -> None:
        """Do all steps that are left."""
        position = self.position
        saved_at = told_at = time.monotonic()
        while position.stage < len(self.stages):
            stage = self.stages[position.stage]
            if position.step == 0 and position.stage > 0:
                self.learner.begin_stage()
            while position.step < stage.steps:
                self._advance(stage)
                now = time.monotonic()
                last = self.done == self.total
                if progress and (last or now - told_at >= self.config.progress_every_s):
                    told_at = now
                    progress(self._progress())
                if now - saved_at >= self.config.save_every_s:
                    saved_at = now
                    self.save()
                if stopped():
                    raise KeyboardInterrupt
            position.stage, position.step = position.stage + 1, 0

    def _advance(self, stage: TrainingStage) -> None:
        """One optimizer step, and a line in the log where one is due."""
        position, config = self.position, self.config
        step, began = position.step, time.perf_counter()
        which, frames = stage.sampler.draw(step)
        purpose = f"augmentation, stage {position.stage}"
        batch = self.batchers[position.stage].training(which, frames, config.seed, purpose, step)
        gathered = time.perf_counter()
        warmup = min(config.warmup, stage.steps // 20)
        rate = learning_rate(step, stage.steps, stage.peak_lr, warmup)
        loss, norm = self.learner.update(batch.to(self.learner.device), rate)
        value = float(loss)
        if not np.isfinite(value):
            raise BadDataError(f"The loss is {value} at step {self.done} of {self.folder.path}.")
        position.step += 1
        position.loss_sum += value
        position.loss_count += 1
        self.clock.tick(gathered - began, time.perf_counter() - began)
        ends = position.step == stage.steps
        if ends or position.step % config.held_out_every == 0:
            self._log(rate, float(norm), self._held_out(stage))
        elif position.step % config.log_every == 0:
            self._log(rate, float(norm), {})

    def _log(self, rate: float, norm: float, held_out: dict[str, float]) -> None:
        position = self.position
        position.loss = position.loss_sum / position.loss_count
        position.loss_sum, position.loss_count = 0.0, 0
        if held_out:
            position.held_out = float(np.mean(list(held_out.values())))
        self.folder.append_log(
            {
                "step": self.done,
                "stage": position.stage,
                "lr": rate,
                "loss": position.loss,
                "grad_norm": norm,
                "held_out": held_out,
                "steps_per_s": self.clock.steps_per_s(),
                "data_share": self.clock.data_share(),
            }
        )

    def _held_out(self, stage: TrainingStage) -> dict[str, float]:
        """The averaged weights' loss on each held-out part, by name."""
        if not stage.held_out:
            return {}
        network = self.learner.averaged()
        losses = {}
        for part in stage.held_out:
            rows = np.linspace(0, len(part) - 1, min(HELD_OUT_FRAMES, len(part))).astype(int)
            feels = self.config.wrench != "none"
            batcher = Batcher([part], self.config.chunk, self.config.augmentation, feels)
            batch = batcher.plain(np.zeros(len(rows), int), rows).to(self.learner.device)
            with torch.inference_mode():
                loss = loss_of(network, batch)
            losses[part.name] = float(loss)
        return losses

    def _progress(self) -> Progress:
        position, speed = self.position, self.clock.steps_per_s()
        loss = position.loss_sum / position.loss_count if position.loss_count else position.loss
        return Progress(self.done, self.total, position.stage, speed, loss, position.held_out)

    def save(self) -> None:
        """Put the state on disk."""
        self.position.seconds = self.clock.seconds()
        self.folder.save_state(self.learner.tensors(), self.position)

    def interrupt(self) -> None:
        """Save and say where the run stands."""
        self.save()
        raise InterruptedRunError(
            f"Stopped after step {self.done} of {self.total}; resume continues {self.folder.path}."
        )

    def finish(self) -> None:
        """Write the checkpoint, then let go of the state."""
        facts = {
            "steps": self.total,
            "stages": [{"steps": s.steps, "peak_lr": s.peak_lr} for s in self.stages],
            "seed": self.config.seed,
            "ema_decay": self.config.ema_decay,
            "precision": self.position.precision,
            "seconds": self.clock.seconds(),
            "loss": self.position.loss,
            "held_out": self.position.held_out,
            "base": None if self.base is None else str(self.base),
            "torch": torch.__version__,
        }
        execute, dither = self.config.execute, self.config.dither
        if self.config.keep_raw and not self.folder.raw.exists():
            raw = {**facts, "weights": "raw"}
            save_checkpoint(self.folder.raw, self.learner.network, execute, raw, dither)
        averaged = self.learner.averaged()
        facts["weights"] = "ema"
        save_checkpoint(self.folder.checkpoint, averaged, execute, facts, dither)
        self.folder.clear_state()


def _network(
    batchers: Sequence[Batcher],
    config: TrainConfig,
    joint_names: tuple[str, ...],
    base: Path | None,
) -> CompactNetwork:
    """A fresh network with statistics fitted on all training rows, or the base's."""
    cameras = batchers[0].cameras
    if any(batcher.cameras != cameras for batcher in batchers):
        raise BadDataError("The stages of a run differ in their cameras or picture sizes.")
    shape = NetworkShape(joint_names, cameras, config.chunk, wrench=_wrench(batchers, config))
    if base is not None:
        network, _ = load_checkpoint(base)
        theirs = network.shape
        for what in ("joint_names", "cameras", "chunk", "wrench"):
            old, new = getattr(theirs, what), getattr(shape, what)
            if old != new:
                raise UsageError(f"{base} was trained with {what} {old}; this run has {new}.")
        return network.train()
    network = CompactNetwork(shape, config.seed)
    parts = {id(part): part for batcher in batchers for part in batcher.parts}
    network.normalizer.set(fit_statistics(part.rows(config.chunk) for part in parts.values()))
    if network.feels:
        windows = [part.wrench for part in parts.values() if part.wrench is not None]
        network.wrench.normalizer.fit(windows)
    return network


def _wrench(batchers: Sequence[Batcher], config: TrainConfig) -> str:
    """What the policy makes of the force/torque window."""
    if config.wrench == "none":
        return "none"
    parts = [part for batcher in batchers for part in batcher.parts]
    there = have_windows(parts)
    if config.wrench == "auto":
        return "full" if there else "none"
    if not there:
        raise BadDataError(
            f"The policy shall read the force/torque window ({config.wrench}), but {parts[0].name} "
            "has none; record with a sensor, or train on pictures alone (wrench none)."
        )
    return config.wrench
