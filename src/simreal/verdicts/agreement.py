"""Does a simulator rank policies as reality does? MMRV, Pearson and Spearman over policies.

Three kinds of doubt are kept apart. The noise of each rate: all rates drawn anew from their
Jeffreys posteriors. Other policies than these: Fisher's intervals of the correlations. Chance: how
often a random assignment of simulated rates to policies agrees as well.

Sources: Li et al. (2024, SIMPLER) for the mean maximum rank violation; Fisher (1921) and Bonett
and Wright (2000) for the intervals of the correlations.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from simreal.core.errors import UsageError
from simreal.core.seeds import generator
from simreal.verdicts.numerics import Array
from simreal.verdicts.planning import ALPHA
from simreal.verdicts.rates import CONFIDENCE, Interval, check_counts, wilson, z_value

#: With fewer policies a correlation says nothing.
LEAST_POLICIES = 4
#: Up to so many policies every assignment is tried, beyond it a sample of them.
EXACT_POLICIES = 7
_ASSIGNMENTS, _DRAWS = 10_000, 4_000
#: Pairs of policies held in memory at a time.
_PAIRS = 2**18

AgreementState = Literal["agrees", "disagrees", "cannot tell"]
AGREEMENT_STATES: tuple[AgreementState, ...] = ("agrees", "disagrees", "cannot tell")


def _rates(real: Sequence[float], sim: Sequence[float]) -> tuple[Array, Array]:
    first, second = np.asarray(real, dtype=float), np.asarray(sim, dtype=float)
    if first.shape != second.shape or first.ndim != 1 or len(first) < 2:
        raise UsageError(
            f"Real and simulated rates must be of the same 2 or more policies; got {len(first)} "
            f"and {len(second)}."
        )
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise UsageError("Rates must be finite numbers.")
    return first, second


def _violation(r: Array, s: Array) -> Array:
    """MMRV of rates shaped (..., policies)."""
    if r.ndim > 1:  # Slice by slice: all pairs of all draws at once would fill the memory.
        size = max(1, _PAIRS // r.shape[-1] ** 2)
        parts = range(0, len(r), size)
        return np.concatenate([_pairs_violated(r[i : i + size], s[i : i + size]) for i in parts])
    return _pairs_violated(r, s)


def _pairs_violated(r: Array, s: Array) -> Array:
    gap = r[..., :, None] - r[..., None, :]
    violated = (s[..., :, None] > s[..., None, :]) != (gap > 0)
    return np.asarray((np.abs(gap) * violated).max(axis=-1).mean(axis=-1))


def _correlation(r: Array, s: Array) -> Array:
    """Pearson of rates shaped (..., policies); NaN where either side is constant."""
    r, s = r - r.mean(axis=-1, keepdims=True), s - s.mean(axis=-1, keepdims=True)
    scale = np.sqrt((r * r).sum(axis=-1) * (s * s).sum(axis=-1))
    flat = scale < 1e-15
    value = (r * s).sum(axis=-1) / np.where(flat, 1.0, scale)
    return np.where(flat, np.nan, np.clip(value, -1.0, 1.0))


def _ranks(values: Array) -> Array:
    """Ranks from 1 along the last axis, ties share their mean."""
    less = (values[..., None, :] < values[..., :, None]).sum(axis=-1)
    equal = (values[..., None, :] == values[..., :, None]).sum(axis=-1)
    return np.asarray(less + (equal + 1) / 2, dtype=float)


def _rank_correlation(r: Array, s: Array) -> Array:
    return _correlation(_ranks(r), _ranks(s))


def mmrv(real: Sequence[float], sim: Sequence[float]) -> float:
    """Mean maximum rank violation; 0 is perfect. Not symmetric: real rates come first.

    For each policy the largest real difference to another that simulation orders the other way.
    """
    return float(_violation(*_rates(real, sim)))


def pearson(real: Sequence[float], sim: Sequence[float]) -> float | None:
    """Linear correlation; None where either side is constant."""
    value = float(_correlation(*_rates(real, sim)))
    return None if math.isnan(value) else value


def spearman(real: Sequence[float], sim: Sequence[float]) -> float | None:
    """Rank correlation, ties by mean ranks; None where either side is constant."""
    value = float(_rank_correlation(*_rates(real, sim)))
    return None if math.isnan(value) else value


@dataclass(frozen=True)
class Measured:
    """One policy's rate on one side; counts are None where only the rate was written down.

    effective: counts with repeats of a condition counted once, for the noise; the raw ones if None.
    """

    rate: float
    k: int | None = None
    n: int | None = None
    effective: tuple[float, float] | None = None

    @classmethod
    def of(cls, k: int, n: int) -> Measured:
        """k successes in n trials, n > 0."""
        check_counts(k, n)
        if n == 0:
            raise UsageError("A policy without trials has no rate.")
        return cls(k / n, k, n)

    def drawn(self, random: np.random.Generator) -> Array:
        """Draws of the true rate from its Jeffreys posterior."""
        assert self.k is not None
        assert self.n is not None
        k, n = self.effective or (self.k, self.n)
        return random.beta(k + 0.5, n - k + 0.5, _DRAWS)

    def to_json(self) -> dict[str, Any]:
        """`{k, n, rate, ci}`; counts and interval null where unknown."""
        known = self.k is not None and self.n is not None
        ci = list(wilson(*(self.effective or (self.k or 0, self.n or 0)))) if known else None
        return {"k": self.k, "n": self.n, "rate": self.rate, "ci": ci}


@dataclass(frozen=True)
class Statistic:
    """One measure of agreement.

    ci: what the noise of the trials leaves of it for these policies, None without counts.
    ci_policies: of a correlation over policies like these, None for MMRV and at -1 and 1, where
    Fisher's interval has no width. p: the share of random
    assignments that agree at least as well.
    """

    value: float
    ci: Interval | None
    p: float
    ci_policies: Interval | None = None

    def to_json(self) -> dict[str, Any]:
        """`{value, ci, ci_policies, p}`."""
        ends = [None if ci is None else list(ci) for ci in (self.ci, self.ci_policies)]
        return {"value": self.value, "ci": ends[0], "ci_policies": ends[1], "p": self.p}


@dataclass(frozen=True)
class Agreement:
    """How simulation rates policies against reality. Correlations are None where one side is flat.

    state: "agrees" where Pearson's correlation is above 0 further than chance explains (5 %, by
    permutation), "disagrees" where it is below.
    """

    policies: Mapping[str, tuple[Measured, Measured]]
    mmrv: Statistic
    pearson: Statistic | None
    spearman: Statistic | None
    state: AgreementState
    method: str

    def to_json(self) -> dict[str, Any]:
        """The object printed by `simreal validate --json`; fractions of 1."""
        return {
            "policies": [
                {"arm": name, "sim": sim.to_json(), "real": real.to_json()}
                for name, (sim, real) in self.policies.items()
            ],
            "mmrv": self.mmrv.to_json(),
            "pearson": self.pearson.to_json() if self.pearson else None,
            "spearman": self.spearman.to_json() if self.spearman else None,
            "state": self.state,
            "method": self.method,
        }


def _assignments(n: int) -> tuple[Array, str]:
    """Orders of n policies, shape (P, n), the identity first, and how they were found."""
    if n <= EXACT_POLICIES:
        orders = np.array(list(itertools.permutations(range(n))))
        return orders, f"all {len(orders):,} assignments"
    random = generator(0, "agreement/assignments", n)
    drawn = np.argsort(random.random((_ASSIGNMENTS - 1, n)), axis=1)
    return np.vstack([np.arange(n), drawn]), f"{_ASSIGNMENTS:,} random assignments"


def _noise(policies: Sequence[tuple[Measured, Measured]]) -> tuple[Array, Array] | None:
    """Draws of all (real, simulated) rates, each (draws, policies); None without counts."""
    if any(m.k is None for pair in policies for m in pair):
        return None
    random = generator(0, "agreement/noise", len(policies))
    sim = np.column_stack([s.drawn(random) for s, _ in policies])
    return np.column_stack([r.drawn(random) for _, r in policies]), sim


def _spread(
    function: Callable[[Array, Array], Array],
    value: float,
    drawn: tuple[Array, Array] | None,
    confidence: float,
) -> Interval | None:
    """Percentiles of the draws, stretched to hold the value (MMRV grows with noise)."""
    if drawn is None:
        return None
    tail = (1 - confidence) / 2
    low, high = np.quantile(function(*drawn), [tail, 1 - tail])
    return min(float(low), value), max(float(high), value)


def _fisher(value: float, variance: float, confidence: float) -> Interval | None:
    """Fisher's interval of a correlation; None at -1 and 1, where it would have no width."""
    if abs(value) > 1 - 1e-12:
        return None
    centre = math.atanh(value)
    half = z_value(confidence) * math.sqrt(variance)
    return math.tanh(centre - half), math.tanh(centre + half)


