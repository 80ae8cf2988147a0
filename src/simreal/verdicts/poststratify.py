"""Few real and many simulated trials: how much the second can say about the first.

Real trials are sorted by what the simulation predicts for the same condition; the simulation,
run on many more conditions, says how frequent each kind is. Sources: Zou and Donner (2008) for
MOVER; Angelopoulos, Duchi and Zrnic (2023) for PPI++.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from simreal.core.errors import UsageError
from simreal.verdicts.rates import CONFIDENCE, Interval, check_counts, wilson, z_value

#: PPI++ is an asymptotic figure: refused with fewer real trials than this ...
PPI_LEAST_TRIALS = 50
#: ... or with fewer than this in any margin of the table.
PPI_LEAST_MARGIN = 5


@dataclass(frozen=True)
class Paired:
    """Conditions tried both in reality and in simulation, by who succeeded."""

    both: int
    real_only: int
    sim_only: int
    neither: int

    def __post_init__(self) -> None:
        counts = (self.both, self.real_only, self.sim_only, self.neither)
        if min(counts) < 0:
            raise UsageError(f"Counts of trials cannot be negative; got {counts}.")

    @property
    def n(self) -> int:
        """Real trials."""
        return self.both + self.real_only + self.sim_only + self.neither


@dataclass(frozen=True)
class Estimate:
    """An estimate of the real success rate with its interval."""

    rate: float
    ci: Interval
    method: str


def _stratum(k: int, n: int, confidence: float) -> tuple[float, Interval]:
    """Rate and Wilson limits; an empty stratum is 1/2 and may be anything."""
    return (k / n, wilson(k, n, confidence)) if n else (0.5, (0.0, 1.0))


def poststratified(
    real: Paired, sim_k: int, sim_n: int, confidence: float = CONFIDENCE
) -> Estimate:
    """The real rate θ = w a + (1 - w) b with its MOVER interval.

    a, b: real success where simulation succeeds, fails. w: simulated success rate on all
    conditions, sim_k of sim_n. 24, 4, 6, 6 and 280/400 give .6800 (.5391, .7945).
    """
    check_counts(sim_k, sim_n)
    a, (a_low, a_high) = _stratum(real.both, real.both + real.sim_only, confidence)
    b, (b_low, b_high) = _stratum(real.real_only, real.real_only + real.neither, confidence)
    w, (w_low, w_high) = _stratum(sim_k, sim_n, confidence)
    if a < b:
        w_low, w_high = w_high, w_low
    rate = w * a + (1 - w) * b
    method = "MOVER, post-stratified"
    if real.n == 0:
        return Estimate(rate, (0.0, 1.0), method)
    below = math.hypot(w * (a - a_low), (1 - w) * (b - b_low), (a - b) * (w - w_low))
    above = math.hypot(w * (a_high - a), (1 - w) * (b_high - b), (a - b) * (w_high - w))
    return Estimate(rate, (max(0.0, rate - below), min(1.0, rate + above)), method)


@dataclass(frozen=True)
class Ppi:
    """A PPI++ figure: its weight on the simulation, the estimate and a Wald interval."""

    weight: float
    rate: float
    ci: Interval


def ppi_figure(real: Paired, sim_k: int, sim_n: int, confidence: float = CONFIDENCE) -> Ppi:
    """PPI++ with the weight that minimizes the variance; no guard (see `ppi`)."""
    check_counts(sim_k, sim_n)
    n = real.n
    if n < 2 or sim_n < 1:
        raise UsageError("PPI++ needs at least 2 real and 1 simulated trials.")
    y, f = (real.both + real.real_only) / n, (real.both + real.sim_only) / n
    extra, total = sim_k / sim_n, n + sim_n
    pooled = (f * n + sim_k) / total
    spread = pooled * (1 - pooled) * total / (total - 1)
    covariance = real.both / n - y * f
    weight = covariance / ((1 + n / sim_n) * spread) if spread else 0.0
    rate = y + weight * (extra - f)
    residual = y * (1 - y) - 2 * weight * covariance + weight**2 * f * (1 - f)
    error = math.sqrt(residual / n + weight**2 * extra * (1 - extra) / sim_n)
    half = z_value(confidence) * error
    return Ppi(weight, rate, (rate - half, rate + half))


def ppi(real: Paired, sim_k: int, sim_n: int, confidence: float = CONFIDENCE) -> Ppi | None:
    """PPI++ where its large-sample reasoning may hold; None with too few trials in any margin.

    Its interval covers only 53 to 91 % of the time at n = 20, and has no width at 20 of 20.
    """
    successes = (real.both + real.real_only, real.both + real.sim_only)
    margins = [m for k in successes for m in (k, real.n - k)]
    if real.n < PPI_LEAST_TRIALS or min(margins) < PPI_LEAST_MARGIN:
        return None
    return ppi_figure(real, sim_k, sim_n, confidence)


def largest_saving(p_real: float, p_sim: float) -> float:
    """The largest share of real trials that a binary simulator can save: φ_max squared.

    Two success indicators with different rates cannot agree fully; φ_max is the highest
    correlation they can have.
    """
    if not (0 < p_real < 1 and 0 < p_sim < 1):
        raise UsageError(f"Rates must lie strictly between 0 and 1; got {p_real} and {p_sim}.")
    low, high = sorted((p_real, p_sim))
    return low * (1 - high) / (high * (1 - low))
