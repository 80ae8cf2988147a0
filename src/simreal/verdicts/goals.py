"""Goals that a study declared: each is met only by its one-sided 95 % bound.

Over several targets the bound is the more cautious of two: Student's t over the targets' means,
which speaks of targets like these, and Clopper and Pearson's over all trials, which holds where the
means happen to agree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from simreal.core.errors import UsageError
from simreal.verdicts.claim_parts import Lacking, difference
from simreal.verdicts.evidence import Evidence, rate_of
from simreal.verdicts.force import within
from simreal.verdicts.intervals import t_interval
from simreal.verdicts.planning import ALPHA
from simreal.verdicts.rates import FEW_TRIALS, Interval, clopper_pearson
from simreal.verdicts.schema_parts import CI, NAME, NUMBER, Schema, array, one_of, optional, record

GoalState = Literal["met", "missed", "not shown", "not tested here"]
GOAL_STATES: tuple[GoalState, ...] = ("met", "missed", "not shown", "not tested here")
BEST, OPERATOR = "best", "operator"

#: summary.json's `goals`.
GOALS: Schema = array(
    record(
        text=NAME,
        state=one_of(*GOAL_STATES),
        wanted=NUMBER,
        estimate=optional(NUMBER),
        bounds=optional(CI),
        method=NAME,
    )
)


@dataclass(frozen=True)
class Goal:
    """What a study shall show; the fields are those of a study file's `[[goals]]`."""

    text: str
    arm: str
    suite: str = "nominal"
    of: str = "success"
    at_least: float | None = None
    against: str | None = None
    margin: float = 0.05
    less_real: float = 0.0

    @property
    def wanted(self) -> float:
        """What the lower bound must reach: a rate, or a difference."""
        return -self.margin if self.at_least is None else self.at_least


@dataclass(frozen=True)
class GoalVerdict:
    """How a goal stands. bounds: the two one-sided 95 % bounds of the estimate."""

    goal: Goal
    state: GoalState
    estimate: float | None
    bounds: Interval | None
    method: str

    def to_json(self) -> dict[str, Any]:
        """The entry of summary.json's `goals`."""
        return {
            "text": self.goal.text,
            "state": self.state,
            "wanted": self.goal.wanted,
            "estimate": self.estimate,
            "bounds": None if self.bounds is None else list(self.bounds),
            "method": self.method,
        }


@dataclass(frozen=True)
class _Shown:
    """What somebody showed: the rate, its one-sided bounds, counts in words."""

    who: str
    rate: float
    bounds: Interval
    counts: str
    method: str


def goals_of(evidence: Evidence, goals: Sequence[Goal]) -> tuple[GoalVerdict, ...]:
    """One verdict for each goal, in their order."""
    return tuple(
        _rate(evidence, goal) if goal.against is None else _not_worse(evidence, goal)
        for goal in goals
    )


def _rate(evidence: Evidence, goal: Goal) -> GoalVerdict:
    """Whether anybody who may reach the rate has shown it; the nearest is printed."""
    people = [arm.name for arm in evidence.roads().arms] if goal.arm == BEST else [goal.arm]
    cells = {who: _counts(evidence, goal, who) for who in people}
    tried = {who: counts for who, counts in cells.items() if counts}
    if not tried:
        what = "attempts" if goal.arm == OPERATOR else "trials"
        return _untested(goal, f"{what} of {goal.arm} on the suite {goal.suite}")
    shown = [_shown(who, counts, ALPHA / len(tried)) for who, counts in tried.items()]
    best = max(shown, key=lambda one: (one.bounds[0], one.rate))
    state: GoalState = "not shown"
    if best.bounds[0] >= goal.wanted:
        state = "met"
    elif all(one.bounds[1] < goal.wanted for one in shown):
        state = "missed"
    method = f"{best.who}: {best.counts}; {best.method}"
    if len(shown) > 1:
        method += f"; corrected for {len(shown)} arms"
    return GoalVerdict(goal, state, best.rate, best.bounds, method)


def _counts(evidence: Evidence, goal: Goal, who: str) -> Mapping[str, tuple[int, int]]:
    """Target -> (successes, trials); none where nothing was measured."""
    if who == OPERATOR:
        found = {target: of.get(goal.suite, (0, 0)) for target, of in evidence.operator.items()}
        return {target: counts for target, counts in found.items() if counts[1]}
    cells = evidence.on_targets(who, goal.suite)
    if goal.of == "force":
        if evidence.force_limit_n is None:
            raise UsageError(f"The goal {goal.text!r} needs a force limit.")
        cells = {target: within(rows, evidence.force_limit_n) for target, rows in cells.items()}
    rates = {target: rate_of(rows) for target, rows in cells.items()}
    return {target: (rate.k, rate.n) for target, rate in rates.items() if rate.n}


def _shown(who: str, counts: Mapping[str, tuple[int, int]], alpha: float) -> _Shown:
    k, n = sum(k for k, _ in counts.values()), sum(n for _, n in counts.values())
    low, high = clopper_pearson(k, n, 1 - 2 * alpha)
    said = f"{k} of {n}"
    rate, method = k / n, "one-sided Clopper-Pearson bounds"
    if len(counts) > 1:
        rate, ci = t_interval([k / n for k, n in counts.values()], 1 - 2 * alpha)
        low, high = min(low, max(0.0, ci[0])), max(high, min(1.0, ci[1]))
        said += f" on {len(counts)} targets"
        method = "the wider of one-sided t bounds over target means and Clopper-Pearson bounds"
    if n < FEW_TRIALS:
        low, high = 0.0, 1.0
    return _Shown(who, rate, (low, high), said, method)


def _not_worse(evidence: Evidence, goal: Goal) -> GoalVerdict:
    """Non-inferiority with a declared share less real data."""
    assert goal.against is not None
    arm, other = evidence.arm(goal.arm), evidence.arm(goal.against)
    if goal.less_real and not other.n_real:
        return _untested(goal, f"{other.name} with real demonstrations, of which to have less")
    most = other.n_real * (1 - goal.less_real) + 1e-9
    if goal.less_real and arm.n_real > most:
        return _untested(goal, f"{arm.name} with at most {int(most)} real demonstrations")
    found = difference(evidence, arm, other, goal.suite, 2 * ALPHA)
    if isinstance(found, Lacking):
        return _untested(goal, found.what)
    ci = found.estimate.ci
    state: GoalState = "not shown"
    if found.enough and ci[0] > goal.wanted:
        state = "met"
    elif found.enough and ci[1] < goal.wanted:
        state = "missed"
    real = f"{arm.name} ({arm.n_real} real) minus {other.name} ({other.n_real} real)"
    method = f"{real}; non-inferiority, margin {goal.margin:g}, one-sided 95 %: {found.method}"
    return GoalVerdict(goal, state, found.estimate.difference, ci, method)


def _untested(goal: Goal, what: str) -> GoalVerdict:
    return GoalVerdict(goal, "not tested here", None, None, f"needs {what}")
