"""The ledger priced: what each arm used, what that costs, and from when on a simulator pays.

Quantities come from the ledger and are never invented; prices may be defaults and are then bands.
Robot hours on a twin are the seconds its episodes and resets would take the real arm: such costs
carry `stand_in`. What nobody measured or declared, the work of building a simulation, stays out
of the total and widens every saving to a band without a headline.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from simreal.core.errors import UsageError, unknown
from simreal.core.types import Charge
from simreal.verdicts.cost.prices import Prices
from simreal.verdicts.cost.purposes import (
    RESOURCES,
    amounts,
    building_booked,
    kinds_for,
    on_stand_in,
)
from simreal.verdicts.rates import Interval

#: Shared charges of these kinds are needed only by arms that train on simulated data ...
_FOR_SIM = kinds_for("simulated data", "simulator")
#: ... and of these only by arms that train on data from the target.
_FOR_REAL = kinds_for("real data")
#: These shrink with the number of demonstrations an arm takes from the shared pool.
_PER_DEMONSTRATION = kinds_for("simulated data", "real data")


@dataclass(frozen=True)
class Arm:
    """One road: how many demonstrations it trains on, from simulation and from the target.

    seeds: training seeds. sim_share: share of simulated samples in a batch, where it is fixed.
    """

    name: str
    n_sim: int
    n_real: int
    seeds: tuple[int, ...] = (0,)
    sim_share: float | None = None


@dataclass(frozen=True)
class ArmCost:
    """What one arm would cost alone. `ends`: total at the low and the high end of all prices.

    used: quantity of each resource (hours, or counts for quality_check and incident). by_kind:
    money by kind of charge. setup: money that building the simulation may cost where nobody
    measured or declared it (not in `total`), else None. stand_in: robot time from a twin.
    assumptions: names of the prices in it that rest on no source.
    """

    name: str
    total: float
    ends: Interval
    currency: str
    used: Mapping[str, float]
    by_kind: Mapping[str, float] = field(default_factory=dict)
    setup: Interval | None = None
    stand_in: bool = False
    assumptions: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The `cost` object of summary.json."""
        return {
            "total": self.total,
            "currency": self.currency,
            "robot_h": self.used["robot"],
            "operator_h": self.used["operator"],
            "engineering_h": self.used["engineering"],
            "compute_h": self.used["compute"],
        }


def share_of(charge: Charge, arm: Arm, arms: Sequence[Arm]) -> float:
    """How much of a charge `arm` needs: all of its own, its part of what is shared, else nothing.

    `arm` in a charge is a name, several joined by "+", or "shared".
    """
    if charge.arm != "shared":
        names = charge.arm.split("+")
        known = {a.name for a in arms}
        for name in names:
            if name not in known:
                raise unknown("arm in the ledger", name, [*known, "shared"])
        return float(arm.name in names)
    if charge.kind in _FOR_SIM:
        own, most = arm.n_sim, max(a.n_sim for a in arms)
    elif charge.kind in _FOR_REAL:
        own, most = arm.n_real, max(a.n_real for a in arms)
    else:
        return 1.0
    if charge.kind in _PER_DEMONSTRATION:
        return own / most if most else 0.0
    return float(own > 0)


def price_of(used: Mapping[str, float], prices: Prices) -> float:
    """Money for quantities of resources at the prices' values."""
    return sum(quantity * prices.of(name).value for name, quantity in used.items())


def building_band(prices: Prices) -> Interval:
    """Money that building the simulator takes, at the ends of the bands of hours and wage."""
    hours, wage = prices.setup_hours, prices.engineering
    return hours.low * wage.low, hours.high * wage.high


def _setup(arm: Arm, booked: bool, prices: Prices) -> tuple[float, Interval | None]:
    """(declared engineering hours to add, unknown set-up cost in money)."""
    hours = prices.setup_hours
    if arm.n_sim == 0 or booked:
        return 0.0, None
    if not hours.assumption:
        return hours.value, None
    return 0.0, building_band(prices)


def arm_costs(
    charges: Iterable[Charge], arms: Sequence[Arm], prices: Prices
) -> tuple[ArmCost, ...]:
    """Price the ledger for each arm as if it had been the only one (stand-alone cost).

    A shared charge counts in full for every arm that needs it; collecting and simulating shared
    demonstrations counts in proportion to how many of them the arm uses. The sum over arms is
    therefore more than the ledger's own total (`ledger_total`).
    """
    ledger = list(charges)
    booked = building_booked(ledger)
    return tuple(_arm_cost(ledger, arm, arms, prices, booked) for arm in arms)


def _arm_cost(
    ledger: Sequence[Charge], arm: Arm, arms: Sequence[Arm], prices: Prices, booked: bool
) -> ArmCost:
    used = dict.fromkeys(RESOURCES, 0.0)
    by_kind: dict[str, float] = {}
    stand_in = False
    for charge in ledger:
        share = share_of(charge, arm, arms)
        taken = {name: share * x for name, x in amounts(charge).items()}
        for name, quantity in taken.items():
            used[name] += quantity
        by_kind[charge.kind] = by_kind.get(charge.kind, 0.0) + price_of(taken, prices)
        stand_in = stand_in or ("robot" in taken and share > 0 and on_stand_in(charge))
    hours, setup = _setup(arm, booked, prices)
    used["engineering"] += hours
    if hours:
        by_kind["engineering"] = by_kind.get("engineering", 0.0) + hours * prices.engineering.value
    assumed = tuple(n for n in prices.assumptions if used.get(n, 0.0) > 0)
    return ArmCost(
        name=arm.name,
        total=price_of(used, prices),
        ends=(_at_end(used, prices, 0), _at_end(used, prices, -1)),
        currency=prices.currency,
        used=used,
        by_kind={kind: money for kind, money in by_kind.items() if money > 0},
        setup=setup,
        stand_in=stand_in,
        assumptions=(*assumed, *(("setup_hours",) if setup else ())),
    )


def _at_end(used: Mapping[str, float], prices: Prices, end: int) -> float:
    return sum(x * prices.of(name).ends[end] for name, x in used.items())


def ledger_total(charges: Iterable[Charge], prices: Prices) -> float:
    """All that was spent, each charge once."""
    return sum(price_of(amounts(charge), prices) for charge in charges)


@dataclass(frozen=True)
class Saving:
    """Share of the reference's cost that another road saves; negative where it costs more.

    band: over all price bands and the unknown set-up cost. headline: whether `value` may be
    quoted; False where the set-up cost or its price is a default.
    """

    value: float
    band: Interval
    headline: bool


def saving(reference: ArmCost, other: ArmCost, prices: Prices) -> Saving:
    """What `other` saves against `reference`, each price the same on both sides.

    The saving is monotone in every price, so its extremes lie at the corners of the price bands.
    """
    if reference.total <= 0:
        raise UsageError(f"Arm {reference.name!r} cost nothing: no share of it can be saved.")
    names = [n for n in RESOURCES if reference.used[n] > 0 or other.used[n] > 0]
    corners = itertools.product(*(prices.of(name).ends for name in names))
    values = []
    for corner in corners:
        base = sum(reference.used[n] * x for n, x in zip(names, corner, strict=True))
        cost = sum(other.used[n] * x for n, x in zip(names, corner, strict=True))
        for own, others in itertools.product(reference.setup or (0.0,), other.setup or (0.0,)):
            if base + own > 0:
                values.append(1 - (cost + others) / (base + own))
    on_default = {"setup_hours", "engineering"} & {*reference.assumptions, *other.assumptions}
    value = 1 - other.total / reference.total
    return Saving(value, (min(values), max(values)), headline=not on_default)
