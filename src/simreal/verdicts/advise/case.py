"""The question and the answer of the advisor, and the evidence seen from the question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from simreal.core.errors import UsageError
from simreal.verdicts.advise.eligibility import Eligibility, Limits
from simreal.verdicts.advise.increment import Increment
from simreal.verdicts.advise.words import assumptions
from simreal.verdicts.cost import Arm, ArmCost
from simreal.verdicts.evidence import Evidence, Reach

AdviceState = Literal[
    "advice", "not enough evidence", "no strategy reaches it", "do not build a simulator"
]
ADVICE_STATES: tuple[AdviceState, ...] = (
    "advice",
    "not enough evidence",
    "no strategy reaches it",
    "do not build a simulator",
)


@dataclass(frozen=True)
class Request:
    """What is wanted. target: success rate to reach, None for simply the best road."""

    target: float | None = None
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        if self.target is not None and not 0 < self.target < 1:
            raise UsageError(f"The target is a rate strictly between 0 and 1; got {self.target}.")


@dataclass(frozen=True)
class Advice:
    """The answer. strategy: name of the advised arm, None where none is.

    next: what to collect or try next, the next increment only. cost: the advised arm's own.
    flips: sentences that say what would change the answer.
    """

    state: AdviceState
    strategy: str | None
    reason: str
    next: Increment = field(default_factory=Increment)
    runner_up: str | None = None
    flips: tuple[str, ...] = ()
    cost: ArmCost | None = None
    eligibility: tuple[Eligibility, ...] = ()
    assumptions: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The `advice` of summary.json."""
        return {
            "state": self.state,
            "strategy": self.strategy,
            "reason": self.reason,
            "next": self.next.to_json(),
            "runner_up": self.runner_up,
            "flips": list(self.flips),
            "cost": self.cost.to_json() if self.cost else None,
            "eligibility": [
                {"arm": e.arm, "eligible": e.eligible, "reasons": list(e.reasons)}
                for e in self.eligibility
            ],
            "assumptions": list(self.assumptions),
        }


@dataclass(frozen=True)
class Case:
    """The evidence, seen from the request: eligible arms with what they reach and cost."""

    evidence: Evidence
    request: Request
    rules: tuple[Eligibility, ...]
    reach: Mapping[str, Reach]
    costs: Mapping[str, ArmCost]

    @property
    def arms(self) -> tuple[Arm, ...]:
        """The eligible arms, in the study's order."""
        return tuple(a for a in self.evidence.arms if a.name in self.reach)

    def money(self, arm: Arm) -> tuple[float, ...]:
        """What cheaper means: the cost where there is a ledger, then real demonstrations."""
        cost = self.costs.get(arm.name)
        return (cost.total if cost else 0.0, arm.n_real, arm.n_sim)

    def answer(self, state: AdviceState, arm: Arm | None, reason: str, **more: Any) -> Advice:
        """An advice with what every answer carries."""
        shown = arm.name if arm else None
        cost = self.costs.get(arm.name) if arm else None
        assumed = assumptions(self.evidence, cost)
        return Advice(
            state, shown, reason, cost=cost, eligibility=self.rules, assumptions=assumed, **more
        )
