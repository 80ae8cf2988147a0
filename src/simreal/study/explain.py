"""Where a study's transfer gap comes from: its checkpoint in 16 variants of the simulator.

Each factor is nominal or as a target profile says. Variants that a profile cannot tell apart are
played once. Everything lands in STUDY/explain/: plans by hash, trials that only ever grow. The
machine's time is charged to the study's ledger, for the arm whose gap it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, cast

from simreal.compute.executor import Executor, in_order
from simreal.compute.meter import Meter
from simreal.core.errors import BadDataError, UsageError, unknown
from simreal.core.files import append_jsonl, read_jsonl, sha256_of, write_json
from simreal.core.protocols import Target
from simreal.core.types import Condition, Form
from simreal.robots.safety import SafeTarget
from simreal.robots.twinfile import TwinFile, read_twin
from simreal.study.checkpoints import policy_of
from simreal.study.evidence import SIM
from simreal.study.ledger import Ledger
from simreal.study.profile import FACTORS, TargetProfile
from simreal.study.profilefile import read_profile
from simreal.study.run import Study
from simreal.study.spec import ArmSpec, TargetRef, study_from_json
from simreal.study.variants import Stage, described_settings, described_world, profile_of, subsets
from simreal.trials.plan import SHARD, Plan, draw_conditions, load_plan
from simreal.trials.run import Tried, record, run_shard
from simreal.verdicts.explain import Case, explanation
from simreal.verdicts.rates import FEW_TRIALS
from simreal.verdicts.records import TrialRow, read_trials

SCHEMA = "simreal/explain/1"
#: `--profile` of a study on a twin: the target's own hidden parameters.
OWN_TWIN = "twin"
#: Trials of each variant, where nobody says otherwise, and at most.
CONDITIONS, MOST_CONDITIONS = 200, 10_000


@dataclass(frozen=True)
class Asked:
    """What is to be explained. profile: a file, or `twin`. None: the first that fits."""

    folder: Path
    profile: str
    arm: str | None = None
    seed: int | None = None
    target: str | None = None
    conditions: int = CONDITIONS


@dataclass(frozen=True)
class VariantJob:
    """One shard of one variant: plain values that travel to a worker."""

    plan_sha: str
    arm: str
    seed: int
    checkpoint: str
    profile: TargetProfile
    stage: Stage
    name: str
    conditions: tuple[Condition, ...]
    horizon: int

    @property
    def keys(self) -> set[tuple[str, int]]:
        """(variant, condition) of its trials."""
        return {(self.name, condition.index) for condition in self.conditions}

    @property
    def once(self) -> str:
        """A name for the ledger; a last shard that more conditions make longer is another."""
        first, last = self.conditions[0].index, self.conditions[-1].index
        return f"explain/{self.plan_sha[:12]}/{self.name}/{first}-{last}"


_world: dict[tuple[TargetProfile, Stage], Target] = {}


def variant_target(profile: TargetProfile, stage: Stage) -> Target:
    """The world of a variant, kept in this process until another one is asked for."""
    key = (profile, stage)
    if key not in _world:
        while _world:
            _world.popitem()[1].close()
        _world[key] = described_world(profile, stage)
    return _world[key]


def variant_job(job: VariantJob) -> Tried:
    """Play one shard; depends on the job alone."""
    note = f"{len(job.conditions)} trials of {job.arm} in {job.name}, to explain its gap"
    with Meter("evaluate", job.arm, note) as meter:
        tried = run_shard(
            SafeTarget(variant_target(job.profile, job.stage)),
            policy_of(job.checkpoint),
            job.conditions,
            target_name=job.name,
            plan_sha=job.plan_sha,
            arm=job.arm,
            seed=job.seed,
            horizon=job.horizon,
        )
    return replace(tried, strips={}, computed=meter.charge())


def variant_name(factors: Sequence[str]) -> str:
    """How a variant is called in records: `simulation`, `simulation+visual+sensing`."""
    return "+".join((SIM, *factors))


class Explaining:
    """One checkpoint of a study, one target, one profile; and the trials that explain the gap."""

    def __init__(self, asked: Asked) -> None:
        """Read the study and the profile; nothing is written yet.

        Raises:
            UsageError: for a wrong arm, seed, target, number of conditions or profile.
            BadDataError: for a folder that is no study, or an arm that is not trained yet.
        """
        if not FEW_TRIALS <= asked.conditions <= MOST_CONDITIONS:
            raise UsageError(
                f"--conditions {asked.conditions}; give {FEW_TRIALS} to {MOST_CONDITIONS}."
            )
        self.folder = asked.folder
        self._plan: Plan = load_plan(asked.folder / "plan.json")
        self._study = Study(study_from_json(self._plan.content["study"]), asked.folder)
        spec = self._study.spec
        self.arm = _arm(self._study, asked.arm)
        self.seed = spec.seeds[0] if asked.seed is None else asked.seed
        if self.seed not in spec.seeds:
            raise unknown("training seed", str(self.seed), map(str, spec.seeds))
        self.target = _target(spec.targets, asked.target)
        self.stage = Stage(spec.task, cast(Form, spec.form), spec.size_px, spec.shadows)
        self.profile = self._read(asked.profile)
        self.conditions = self._conditions(asked.conditions)
        self.checkpoint = self._checkpoint()
        self.sha = sha256_of(self._content())

    def _read(self, name: str) -> TargetProfile:
        if name == OWN_TWIN:
            profile = profile_of(_twin(self.target, self._study.spec.task), self.target.name)
        else:
            profile = read_profile(Path(name))
        if not profile.said:
            raise UsageError(
                f"Target profile {profile.name!r} says nothing; give at least one entry in "
                f"{', '.join(f'[{factor}]' for factor in FACTORS)}."
            )
        described_settings(profile, self.stage)
        return profile

    def _conditions(self, count: int) -> tuple[Condition, ...]:
        """The study's own first, so that the target's recorded trials are pairs; then new ones."""
        own = self._plan.conditions
        task, seed = self._study.task, self._study.spec.trial_seed
        drawn = draw_conditions(task.draw, count, seed, task.suites.get("nominal"))
        return (*own[:count], *drawn[len(own) :])

    def _checkpoint(self) -> Path:
        run = self._study.run_for(self.arm, self.seed, self.target.name)
        found = run.folder(self.folder) / "checkpoint"
        if not (found / "model.safetensors").is_file():
            raise BadDataError(
                f"{found} holds no checkpoint: arm {self.arm.name!r} is not trained yet. Go on "
                "with `simreal study ... --resume`."
            )
        return found

    def _content(self) -> dict[str, Any]:
        """What decides the trials, the number of conditions left out: more may follow."""
        from simreal.policies.runfolder import sha256_of_file

        return {
            "schema": SCHEMA,
            "study": self._plan.sha,
            "arm": self.arm.name,
            "seed": self.seed,
            "weights": sha256_of_file(self.checkpoint / "model.safetensors"),
            "profile": self.profile.content(),
            "stage": asdict(self.stage),
        }

    def jobs(self) -> list[VariantJob]:
        """All shards of all variants that the profile can tell apart."""
        shards = [self.conditions[i : i + SHARD] for i in range(0, len(self.conditions), SHARD)]
        return [
            VariantJob(
                self.sha,
                self.arm.name,
                self.seed,
                str(self.checkpoint),
                self.profile.only(factors),
                self.stage,
                variant_name(factors),
                shard,
                self._study.task.horizon,
            )
            for factors in subsets(self.profile.said)
            for shard in shards
        ]

    @property
    def _trials(self) -> Path:
        return self.folder / "explain" / "trials.jsonl"

    def _lines(self) -> list[dict[str, Any]]:
        """Recorded trials of this very explanation; others stand in the same file."""
        return [line for line in read_jsonl(self._trials) if line["plan_sha"] == self.sha]

    def play(self, executor: Executor, told: Callable[[int], None] = lambda n: None) -> None:
        """Run what is not recorded yet, and charge it; `told` hears how many more are done."""
        plan = {**self._content(), "sha256": self.sha}
        write_json(self.folder / "explain" / f"plan-{self.sha[:12]}.json", plan)
        done = {(line["target"], line["condition"]) for line in self._lines()}
        jobs = self.jobs()
        left = [job for job in jobs if not job.keys <= done]
        told(sum(len(job.conditions) for job in jobs if job.keys <= done))
        ledger = Ledger(self.folder / "ledger.jsonl")
        for job, tried in zip(left, in_order(executor.run(variant_job, left)), strict=True):
            ledger.add([tried.computed] if tried.computed else [], once=job.once)
            fresh = [t for t in tried.trials if (job.name, t.condition) not in done]
            append_jsonl(self._trials, [record(t) for t in fresh])
            told(len(job.conditions))

    def conclude(self) -> dict[str, Any]:
        """Judge the recorded trials and write STUDY/explain.json; returns its content."""
        wanted = {condition.index for condition in self.conditions}
        played: dict[str, list[TrialRow]] = {}
        for line in self._lines():
            if line["condition"] in wanted:
                row = TrialRow(str(line["condition"]), line["success"], failure=line["failure"])
                played.setdefault(line["target"], []).append(row)
        said = self.profile.said
        names = [variant_name([f for f in factors if f in said]) for factors in subsets()]
        case = Case(
            arm=self.arm.name,
            seed=self.seed,
            target=self.target.name,
            label=str(self.target.described()["label"]),
            profile=f"{self.profile.name} ({self.profile.source})",
            factors=FACTORS,
            described=said,
        )
        found = explanation(
            case,
            [played.get(name, []) for name in names],
            self._recorded(self.target.name),
            self._recorded(self._study.simulation_of(self.arm, self.target.name)),
        )
        write_json(self.folder / "explain.json", found)
        return found

    def _recorded(self, target: str) -> list[TrialRow]:
        """The study's own trials of this checkpoint, under nominal conditions."""
        path = self.folder / "trials.jsonl"
        same = self._study.run_for(self.arm, self.seed, target)
        if not path.is_file() or same.folder(self.folder) != self.checkpoint.parent:
            return []
        return [
            row
            for row in read_trials(path).rows
            if (row.arm, row.seed, row.target) == (self.arm.name, self.seed, target)
            and row.suite == "nominal"
        ]


def _arm(study: Study, name: str | None) -> ArmSpec:
    """The arm of that name; else the first that saw no real data (its gap is the transfer gap)."""
    arms = {arm.name: arm for arm in study.spec.arms}
    if name is None:
        simulated = [arm for arm in arms.values() if not study.spec.n(arm, "real")]
        return next(iter([*simulated, *arms.values()]))
    if name not in arms:
        raise unknown("arm of the study", name, arms)
    return arms[name]


def _target(targets: Sequence[TargetRef], name: str | None) -> TargetRef:
    by_name = {target.name: target for target in targets}
    if name is not None and name not in by_name:
        raise unknown("target of the study", name, by_name)
    return by_name[name] if name is not None else targets[0]


def _twin(target: TargetRef, task: str) -> TwinFile:
    """The twin that a target is."""
    kind, _, file = (target.ref or "twin:").partition(":")
    if kind != "twin":
        raise UsageError(
            f"Target {target.name!r} is no twin ({target.ref}): nobody knows its parameters. Give "
            "a profile written by hand or by a calibration (docs/explain.md)."
        )
    return read_twin(Path(file)) if file else TwinFile(target.seed, target.severity, task)
