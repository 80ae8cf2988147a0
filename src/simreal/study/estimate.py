"""What a study will take, before it runs: training runs, demonstrations, trials, hours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simreal.compute.progress import Step

if TYPE_CHECKING:
    from simreal.study.run import Study
    from simreal.study.spec import SimulationSpec

#: Control steps a task may take in the study that the rough seconds below were measured on, and how
#: much more a step costs where contact is computed at 2 ms and force is felt.
_STEPS, _FELT = 120, 2.0


def steps_of(study: Study) -> list[Step]:
    """The stages and their rough seconds on two cores, for the estimate."""
    spec, robot = study.spec, study.task.robot
    longer = study.task.horizon / _STEPS * (_FELT if robot.wrench else 1.0)
    real = sum(max(a.episodes("real") for a in spec.arms) for _ in spec.targets)
    updates = sum(s.steps for r in study.runs() for s in r.arm.stages)
    trials = sum(len(job.conditions) for job in study.trial_jobs())
    return [
        *_simulated(spec.simulation, longer),
        Step("Operator's demonstrations", 0.5 * longer * real),
        Step("Training", updates / 70),
        Step("Trials", 0.08 * longer * trials),
    ]


def _simulated(asked: SimulationSpec, longer: float) -> list[Step]:
    plain = Step("Simulated demonstrations", 0.1 * longer * (asked.episodes - asked.corrections))
    if not asked.corrections:
        return [plain]
    return [
        plain,
        Step("A policy to correct", asked.leader_steps / 50),
        Step("Corrected demonstrations", 0.15 * longer * asked.corrections),
    ]


def foretold(study: Study) -> str:
    """One sentence: how much is made, trained and tried, and about how long it takes."""
    spec, runs = study.spec, study.runs()
    steps = sum(stage.steps for run in runs for stage in run.arm.stages)
    trials = sum(len(job.conditions) for job in study.trial_jobs())
    real = max(arm.episodes("real") for arm in spec.arms) * len(spec.targets)
    minutes = sum(step.expected_s for step in steps_of(study)) / 60
    time = f"{minutes:.0f} minutes" if minutes < 100 else f"{minutes / 60:.1f} hours"
    sim = spec.simulation.episodes if any(spec.n(arm, "sim") for arm in spec.arms) else 0
    return (
        f"{sim:,} simulated and {real:,} real demonstrations, {len(runs)} training runs of "
        f"{steps:,} steps in all, {trials:,} trials in {len(study.plan.cells)} cells: about {time} "
        "on two cores."
    )
