"""A made-up study of insertion: several targets and suites, senses, forces, goals, an operator."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from tests.report.synthetic import LABEL

from simreal.core.files import append_jsonl, write_text
from simreal.core.seeds import generator
from simreal.core.types import Charge, Trial
from simreal.study.conclude import conclude
from simreal.study.forces import keep_forces
from simreal.study.run import Study
from simreal.study.spec import load_study, study_from_json
from simreal.study.trying import TrialJob
from simreal.trials.run import Felt, Tried, record

ARMS = ("sim-only", "real-only", "hybrid", "real-only-vision")
RATES = {"sim-only": 0.6, "real-only": 0.8, "hybrid": 0.85, "real-only-vision": 0.5}
EASIER = {"nominal": 0.0, "wide": 0.1, "tight": -0.2, "backgrounds": -0.15}
KINDS = ("jammed", "wedged", "missed hole", "force stop", "timed out", "slipped in hand")
WHEN = "2026-01-15T09:30:00Z"


def study(folder: Path) -> Study:
    """The study `insert`, smaller, with a suite more and gaps on all of them."""
    content = load_study("insert").to_json()
    content |= {"seeds": [0], "trials": 20, "targets": content["targets"][:2]}
    content |= {"suites": [*content["suites"], "backgrounds"], "gap_suites": []}
    content["arms"] = [{**a, "gap": True} for a in content["arms"] if a["name"] in ARMS]
    content["tests"] = [t for t in content["tests"] if {t["arm"], t["against"]} <= set(ARMS)]
    return Study(study_from_json(content), folder)


def inserted(folder: Path) -> Path:
    """Write its records and conclude them."""
    made = study(folder)
    made.open("# made up\n")
    for number, job in enumerate(made.trial_jobs()):
        tried = _tried(job, number)
        append_jsonl(folder / "trials.jsonl", [record(trial) for trial in tried.trials])
        first = {trial.failure: trial.condition for trial in reversed(tried.trials)}
        keep_forces(folder, job.names, tried, list(first.values()), 20.0)
    for target in made.spec.targets:
        line = {"suites": {"nominal": [33, 38], "wide": [36, 36], "tight": [31, 41]}}
        append_jsonl(folder / "data" / f"real-{target.name}.shards.jsonl", [line])
    charges = [
        Charge(WHEN, "twin clock", "shared", "demonstration", 1600.0, "s", f"{LABEL}; 200"),
        Charge(WHEN, "twin clock", "shared", "demonstration", 200, "count", f"{LABEL}; 200"),
        Charge(WHEN, "process clock", "shared", "simulate", 900.0, "s"),
        *(Charge(WHEN, "process clock", arm, "train", 300.0, "s") for arm in ARMS),
    ]
    append_jsonl(folder / "ledger.jsonl", [vars(charge) for charge in charges])
    write_text(folder / "wall.json", '{"wall_s": 900.0}')
    return conclude(folder)


def _tried(job: TrialJob, number: int) -> Tried:
    rng, n = generator(0, "made up", number), len(job.conditions)
    good = rng.random(n) < RATES[job.arm] + EASIER[job.conditions[0].suite]
    steps = np.where(good, rng.integers(60, 150, n), 300)
    felt = Felt(2)
    for step in range(300):
        way = np.maximum(25 - 25 * step / steps, 0)
        felt.force.append(np.abs(rng.normal(2 + 0.5 * (25 - way), 1.5)))
        felt.heights.append(10 + way)
    trials = []
    for i, condition in enumerate(job.conditions):
        failure = None if good[i] else KINDS[int(rng.integers(len(KINDS)))]
        peak = 31.0 if failure == "force stop" else float(rng.uniform(5, 25))
        names = (job.plan_sha, job.arm, job.seed, job.name, condition.suite, condition.index)
        many = (bool(good[i]), float(good[i]), failure, int(steps[i]), float(steps[i]) / 20)
        trials.append(Trial(*names, *many, 0, round(peak, 2), 0))
    return Tried(tuple(trials), {}, felt=felt)
