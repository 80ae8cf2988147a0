"""When trials may stop: a rule declared before the first of them, and what it says of those there.

The rule looks after every trial in the order of the plan, so its answer depends on the trials alone
and can be made again from their records. Evidence and intervals are anytime-valid: stopping early
costs no error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from simreal.core.errors import UsageError
from simreal.verdicts.betting import (
    difference_sequence,
    follow_mean,
    follow_scores,
    mean_sequence,
)
from simreal.verdicts.planning import ALPHA
from simreal.verdicts.rates import Interval
from simreal.verdicts.sequential import confidence_sequence, follow_pairs

By = Literal["success", "score"]
StopState = Literal["better", "worse", "reached", "missed", "cannot tell"]
STOP_STATES: tuple[StopState, ...] = ("better", "worse", "reached", "missed", "cannot tell")

#: Conditions that are tried before the rule is asked again.
BLOCK = 10


@dataclass(frozen=True)
class Result:
    """One trial, as the rule reads it."""

    success: bool
    score: float


@dataclass(frozen=True)
class Rule:
    """What is asked, and until when. arms: two to compare, or one against `goal`.

    by: success, or the mean stage score. most: conditions at most. block: conditions between looks.
    """

    arms: tuple[str, ...]
    by: By
    most: int
    block: int = BLOCK
    goal: float | None = None
    alpha: float = ALPHA

    def __post_init__(self) -> None:
        if len(self.arms) != (2 if self.goal is None else 1):
            raise UsageError("Two arms are compared with each other, or one with a rate.")
        if self.goal is not None and not 0 < self.goal < 1:
            raise UsageError(f"The rate to decide on is a fraction such as 0.85, not {self.goal}.")
        if not 1 <= self.block <= self.most:
            raise UsageError(
                f"A block has at least 1 condition and at most all of them; got {self.block} of "
                f"{self.most}."
            )

    def to_json(self) -> dict[str, Any]:
        """What the plan declares."""
        return {
            "arms": list(self.arms),
            "by": self.by,
            "goal": self.goal,
            "alpha": self.alpha,
            "max_trials": self.most,
            "block": self.block,
            "method": self.method,
        }

    @property
    def method(self) -> str:
        """The declared method in words."""
        what = "success" if self.by == "success" else "the mean stage score"
        if self.goal is not None:
            test = f"confidence sequence of {what} against {100 * self.goal:g} %"
        elif self.by == "success":
            test = "paired: e-process on discordant pairs"
        else:
            test = f"paired: betting e-process on {what}"
        return f"{test}, error {100 * self.alpha:g} % at any time, at most {self.most} conditions"


@dataclass(frozen=True)
class Tried:
    """One arm's trials with an interval that holds whenever they stopped."""

    name: str
    k: int
    n: int
    ci: Interval
    score: float | None

    def to_json(self) -> dict[str, Any]:
        """`{arm, k, n, rate, ci, score}`."""
        rate = self.k / self.n if self.n else None
        counts = {"k": self.k, "n": self.n, "rate": rate, "ci": list(self.ci)}
        return {"arm": self.name, **counts, "score": self.score}


@dataclass(frozen=True)
class Decision:
    """Where a sequential evaluation stands; the raw trials give it again at any time.

    estimate, ci: the difference of the two arms, or the rate (or mean score) of the one. e, p: of
    the comparison. at: the condition after which it was decided. trials, saved: over all arms.
    """

    rule: Rule
    arms: tuple[Tried, ...]
    state: StopState
    estimate: float | None
    ci: Interval
    e: float | None
    p: float | None
    at: int

    @property
    def decided(self) -> bool:
        """Whether the trials may stop."""
        return self.state != "cannot tell"

    @property
    def conditions(self) -> int:
        """Conditions tried by every arm."""
        return min(arm.n for arm in self.arms)

    @property
    def trials(self) -> int:
        """Trials run."""
        return sum(arm.n for arm in self.arms)

    @property
    def saved(self) -> int:
        """Planned trials that were not needed."""
        return len(self.arms) * self.rule.most - self.trials if self.decided else 0

    def to_json(self, plan_sha: str, label: str) -> dict[str, Any]:
        """The object printed by `simreal evaluate --until-decided --json`; fractions of 1."""
        return {
            "question": "against" if self.rule.goal is None else "at least",
            "by": self.rule.by,
            "arms": [arm.to_json() for arm in self.arms],
            "goal": self.rule.goal,
            "state": self.state,
            "estimate": self.estimate,
            "ci": list(self.ci),
            "e": self.e,
            "p": self.p,
            "alpha": self.rule.alpha,
            "block": self.rule.block,
            "max_trials": self.rule.most,
            "trials": self.trials,
            "saved": self.saved,
            "plan_sha": plan_sha,
            "label": label,
            "method": self.rule.method,
        }


def judge(rule: Rule, results: Mapping[str, Sequence[Result]]) -> Decision:
    """What the rule says of the trials so far, each arm's in the order of the plan's conditions.

    Only conditions that every arm has tried count.
    """
    n = min(len(results[name]) for name in rule.arms)
    sides = [list(results[name])[:n] for name in rule.arms]
    arms = tuple(_tried(name, side) for name, side in zip(rule.arms, sides, strict=True))
    if rule.goal is not None:
        return _against_goal(rule, arms, _values(rule, sides[0]), rule.goal)
    return _against_each_other(rule, arms, sides)


def _tried(name: str, side: Sequence[Result]) -> Tried:
    k, n = sum(result.success for result in side), len(side)
    score = sum(result.score for result in side) / n if n else None
    return Tried(name, k, n, confidence_sequence(k, n), score)


def _values(rule: Rule, side: Sequence[Result]) -> list[float]:
    return [float(r.success) if rule.by == "success" else r.score for r in side]


def _against_goal(
    rule: Rule, arms: tuple[Tried, ...], values: Sequence[float], goal: float
) -> Decision:
    found = follow_mean(values, goal, rule.most, rule.alpha)
    mean = sum(values) / len(values) if values else None
    ci = _at_all_times(rule, values, found.n)
    return Decision(rule, arms, found.state, mean, ci, None, None, found.n)


def _at_all_times(rule: Rule, values: Sequence[float], decided: int) -> Interval:
    """What all intervals up to now leave, the one of the decision among them.

    The sequence covers at all times at once, and so does what its intervals have in common.
    """
    times = sorted({*range(rule.block, len(values) + 1, rule.block), decided, len(values)} - {0})
    found = [mean_sequence(values[:time], rule.alpha) for time in times] or [(0.0, 1.0)]
    return max(low for low, _ in found), min(high for _, high in found)


def _against_each_other(
    rule: Rule, arms: tuple[Tried, ...], sides: Sequence[Sequence[Result]]
) -> Decision:
    pairs = list(zip(*(_values(rule, side) for side in sides), strict=True))
    if rule.by == "success":
        wins = [(first > 0, second > 0) for first, second in pairs]
        binary = follow_pairs(wins, rule.most, rule.alpha)
        at, state, e, p = binary.pairs, binary.state, binary.e, binary.p
    else:
        scores = follow_scores(pairs, rule.most, rule.alpha)
        at, state, e, p = scores.pairs, scores.state, scores.e, scores.p
    difference = sum(a - b for a, b in pairs) / len(pairs) if pairs else None
    ci = difference_sequence(pairs, rule.alpha)
    return Decision(rule, arms, state, difference, ci, e, p, at)
