"""What single steps of a study used up: a demonstration, a training, a trial, the simulator."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simreal.core.seeds import generator
from simreal.core.types import Charge
from simreal.verdicts.cost.arms import Arm
from simreal.verdicts.cost.prices import Price, Prices
from simreal.verdicts.cost.purposes import (
    RESOURCES,
    amounts,
    building_booked,
    counted,
    hours,
    on_stand_in,
    purpose,
)
from simreal.verdicts.evidence import Evidence
from simreal.verdicts.rates import Interval

Floats = npt.NDArray[np.float64]
#: Resource -> quantity: hours, or counts of quality_check and incident.
Usage = Mapping[str, float]


@dataclass(frozen=True)
class Units:
    """Quantities of each resource that single steps took; None where the ledger has none.

    real: one usable demonstration on the target, with its resets, retries and review. sim: one
    stored simulated demonstration. training: arm -> one training with all it continues from.
    trial: one trial on the target with its reset. setup: the simulator, as measured or declared.
    setup_hours: engineering hours that building it may take where nobody said so, else None.
    stand_in: robot time is that of a twin.
    """

    real: Usage | None
    sim: Usage | None
    training: Mapping[str, Usage]
    trial: Usage | None
    setup: Usage
    setup_hours: Interval | None
    stand_in: bool


def units_of(evidence: Evidence, prices: Prices) -> Units:
    """The units of a study's ledger, prices being needed for declared set-up hours only."""
    charges = evidence.charges

    def of(wanted: Callable[[Charge], bool]) -> list[Charge]:
        return [charge for charge in charges if wanted(charge)]

    real = of(lambda c: purpose(c) == "real data")
    sim = of(lambda c: purpose(c) == "simulated data")
    trials = of(lambda c: purpose(c) == "trials" and c.kind in ("trial", "reset"))
    most = max((arm.n_real for arm in evidence.arms), default=0)
    n_real = counted(real, "demonstration") or most * max(1, len(evidence.targets))
    n_sim = counted(sim, "simulate") or max((arm.n_sim for arm in evidence.arms), default=0)
    tried = sum(row.target in evidence.targets for row in evidence.trials)
    setup, unknown = _setup(of(lambda c: purpose(c) == "simulator"), prices)
    return Units(
        real=_each(real, n_real),
        sim=_each(sim, n_sim),
        training={a.name: {"compute": sum(training_hours(evidence, a))} for a in evidence.arms},
        trial=_each(trials, counted(trials, "trial") or tried),
        setup=setup,
        setup_hours=unknown,
        stand_in=any(map(on_stand_in, (*real, *trials))),
    )


def _sum(charges: Iterable[Charge]) -> dict[str, float]:
    total: dict[str, float] = {}
    for charge in charges:
        for name, quantity in amounts(charge).items():
            total[name] = total.get(name, 0.0) + quantity
    return total


def _each(charges: Iterable[Charge], count: float) -> Usage | None:
    total = _sum(charges)
    return {n: x / count for n, x in total.items()} if count and total else None


def _setup(charges: list[Charge], prices: Prices) -> tuple[Usage, Interval | None]:
    """(measured and declared usage, unknown hours on top)."""
    used = _sum(charges)
    declared = prices.setup_hours
    if building_booked(charges):
        return used, None
    if declared.assumption:
        return used, (declared.low, declared.high)
    return {**used, "engineering": used.get("engineering", 0.0) + declared.value}, None


def training_hours(evidence: Evidence, arm: Arm) -> tuple[float, float]:
    """Machine hours of one training of an arm: (what needs no real data, the rest).

    Its own trainings are averaged over seeds and targets; those of its bases come on top.
    """
    before = rest = 0.0
    for charge in evidence.charges:
        owners = charge.arm.split("+")
        if charge.kind != "train" or arm.name not in owners:
            continue
        trained = evidence.arm(owners[0])
        runs = len(trained.seeds) * (max(1, len(evidence.targets)) if trained.n_real else 1)
        if trained.n_real:
            rest += hours(charge) / runs
        else:
            before += hours(charge) / runs
    return before, rest


def add(*parts: tuple[float, Usage | None]) -> dict[str, float]:
    """The sum of usages, each times a number."""
    total: dict[str, float] = {}
    for times, usage in parts:
        for name, quantity in (usage or {}).items():
            total[name] = total.get(name, 0.0) + times * quantity
    return total


def corners(prices: Prices) -> Iterator[dict[str, float]]:
    """Every combination of the ends of all price bands. What is monotone in each price has its
    extremes there.
    """
    ends = [prices.of(name).ends for name in RESOURCES]
    for values in itertools.product(*ends):
        yield dict(zip(RESOURCES, values, strict=True))


def at(usage: Usage, values: Mapping[str, float]) -> float:
    """Money for a usage at given prices."""
    return sum(quantity * values[name] for name, quantity in usage.items())


@dataclass(frozen=True)
class PriceDraws:
    """Prices that lie anywhere in their bands: resource -> (D,), and set-up hours, (D,).

    A band is all that is known of a price; draws are uniform over it.
    """

    values: Mapping[str, Floats]
    setup_hours: Floats

    def money(self, usage: Usage) -> Floats:
        """Money for a usage, (D,)."""
        total: Floats = np.zeros(len(self.setup_hours))
        for name, quantity in usage.items():
            total = total + quantity * self.values[name]
        return total


def draw_prices(prices: Prices, draws: int = 2000, seed: int = 0) -> PriceDraws:
    """`draws` prices; each name has a stream of its own."""

    def draw(name: str, price: Price) -> Floats:
        return generator(seed, f"prices/{name}").uniform(price.low, price.high, draws)

    values = {name: draw(name, prices.of(name)) for name in RESOURCES}
    return PriceDraws(values, draw("setup_hours", prices.setup_hours))
