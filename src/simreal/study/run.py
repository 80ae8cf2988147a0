"""Runs a study from its plan to its report. Every stage writes files and can be resumed."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from simreal.compute.executor import Executor
from simreal.compute.progress import Progress, Step
from simreal.core.files import read_json, write_json, write_text
from simreal.core.seeds import integer
from simreal.core.types import Mixture, Part, Stage
from simreal.robots.twinfile import TwinFile, write_twin
from simreal.study.conclude import conclude
from simreal.study.data import collect_live, collect_sim
from simreal.study.evidence import SIM
from simreal.study.ledger import Ledger
from simreal.study.pictures import take_samples
from simreal.study.spec import ArmSpec, StudySpec, TargetRef
from simreal.study.targets import TargetJob, check_reference
from simreal.study.training import TrainJob, train_runs
from simreal.study.trying import TrialJob, run_trials
from simreal.trials.plan import Cell, Plan, draw_conditions, make_plan, open_plan
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
        cells = [Cell(SIM, "nominal", "sim")]
        cells += [Cell(t.name, suite, "target") for t in spec.targets for suite in spec.suites]
        return make_plan(
            study=spec.to_json(),
            arms=[
                {
                    "name": a.name,
                    "n_sim": spec.n(a, "sim"),
                    "n_real": spec.n(a, "real"),
                    "sim_share": a.sim_share,
                }
                for a in spec.arms
            ],
            seeds=spec.seeds,
            cells=cells,
            conditions=draw_conditions(self.task.draw, spec.trials, spec.trial_seed),
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
        """How to open a target of the plan."""
        s = self.spec
        ref = "sim"
        if name != SIM:
            target = next(t for t in s.targets if t.name == name)
            ref = target.ref or f"twin:{self._twin_file(target)}"
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

    def runs(self) -> list[Run]:
        """All training runs; arms that read no real data are trained once for all targets."""
        found = []
        for arm in self.spec.arms:
            names = [t.name for t in self.spec.targets] if self.spec.n(arm, "real") else ["any"]
            found += [Run(arm, seed, name) for name in names for seed in self.spec.seeds]
        return found

    def run_for(self, arm: ArmSpec, seed: int, target: str) -> Run:
        """The run whose checkpoint plays for an arm on a target (`any`: the first target's)."""
        if not self.spec.n(arm, "real"):
            return Run(arm, seed, "any")
        return Run(arm, seed, self.spec.targets[0].name if target in (SIM, "any") else target)

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
        )

    def trial_jobs(self) -> list[TrialJob]:
        """All shards of all cells of all arms."""
        jobs = []
        for cell in self.plan.cells:
            for arm in self.spec.arms:
                for seed in self.spec.seeds:
                    checkpoint = (
                        self.run_for(arm, seed, cell.target).folder(self.out) / "checkpoint"
                    )
                    jobs += [
                        TrialJob(
                            self.plan.sha,
                            arm.name,
                            seed,
                            str(checkpoint),
                            self.target_job(cell.target),
                            cell.target,
                            cell.role,
                            shard,
                            self.task.horizon,
                        )
                        for shard in self.plan.shards(cell.suite)
                    ]
        return jobs


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


def steps_of(study: Study) -> list[Step]:
    """Announced steps with rough seconds on two cores, for the estimate."""
    spec = study.spec
    real = sum(max(a.episodes("real") for a in spec.arms) for _ in spec.targets)
    updates = sum(s.steps for r in study.runs() for s in r.arm.stages)
    trials = sum(len(job.conditions) for job in study.trial_jobs())
    return [
        Step("Simulated demonstrations", 0.1 * spec.simulation.episodes),
        Step("Operator's demonstrations", 0.5 * real),
        Step("Training", updates / 70),
        Step("Trials", 0.08 * trials),
    ]


def _collect(study: Study, executor: Executor, progress: Progress) -> None:
    spec = study.spec
    wanted = spec.simulation.episodes if any(spec.n(a, "sim") for a in spec.arms) else 0
    if wanted:
        progress.start("Simulated demonstrations", wanted, "demos")
        collect_sim(
            study.data("sim", ""),
            study.sim_config(),
            wanted,
            executor,
            study.ledger,
            progress.advance,
        )
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
