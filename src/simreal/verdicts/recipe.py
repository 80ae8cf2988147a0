"""Checkpoint or recipe? Training again gives another policy.

A comparison of checkpoints says nothing about the next training run. A claim about recipes needs
several training seeds an arm, and the spread between runs enters its interval.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from scipy import special

from simreal.core.errors import UsageError
from simreal.verdicts.compare import MARGIN, STATES, State, check_margin, compare, decide
from simreal.verdicts.evidence import DeclaredTest, Evidence
from simreal.verdicts.exact import holm
from simreal.verdicts.keys import outcomes
from simreal.verdicts.pairing import Outcome, Outcomes, tally
from simreal.verdicts.planning import ALPHA
from simreal.verdicts.rates import FEW_TRIALS, Interval, z_value

#: Training seeds an arm that a claim about a recipe needs.
LEAST_SEEDS = 2
#: Standard deviations of the success rate between training runs in published work.
PUBLISHED_SPREAD = (0.008, 0.114)


@dataclass(frozen=True)
class RecipeComparison:
    """Arm a against arm b as recipes. spread: standard deviation between runs of one arm.

    p: two-sided; at most alpha only where both the trials and the runs say so.
    """

    difference: float
    ci: Interval
    p: float | None
    spread: float
    seeds: tuple[int, int]
    state: State
    method: str


def seed_rates(seeds: Mapping[int, Outcomes]) -> dict[int, tuple[float, int]]:
    """Training seed -> (success rate, trials)."""
    found = {}
    for seed, trials in seeds.items():
        tallies = [tally(outcome) for outcome in trials.values()]
        n = sum(t.n for t in tallies)
        if n == 0:
            raise UsageError(f"Training seed {seed} has no observed trial.")
        found[seed] = sum(t.k for t in tallies) / n, n
    return found


def _scatter(*arms: Mapping[int, Outcomes]) -> tuple[float, float, int]:
    """Variance of the seeds' rates within arms, the part that trials explain, and its freedom."""
    total, noise, freedom = 0.0, 0.0, 0
    for arm in arms:
        rates = list(seed_rates(arm).values())
        mean = sum(rate for rate, _ in rates) / len(rates)
        total += sum((rate - mean) ** 2 for rate, _ in rates)
        explained = sum(rate * (1 - rate) / n for rate, n in rates) / len(rates)
        noise += (len(rates) - 1) * explained
        freedom += len(rates) - 1
    if freedom == 0:
        raise UsageError("The spread between runs needs an arm with 2 training seeds.")
    return total / freedom, noise / freedom, freedom


def run_spread(*arms: Mapping[int, Outcomes]) -> float:
    """Standard deviation of the true rate between training runs, pooled over arms.

    The variance of the seeds' rates less what trials alone explain; at least the smallest
    published spread (.008), because a few seeds cannot show that there is none.
    """
    total, noise, _ = _scatter(*arms)
    return max(PUBLISHED_SPREAD[0], math.sqrt(max(0.0, total - noise)))


def _pooled(seeds: Mapping[int, Outcomes]) -> dict[Hashable, Outcome]:
    """All trials of an arm, keyed by the place of the seed and the condition."""
    return {
        (place, condition): outcome
        for place, trials in enumerate(seeds.values())
        for condition, outcome in trials.items()
    }


def compare_recipes(
    a: Mapping[int, Outcomes],
    b: Mapping[int, Outcomes],
    margin: float = MARGIN,
    alpha: float = ALPHA,
    spread: float | None = None,
) -> RecipeComparison:
    """Compare two recipes, each as training seed -> trials; at least 2 seeds an arm.

    The interval is that of the pooled trials with twice the variance between runs added: what
    one more run of each would show. spread: its standard deviation; where None it is estimated,
    and the interval is never narrower than Student's t over the seeds' rates.
    """
    check_margin(margin)
    if min(len(a), len(b)) < LEAST_SEEDS:
        raise UsageError(
            f"A claim about a recipe needs {LEAST_SEEDS} training seeds an arm; got {len(a)} and "
            f"{len(b)}. With one seed only checkpoints can be compared."
        )
    base = compare(_pooled(a), _pooled(b), margin, alpha)
    if base.difference is None:
        raise UsageError("The two recipes were not tried on a common condition.")
    sigma = run_spread(a, b) if spread is None else spread
    runs = z_value(1 - alpha) * math.sqrt(2) * sigma
    least = _student(a, b, alpha) if spread is None else 0.0
    below = max(least, math.hypot(base.difference - base.ci[0], runs))
    above = max(least, math.hypot(base.ci[1] - base.difference, runs))
    ci = (max(-1.0, base.difference - below), min(1.0, base.difference + above))
    p = base.p
    if p is not None:
        towards_zero = below if base.difference > 0 else above
        p = max(p, _score_p(base.difference, towards_zero, alpha))
        p = max(p, 0.0 if spread is not None else _student_p(a, b, base.difference))
    enough = min(base.a.n, base.b.n) >= FEW_TRIALS
    source = "estimated" if spread is None else "declared"
    return RecipeComparison(
        difference=base.difference,
        ci=ci,
        p=p,
        spread=sigma,
        seeds=(len(a), len(b)),
        state=decide(ci, p, margin, enough, alpha),
        method=f"{base.method}; spread between runs {100 * sigma:.1f} points, {source}",
    )


