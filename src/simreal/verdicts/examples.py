"""A valid example of each schema, made by the code that writes the real ones."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from simreal.core.errors import unknown
from simreal.core.types import STAND_IN, Charge, Trial
from simreal.verdicts.advise import Request, advise
from simreal.verdicts.compare import compare
from simreal.verdicts.cost import Arm
from simreal.verdicts.cost.examples import money_example
from simreal.verdicts.cost.prices import prices_from
from simreal.verdicts.evidence import Evidence
from simreal.verdicts.explain_example import explanation_example
from simreal.verdicts.gap import gap
from simreal.verdicts.judged_examples import judged_example
from simreal.verdicts.records import TrialRow
from simreal.verdicts.schemas import SCHEMAS
from simreal.verdicts.summary import StudyFacts, TargetFacts, summarise

_TRIAL = Trial(
    plan_sha="5f1c",
    arm="hybrid",
    seed=0,
    target="twin-7",
    suite="nominal",
    condition=12,
    success=False,
    score=0.5,
    failure="slipped",
    steps=180,
    seconds=9.0,
    collisions=1,
    peak_force=None,
    overruns=0,
)
_WHEN = "2026-01-15T09:30:00Z"
_LEDGER = (
    Charge(_WHEN, "twin clock", "shared", "demonstration", 1500.0, "s", "50 episodes"),
    Charge(_WHEN, "twin clock", "shared", "reset", 1000.0, "s", "50 resets"),
    Charge(_WHEN, "process clock", "shared", "simulate", 90.0, "s"),
    Charge(_WHEN, "process clock", "hybrid", "train", 240.0, "s"),
)


def _outcomes(successes: int, n: int) -> dict[Any, bool]:
    return {index: index < successes for index in range(n)}


def example_evidence() -> Evidence:
    """A small made-up study: three arms, one twin, 20 trials a cell."""
    arms = (Arm("sim-only", 600, 0), Arm("real-only", 0, 50), Arm("hybrid", 600, 20))
    counts = {"sim-only": (18, 15), "real-only": (13, 14), "hybrid": (18, 19)}
    rows = [
        TrialRow(str(index), index < k, arm, target, "nominal", 0, collisions=0)
        for arm, successes in counts.items()
        for target, k in zip(("sim", "twin-7"), successes, strict=True)
        for index in range(20)
    ]
    return Evidence("lift", arms, tuple(rows), ("twin-7",), "sim", _LEDGER, prices_from({}))


def example(name: str) -> Any:
    """A valid record of the schema `name`."""
    if name not in SCHEMAS:
        raise unknown("schema", name, SCHEMAS)
    if name in ("cost", "days", "clock"):
        return money_example(name, example_evidence())
    if name == "trials":
        return asdict(_TRIAL)
    if name == "ledger":
        return asdict(_LEDGER[0])
    if name == "compare":
        return compare(_outcomes(17, 20), _outcomes(12, 20)).to_json()
    if name == "gap":
        return gap(_outcomes(18, 20), _outcomes(14, 20)).to_json()
    if name == "explanation":
        return explanation_example()
    if name in ("ranking", "validate", "evaluate", "plan"):
        return judged_example(name, example_evidence())
    if name == "findings":
        finding = {
            "code": "EPISODE_COUNT_MISMATCH",
            "severity": "error",
            "where": "meta/info.json",
            "message": "6 episodes are declared and 4 are there.",
            "fix": "Rebuild the lengths from the episode_index column.",
        }
        return {"findings": [finding], "ok": False}
    if name == "advice":
        return advise(example_evidence(), Request(target=0.8)).to_json()
    target = TargetFacts("twin", "twin-7", 7, "moderate", STAND_IN)
    facts = StudyFacts("example", "primitive", (target,), {"simreal": "0.1.0"}, 512.0)
    evidence = example_evidence()
    return summarise(facts, evidence, advise(evidence, Request(target=0.8)))
