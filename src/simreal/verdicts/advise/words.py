"""The sentences of the advice: money, what would flip the answer, what it rests on."""

from __future__ import annotations

from collections.abc import Mapping

from simreal.verdicts.cost import Arm, ArmCost
from simreal.verdicts.cost.purposes import kinds_for
from simreal.verdicts.evidence import Evidence
from simreal.verdicts.planning import ALPHA
from simreal.verdicts.rates import Rate, clopper_pearson

#: Kinds of charge that grow with the number of real demonstrations.
_COLLECTING = kinds_for("real data")


def percent(rate: float) -> str:
    """A fraction in per cent, with decimals near the ends only; nothing uncertain is 100 %."""
    digits = 1 if 0.99 < rate < 1 or 0 < rate < 0.01 else 0
    while digits in range(1, 6) and float(f"{100 * rate:.{digits}f}") in (0, 100):
        digits += 1
    return f"{100 * rate:.{digits}f} %"


def amount(cost: ArmCost, built: bool = False) -> str:
    """A cost with its set-up, where that is unknown and not `built`, as a band beside it."""
    text = f"{cost.currency} {cost.total:,.2f}"
    if cost.setup is None or built:
        return text
    low, high = cost.setup
    return f"{text} and the building of a simulation (assumed {low:,.0f} to {high:,.0f})"


def setup_flip(real: str, sim: str, gain: float, currency: str) -> str:
    """The set-up cost at which a simulated and a real-only road cost the same."""
    if gain <= 0:
        return f"{sim} costs more than {real} even with a simulation that is already built."
    return (
        f"{sim} is the cheaper one if building the simulation costs less than {currency} "
        f"{gain:,.2f}, {real} if more."
    )


def price_flips(costs: Mapping[str, ArmCost], best: Arm, runner: Arm) -> tuple[str, ...]:
    """The price of a real demonstration at which the two roads cost the same, if there is one."""
    more, less = (best, runner) if best.n_real > runner.n_real else (runner, best)
    if more.n_real == less.n_real:
        return ()
    collecting = {a.name: _collecting(costs[a.name]) for a in (more, less)}
    fixed = {name: costs[name].total - collecting[name] for name in collecting}
    price = (fixed[less.name] - fixed[more.name]) / (more.n_real - less.n_real)
    if price <= 0:
        return ()
    now = collecting[more.name] / more.n_real
    currency = costs[more.name].currency
    return (
        f"{more.name} is the cheaper one if a real demonstration costs less than {currency} "
        f"{price:,.2f} (now {now:,.2f}), {less.name} if more; set-up aside.",
    )


def _collecting(cost: ArmCost) -> float:
    return sum(money for kind, money in cost.by_kind.items() if kind in _COLLECTING)


def failures_to_spare(name: str, rate: Rate, target: float) -> str:
    """How many more failures among the same trials would have changed the answer."""
    spare = 0
    while (
        spare < rate.k
        and clopper_pearson(rate.k - spare - 1, rate.n, 1 - ALPHA, "lower")[0] >= target
    ):
        spare += 1
    return (
        f"{name} would no longer be shown to reach {percent(target)} with {spare + 1} more "
        f"failure{'s' if spare else ''} among its {rate.n} trials."
    )


def assumptions(evidence: Evidence, cost: ArmCost | None) -> tuple[str, ...]:
    """What the answer takes for granted."""
    found = []
    seeds = {row.seed for row in evidence.trials}
    if len(seeds) < 2:
        found.append("One training seed: the advice speaks of these checkpoints, not the recipes.")
    if len(evidence.targets) < 2:
        found.append("One target: another robot or twin may answer differently.")
    if cost is not None and cost.stand_in:
        found.append("Robot time is that of a stand-in (simulated), priced as a real arm's.")
    if cost is not None and cost.assumptions:
        found.append("Prices without a source: " + ", ".join(cost.assumptions) + ".")
    return tuple(found)
