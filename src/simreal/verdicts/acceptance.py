"""One task of high value: what an arm has shown, one-sided, and how many trials a goal takes.

"At least 95 % with 95 % confidence needs 59 trials without a failure; you have 41." The bound is
Clopper and Pearson's (1934), whose error never exceeds what is printed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scipy import special

from simreal.core.errors import UsageError
from simreal.verdicts.evidence import Evidence
from simreal.verdicts.keys import sample_of
from simreal.verdicts.rates import CONFIDENCE, check_confidence, clopper_pearson
from simreal.verdicts.records import TrialRow

#: What is asked for where nobody said.
GOAL = 0.95


def trials_needed(goal: float, failures: int = 0, confidence: float = CONFIDENCE) -> int:
    """Trials that show at least `goal` with so many failures among them.

    .95 with 0, 1, 2, 3 failures: 59, 93, 124, 153.
    """
    check_confidence(confidence)
    if not 0 < goal < 1:
        raise UsageError(f"The rate to show must lie strictly between 0 and 1; got {goal}.")
    if failures < 0:
        raise UsageError(f"The number of failures cannot be negative; got {failures}.")

    def shown(n: int) -> bool:
        return float(special.bdtr(failures, n, 1 - goal)) <= 1 - confidence + 1e-12

    low, high = failures, failures + 1
    while not shown(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if shown(middle) else (middle, high)
    return high


@dataclass(frozen=True)
class Acceptance:
    """What one arm has shown on one target against `goal`.

    lower: the rate that is shown, one-sided. trials_needed: in all, at the failures so far; lost
    trials count as failures. upper: the rate that it does not exceed, one-sided.
    """

    arm: str
    target: str
    k: int
    n: int
    lower: float
    upper: float
    goal: float
    failures: int
    trials_needed: int
    label: str = ""

    @property
    def shown(self) -> bool:
        """Whether the goal is shown to be reached."""
        return self.lower >= self.goal

    @property
    def sentence(self) -> str:
        """The statement in words, counts included."""
        on = f"on {self.target}" + (f", {self.label}" if self.label else "")
        has = f"{self.arm} has {self.k} of {self.n} {on}"
        least = f"at least {_floor(self.lower)} %"
        if self.shown:
            return f"At least {100 * self.goal:g} % is shown with 95 % confidence: {has} ({least})."
        allowed = "without a failure" if self.failures == 0 else f"with {_failures(self.failures)}"
        text = (
            f"At least {100 * self.goal:g} % with 95 % confidence needs {self.trials_needed:,} "
            f"trials {allowed}; {has}, which shows {least}"
        )
        if self.upper < self.goal:
            text += f" and, with 95 % confidence, at most {_ceil(self.upper)} %"
        return f"{text}."

    def to_json(self) -> dict[str, Any]:
        """The entry of summary.json's `acceptance`; fractions of 1."""
        return {
            "arm": self.arm,
            "target": self.target,
            "k": self.k,
            "n": self.n,
            "lower": self.lower,
            "goal": self.goal,
            "trials_needed": self.trials_needed,
            "shown": self.shown,
            "sentence": self.sentence,
        }


def _failures(count: int) -> str:
    return "1 failure" if count == 1 else f"{count} failures"


def _floor(rate: float) -> str:
    return f"{math.floor(1000 * rate + 1e-9) / 10:g}"


def _ceil(rate: float) -> str:
    return f"{math.ceil(1000 * rate - 1e-9) / 10:g}"


def accept(
    rows: Sequence[TrialRow], arm: str, target: str, goal: float = GOAL, label: str = ""
) -> Acceptance:
    """The one-sided statement of some trials of one arm on one target.

    A lost trial counts as a failure, repeats of a condition count once.
    """
    sample = sample_of(rows)
    seen = [t for t in sample.tallies if t.n]
    k, n = sample.effective_k, sample.effective_n + sample.missing
    failures = math.ceil(n - k - 1e-9)
    return Acceptance(
        arm=arm,
        target=target,
        k=sum(t.k for t in seen),
        n=sum(t.n for t in seen),
        lower=clopper_pearson(k, n, side="lower")[0],
        upper=clopper_pearson(k + sample.missing, n, side="upper")[1],
        goal=goal,
        failures=failures,
        trials_needed=trials_needed(goal, failures),
        label=label,
    )


def acceptance_of(
    evidence: Evidence, goal: float | None = None, labels: Mapping[str, str] | None = None
) -> tuple[Acceptance, ...]:
    """Every arm on every target it was tried on; goal: 95 % where None, labels: target -> label."""
    wanted = GOAL if goal is None else goal
    known = labels or {}
    return tuple(
        accept(rows, arm.name, target, wanted, known.get(target, ""))
        for arm in evidence.arms
        for target, rows in evidence.on_targets(arm.name).items()
    )
