"""A study's trials: every arm on every cell, in fixed shards, resumable."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from simreal.compute.executor import Executor, in_order
from simreal.compute.meter import Meter, utc_now
from simreal.core.files import append_jsonl, read_json, write_bytes, write_json
from simreal.core.types import RATE_HZ, STAND_IN, Charge, Condition
from simreal.report.media import filmstrip
from simreal.study.checkpoints import policy_of
from simreal.study.data import RESET_S
from simreal.study.forces import keep_forces
from simreal.study.ledger import Ledger
from simreal.study.targets import TargetJob, kept_target
from simreal.trials.run import Key, Tried, record, run_shard

#: Filmstrips kept for each arm, target and suite: successes, and each kind of failure.
STRIPS = 1


@dataclass(frozen=True)
class TrialJob:
    """One shard of one cell: which checkpoint tries what. name: the target's in the plan.

    feels: whether the forces of its trials are kept.
    """

    plan_sha: str
    arm: str
    seed: int
    checkpoint: str
    target: TargetJob
    name: str
    role: str
    conditions: tuple[Condition, ...]
    horizon: int
    feels: bool = False

    def key(self, condition: int) -> Key:
        """What is unique of a trial of this shard."""
        return self.arm, self.seed, self.name, self.conditions[0].suite, condition

    @property
    def keys(self) -> set[Key]:
        """All trials of this shard."""
        return {self.key(condition.index) for condition in self.conditions}

    @property
    def names(self) -> dict[str, Any]:
        """Arm, seed, target and suite, as records name them."""
        arm, seed, target, suite, _ = self.key(0)
        return {"arm": arm, "seed": seed, "target": target, "suite": suite}

    @property
    def once(self) -> str:
        """A name for the ledger."""
        return "trials/" + "/".join(str(part) for part in self.key(self.conditions[0].index))


def trial_job(job: TrialJob) -> Tried:
    """Run one shard of trials; depends on the job alone."""
    from simreal.robots.safety import SafeTarget

    note = f"{len(job.conditions)} trials on {job.name}, {job.conditions[0].suite}"
    with Meter("evaluate", job.arm, note) as meter:
        target = SafeTarget(kept_target(job.target))
        tried = run_shard(
            target,
            policy_of(job.checkpoint),
            job.conditions,
            target_name=job.name,
            plan_sha=job.plan_sha,
            arm=job.arm,
            seed=job.seed,
            horizon=job.horizon,
        )
    return replace(tried, computed=meter.charge())


def run_trials(
    study: Path,
    jobs: Sequence[TrialJob],
    done: set[Key],
    executor: Executor,
    ledger: Ledger,
    told: Callable[[int], None] = lambda n: None,
) -> None:
    """Run a study's jobs that are not done; write trials, filmstrips and charges."""
    media = study / "media"

    def keep(job: TrialJob, tried: Tried) -> None:
        filmed = _keep_film(media, job, tried)
        if job.feels:
            keep_forces(study, job.names, tried, filmed, RATE_HZ)

    play(
        jobs,
        done,
        study / "trials.jsonl",
        executor,
        ledger,
        told,
        keep,
    )


def play(
    jobs: Sequence[TrialJob],
    done: set[Key],
    out: Path,
    executor: Executor,
    ledger: Ledger,
    told: Callable[[int], None],
    seen: Callable[[TrialJob, Tried], None] = lambda job, tried: None,
) -> None:
    """Run the jobs that are not done; append trials to `out`, and charges, in the order of jobs.

    A shard of which a kill let some trials through is played again; those that stand stay. told:
    hears how many more trials are done. seen: gets each shard before it is written.
    """
    left = [job for job in jobs if not job.keys <= done]
    told(sum(len(j.conditions) for j in jobs) - sum(len(j.conditions) for j in left))
    for job, tried in zip(left, in_order(executor.run(trial_job, left)), strict=True):
        seen(job, tried)
        ledger.add(trial_charges(job, tried), once=job.once)
        fresh = [t for t in tried.trials if job.key(t.condition) not in done]
        append_jsonl(out, [record(t) for t in fresh])
        told(len(job.conditions))


def trial_charges(job: TrialJob, tried: Tried) -> list[Charge]:
    """What a shard used up: the machine's time, and on a target robot and operator time.

    Collisions on a target are incidents; those in simulation would have been.
    """
    trials = tried.trials
    now, hits = utc_now(), sum(t.collisions for t in trials)
    note = f"{len(trials)} trials on {job.name}, {job.conditions[0].suite}"
    computed = [tried.computed] if tried.computed else []
    if job.role == "sim":
        avoided = Charge(
            now, "simulation", job.arm, "avoided", hits, "count", f"collisions; {note}"
        )
        return [*computed, *([avoided] if hits else [])]
    twin = job.target.ref.startswith("twin:")
    clock = "twin clock" if twin else "robot clock"
    note = f"{STAND_IN}; {note}" if twin else note
    seconds, reset_s = round(sum(t.seconds for t in trials), 3), sum(RESET_S) / 2
    resets = f"{note}; assumed {reset_s:g} s each"
    found = [
        Charge(now, clock, job.arm, "trial", seconds, "s", note),
        Charge(now, clock, job.arm, "reset", len(trials) * reset_s, "s", resets),
        Charge(now, clock, job.arm, "trial", len(trials), "count", note),
        *computed,
    ]
    if hits:
        found.append(Charge(now, clock, job.arm, "incident", hits, "count", f"collisions; {note}"))
    return found


def ledger_beside(out: Path) -> Ledger:
    """The ledger of work outside a study: NAME.ledger.jsonl beside the file or folder it wrote."""
    name = out.stem if out.suffix == ".jsonl" else out.name
    return Ledger(out.with_name(f"{name}.ledger.jsonl"))


def _keep_film(media: Path, job: TrialJob, tried: Tried) -> set[int]:
    """Write filmstrips of kinds of outcome that this arm and cell has none of yet; of which trials.

    Conditions whose films stand there from before count as well, so that a shard that is played
    again leaves the same.
    """
    kept = set()
    index_path = media / "index.json"
    index: list[dict[str, Any]] = read_json(index_path) if index_path.exists() else []
    outcome = {t.condition: t for t in tried.trials}
    for condition, strips in sorted(tried.strips.items()):
        trial = outcome[condition]
        kind = "success" if trial.success else "failure"
        for camera, frames in strips.items():
            entry: dict[str, Any] = {
                "kind": kind,
                "arm": job.arm,
                "target": job.name,
                "suite": trial.suite,
                "failure": trial.failure,
            }
            same = [e for e in index if _same(e, entry) and e["camera"] == camera]
            if len(same) >= STRIPS:
                kept |= {condition} & {e["condition"] for e in same}
                continue
            kept.add(condition)
            name = f"{job.arm}-{job.name}-{trial.suite}-{trial.failure or 'success'}-{camera}.png"
            name = name.replace(" ", "-")
            write_bytes(media / name, filmstrip(frames, n=8, scale=1))
            caption = f"condition {condition}, {camera} camera, {trial.steps} steps"
            index.append(
                {
                    **entry,
                    "file": name,
                    "condition": condition,
                    "camera": camera,
                    "caption": caption,
                }
            )
    write_json(index_path, index)
    return kept


def _same(a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
    return all(a.get(k) == b[k] for k in b)
