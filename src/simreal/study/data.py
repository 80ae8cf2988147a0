"""Collecting a study's demonstrations: shard by shard, resumable, every second charged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from simreal.compute.executor import Executor, in_order
from simreal.compute.meter import SOURCE as PROCESS_CLOCK
from simreal.compute.meter import utc_now
from simreal.core.seeds import generator, integer
from simreal.core.types import RATE_HZ, STAND_IN, Charge, Condition
from simreal.demos.experts import HUMAN
from simreal.demos.live import Attempt, record_live
from simreal.demos.operators import make_operator
from simreal.demos.record import ShardResult, SimShard, simulate_shard
from simreal.demos.spec import DatasetSpec
from simreal.robots.twinfile import read_twin
from simreal.study.checkpoints import policy_of
from simreal.study.collection import Collection, rounds
from simreal.study.ledger import Ledger
from simreal.study.targets import TargetJob, open_operated
from simreal.worlds.names import CAMERAS
from simreal.worlds.simulated import SimConfig
from simreal.worlds.tasks import task as find_task

SIM_SHARD = 50
LIVE_SHARD = 25
#: How long a person takes to put the object back, s (uniform); an assumption, drawn per attempt.
RESET_S = (12.0, 30.0)


@dataclass(frozen=True)
class SimJob:
    """A shard of simulated demonstrations; leader: checkpoint folder of a policy that acts too."""

    shard: SimShard
    leader: str | None = None


@dataclass(frozen=True)
class Leading:
    """Who acts in turns with the expert: a checkpoint folder; after: demonstrations without it."""

    checkpoint: str
    after: int


@dataclass(frozen=True)
class LiveShard:
    """Operator attempts `first` to `first + count - 1` on a target."""

    target: TargetJob
    first: int
    count: int
    seed: int


def dataset_spec(task: str, size_px: int) -> DatasetSpec:
    """What all demonstrations of a task have in common."""
    robot = find_task(task).robot
    return DatasetSpec(
        fps=int(RATE_HZ),
        joint_names=robot.channels,
        cameras=dict.fromkeys(CAMERAS, (size_px, size_px)),
        robot_type=robot.robot_type,
        units=robot.units,
        wrench=robot.wrench,
    )


def live_shard(shard: LiveShard) -> list[Attempt]:
    """Play one shard of operator attempts; depends on the shard alone."""
    task = find_task(shard.target.task)
    target = open_operated(shard.target)
    operator = make_operator(task, target.privileged, HUMAN, shard.seed)
    operator.start_at(shard.first)
    conditions = [
        Condition(
            index=i,
            suite="demonstrations",
            reset=operator_reset(task.name, shard.seed, i),
            seed=integer(shard.seed, "operator/noise", i),
        )
        for i in range(shard.first, shard.first + shard.count)
    ]
    return record_live(target, operator, conditions, 2 * task.horizon, task.text)


def sim_job(job: SimJob) -> ShardResult:
    """Play and render one shard; depends on the job alone."""
    leader = None if job.leader is None else policy_of(job.leader)
    return simulate_shard(job.shard, leader)


def collect_sim(
    root: Path,
    config: SimConfig,
    wanted: int,
    executor: Executor,
    ledger: Ledger,
    told: Callable[[int], None] = lambda n: None,
    *,
    more: bool = False,
    led: Leading | None = None,
) -> Collection:
    """Fill `root` up to `wanted` simulated demonstrations.

    more: others will follow, so the data set is not finished. led: by whom those are led that come
    now.
    """
    request = {
        **asdict(config),
        "profile": config.profile.to_json(),
        "device": None,
        "batch": None,
    }
    spec = dataset_spec(config.task, config.size_px)
    collection = Collection(root, spec, wanted, request, finish=not more)
    after, leader = (0, None) if led is None else (led.after, led.checkpoint)
    told(min(collection.stored, wanted) - after)
    try:
        for numbers in rounds(collection, SIM_SHARD, config.appearances):
            shards = [SimShard(config, n * SIM_SHARD, SIM_SHARD) for n in numbers]
            jobs = [SimJob(shard, leader) for shard in shards]
            for result in in_order(executor.run(sim_job, jobs)):
                ledger.add(_sim_charges(result), once=f"{root.name}/{len(collection.lines)}")
                told(collection.take(result.episodes, _sim_line(result)))
    finally:
        collection.close()
    return collection


def _sim_line(result: ShardResult) -> dict[str, Any]:
    failed = [
        {"index": f.index, "failure": f.failure, "scenario": f.scenario.to_json()}
        for f in result.failed
    ]
    return {"failed": failed, "rejected": result.rejected, "steps": result.control_steps}


def _sim_charges(result: ShardResult) -> list[Charge]:
    """Core seconds; what was made with them; and what would have been hit with a real arm."""
    now, made = utc_now(), len(result.episodes)
    tried = f"{made} demonstrations, {len(result.failed)} failed attempts"
    charges = [
        Charge(now, PROCESS_CLOCK, "shared", "simulate", round(result.physics_s, 3), "s", tried),
        Charge(now, PROCESS_CLOCK, "shared", "render", round(result.render_s, 3), "s", tried),
        Charge(now, "simulation", "shared", "simulate", made, "count", tried),
    ]
    if result.collisions:
        note = f"collisions in simulation; {tried}"
        charges.append(
            Charge(now, "simulation", "shared", "avoided", result.collisions, "count", note)
        )
    return charges


def collect_live(
    root: Path,
    target: TargetJob,
    wanted: int,
    seed: int,
    executor: Executor,
    ledger: Ledger,
    told: Callable[[int], None] = lambda n: None,
) -> Collection:
    """Fill `root` with `wanted` demonstrations of the human-like operator on a target."""
    request = {
        **asdict(target),
        "ref": _reference(target.ref),
        "operator_seed": seed,
        "device": None,
        "batch": None,
    }
    collection = Collection(root, dataset_spec(target.task, target.size_px), wanted, request)
    told(collection.stored)
    try:
        for numbers in rounds(collection, LIVE_SHARD, 1):
            shards = [LiveShard(target, n * LIVE_SHARD, LIVE_SHARD, seed) for n in numbers]
            for attempts in in_order(executor.run(live_shard, shards)):
                needed = _until(attempts, collection.wanted - collection.stored)
                episodes = [a.episode for a in needed if a.episode is not None]
                charges = _live_charges(needed, seed)
                ledger.add(charges, once=f"{root.name}/{len(collection.lines)}")
                told(collection.take(episodes, _live_line(needed, target.task, seed)))
    finally:
        collection.close()
    return collection


def _reference(ref: str) -> Any:
    """What a reference means: a twin is what its file says, wherever the file lies."""
    kind, _, argument = ref.partition(":")
    return {"twin": asdict(read_twin(Path(argument)))} if kind == "twin" else ref


def _until(attempts: Sequence[Attempt], wanted: int) -> list[Attempt]:
    """The attempts a person would have made: none after the last one needed."""
    kept: list[Attempt] = []
    for attempt in attempts:
        if sum(a.success for a in kept) >= wanted:
            break
        kept.append(attempt)
    return kept


def _live_line(attempts: Sequence[Attempt], task: str, seed: int) -> dict[str, Any]:
    """What failed, and where a task has suites of its own, [successes, attempts] of each."""
    failed = [{"index": a.condition, "failure": a.failure} for a in attempts if not a.success]
    line = {"failed": failed, "attempts": len(attempts)}
    suites: dict[str, list[int]] = {}
    for attempt in attempts:
        reset = operator_reset(task, seed, attempt.condition)
        for suite, values in find_task(task).suites.items():
            if all(reset[name] == value for name, value in values.items()):
                counts = suites.setdefault(suite, [0, 0])
                counts[0] += attempt.success
                counts[1] += 1
    return {**line, "suites": suites} if suites else line


def operator_reset(task: str, seed: int, index: int) -> dict[str, float]:
    """The initial values of an operator's attempt."""
    return find_task(task).draw(generator(seed, "operator/reset", index))


def _live_charges(attempts: Sequence[Attempt], seed: int) -> list[Charge]:
    """Robot and operator seconds as the real arm would have taken them."""
    now, source = utc_now(), "twin clock"
    good = sum(a.seconds for a in attempts if a.success)
    lost = sum(a.seconds for a in attempts if not a.success)
    resets = sum(
        float(generator(seed, "operator/reset seconds", a.condition).uniform(*RESET_S))
        for a in attempts
    )
    count = sum(a.success for a in attempts)
    assumed = "assumed {:g}-{:g} s".format(*RESET_S)
    note = f"{STAND_IN}; {count} demonstrations of {len(attempts)} attempts"
    return [
        Charge(now, source, "shared", "demonstration", round(good, 3), "s", note),
        Charge(now, source, "shared", "demonstration", count, "count", note),
        Charge(now, source, "shared", "retry", round(lost, 3), "s", note),
        Charge(now, source, "shared", "reset", round(resets, 3), "s", f"{note}; {assumed}"),
        Charge(now, source, "shared", "retry", len(attempts) - count, "count", note),
    ]
