"""The tests of cost behind the claims: what the data of one road saves against another's.

Set-up is part of the cost; where nobody measured or declared it, the finding is a band without an
estimate. Costs are compared only where success was shown to match.
"""

from __future__ import annotations

import math

from simreal.verdicts.claim_parts import (
    Finding,
    Lacking,
    Parameters,
    difference,
    in_range,
    players,
)
from simreal.verdicts.cost import Arm, Saving, arm_costs, data_charges, saving
from simreal.verdicts.evidence import Evidence
from simreal.verdicts.planning import ALPHA
from simreal.verdicts.rates import Interval


def _data_saving(
    evidence: Evidence, p: Parameters
) -> tuple[Saving, tuple[Arm, Arm], bool] | Lacking:
    """Saving of one arm's data against another's, and whether their success was shown to match."""
    pair = players(evidence, p)
    if isinstance(pair, Lacking):
        return pair
    charges = data_charges(evidence.charges)
    if not charges or evidence.prices is None:
        return Lacking("a ledger with the cost of data")
    costs = {c.name: c for c in arm_costs(charges, evidence.arms, evidence.prices)}
    cheap, dear = (costs[arm.name] for arm in pair)
    if dear.total <= 0:
        return Lacking(f"a ledger with the cost of the data of {dear.name}")
    found = difference(evidence, *pair, p["suite"], 2 * ALPHA)
    if isinstance(found, Lacking):
        return found
    matched = found.enough and found.estimate.ci[0] > -p["margin"]
    return saving(dear, cheap, evidence.prices), pair, matched


def _cost_finding(
    found: tuple[Saving, tuple[Arm, Arm], bool],
    estimate: float,
    band: Interval,
    p: Parameters,
) -> Finding:
    saved, (cheap, dear), matched = found
    state = in_range(band, p["low"], p["high"], matched and saved.headline)
    parts = [f"{cheap.name} against {dear.name}", "band over prices and set-up cost"]
    if not matched:
        parts.append("success not shown to match")
    if not saved.headline:
        parts.append("set-up cost is a default")
    shown = estimate if saved.headline and matched else None
    return Finding(state, shown, band, "; ".join(parts))


def saving_in_range(evidence: Evidence, p: Parameters) -> Finding | Lacking:
    """The share of the cost of data that simulation saves at matched success."""
    found = _data_saving(evidence, p)
    if isinstance(found, Lacking):
        return found
    return _cost_finding(found, found[0].value, found[0].band, p)


def cost_ratio_in_range(evidence: Evidence, p: Parameters) -> Finding | Lacking:
    """How many times as much the other road's data costs, at matched success."""
    found = _data_saving(evidence, p)
    if isinstance(found, Lacking):
        return found

    def factor(saved: float) -> float:
        return 1 / (1 - saved) if saved < 1 else math.inf

    band = factor(found[0].band[0]), factor(found[0].band[1])
    if not math.isfinite(band[1]):
        return Lacking("a ledger with the cost of simulated data")
    return _cost_finding(found, factor(found[0].value), band, p)
