"""The next increment: what to collect or try next, never more than 4 times what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from simreal.verdicts.cost import Arm
from simreal.verdicts.planning import trials_to_compare
from simreal.verdicts.rates import CONFIDENCE, Rate, clopper_pearson

#: No increment goes beyond this multiple of the largest measured number.
LARGEST_STEP = 4
#: A difference worth telling apart where nobody said another, as a fraction.
WORTH_TELLING = 0.10


@dataclass(frozen=True)
class Increment:
    """What to do next: demonstrations to have in total, trials to add, and why."""

    arm: str | None = None
    n_real: int = 0
    n_sim: int = 0
    trials: int = 0
    why: str = ""

    def to_json(self) -> dict[str, Any]:
        """A JSON value."""
        return {
            "arm": self.arm,
            "n_real": self.n_real,
            "n_sim": self.n_sim,
            "trials": self.trials,
            "why": self.why,
        }


def first_trials(arm: Arm) -> Increment:
    """The first trials of an arm that has none: enough to judge it at all."""
    why = f"Next: try {arm.name} on the target."
    return Increment(arm.name, arm.n_real, arm.n_sim, 50, why)


def more_data(arm: Arm, arms: Sequence[Arm]) -> Increment:
    """Twice the arm's data, real where it has any: the next point of its learning curve."""
    why = f"Next: train {arm.name} with twice the data and try it again."
    if arm.n_real:
        return Increment(arm.name, n_real=2 * arm.n_real, n_sim=arm.n_sim, trials=50, why=why)
    real = max((a.n_real for a in arms), default=0)
    if real:
        why = f"Next: add {real} real demonstrations to {arm.name} and try it again."
        return Increment(arm.name, n_real=real, n_sim=arm.n_sim, trials=50, why=why)
    return Increment(arm.name, n_sim=2 * arm.n_sim, trials=50, why=why)


def trials_needed(
    rate: float, target: float, most: int, confidence: float = CONFIDENCE
) -> int | None:
    """Trials at which `rate`, if it holds, is shown to reach `target`; None beyond `most`."""
    if rate <= target:
        return None
    for n in range(1, most + 1):
        if clopper_pearson(int(rate * n), n, confidence, "lower")[0] >= target:
            return n
    return None


def more_trials(arm: Arm, rate: Rate, target: float, arms: Sequence[Arm]) -> Increment:
    """More trials of an arm whose rate is high enough; more data for one whose rate is not."""
    needed = trials_needed(rate.rate or 0.0, target, LARGEST_STEP * rate.n)
    if needed is None or needed <= rate.n:
        return more_data(arm, arms)
    more = needed - rate.n
    why = f"If its rate holds, {more} more trials would show it."
    return Increment(arm.name, arm.n_real, arm.n_sim, more, why)


def trials_to_decide(first: Rate, second: Rate) -> Increment:
    """Trials that would tell two arms apart, should they differ as seen (or by 10 points)."""
    rates = sorted((first.rate or 0.0, second.rate or 0.0))
    if rates[1] - rates[0] < WORTH_TELLING:
        middle = min(1 - WORTH_TELLING / 2, max(WORTH_TELLING / 2, sum(rates) / 2))
        rates = [middle - WORTH_TELLING / 2, middle + WORTH_TELLING / 2]
    n = trials_to_compare(rates[0], rates[1])
    points = 100 * (rates[1] - rates[0])
    step = min(max(0, n - min(first.n, second.n)), LARGEST_STEP * max(first.n, second.n))
    why = (
        f"Telling apart {points:.0f} points ({100 * rates[0]:.0f} % and {100 * rates[1]:.0f} %) "
        f"takes about {n} trials an arm with 80 % power; there are {first.n} and {second.n}."
    )
    return Increment(trials=step, why=why)
