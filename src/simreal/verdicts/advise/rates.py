"""What a step costs: one demonstration, one training, one trial, and building the simulator.

Measured where the ledger has it, else from the prices and the times that published collections
took; `sources` says which.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from simreal.core.errors import UsageError
from simreal.verdicts.cost.arms import building_band, price_of
from simreal.verdicts.cost.breakeven import demonstration_cost
from simreal.verdicts.cost.prices import Prices
from simreal.verdicts.cost.purposes import building_booked
from simreal.verdicts.cost.speeds import FALLBACK
from simreal.verdicts.cost.usage import Usage, units_of
from simreal.verdicts.evidence import Evidence
from simreal.verdicts.rates import Interval

#: Compute hours of one training where no ledger says so: an assumption.
_TRAINING_HOURS = 2.0
#: Names of the amounts, as sentences call them.
AMOUNTS = {
    "real_demo": "a real demonstration",
    "sim_demo": "a simulated demonstration",
    "training": "a training",
    "trial": "a trial",
}


@dataclass(frozen=True)
class Rates:
    """Money for one of each; setup: band of what building the simulator costs, (0, 0) if it is
    there. sources: amount -> "ledger" or "prices".
    """

    real_demo: float
    sim_demo: float
    training: float
    trial: float
    setup: Interval = (0.0, 0.0)
    currency: str = "USD"
    sources: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in AMOUNTS:
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise UsageError(f"{name} must be finite and >= 0; got {value}.")
        if not 0 <= self.setup[0] <= self.setup[1] < math.inf:
            raise UsageError(f"setup needs finite 0 <= low <= high; got {self.setup}.")

    @property
    def built(self) -> bool:
        """Whether the simulator costs nothing more."""
        return self.setup[1] == 0


def rates_of(evidence: Evidence, prices: Prices, built: bool = False) -> Rates:
    """The rates of a study: its ledger's own where it has them, else the prices' defaults."""
    measured = _measured(evidence, prices)
    found = {**_defaults(prices), **measured}
    sources = {name: "ledger" if name in measured else "prices" for name in AMOUNTS}
    there = built or building_booked(evidence.charges)
    setup = (0.0, 0.0) if there else building_band(prices)
    return Rates(**found, setup=setup, currency=prices.currency, sources=sources)


def _defaults(prices: Prices) -> dict[str, float]:
    """Planning figures, the same that calendar time is planned by."""
    hourly = prices.operator.value + prices.robot.value + prices.wear.value
    minutes = (prices.calendar.minutes or prices.times[FALLBACK]).value
    usable, review = prices.calendar.usable.value, prices.quality_check.value
    return {
        "real_demo": demonstration_cost(minutes, usable, hourly, review),
        "sim_demo": prices.compute.value / prices.calendar.per_core_hour.value,
        "training": _TRAINING_HOURS * prices.compute.value,
        "trial": demonstration_cost(minutes, 1.0, hourly),
    }


def _measured(evidence: Evidence, prices: Prices) -> dict[str, float]:
    """Amounts that the ledger gives; a training is the mean over the arms.

    Where no trial was charged, one is taken to need the robot as long as a demonstration.
    """
    units = units_of(evidence, prices)
    trained = [u["compute"] for u in units.training.values() if u["compute"] > 0]
    training = {"compute": sum(trained) / len(trained)} if trained else None
    usages = {
        "real_demo": units.real,
        "sim_demo": units.sim,
        "training": training,
        "trial": units.trial or _without_review(units.real),
    }
    return {
        name: price_of(usage, prices)
        for name, usage in usages.items()
        if usage and any(quantity > 0 for quantity in usage.values())
    }


def _without_review(demonstration: Usage | None) -> Usage | None:
    return demonstration and {n: x for n, x in demonstration.items() if n != "quality_check"}
