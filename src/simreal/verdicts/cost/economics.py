"""What a study's arms cost, what a success rate costs, and from when on a simulator pays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from simreal.core.errors import UsageError
from simreal.core.types import STAND_IN
from simreal.verdicts.cost.arms import ArmCost, arm_costs, building_band, ledger_total
from simreal.verdicts.cost.prices import Prices
from simreal.verdicts.cost.purposes import RESOURCES, counted, purpose
from simreal.verdicts.cost.reach import RATES, Costing, fitted, measured
from simreal.verdicts.cost.usage import Units, at, draw_prices, units_of
from simreal.verdicts.cost.variants import Match, break_even_entry, match
from simreal.verdicts.curves import Posterior, posterior_of
from simreal.verdicts.evidence import Evidence

#: Numbers of task variants for which break-even points are given.
VARIANTS = (1, 5, 20)
#: What `per_success_point` means.
SUCCESS_POINT = (
    "cost a success point: the arm's total, divided by its success on the target in points "
    "(hundredths) above none"
)


def economics_of(
    evidence: Evidence,
    *,
    posterior: Posterior | None = None,
    variants: Sequence[int] = VARIANTS,
    built: bool | None = None,
    rates: Sequence[float] = RATES,
) -> dict[str, Any] | None:
    """The `economics` of summary.json; None without a ledger or prices.

    reach: over the learning curve (fitted here unless `posterior` gives it), else the arms as they
    were tried. built: whether the simulator is there already; both where None. Bands only: where
    the set-up cost is a default, no saving is a headline.
    """
    prices = evidence.prices
    if prices is None or not evidence.charges:
        return None
    units = units_of(evidence, prices)
    costing = Costing(units, draw_prices(prices), built=bool(built))
    curve = posterior or posterior_of(evidence)
    reach = fitted(evidence, curve, costing, rates) if curve else measured(evidence, costing)
    found, note = _break_even(evidence, units, prices, variants, built)
    return {
        "per_arm": [arm_entry(evidence, cost, units, prices) for cost in _arms(evidence, built)],
        "reach": reach,
        "break_even": found,
        "avoided": avoided(evidence, prices),
        "note": note,
    }


def _arms(evidence: Evidence, built: bool | None) -> tuple[ArmCost, ...]:
    """The arms' costs; without what belongs to a simulator that is there already."""
    prices, charges = evidence.prices, evidence.charges
    assert prices is not None
    if built:
        charges = tuple(c for c in charges if purpose(c) != "simulator")
        none = replace(prices.setup_hours, low=0.0, value=0.0, high=0.0, assumption=False)
        prices = replace(prices, setup_hours=none)
    return arm_costs(charges, evidence.arms, prices)


def arm_entry(evidence: Evidence, cost: ArmCost, units: Units, prices: Prices) -> dict[str, Any]:
    """An entry of `per_arm`; money at the prices' values, `ends` over their bands.

    setup: what building the simulator may add where nobody measured or declared it.
    """
    arm = evidence.arm(cost.name)
    reached = evidence.pooled_rate(arm.name).rate
    values = {name: prices.of(name).value for name in RESOURCES}
    real = at(units.real, values) if units.real and arm.n_real else None
    sim = at(units.sim, values) if units.sim and arm.n_sim else None
    return {
        "arm": cost.name,
        "total": cost.total,
        "ends": list(cost.ends),
        "setup": list(cost.setup) if cost.setup else None,
        "per_demonstration": {"real": real, "sim": sim},
        "per_success_point": cost.total / (100 * reached) if reached else None,
        "stack": {name: cost.used[name] * values[name] for name in RESOURCES},
        "label": STAND_IN if cost.stand_in else "",
    }


def _break_even(
    evidence: Evidence,
    units: Units,
    prices: Prices,
    variants: Sequence[int],
    built: bool | None,
) -> tuple[list[dict[str, Any]], str | None]:
    """(entries, why there are none)."""
    found = match(evidence)
    if not isinstance(found, Match):
        return [], found
    cases = [(v, b) for b in ((False, True) if built is None else (built,)) for v in variants]
    entries = [break_even_entry(found, units, prices, v, b) for v, b in cases]
    kept = [entry for entry in entries if entry is not None]
    return kept, None if kept else "No break-even: the ledger has no cost of real demonstrations."


def avoided(evidence: Evidence, prices: Prices) -> dict[str, Any] | None:
    """Collisions in simulation, at the price of an incident; None without a simulation.

    A ledger from before they were charged leaves those of the trials, which are counted instead.
    """
    rows = [r for r in evidence.trials if evidence.simulated(r.target) and r.collisions is not None]
    simulated = any(purpose(c) == "simulated data" for c in evidence.charges)
    if not rows and not simulated:
        return None
    charged = counted(evidence.charges, "avoided")
    events = int(charged or sum(r.collisions or 0 for r in rows))
    price = prices.incident
    return {"events": events, "money": [events * price.low, events * price.high]}


def cost_report(
    evidence: Evidence,
    *,
    variants: Sequence[int] = VARIANTS,
    built: bool | None = None,
    rates: Sequence[float] = RATES,
) -> dict[str, Any]:
    """What `simreal cost --json` prints: economics with the currency and what it rests on.

    Raises:
        UsageError: without a ledger.
    """
    found = economics_of(evidence, variants=variants, built=built, rates=rates)
    if found is None or evidence.prices is None:
        raise UsageError("The study has no charges yet: its ledger.jsonl is missing or empty.")
    assumed = {name for cost in _arms(evidence, built) for name in cost.assumptions}
    unknown = units_of(evidence, evidence.prices).setup_hours is not None
    return {
        "currency": evidence.prices.currency,
        "spent": ledger_total(evidence.charges, evidence.prices),
        **found,
        "success_point": SUCCESS_POINT,
        "assumptions": sorted(assumed),
        "setup": list(building_band(evidence.prices)) if unknown else None,
        "headline": not ({"setup_hours", "engineering"} & assumed),
    }