def agreement(
    real: Mapping[str, Measured], sim: Mapping[str, Measured], confidence: float = CONFIDENCE
) -> Agreement:
    """MMRV and correlations over the policies that both sides tried; at least 4 are needed."""
    names = tuple(name for name in real if name in sim)
    if len(names) < LEAST_POLICIES:
        raise UsageError(
            f"Agreement needs at least {LEAST_POLICIES} policies tried on both sides; got "
            f"{len(names)}{': ' + ', '.join(names) if names else ''}."
        )
    both = {name: (sim[name], real[name]) for name in names}
    r, s = _rates([real[name].rate for name in names], [sim[name].rate for name in names])
    orders, how = _assignments(len(names))
    drawn, freedom = _noise(list(both.values())), len(names) - 3

    def statistic(
        function: Callable[[Array, Array], Array], variance: Callable[[float], float] | None
    ) -> Statistic | None:
        value = float(function(r, s))
        if math.isnan(value):
            return None
        # Small violations and large correlations agree.
        sign = 1.0 if variance else -1.0
        others = sign * function(np.broadcast_to(r, orders.shape), s[orders])
        p = float(np.mean(others >= sign * value - 1e-12))
        over = _fisher(value, variance(value) / freedom, confidence) if variance else None
        return Statistic(value, _spread(function, value, drawn, confidence), p, over)

    violation, linear = statistic(_violation, None), statistic(_correlation, lambda v: 1.0)
    assert violation is not None
    rank = statistic(_rank_correlation, lambda v: 1 + v**2 / 2)
    state = _state(r, s, linear, orders)
    method = (
        f"intervals of the trials' noise: {_DRAWS:,} draws of all rates (Jeffreys); "
        if drawn
        else "not all counts are known, so no interval of the trials' noise; "
    )
    method += f"over policies: Fisher; p: {how} of simulated rates to policies"
    return Agreement(both, violation, linear, rank, state, method)


def _state(r: Array, s: Array, linear: Statistic | None, orders: Array) -> AgreementState:
    if linear is None:
        return "cannot tell"
    if linear.p <= ALPHA:
        return "agrees"
    others = _correlation(np.broadcast_to(r, orders.shape), s[orders])
    below = float(np.mean(others <= linear.value + 1e-12))
    return "disagrees" if below <= ALPHA else "cannot tell"
