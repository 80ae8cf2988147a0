"""Runs trials: one shard of a cell at a time, one line of trials.jsonl for each condition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from simreal.core.errors import BadDataError
from simreal.core.files import read_jsonl
from simreal.core.loop import run_episodes
from simreal.core.protocols import Policy, Target
from simreal.core.types import Action, Charge, Condition, Observation, Outcome, Trial

Frames = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.float64]
#: (arm, seed, target, suite, condition): what is unique of a trial.
Key = tuple[str, int, str, str, int]
_KEY = ("arm", "seed", "target", "suite", "condition")


@dataclass
class Film:
    """An `Observer` that keeps every picture the policy saw, for filmstrips."""

    frames: list[Mapping[str, Frames]] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)

    def on_reset(self, conditions: Sequence[Condition]) -> None:
        """Start a fresh film."""
        self.frames, self.steps = [], []

    def on_step(self, step: int, observation: Observation, actions: Action) -> None:
        """Keep pictures where there are any."""
        if observation.images:
            self.frames.append(observation.images)
            self.steps.append(step)

    def on_end(self, outcome: Outcome) -> None:
        """Nothing is left to do."""

    def strip(self, i: int, camera: str, last_step: int) -> Frames:
        """What `camera` saw in episode i until `last_step`, (T, H, W, 3)."""
        kept = [f[camera][i] for f, s in zip(self.frames, self.steps, strict=True) if s < last_step]
        return np.stack(kept or [self.frames[0][camera][i]])


#: The channel whose lowest value says where a tool came to rest.
HEIGHT = "tool_z"


@dataclass
class Felt:
    """An `Observer` that keeps the force of every control step, and the height of the tool.

    height: the column of the tool's height among the joints, None where there is none. force: (N,)
    a step, the largest of the window the policy saw, N; heights: (N,) a step, mm.
    """

    height: int | None
    force: list[Numbers] = field(default_factory=list)
    heights: list[Numbers] = field(default_factory=list)

    def on_reset(self, conditions: Sequence[Condition]) -> None:
        """Start anew."""
        self.force, self.heights = [], []

    def on_step(self, step: int, observation: Observation, actions: Action) -> None:
        """Keep what a force/torque sensor gives; nothing without one."""
        if observation.wrench is None or self.height is None:
            return
        size = np.linalg.norm(np.asarray(observation.wrench[..., :3], dtype=float), axis=-1)
        self.force.append(size.max(axis=1))
        self.heights.append(np.asarray(observation.joint_pos[:, self.height], dtype=float))

    def on_end(self, outcome: Outcome) -> None:
        """Nothing is left to do."""

    def of(self, i: int, steps: int) -> tuple[Numbers, Numbers]:
        """Force (N) and way to the lowest point (mm) of episode i, until its last step."""
        last = max(1, min(steps, len(self.force)))
        force = np.array([f[i] for f in self.force[:last]])
        height = np.array([h[i] for h in self.heights[:last]])
        known = height[np.isfinite(height)]
        return force, height - (known.min() if len(known) else 0.0)


@dataclass(frozen=True)
class Tried:
    """The trials of one shard, and the film they left (per picked condition and camera).

    computed: the charge for the machine that played them, where somebody measured it. felt: the
    forces of all steps, where the target has a sensor.
    """

    trials: tuple[Trial, ...]
    strips: Mapping[int, Mapping[str, Frames]]
    computed: Charge | None = None
    felt: Felt | None = None


def run_shard(
    target: Target,
    policy: Policy,
    conditions: Sequence[Condition],
    *,
    target_name: str,
    plan_sha: str,
    arm: str,
    seed: int,
    horizon: int,
) -> Tried:
    """Try one policy on one shard of conditions.

    target_name: what the plan calls the target. horizon: control steps until time is out.
    """
    film, names = Film(), target.spec.joint_names
    felt = Felt(names.index(HEIGHT) if HEIGHT in names else None)
    outcome = run_episodes(target, policy, conditions, horizon, [film, felt])
    rate = target.spec.rate_hz
    trials = tuple(
        Trial(
            plan_sha=plan_sha,
            arm=arm,
            seed=seed,
            target=target_name,
            suite=condition.suite,
            condition=condition.index,
            success=bool(outcome.success[i]),
            score=round(float(outcome.score[i]), 6),
            failure=outcome.failure[i],
            steps=int(outcome.steps[i]),
            seconds=float(outcome.steps[i] / rate),
            collisions=int(outcome.collisions[i]),
            peak_force=_finite(float(outcome.peak_force_n[i])),
            overruns=outcome.overruns,
        )
        for i, condition in enumerate(conditions)
    )
    strips = _pick(film, trials, tuple(target.spec.cameras))
    return Tried(trials, strips, felt=felt if felt.force else None)


def _finite(value: float) -> float | None:
    return round(value, 3) if np.isfinite(value) else None


def _pick(
    film: Film, trials: Sequence[Trial], cameras: Sequence[str]
) -> dict[int, dict[str, Frames]]:
    """The first success and the first of each failure kind, by condition index."""
    picked: dict[str, int] = {}
    for i, trial in enumerate(trials):
        picked.setdefault(trial.failure or "success", i)
    if not film.frames:
        return {}
    return {
        trials[i].condition: {c: film.strip(i, c, trials[i].steps) for c in cameras}
        for i in picked.values()
    }


def record(trial: Trial) -> dict[str, Any]:
    """A line of trials.jsonl."""
    return asdict(trial)


def done_trials(path: Path, plan_sha: str) -> set[Key]:
    """The trials that are in trials.jsonl already.

    Raises:
        BadDataError: for a trial of another plan, or one trial twice.
    """
    seen: set[Key] = set()
    for number, line in enumerate(read_jsonl(path), start=1):
        if line.get("plan_sha") != plan_sha:
            raise BadDataError(f"{path}, line {number}: a trial of another plan; it is refused.")
        missing = [name for name in _KEY if name not in line]
        if missing:
            raise BadDataError(f"{path}, line {number}: a trial without {', '.join(missing)}.")
        key = (line["arm"], line["seed"], line["target"], line["suite"], line["condition"])
        if key in seen:
            raise BadDataError(f"{path}, line {number}: the trial {key} stands there twice.")
        seen.add(key)
    return seen
