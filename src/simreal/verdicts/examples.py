"""A valid example of each schema, made by the code that writes the real ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from simreal.core.errors import unknown
from simreal.core.types import STAND_IN, Charge, Trial
from simreal.verdicts import judged_examples
from simreal.verdicts.advise import Advice, Request, advise
from simreal.verdicts.compare import compare
from simreal.verdicts.cost import Arm
from simreal.verdicts.cost import examples as money_examples
from simreal.verdicts.cost.prices import prices_from
from simreal.verdicts.evidence import Evidence
from simreal.verdicts.explain_example import explanation_example
from simreal.verdicts.failure_map_example import failure_map_example
from simreal.verdicts.gap import gap
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
_FINDING = {
    "code": "EPISODE_COUNT_MISMATCH",
    "severity": "error",
    "where": "meta/info.json",
    "message": "6 episodes are declared and 4 are there.",
    "fix": "Rebuild the lengths from the episode_index column.",
}
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


def _advice(evidence: Evidence) -> Advice:
    return advise(evidence, Request(target=0.8))


def _summary(evidence: Evidence) -> Any:
    target = TargetFacts("twin", "twin-7", 7, "moderate", STAND_IN)
    facts = StudyFacts("example", "primitive", (target,), {"simreal": "0.1.0"}, 512.0)
    return summarise(facts, evidence, _advice(evidence))


#: Schema -> a valid record, from the small study where it takes one.
_EXAMPLES: Mapping[str, Callable[[Evidence], Any]] = {
    **judged_examples.EXAMPLES,
    **money_examples.EXAMPLES,
    "trials": lambda _: asdict(_TRIAL),
    "ledger": lambda _: asdict(_LEDGER[0]),
    "findings": lambda _: {"findings": [dict(_FINDING)], "ok": False},
    "compare": lambda _: compare(_outcomes(17, 20), _outcomes(12, 20)).to_json(),
    "gap": lambda _: gap(_outcomes(18, 20), _outcomes(14, 20)).to_json(),
    "explanation": lambda _: explanation_example(),
    "explore": lambda _: failure_map_example(),
    "advice": lambda evidence: _advice(evidence).to_json(),
    "summary": _summary,
}


def example(name: str) -> Any:
    """A valid record of the schema `name`."""
    if name not in SCHEMAS:
        raise unknown("schema", name, SCHEMAS)
    return _EXAMPLES[name](example_evidence())
