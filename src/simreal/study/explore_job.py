"""One shard of an exploration: points of a profile's space, played; and its lines on disk."""

from __future__ import annotations

import functools
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simreal.compute.meter import Meter
from simreal.core.errors import BadDataError
from simreal.core.files import read_jsonl, write_bytes
from simreal.core.types import Charge, Condition, Scenario, Trial
from simreal.report.media import filmstrip
from simreal.robots.safety import SafeTarget
from simreal.study.checkpoints import policy_of
from simreal.study.space import Point
from simreal.trials.run import Frames, run_shard
from simreal.worlds.randomize import settings_of
from simreal.worlds.settings import Settings
from simreal.worlds.simulated import SimConfig, scene_of, simulated_world
from simreal.worlds.tasks import task as find_task
from simreal.worlds.world import World


@dataclass(frozen=True)
class ExploreJob:
    """One shard: plain values that travel to a worker.

    phase: the part of the exploration. region: the candidate its points lie in, or None.
    """

    plan_sha: str
    name: str
    checkpoint: str
    config: SimConfig
    points: tuple[Point, ...]
    phase: str
    region: int | None

    @property
    def once(self) -> str:
        """A name for the ledger."""
        return f"explore/{self.plan_sha[:12]}/{self.points[0].index}-{self.points[-1].index}"


@dataclass(frozen=True)
class Explored:
    """What a shard gave."""

    trials: tuple[Trial, ...]
    strips: Mapping[int, Mapping[str, Frames]]
    computed: Charge


@dataclass
class _Stage:
    """A world whose scenarios are given from outside."""

    config: SimConfig
    scenarios: dict[int, Scenario] = field(default_factory=dict)

    def prepare(self, condition: Condition) -> Settings:
        """The settings of the scenario of that index."""
        config = self.config
        scene = scene_of(config.task, config.form, config.backgrounds)
        return settings_of(scene, config.profile, self.scenarios[condition.index])


@functools.lru_cache(maxsize=1)
def _stage(config: SimConfig) -> tuple[_Stage, World]:
    """The world of an exploration, kept in this process."""
    stage = _Stage(config)
    return stage, simulated_world(config, stage.prepare)


def explore_job(job: ExploreJob) -> Explored:
    """Play one shard; depends on the job alone."""
    note = f"{len(job.points)} trials of {job.name}, to explore where it fails"
    with Meter("evaluate", job.name, note) as meter:
        stage, world = _stage(job.config)
        seed = job.config.seed
        scenarios = {p.index: p.scenario(job.config.profile.name, seed) for p in job.points}
        stage.scenarios = scenarios
        tried = run_shard(
            SafeTarget(world),
            policy_of(job.checkpoint),
            [p.condition(seed) for p in job.points],
            target_name="simulation",
            plan_sha=job.plan_sha,
            arm=job.name,
            seed=seed,
            horizon=find_task(job.config.task).horizon,
        )
    return Explored(tried.trials, {} if job.region is None else tried.strips, meter.charge())


def line_of(job: ExploreJob, point: Point, trial: Trial) -> dict[str, Any]:
    """A line of explore.jsonl."""
    return {
        "plan_sha": job.plan_sha,
        "phase": job.phase,
        "region": job.region,
        "index": point.index,
        "values": {name: list(numbers) for name, numbers in point.values.items()},
        "reset": dict(point.reset),
        "rejected": point.rejected,
        "success": trial.success,
        "score": trial.score,
        "failure": trial.failure,
        "steps": trial.steps,
        "collisions": trial.collisions,
        "peak_force": trial.peak_force,
    }


def point_of(line: Mapping[str, Any]) -> Point:
    """The point that a line was played at."""
    values = {str(k): tuple(float(x) for x in v) for k, v in line["values"].items()}
    reset = {str(k): float(v) for k, v in line["reset"].items()}
    return Point(int(line["index"]), values, reset, int(line["rejected"]))


def recorded(path: Path, plan_sha: str, axes: Collection[str]) -> dict[int, dict[str, Any]]:
    """The trials of an exploration that are on disk: index -> line.

    axes: what each has values of.

    Raises:
        BadDataError: for what is no trial, one of another exploration, or one twice.
    """
    found: dict[int, dict[str, Any]] = {}
    for number, line in enumerate(read_jsonl(path), start=1):
        where = f"{path}, line {number}"
        try:
            point = point_of(line)
            numbers = [*point.reset.values(), *(x for v in point.values.values() for x in v)]
            whole = set(point.values) == set(axes) and all(map(math.isfinite, numbers))
        except (KeyError, TypeError, ValueError, AttributeError):
            whole = False
        if not whole or not line.keys() >= {"plan_sha", "phase", "region", "success", "failure"}:
            raise BadDataError(f"{where}, is no trial of an exploration; restore it from a copy.")
        if line["plan_sha"] != plan_sha:
            raise BadDataError(f"{where}: a trial of another exploration; it is refused.")
        if point.index in found:
            raise BadDataError(f"{where}: the trial {point.index} stands there twice.")
        found[point.index] = line
    return found


def film_name(region: int, kind: str, camera: str) -> str:
    """The filmstrip of one kind of failure in a region, counted from 0."""
    return f"region-{region + 1}-{kind.replace(' ', '-')}-{camera}.png"


def keep_films(out: Path, job: ExploreJob, explored: Explored) -> None:
    """Write the first failure of each kind in a region, with every camera, once."""
    kinds = {trial.condition: trial.failure for trial in explored.trials}
    for condition, strips in sorted(explored.strips.items()):
        kind = kinds[condition]
        if kind is None or job.region is None:
            continue
        for camera, frames in strips.items():
            path = out / "media" / film_name(job.region, kind, camera)
            if not path.exists():
                write_bytes(path, filmstrip(frames, n=8, scale=1))
