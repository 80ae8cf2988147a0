"""The transfer gap: success in simulation minus success on the target, same checkpoint.

Points are fractions of 1; positive means that simulation promises more than the target keeps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from simreal.core.errors import UsageError
from simreal.verdicts.compare import MARGIN, State, check_margin, compare, decide, estimate
from simreal.verdicts.intervals import koopman, weighted_sum
from simreal.verdicts.pairing import Match, Outcomes, Sample, match
from simreal.verdicts.planning import ALPHA
from simreal.verdicts.rates import CONFIDENCE, FEW_TRIALS, Interval, Rate, wilson

#: A relative drop is refused where the simulated rate may be lower than this.
LOWEST_SIM_RATE = 0.2


@dataclass(frozen=True)
class RelativeDrop:
    """1 - real / sim, with Koopman's interval."""

    value: float
    ci: Interval


@dataclass(frozen=True)
class Gap:
    """Simulation against the target.

    `state` reads the simulation as a and the target as b: "better" is a gap, "equivalent" none
    within the margin, "worse" a target that is easier.
    """

    sim: Rate
    real: Rate
    paired: bool
    points: float | None
    ci: Interval
    method: str
    relative_drop: RelativeDrop | None
    state: State
    p: float | None = None
    smallest_detectable: float | None = None
    margin: float = MARGIN
    excluded: tuple[str, ...] = ()
    missing: int = 0

    def to_json(self) -> dict[str, Any]:
        """The object printed by `simreal gap --json`; fractions of 1."""
        drop = self.relative_drop
        return {
            "sim": self.sim.to_json(),
            "real": self.real.to_json(),
            "paired": self.paired,
            "points": self.points,
            "ci": list(self.ci),
            "method": self.method,
            "relative_drop": {"value": drop.value, "ci": list(drop.ci)} if drop else None,
            "state": self.state,
        }


def relative_drop(
    k_sim: float, n_sim: float, k_real: float, n_real: float, confidence: float = CONFIDENCE
) -> RelativeDrop | None:
    """1 - p_real / p_sim with Koopman's interval; None where p_sim may be under .2 (or no data).

    Dividing by a rate that may be near 0 says nothing: the drop in points still does.
    """
    if n_sim == 0 or n_real == 0 or wilson(k_sim, n_sim, confidence)[0] < LOWEST_SIM_RATE:
        return None
    lower, upper = koopman(k_real, n_real, k_sim, n_sim, confidence)
    return RelativeDrop(1 - (k_real / n_real) / (k_sim / n_sim), (1 - upper, 1 - lower))


def gap(
    sim: Outcomes,
    real: Outcomes,
    margin: float = MARGIN,
    alpha: float = ALPHA,
    paired: bool | None = None,
) -> Gap:
    """The transfer gap of one checkpoint; conditions that occur on both sides are pairs.

    Its relative drop counts repeats of a condition once and is refused where trials were lost.
    """
    result = compare(sim, real, margin, alpha, paired)
    found = match(sim, real, paired)
    counts = found.a.effective_k, found.a.effective_n, found.b.effective_k, found.b.effective_n
    return Gap(
        sim=result.a,
        real=result.b,
        paired=result.paired,
        points=result.difference,
        ci=result.ci,
        method=result.method,
        relative_drop=None if found.missing else relative_drop(*counts, 1 - alpha),
        state=result.state,
        p=result.p,
        smallest_detectable=result.smallest_detectable,
        margin=margin,
        excluded=result.excluded,
        missing=result.missing,
    )


def _check_weights(weights: Mapping[str, float], names: Sequence[str]) -> None:
    unknown = sorted(set(weights) - set(names))
    if unknown:
        raise UsageError(f"Weights name strata without trials on both sides: {unknown}.")
    if abs(sum(weights.values()) - 1) > 1e-9 or min(weights.values(), default=-1.0) < 0:
        raise UsageError(f"Declared weights must be >= 0 and sum to 1; got {dict(weights)}.")


def _pooled(samples: Sequence[Sample], alpha: float) -> Rate:
    return Sample(tuple(t for sample in samples for t in sample.tallies)).rate(1 - alpha)


def standardised_gap(
    sim: Mapping[str, Outcomes],
    real: Mapping[str, Outcomes],
    weights: Mapping[str, float],
    margin: float = MARGIN,
    alpha: float = ALPHA,
) -> Gap:
    """The gap with strata (suites, difficulties) weighted as declared, by MOVER over strata.

    Unequal mixes of easy and hard conditions make a gap out of nothing (Simpson's paradox).
    sim, real: stratum -> trials. Strata with no weight are listed as excluded.
    """
    check_margin(margin)
    _check_weights(weights, [name for name in sim if sim[name] and real.get(name)])
    matches: dict[str, Match] = {name: match(sim[name], real[name]) for name in weights}
    parts = {name: estimate(found, 1 - alpha, test=False) for name, found in matches.items()}
    empty = [name for name, part in parts.items() if part.difference is None]
    if empty:
        raise UsageError(f"Strata without an observed trial on both sides: {empty}.")
    points, ci = weighted_sum(
        [part.difference or 0.0 for part in parts.values()],
        [part.ci for part in parts.values()],
        [weights[name] for name in parts],
    )
    ci = (max(-1.0, ci[0]), min(1.0, ci[1]))
    rates = [_pooled([m.a for m in matches.values()], alpha)]
    rates.append(_pooled([m.b for m in matches.values()], alpha))
    enough = min(rate.n for rate in rates) >= FEW_TRIALS
    names = ", ".join(f"{name} {weights[name]:g}" for name in parts)
    return Gap(
        sim=rates[0],
        real=rates[1],
        paired=all(found.paired for found in matches.values()),
        points=points,
        ci=ci,
        method=f"standardised to weights {names}; MOVER over strata",
        relative_drop=None,
        state=decide(ci, 0.0, margin, enough, alpha),
        margin=margin,
        excluded=tuple(sorted((set(sim) | set(real)) - set(weights))),
        missing=sum(found.missing for found in matches.values()),
    )
