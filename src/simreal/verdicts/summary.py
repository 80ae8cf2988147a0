"""summary.json: a study in one object, made from raw records alone and so made again any time."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from simreal.core.errors import UsageError
from simreal.core.types import TargetSpec
from simreal.verdicts.acceptance import acceptance_of
from simreal.verdicts.advise import Advice
from simreal.verdicts.by_suite import by_suite, gap_entry, operator_of
from simreal.verdicts.claims import evaluate_claims
from simreal.verdicts.compare import State, decide
from simreal.verdicts.cost import Arm, ArmCost
from simreal.verdicts.cost.economics import economics_of
from simreal.verdicts.cost.timing import time_of
from simreal.verdicts.curves import curves_of, posterior_of
from simreal.verdicts.evidence import DeclaredTest, Evidence, contrast, rate_of
from simreal.verdicts.exact import holm
from simreal.verdicts.force import force_of, over_targets
from simreal.verdicts.goals import Goal, goals_of
from simreal.verdicts.ranking import ranking_of
from simreal.verdicts.rates import Interval
from simreal.verdicts.recipe import recipes_of
from simreal.verdicts.schemas import SUMMARY_SCHEMA


@dataclass(frozen=True)
class TargetFacts:
    """A twin or a robot as summary.json names it."""

    kind: str
    name: str
    seed: int | None
    severity: str | None
    label: str

    @classmethod
    def of(cls, spec: TargetSpec) -> TargetFacts:
        """The facts of a target from its own description."""
        return cls(spec.kind, spec.name, spec.seed, spec.severity, spec.label)


@dataclass(frozen=True)
class StudyFacts:
    """What the trials themselves do not say.

    tests: the declared family; None for every pair. goals: what was to be shown. explanation:
    explain.json, where there is one.
    """

    study: str
    form: str
    targets: tuple[TargetFacts, ...]
    versions: Mapping[str, str]
    wall_s: float
    tests: tuple[DeclaredTest, ...] | None = None
    goals: tuple[Goal, ...] = ()
    explanation: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Verdict:
    """The answer to one declared test; p is Holm-adjusted over the declared family."""

    claim: str
    state: State
    estimate: float | None
    ci: Interval
    p: float | None
    method: str

    def to_json(self) -> dict[str, Any]:
        """The entry of summary.json's `verdicts`."""
        return {**asdict(self), "ci": list(self.ci)}


def every_pair(evidence: Evidence) -> tuple[DeclaredTest, ...]:
    """The default family: every pair of arms, on the nominal suite."""
    pairs = itertools.combinations([arm.name for arm in evidence.arms], 2)
    return tuple(DeclaredTest(first, second) for first, second in pairs)


def verdicts(evidence: Evidence, tests: Sequence[DeclaredTest]) -> tuple[Verdict, ...]:
    """All declared tests, Holm over the family; one without trials says so and cannot tell."""
    found = [
        contrast(
            evidence.on_targets(evidence.arm(test.arm).name, test.suite),
            evidence.on_targets(evidence.arm(test.against).name, test.suite),
            evidence.margin,
        )
        for test in tests
    ]
    adjusted = holm([1.0 if c is None or c.estimate.p is None else c.estimate.p for c in found])
    result = []
    for test, one, p in zip(tests, found, adjusted, strict=True):
        if one is None:
            missing = (None, (-1.0, 1.0), None, "no trials of both arms on a common target")
            result.append(Verdict(test.claim, "cannot tell", *missing))
            continue
        state = decide(one.estimate.ci, p, evidence.margin, one.enough)
        method = f"{one.method}; Holm over {len(tests)}"
        estimate = one.estimate
        result.append(Verdict(test.claim, state, estimate.difference, estimate.ci, p, method))
    return tuple(result)


def summarise(facts: StudyFacts, evidence: Evidence, advice: Advice) -> dict[str, Any]:
    """The content of summary.json, in the schema `summary`."""
    names = {target.name for target in facts.targets}
    if names != set(evidence.targets):
        raise UsageError(
            f"Targets {sorted(names)} are not those of the trials: {evidence.targets}."
        )
    costs = evidence.costs
    tests = every_pair(evidence) if facts.tests is None else facts.tests
    ranked, goal = ranking_of(evidence), evidence.goal
    roads = evidence.roads()
    posterior = posterior_of(roads)
    labels = {target.name: target.label for target in facts.targets}
    return {
        "schema": SUMMARY_SCHEMA,
        "study": facts.study,
        "form": facts.form,
        "goal": goal,
        "targets": [asdict(target) for target in facts.targets],
        "arms": [_arm(evidence, arm, costs.get(arm.name)) for arm in evidence.arms],
        "claims": [verdict.to_json() for verdict in evaluate_claims(roads)],
        "verdicts": [verdict.to_json() for verdict in verdicts(evidence, tests)],
        "advice": advice.to_json(),
        "recipes": [verdict.to_json() for verdict in recipes_of(evidence, tests)],
        "ranking": None if ranked is None else ranked.to_json(),
        "acceptance": [one.to_json() for one in acceptance_of(evidence, goal, labels)],
        "goals": [verdict.to_json() for verdict in goals_of(evidence, facts.goals)],
        "by_suite": by_suite(evidence),
        "force": force_of(evidence),
        "operator": operator_of(evidence),
        "curves": curves_of(roads, goal, posterior=posterior),
        "economics": economics_of(roads, posterior=posterior),
        "time": time_of(roads, goal=goal, posterior=posterior),
        "explanation": facts.explanation,
        "versions": dict(facts.versions),
        "wall_s": facts.wall_s,
    }


def _arm(evidence: Evidence, arm: Arm, cost: ArmCost | None) -> dict[str, Any]:
    cells = evidence.on_targets(arm.name)
    sim = evidence.sim_trials(arm.name)
    suites = {row.suite for row in evidence.trials if row.arm == arm.name} - {"nominal"}
    rates = {suite: evidence.pooled_rate(arm.name, suite) for suite in sorted(suites)}
    return {
        "name": arm.name,
        "n_sim": arm.n_sim,
        "n_real": arm.n_real,
        "seeds": list(arm.seeds),
        "sim": rate_of(sim).to_json() if sim else None,
        "target": [{"name": name, **rate_of(rows).to_json()} for name, rows in cells.items()],
        "over_targets": over_targets([rate_of(rows).rate for rows in cells.values()]),
        "gap": gap_entry(evidence, arm.name),
        "suites": {suite: rate.to_json() for suite, rate in rates.items() if rate.n},
        "cost": cost.to_json() if cost else None,
    }
