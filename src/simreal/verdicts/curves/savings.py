"""How much real data simulation saves at a goal: S = 1 - N_hybrid / N_real, draw by draw."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from simreal.core.errors import UsageError
from simreal.verdicts.curves.models import Floats
from simreal.verdicts.curves.posterior import Posterior

SavingState = Literal["estimated", "not estimable"]
SAVING_STATES: tuple[SavingState, ...] = ("estimated", "not estimable")
#: A saving is estimated only where at least this share of draws reaches the goal on some road.
_SHARE = 0.5


@dataclass(frozen=True)
class Saving:
    """What `n_sim` simulated demonstrations save of the real ones that `goal` takes.

    p10, p50, p90: quantiles of the saved share over the draws in which a road reaches the goal;
    negative where simulation costs real data, minus infinity where only the real road reaches the
    goal or takes no data at all; None where it cannot be estimated. reach_real,
    reach_hybrid: probability that a road reaches the goal with at most `within` real
    demonstrations. ceiling: share of draws in which no amount of data reaches it.
    """

    goal: float
    n_sim: int
    state: SavingState
    p10: float | None
    p50: float | None
    p90: float | None
    reach_real: float
    reach_hybrid: float
    within: float
    ceiling: float

    @property
    def sentence(self) -> str:
        """The saving in words, percentages of real demonstrations."""
        place = f"At {self.goal:.0%} success and {self.n_sim:,} simulated demonstrations"
        above = f"the goal is not reachable in {self.ceiling:.0%} of draws"
        if self.p10 is None or self.p50 is None or self.p90 is None:
            return f"{place} the saving of real data is not estimable: {above}."
        low, middle, high = (_words(share) for share in (self.p10, self.p50, self.p90))
        band = f"({low} to {high}, 80 % of draws)"
        return f"{place} the saving of real data is {middle} {band}; {above}."

    def to_json(self) -> dict[str, Any]:
        """The `saving` of summary.json's `curves`; a quantile without a lower limit is null."""
        shares = {
            name: share if share is not None and math.isfinite(share) else None
            for name, share in (("p10", self.p10), ("p50", self.p50), ("p90", self.p90))
        }
        return {
            "goal": self.goal,
            "n_sim": self.n_sim,
            "state": self.state,
            **shares,
            "reach_real": self.reach_real,
            "reach_hybrid": self.reach_hybrid,
        }


def _words(share: float) -> str:
    return f"{share:.0%}" if math.isfinite(share) else "without lower limit"


def saved_shares(n_real: Floats, n_hybrid: Floats) -> Floats:
    """1 - N_hybrid / N_real, elementwise; NaN where neither road reaches the goal.

    1 where only the hybrid road does, minus infinity where only real data does, 0 where the goal
    takes no real demonstration anyway.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = 1 - n_hybrid / n_real
    shares = np.where(np.isinf(n_real), np.where(np.isinf(n_hybrid), math.nan, 1.0), shares)
    return np.where((n_real == 0) & (n_hybrid == 0), 0.0, shares)


def saving(posterior: Posterior, goal: float, n_sim: int, within: float = math.inf) -> Saving:
    """The saving at a goal rate beside `n_sim` simulated demonstrations, over all draws."""
    if n_sim <= 0:
        raise UsageError(f"A saving needs simulated demonstrations; got n_sim {n_sim}.")
    real = posterior.surfaces.needed(goal)
    hybrid = posterior.surfaces.needed(goal, n_sim)
    shares = saved_shares(real, hybrid)
    known = shares[~np.isnan(shares)]
    low = middle = high = None
    state: SavingState = "not estimable"
    if len(known) >= _SHARE * len(shares):
        low, middle, high = np.quantile(known, [0.1, 0.5, 0.9], method="inverted_cdf").tolist()
        state = "estimated"
    reach_real, reach_hybrid = (
        float(np.mean(np.isfinite(need) & (need <= within))) for need in (real, hybrid)
    )
    ceiling = 1 - len(known) / len(shares)
    return Saving(goal, n_sim, state, low, middle, high, reach_real, reach_hybrid, within, ceiling)
