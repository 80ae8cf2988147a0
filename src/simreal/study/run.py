"""Runs a study from its plan to its report. Every stage writes files and can be resumed."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simreal.compute.executor import Executor
from simreal.compute.progress import Progress
from simreal.core.files import read_json, write_json, write_text
from simreal.core.seeds import integer
from simreal.core.types import Mixture, Part, Stage
from simreal.robots.twinfile import TwinFile, write_twin
from simreal.study.cells import cells_of, simulation_of, target_of
from simreal.study.conclude import conclude
from simreal.study.correcting import collect_simulated
from simreal.study.data import collect_live
from simreal.study.estimate import steps_of
from simreal.study.evidence import SIM
from simreal.study.forces import MOST
from simreal.study.ledger import Ledger
from simreal.study.pictures import take_samples
from simreal.study.spec import ArmSpec, StudySpec, TargetRef
from simreal.study.targets import TargetJob, check_reference
from simreal.study.training import TrainJob, train_runs
from simreal.study.trying import TrialJob, run_trials
from simreal.trials.plan import Plan, draw_conditions, make_plan, open_plan
from simreal.trials.run import done_trials
from simreal.verdicts.planning import smallest_detectable_paired, trials_for_half_width
from simreal.worlds.randomize import profile
from simreal.worlds.simulated import SimConfig
from simreal.worlds.tasks import task as find_task
from simreal.worlds.textures import from_folder


@dataclass(frozen=True)
class Run:
    """One training run: an arm, a seed, and the target whose demonstrations it reads."""

    arm: ArmSpec
    seed: int
    target: str

    def folder(self, study: Path) -> Path:
        """Where its checkpoint goes."""
        return study / "runs" / self.arm.name / self.target / str(self.seed)


class Study:
    """A study in its folder."""

    def __init__(self, spec: StudySpec, out: Path) -> None:
        """Nothing is written yet.

        Raises:
            UsageError: for an unknown task, profile, form, folder of backgrounds or target.
        """
        self.spec, self.out = spec, out
        self.task = find_task(spec.task)
        self._check_parts()
        self.ledger = Ledger(out / "ledger.jsonl")
        self.plan = self._make_plan()

    def _check_parts(self) -> None:
        if backgrounds := self.sim_config().backgrounds:
            from_folder(Path(backgrounds))
        for target in self.spec.targets:
            if target.ref is not None:
                check_reference(target.ref, self.spec.task)

    def _make_plan(self) -> Plan:
        spec = self.spec
        fixed = self.task.suites.get("nominal")
        return make_plan(
            study=spec.to_json(),
            arms=[_declared(spec, arm) for arm in spec.arms],
            seeds=spec.seeds,
            cells=cells_of(spec),
            conditions=draw_conditions(self.task.draw, spec.trials, spec.trial_seed, fixed),
            targets=[t.described() for t in spec.targets],
            tests={
                "family": [list(test) for test in spec.family],
                "margin": spec.margin,
                "method": "paired: Tango interval, exact McNemar, Holm over the family",
                "gap": "paired: Tango interval, simulation (profile none) against target",
            },
            power={
                "trials_per_cell": spec.trials,
                "smallest_difference_80": smallest_detectable_paired(spec.trials, 0.2),
                "assumed_discordance": 0.2,
                "trials_for_half_width_10_at_80": trials_for_half_width(0.8, 0.10),
            },
            randomization=profile(spec.simulation.profile, self.task.robot).to_json(),
            suites={s: self.task.suites[s] for s in spec.suites if s in self.task.suites},
        )

    def open(self, text: str) -> None:
        """Begin the folder, or accept it if it is this very study's; write the plan before all.

        text: the study file as it was given; kept as study.toml beside the plan.
        """
        self.out.mkdir(parents=True, exist_ok=True)
        open_plan(self.out / "plan.json", self.plan)
        write_text(self.out / "study.toml", text)
        for target in self.spec.targets:
            if target.ref is None:
                path = self._twin_file(target)
                if not path.exists():
                    write_twin(
                        path, TwinFile(target.seed, target.severity, self.spec.task, self.spec.form)
                    )

    def _twin_file(self, target: TargetRef) -> Path:
        return self.out / "targets" / f"{target.name}.toml"

    def sim_config(self) -> SimConfig:
        """The randomized simulation that demonstrations come from."""
        s = self.spec
        return SimConfig(
            task=s.task,
            form=s.form,  # type: ignore[arg-type]
            size_px=s.size_px,
            profile=profile(s.simulation.profile, self.task.robot),
            seed=s.simulation.seed,
            appearances=s.simulation.appearances,
            shadows=s.shadows,
            backgrounds=s.simulation.backgrounds,
        )

    def target_job(self, name: str) -> TargetJob:
        """How to open a target of the plan: any cell that is no target's is the simulation."""
        s = self.spec
        target = next((t for t in s.targets if t.name == name), None)
        ref = "sim" if target is None else target.ref or f"twin:{self._twin_file(target)}"
        return TargetJob(
            ref=ref,
            task=s.task,
            form=s.form,  # type: ignore[arg-type]
            size_px=s.size_px,
            shadows=s.shadows,
            seed=s.simulation.seed,
        )

    def data(self, source: str, target: str) -> Path:
        """The data set of a source; real ones are one a target."""
        return self.out / "data" / ("sim" if source == "sim" else f"real-{target}")

    @property
    def pictures(self) -> Path:
        """Where decoded pictures lie while the arms are trained."""
        return self.out / "pictures"

    def runs(self) -> list[Run]:
        """All training runs; arms that read no real data are trained once for all targets."""
        found = []
        for arm in self.spec.arms:
            names = [t.name for t in self.spec.targets] if self.spec.n(arm, "real") else ["any"]
            found += [Run(arm, seed, name) for name in names for seed in self.spec.seeds]
        return found

    def run_for(self, arm: ArmSpec, seed: int, target: str) -> Run:
        """The run whose checkpoint plays for an arm in a cell (`any`: the first target's)."""
        if not self.spec.n(arm, "real"):
            return Run(arm, seed, "any")
        return Run(arm, seed, target_of(self.spec, SIM if target == "any" else target))

    def simulation_of(self, arm: ArmSpec, target: str) -> str:
        """The cell in which an arm's checkpoint for a target plays in simulation."""
        return simulation_of(self.spec, arm, target)

    def train_job(self, run: Run) -> TrainJob:
        """What a run is trained on and from."""
        stages = tuple(
            Stage(
                Mixture(
                    tuple(
                        Part(str(self.data(p.source, run.target)), p.weight, p.episodes)
                        for p in stage.parts
                    )
                ),
                stage.steps,
                stage.peak_lr,
            )
            for stage in run.arm.stages
        )
        base = None
        if run.arm.base is not None:
            parent = self.run_for(self.spec.arm(run.arm.base), run.seed, run.target)
            base = str(parent.folder(self.out) / "checkpoint")
        return TrainJob(
            f"{run.arm.name}/{run.target}/{run.seed}",
            stages,
            str(run.folder(self.out)),
            run.seed,
            self.task.robot.channels,
            base,
            wrench=run.arm.wrench or "auto",
            training=self.spec.training,
            pictures=str(self.pictures),
        )

    def trial_jobs(self) -> list[TrialJob]:
        """All shards of all cells of all arms."""
        return [
            TrialJob(
                self.plan.sha,
                arm.name,
                seed,
                str(self.run_for(arm, seed, cell.target).folder(self.out) / "checkpoint"),
                self.target_job(cell.target),
                cell.target,
                cell.role,
                shard,
                self.task.horizon,
                feels=self.task.robot.wrench
                and seed == self.spec.seeds[0]
                and shard[0].index < MOST,
            )
            for cell in self.plan.cells
            for arm in self.spec.arms
            if cell.plays(arm.name)
            for seed in self.spec.seeds
            for shard in self.plan.shards(cell.suite)
        ]


