"""From how many real demonstrations on a simulator pays, for one or many variants of a task.

Each variant takes real-only N demonstrations, and with simulation (1 - s) N and n_sim simulated
ones; the simulator is built once. Both cost the same at

    N = (F / V + n_sim c_sim + T_sim - T_real) / (c_real s)

F: simulator. V: variants. c: money a demonstration. T: money a training. s: share of real data
saved at matched success.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from simreal.core.errors import UsageError
from simreal.verdicts.cost.arms import Arm
from simreal.verdicts.cost.prices import Prices
from simreal.verdicts.cost.usage import Units, Usage, add, at, corners
from simreal.verdicts.evidence import Evidence, contrast
from simreal.verdicts.planning import ALPHA
from simreal.verdicts.rates import Interval


@dataclass(frozen=True)
class Match:
    """A road with simulation against real data only, at success shown to match.

    saved: share of real demonstrations that it makes unnecessary, as tried.
    """

    arm: Arm
    against: Arm
    saved: float


def match(evidence: Evidence) -> Match | str:
    """The arms to compare, or why none can be."""
    real = evidence.role("real-only")
    if real is None or not evidence.all_of("hybrid") + evidence.all_of("sim-only"):
        return "A break-even needs a real-only arm and one with simulation."
    refused = []
    for arm in (evidence.role("hybrid"), evidence.role("sim-only")):
        if arm is None:
            continue
        cells = evidence.on_targets(arm.name), evidence.on_targets(real.name)
        found = contrast(*cells, margin=evidence.margin, alpha=2 * ALPHA)
        if found is None or not found.enough or found.estimate.ci[0] <= -evidence.margin:
            refused.append(arm.name)
        elif arm.n_real < real.n_real:
            return Match(arm, real, 1 - arm.n_real / real.n_real)
        else:
            return f"{arm.name} uses no less real data than {real.name}: nothing is saved."
    return (
        f"No break-even: {' and '.join(refused)} not shown to be at most "
        f"{100 * evidence.margin:g} points behind {real.name}, so costs are not compared."
    )


def break_even_entry(
    found: Match, units: Units, prices: Prices, variants: int, built: bool
) -> dict[str, Any] | None:
    """An entry of `break_even`; None where the ledger lacks the cost of real demonstrations.

    demonstrations: band over all prices and the set-up cost, an end is null where it never pays.
    saving: share of the real-only cost saved at the sizes tried, over the same band.
    """
    if variants < 1:
        raise UsageError(f"{variants} task variants; give 1 or more.")
    if units.real is None:
        return None
    numbers, savings = [], []
    for values in corners(prices):
        for setup in (0.0,) if built else _setups(units, values):
            c_real = at(units.real, values)
            extra = _extra(found, units, values) + setup / variants
            gain = c_real * found.saved
            numbers.append(max(0.0, extra) / gain if gain > 0 else math.inf)
            real = found.against.n_real * c_real + at(units.training[found.against.name], values)
            other = real - found.against.n_real * gain + extra
            if real > 0:
                savings.append(1 - other / real)
    low, high = min(numbers), max(numbers)
    return {
        "arm": found.arm.name,
        "against": found.against.name,
        "variants": variants,
        "built": built,
        "demonstrations": [_finite(low), _finite(high)],
        "saving": [min(savings), max(savings)] if savings else None,
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _extra(found: Match, units: Units, values: Mapping[str, float]) -> float:
    """What a variant costs more with simulation, real demonstrations and set-up left out."""
    trained: Usage = units.training[found.arm.name]
    usage = add(
        (found.arm.n_sim, units.sim), (1, trained), (-1, units.training[found.against.name])
    )
    return at(usage, values)


def _setups(units: Units, values: Mapping[str, float]) -> Interval | tuple[float]:
    """The simulator at given prices: known, or the ends of what it may cost."""
    known = at(units.setup, values)
    if units.setup_hours is None:
        return (known,)
    low, high = units.setup_hours
    return known + low * values["engineering"], known + high * values["engineering"]
