"""Checkpoint or recipe? Training again gives another policy.

A comparison of checkpoints says nothing about the next training run. A claim about recipes needs
several training seeds an arm, and the spread between runs enters its interval.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass

from scipy import special

from simreal.core.errors import UsageError
from simreal.verdicts.compare import MARGIN, State, check_margin, compare, decide
from simreal.verdicts.pairing import Outcome, Outcomes, tally
from simreal.verdicts.planning import ALPHA
from simreal.verdicts.rates import FEW_TRIALS, Interval, z_value

#: Training seeds an arm that a claim about a recipe needs.
LEAST_SEEDS = 2
#: Standard deviations of the success rate between training runs in published work.
PUBLISHED_SPREAD = (0.008, 0.114)


@dataclass(frozen=True)
class RecipeComparison:
    """Arm a against arm b as recipes. spread: standard deviation between runs of one arm."""

    difference: float
    ci: Interval
    spread: float
    seeds: tuple[int, int]
    state: State
    method: str


def seed_rates(seeds: Mapping[int, Outcomes]) -> dict[int, tuple[float, int]]:
    """Training seed -> (success rate, trials)."""
    found = {}
    for seed, outcomes in seeds.items():
        tallies = [tally(outcome) for outcome in outcomes.values()]
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
        for place, outcomes in enumerate(seeds.values())
        for condition, outcome in outcomes.items()
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
    enough = min(base.a.n, base.b.n) >= FEW_TRIALS
    source = "estimated" if spread is None else "declared"
    return RecipeComparison(
        difference=base.difference,
        ci=ci,
        spread=sigma,
        seeds=(len(a), len(b)),
        state=decide(ci, base.p, margin, enough, alpha),
        method=f"{base.method}; spread between runs {100 * sigma:.1f} points, {source}",
    )


def _student(a: Mapping[int, Outcomes], b: Mapping[int, Outcomes], alpha: float) -> float:
    """Half-width of the t interval for the difference of two means of seeds' rates."""
    variance, _, freedom = _scatter(a, b)
    quantile = float(special.stdtrit(freedom, 1 - alpha / 2))
    return quantile * math.sqrt(variance * (1 / len(a) + 1 / len(b)))