def _score_p(difference: float, half_width: float, alpha: float) -> float:
    """p value of a normal estimate whose interval at `alpha` has this half-width towards 0."""
    return float(2 * special.ndtr(-abs(difference) * z_value(1 - alpha) / half_width))


def _student(a: Mapping[int, Outcomes], b: Mapping[int, Outcomes], alpha: float) -> float:
    """Half-width of the t interval for the difference of two means of seeds' rates."""
    variance, _, freedom = _scatter(a, b)
    quantile = float(special.stdtrit(freedom, 1 - alpha / 2))
    return quantile * math.sqrt(variance * (1 / len(a) + 1 / len(b)))


def _student_p(a: Mapping[int, Outcomes], b: Mapping[int, Outcomes], difference: float) -> float:
    """p value of the t test behind `_student`; 0 where the seeds do not scatter at all."""
    variance, _, freedom = _scatter(a, b)
    error = math.sqrt(variance * (1 / len(a) + 1 / len(b)))
    return float(2 * special.stdtr(freedom, -abs(difference) / error)) if error else 0.0


RecipeState = Literal[State, "not tested"]
RECIPE_STATES: tuple[RecipeState, ...] = (*STATES, "not tested")


@dataclass(frozen=True)
class RecipeVerdict:
    """The answer to one declared test, read as a claim about the recipes."""

    claim: str
    state: RecipeState
    estimate: float | None
    ci: Interval | None
    method: str

    def to_json(self) -> dict[str, Any]:
        """The entry of summary.json's `recipes`."""
        return {
            "claim": self.claim,
            "state": self.state,
            "estimate": self.estimate,
            "ci": None if self.ci is None else list(self.ci),
            "method": self.method,
        }


def recipes_of(evidence: Evidence, tests: Sequence[DeclaredTest]) -> tuple[RecipeVerdict, ...]:
    """All declared tests as claims about recipes, Holm over those that could be tested.

    One without two training seeds of each arm, or without trials, is "not tested" and says why.
    """
    sides = [_sides(evidence, test) for test in tests]
    found = [None if isinstance(s, str) else compare_recipes(*s, evidence.margin) for s in sides]
    tested = [one for one in found if one is not None]
    adjusted = iter(holm([1.0 if one.p is None else one.p for one in tested]))
    result = []
    for test, side, one in zip(tests, sides, found, strict=True):
        if one is None:
            why = f"not tested: {side}"
            result.append(RecipeVerdict(test.claim, "not tested", None, None, why))
            continue
        p, state = next(adjusted), one.state
        if state in ("better", "worse") and p > ALPHA:
            state = decide(one.ci, p, evidence.margin, True)
        method = f"{one.method}; {min(one.seeds)} or more training seeds an arm"
        targets = len(evidence.on_targets(test.arm, test.suite))
        method += f"; {targets} targets pooled: these targets only" if targets > 1 else ""
        method += f"; Holm over {len(tested)}"
        result.append(RecipeVerdict(test.claim, state, one.difference, one.ci, method))
    return tuple(result)


def _sides(
    evidence: Evidence, test: DeclaredTest
) -> tuple[Mapping[int, Outcomes], Mapping[int, Outcomes]] | str:
    """Both arms' trials by training seed on the targets they share; or why there is no test."""
    cells = [evidence.on_targets(arm, test.suite) for arm in (test.arm, test.against)]
    shared = [target for target in cells[0] if target in cells[1]]
    if not shared:
        return "no trials of both arms on a common target"
    sides: list[Mapping[int, Outcomes]] = []
    for name, by_target in zip((test.arm, test.against), cells, strict=True):
        rows = [row for target in shared for row in by_target[target]]
        seen = [row for row in rows if row.success is not None]
        seeds = sorted({row.seed for row in seen if row.seed is not None})
        if len(seeds) < LEAST_SEEDS:
            return f"one training seed of {name}; a claim about a recipe needs {LEAST_SEEDS}"
        sides.append(
            {
                seed: outcomes([r for r in rows if r.seed == seed], ("target", "condition"))
                for seed in seeds
            }
        )
    return sides[0], sides[1]
