"""The question and the answer of the advisor, and the evidence seen from the question."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from simreal.core.errors import UsageError
from simreal.core.types import STAND_IN
from simreal.verdicts.advise.eligibility import Eligibility, Limits
from simreal.verdicts.advise.increment import Increment
from simreal.verdicts.advise.measuring import Measurement
from simreal.verdicts.advise.plan import Bounds
from simreal.verdicts.advise.words import assumptions
from simreal.verdicts.cost import Arm, ArmCost
from simreal.verdicts.cost.purposes import on_stand_in
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
    """What is wanted, and within what.

    target: success rate to reach, None for simply the best arm. confidence: how sure of passing its
    test a road must be. budget: money, None without limit. variants: how many variants of the task
    are to be served. built: the simulator is there. days: calendar days until the
    deadline. stage_days: days that one stage (collect, train, test) takes, where they are not to
    follow from the lab in the price file.
    """

    target: float | None = None
    limits: Limits = field(default_factory=Limits)
    confidence: float = 0.8
    budget: float | None = None
    variants: int = 1
    built: bool = False
    days: float | None = None
    stage_days: float | None = None

    def __post_init__(self) -> None:
        if self.target is not None and not 0 < self.target < 1:
            raise UsageError(f"The target is a rate strictly between 0 and 1; got {self.target}.")
        if not 0.5 <= self.confidence < 1:
            raise UsageError(
                f"The confidence is a probability from 0.5 to below 1; got {self.confidence}."
            )
        if self.budget is not None and not 0 < self.budget < math.inf:
            raise UsageError(f"The budget is an amount above 0; got {self.budget}.")
        if self.variants < 1:
            raise UsageError(f"There is at least 1 variant of the task; got {self.variants}.")
        if self.days is None and self.stage_days is not None:
            raise UsageError(
                "The days a stage takes count for a deadline only; give --deadline too."
            )
        for what, days in (("until the deadline", self.days), ("of a stage", self.stage_days)):
            if days is not None and not 0 < days < math.inf:
                raise UsageError(f"The days {what} are a number above 0; got {days:g}.")

    @property
    def bounds(self) -> Bounds:
        """What ends a plan early."""
        budget = math.inf if self.budget is None else self.budget
        days = math.inf if self.days is None else self.days
        return Bounds(budget, days, self.variants)


@dataclass(frozen=True)
class RoadFacts:
    """One road as the advice shows it; next: what to have after its next step, (n_real, n_sim).

    mean, p50, p90: money until it passes or ends. tried: whether it may be advised. after: expected
    true success rate of what passed its test, None where nothing can pass.
    """

    road: str
    next: tuple[int, int]
    p_reach: float
    mean: float
    p50: float
    p90: float
    pareto: bool
    tried: bool = True
    after: float | None = None

    def to_json(self) -> dict[str, Any]:
        """The entry of `roads`."""
        return {
            "road": self.road,
            "next": {"n_real": self.next[0], "n_sim": self.next[1]},
            "p_reach": self.p_reach,
            "after": self.after,
            "cost": {"mean": self.mean, "p50": self.p50, "p90": self.p90},
            "pareto": self.pareto,
            "tried": self.tried,
        }


@dataclass(frozen=True)
class Advice:
    """The answer. strategy: name of the advised arm, None where none is.

    next: what to collect or try next, the next increment only. cost: the advised arm's own.
    flips: sentences that say what would change the answer. goal: the rate that the roads are judged
    by; wanted: whether it was asked for. road: the road of `strategy`. roads, p_reach, evpi, evsi:
    empty or None where no learning surface could be fitted. label: printed beside the verdict.
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
    goal: float | None = None
    wanted: bool = False
    road: str | None = None
    p_reach: float | None = None
    roads: tuple[RoadFacts, ...] = ()
    currency: str = "USD"
    evpi: float | None = None
    evsi: tuple[Measurement, ...] = ()
    label: str = ""

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
            "goal": self.goal,
            "road": self.road,
            "p_reach": self.p_reach,
            "roads": [road.to_json() for road in self.roads],
            "currency": self.currency,
            "evpi": self.evpi,
            "evsi": [one.to_json() for one in self.evsi],
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
        on_twin = any(map(on_stand_in, self.evidence.charges))
        return Advice(
            state,
            shown,
            reason,
            cost=cost,
            eligibility=self.rules,
            assumptions=assumed,
            label=STAND_IN if on_twin else "",
            **more,
        )