def _declared(spec: StudySpec, arm: ArmSpec) -> dict[str, Any]:
    """An arm as the plan names it; what it senses, where the study says so."""
    found = {
        "name": arm.name,
        "n_sim": spec.n(arm, "sim"),
        "n_real": spec.n(arm, "real"),
        "sim_share": arm.sim_share,
    }
    return found if arm.wrench is None else {**found, "wrench": arm.wrench}


def run_study(study: Study, executor: Executor) -> Path:
    """Do everything of an opened study that is not done yet; returns the report's path."""
    started = time.monotonic()
    try:
        with Progress(steps_of(study)) as progress:
            _collect(study, executor, progress)
            train_runs(study, executor, progress)
            _try(study, executor, progress)
    finally:
        wall = _wall(study.out, time.monotonic() - started)
    return conclude(study.out, wall)


def _wall(out: Path, seconds: float) -> float:
    """Wall time over all sittings."""
    path = out / "wall.json"
    total = seconds + (float(read_json(path)["wall_s"]) if path.exists() else 0.0)
    write_json(path, {"wall_s": round(total, 1)})
    return total


def _collect(study: Study, executor: Executor, progress: Progress) -> None:
    spec = study.spec
    if any(spec.n(arm, "sim") for arm in spec.arms):
        collect_simulated(study, executor, progress)
    real = max(a.episodes("real") for a in spec.arms)
    progress.start("Operator's demonstrations", real * len(spec.targets), "demos")
    for target in spec.targets:
        if real:
            collect_live(
                study.data("real", target.name),
                study.target_job(target.name),
                real,
                integer(target.seed, "operator"),
                executor,
                study.ledger,
                progress.advance,
            )
    take_samples(study, executor)


def _try(study: Study, executor: Executor, progress: Progress) -> None:
    jobs = study.trial_jobs()
    progress.start("Trials", sum(len(job.conditions) for job in jobs), "trials")
    done = done_trials(study.out / "trials.jsonl", study.plan.sha)
    run_trials(study.out, jobs, done, executor, study.ledger, progress.advance)
