"""Two sets of trials compared by a declared method, in four states.

The method follows from the design: paired where conditions are shared, else unpaired. "better"
and "worse" need both the interval and the exact test; what is neither, nor shown equivalent, is
"cannot tell".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from scipy import special

from simreal.core.errors import UsageError
from simreal.verdicts.exact import boschloo, holm, mcnemar, mcnemar_mid_p
from simreal.verdicts.intervals import newcombe, tango
from simreal.verdicts.pairing import Match, Outcomes, match
from simreal.verdicts.planning import ALPHA, smallest_detectable, smallest_detectable_paired
from simreal.verdicts.rates import FEW_TRIALS, Interval, Rate

State = Literal["better", "worse", "equivalent", "cannot tell"]
STATES: tuple[State, ...] = ("better", "worse", "equivalent", "cannot tell")
#: Differences smaller than this (a fraction) count as none, unless the plan declares another.
MARGIN = 0.05
#: With more unpaired trials the score test stands in: Boschloo's would take minutes.
LARGEST_EXACT = 10_000


@dataclass(frozen=True)
class Comparison:
    """What a set of trials `a` shows against a set `b`; `difference` is a's rate minus b's.

    p is two-sided; mid_p stands beside it where pairs are compared. smallest_detectable: the
    smallest true difference this many trials see with 80 % power, None where none. margin: what
    "equivalent" means. excluded: conditions on one side only. missing: lost trials.
    discordant: pairs won by a only and by b only, None where unpaired.
    """

    a: Rate
    b: Rate
    paired: bool
    difference: float | None
    ci: Interval
    p: float | None
    method: str
    state: State
    smallest_detectable: float | None
    margin: float = MARGIN
    mid_p: float | None = None
    discordant: tuple[float, float] | None = None
    excluded: tuple[str, ...] = ()
    missing: int = 0

    def to_json(self) -> dict[str, Any]:
        """The object printed by `simreal compare --json`; fractions of 1."""
        return {
            "a": self.a.to_json(),
            "b": self.b.to_json(),
            "paired": self.paired,
            "difference": self.difference,
            "ci": list(self.ci),
            "p": self.p,
            "method": self.method,
            "state": self.state,
            "smallest_detectable": self.smallest_detectable,
        }


@dataclass(frozen=True)
class Estimate:
    """Difference of two rates with interval and p value, before any verdict."""

    difference: float | None
    ci: Interval
    p: float | None
    mid_p: float | None = None


def _score_p(statistic: float) -> float:
    return float(2 * special.ndtr(-abs(statistic)))


def _paired_estimate(observed: Match, confidence: float, test: bool) -> Estimate:
    n = observed.a.effective_n
    if n == 0:
        return Estimate(None, (-1.0, 1.0), None)
    b, c = observed.discordant()
    ci = tango(b, c, n, confidence)
    if not test:
        return Estimate((b - c) / n, ci, None)
    if observed.repeated:
        p = _score_p((b - c) / math.sqrt(b + c)) if b + c else 1.0
        return Estimate((b - c) / n, ci, p)
    wins, losses = round(b), round(c)
    return Estimate((b - c) / n, ci, mcnemar(wins, losses), mcnemar_mid_p(wins, losses))


def _unpaired_estimate(observed: Match, confidence: float, test: bool) -> Estimate:
    k1, n1 = observed.a.effective_k, observed.a.effective_n
    k2, n2 = observed.b.effective_k, observed.b.effective_n
    if n1 == 0 or n2 == 0:
        return Estimate(None, (-1.0, 1.0), None)
    difference = k1 / n1 - k2 / n2
    ci = newcombe(k1, n1, k2, n2, confidence)
    if not test:
        return Estimate(difference, ci, None)
    if _exact(observed):
        return Estimate(difference, ci, boschloo(round(k1), n1, round(k2), n2))
    return Estimate(difference, ci, score_p(k1, n1, k2, n2))


def score_p(k1: float, n1: float, k2: float, n2: float) -> float:
    """Two-sided p value of the score test of two independent rates; n1, n2 > 0."""
    pooled = (k1 + k2) / (n1 + n2)
    error = math.sqrt(pooled * (1 - pooled) * (1 / n1 + 1 / n2))
    return _score_p((k1 / n1 - k2 / n2) / error) if error else 1.0


def _exact(found: Match) -> bool:
    """Whether the exact test is feasible and means anything; this never depends on an outcome."""
    few = found.paired or found.a.effective_n + found.b.effective_n <= LARGEST_EXACT
    return few and not found.repeated


def _plain_estimate(found: Match, confidence: float, test: bool) -> Estimate:
    observed = found.observed()
    if observed.paired:
        return _paired_estimate(observed, confidence, test)
    return _unpaired_estimate(observed, confidence, test)


def estimate(found: Match, confidence: float = 1 - ALPHA, test: bool = True) -> Estimate:
    """The difference with its interval; lost trials widen it to the union of what they allow.

    test=False leaves the p value out (the exact tests are the slow part).
    """
    seen = _plain_estimate(found, confidence, test)
    if not found.missing or seen.difference is None:
        return seen
    fills = [
        _plain_estimate(
            replace(found, a=found.a.filled(up), b=found.b.filled(not up)), confidence, test
        )
        for up in (False, True)
    ]
    lower = min(seen.ci[0], *(fill.ci[0] for fill in fills))
    upper = max(seen.ci[1], *(fill.ci[1] for fill in fills))
    if seen.p is None:
        return Estimate(seen.difference, (lower, upper), None)
    worst, best = (fill.difference or 0.0 for fill in fills)
    p = 1.0 if worst <= 0 <= best else max(seen.p, *(fill.p or 0.0 for fill in fills))
    return Estimate(seen.difference, (lower, upper), p)


def method_name(found: Match, test: bool = True) -> str:
    """The declared method of a match in words; `test=False` names the interval alone."""
    interval = "Tango score interval" if found.paired else "Newcombe interval"
    exact = "exact McNemar test" if found.paired else "Boschloo's exact test"
    parts = [interval]
    if test:
        parts.append(exact if _exact(found) else "score test")
    if found.repeated:
        parts.append("repeats of a condition counted once")
    if found.missing:
        missing = "trial" if found.missing == 1 else "trials"
        parts.append(f"union over {found.missing} missing {missing}")
    if found.excluded:
        conditions = "condition" if len(found.excluded) == 1 else "conditions"
        parts.append(f"{len(found.excluded)} {conditions} of one side alone left out")
    return ("paired: " if found.paired else "unpaired: ") + ", ".join(parts)


def decide(
    ci: Interval, p: float | None, margin: float, enough: bool, alpha: float = ALPHA
) -> State:
    """The four-state verdict.

    better/worse: the interval leaves out 0 and p <= alpha; equivalent: the interval lies within
    ±margin; all else, and fewer than 5 trials a side: cannot tell.
    """
    if not enough or p is None:
        return "cannot tell"
    if p <= alpha and ci[0] > 0:
        return "better"
    if p <= alpha and ci[1] < 0:
        return "worse"
    return "equivalent" if -margin < ci[0] and ci[1] < margin else "cannot tell"


def check_margin(margin: float) -> None:
    """Refuse a margin outside (0, 1)."""
    if not 0 < margin < 1:
        raise UsageError(f"A margin is a fraction between 0 and 1 (5 points = 0.05); got {margin}.")


def enough_trials(found: Match) -> bool:
    """Whether both sides (or the pairs) reach the 5 trials a verdict needs."""
    observed = found.observed()
    return min(observed.a.effective_n, observed.b.effective_n) >= FEW_TRIALS


def _detectable(found: Match, alpha: float) -> float | None:
    observed = found.observed()
    n1, n2 = observed.a.effective_n, observed.b.effective_n
    if min(n1, n2) == 0:
        return None
    if found.paired:
        discordance = (sum(observed.discordant()) + 1) / (n1 + 2)
        return smallest_detectable_paired(n1, discordance, alpha=alpha)
    pooled = (observed.a.effective_k + observed.b.effective_k + 1) / (n1 + n2 + 2)
    return smallest_detectable(pooled, n1, n2, alpha=alpha)


def compare(
    a: Outcomes,
    b: Outcomes,
    margin: float = MARGIN,
    alpha: float = ALPHA,
    paired: bool | None = None,
) -> Comparison:
    """Compare trials `a` with trials `b`, each keyed by condition (see `pairing`)."""
    check_margin(margin)
    found = match(a, b, paired)
    result = estimate(found, 1 - alpha)
    return Comparison(
        a=found.a.rate(1 - alpha),
        b=found.b.rate(1 - alpha),
        paired=found.paired,
        difference=result.difference,
        ci=result.ci,
        p=result.p,
        method=method_name(found),
        state=decide(result.ci, result.p, margin, enough_trials(found), alpha),
        smallest_detectable=_detectable(found, alpha),
        margin=margin,
        mid_p=result.mid_p,
        discordant=found.observed().discordant() if found.paired else None,
        excluded=tuple(str(key) for key in found.excluded),
        missing=found.missing,
    )


def within_family(
    comparisons: Sequence[Comparison], alpha: float = ALPHA
) -> tuple[Comparison, ...]:
    """The comparisons of one declared family with Holm's correction applied to p and state.

    Intervals stay as they are (each covers on its own); "better" and "worse" need the adjusted p.
    """
    adjusted = holm([1.0 if c.p is None else c.p for c in comparisons])
    result = []
    for comparison, p in zip(comparisons, adjusted, strict=True):
        state = comparison.state
        if state in ("better", "worse") and p > alpha:
            state = decide(comparison.ci, p, comparison.margin, True, alpha)
        method = f"{comparison.method}; Holm over {len(comparisons)}"
        p_shown = None if comparison.p is None else p
        result.append(replace(comparison, p=p_shown, state=state, method=method))
    return tuple(result)
