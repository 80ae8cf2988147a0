"""What a step costs: one demonstration, one training, one trial, and building the simulator.

Measured where the ledger has it, else from the prices and the times that published collections
took; `sources` says which.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from simreal.core.errors import UsageError
from simreal.core.types import Charge
from simreal.verdicts.cost import ledger_total
from simreal.verdicts.cost.breakeven import demonstration_cost
from simreal.verdicts.cost.prices import Prices
from simreal.verdicts.evidence import Evidence
from simreal.verdicts.rates import Interval

#: Share of recordings that can be used, where no ledger says so (published collections: .8 to .9).
_USABLE = 0.85
#: Compute hours of one simulated demonstration and of one training, where no ledger says so:
#: assumptions, on the side of the dear.
_SIM_HOURS, _TRAINING_HOURS = 20 / 3600, 2.0
_COLLECTING = ("demonstration", "reset", "retry", "idle", "operator")
_SIMULATING = ("simulate", "render")
_TRYING = ("trial", "reset")
_BUILDING = ("engineering", "validation")
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
    setup = (0.0, 0.0) if built else _setup(evidence.charges, prices)
    return Rates(**found, setup=setup, currency=prices.currency, sources=sources)


def _defaults(prices: Prices) -> dict[str, float]:
    hourly = prices.operator.value + prices.robot.value + prices.wear.value
    minutes = prices.times["easy"].value
    review = prices.quality_check.value
    return {
        "real_demo": demonstration_cost(minutes, _USABLE, hourly, review),
        "sim_demo": _SIM_HOURS * prices.compute.value,
        "training": _TRAINING_HOURS * prices.compute.value,
        "trial": demonstration_cost(minutes, 1.0, hourly),
    }


def _measured(evidence: Evidence, prices: Prices) -> dict[str, float]:
    """Amounts that the ledger gives: money divided by what it bought."""
    ledger, arms = evidence.charges, evidence.arms
    shared = [c for c in ledger if c.arm == "shared"]
    own = [c for c in ledger if c.arm != "shared"]
    trials = sum(row.target in evidence.targets for row in evidence.trials)
    bought = {
        "real_demo": (_of(shared, _COLLECTING), max((a.n_real for a in arms), default=0)),
        "sim_demo": (_of(shared, _SIMULATING), max((a.n_sim for a in arms), default=0)),
        "training": (_of(ledger, ("train",)), sum(len(a.seeds) for a in arms)),
        "trial": (_of(own, _TRYING), trials),
    }
    counts = {"real_demo": "demonstration", "trial": "trial"}
    found = {}
    for name, (charges, known) in bought.items():
        counted = sum(
            c.quantity for c in charges if (c.kind, c.unit) == (counts.get(name), "count")
        )
        number = counted or known
        if number and any(c.quantity > 0 and c.unit != "count" for c in charges):
            found[name] = ledger_total(charges, prices) / number
    return found


def _of(ledger: Sequence[Charge], kinds: Sequence[str]) -> list[Charge]:
    return [charge for charge in ledger if charge.kind in kinds]


def _setup(ledger: Sequence[Charge], prices: Prices) -> Interval:
    """What building the simulator may yet cost: nothing where the ledger has its hours."""
    if any(c.quantity > 0 for c in _of(ledger, _BUILDING)):
        return 0.0, 0.0
    hours, wage = prices.setup_hours, prices.engineering
    return hours.low * wage.low, hours.high * wage.high
