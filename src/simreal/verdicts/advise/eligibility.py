"""May a road be considered at all? Safety, precision, and never sim-only on faith.

Each rule answers with a reason; an arm that fails one is not advised, whatever its rate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy import special

from simreal.core.errors import UsageError
from simreal.verdicts.cost import Arm
from simreal.verdicts.evidence import Evidence, role_of
from simreal.verdicts.planning import ALPHA
from simreal.verdicts.rates import FEW_TRIALS, clopper_pearson

#: A bias of so many spreads: the normal approximation then holds to 1e-7; scipy's ends in NaN.
_FAR = 1000.0


@dataclass(frozen=True)
class Limits:
    """What the user will not go beyond; None where it does not matter.

    collisions: highest acceptable rate of trials with a collision. tolerance_mm: half-width that
    a placement must hit, in a plane; bias_mm and spread_mm: the calibration error of the
    simulation (mean offset and standard deviation in each axis).
    """

    collisions: float | None = None
    tolerance_mm: float | None = None
    bias_mm: float | None = None
    spread_mm: float | None = None

    def __post_init__(self) -> None:
        if self.collisions is not None and not 0 < self.collisions < 1:
            raise UsageError(f"A collision limit is a rate between 0 and 1; got {self.collisions}.")
        given = [self.tolerance_mm, self.bias_mm, self.spread_mm]
        if any(x is not None for x in given) and any(x is None for x in given):
            raise UsageError("Precision needs tolerance, bias and spread in mm; give all three.")


@dataclass(frozen=True)
class Eligibility:
    """Whether an arm may be advised, and why not. untried: too few trials on the target."""

    arm: str
    eligible: bool
    reasons: tuple[str, ...] = ()
    untried: bool = False


def within_tolerance(tolerance_mm: float, bias_mm: float, spread_mm: float) -> float:
    """P(planar error < tolerance) for an offset `bias_mm` and a spread per axis.

    A non-central chi-square with 2 degrees of freedom; bias 2, spread 1: .0819 at 1 mm, .7856 at
    3 mm, .9978 at 5 mm. Where the bias is far larger than the spread the error is normal.
    """
    given = (tolerance_mm, bias_mm, spread_mm)
    if not (tolerance_mm > 0 and bias_mm >= 0 and spread_mm > 0 and all(map(math.isfinite, given))):
        raise UsageError(
            "Precision needs tolerance > 0, bias >= 0 and spread > 0 mm; got "
            f"{tolerance_mm}, {bias_mm}, {spread_mm}."
        )
    near, off = tolerance_mm / spread_mm, bias_mm / spread_mm
    if bias_mm == 0:
        return float(special.chdtr(2, near * near))
    if off > _FAR:
        middle = math.hypot(bias_mm, spread_mm)
        return float(special.ndtr((tolerance_mm - middle) / spread_mm))
    return float(special.chndtr(near * near, 2, off * off))


def collision_bound(collided: int, trials: int, alpha: float = ALPHA) -> float:
    """Upper one-sided bound of the collision rate: 0 of 300 gives .9936 %."""
    return clopper_pearson(collided, trials, 1 - alpha, "upper")[1]


def eligibility(evidence: Evidence, arm: Arm, limits: Limits, wanted: float | None) -> Eligibility:
    """All rules for one arm; `wanted` is the success rate that precision must allow."""
    untried = _measured(evidence, arm)
    rules = (untried, _safe(evidence, arm, limits), _precise(arm, limits, wanted))
    reasons = tuple(reason for reason in rules if reason)
    return Eligibility(arm.name, not reasons, reasons, untried is not None)


def _measured(evidence: Evidence, arm: Arm) -> str | None:
    tried = [row for rows in evidence.on_targets(arm.name).values() for row in rows]
    trials = sum(row.success is not None for row in tried)
    if trials >= FEW_TRIALS:
        return None
    if role_of(arm) == "sim-only":
        return f"sim-only is never advised without trials on the target; it has {trials}"
    count = "1 trial" if trials == 1 else f"{trials} trials"
    return f"{count} on the target; a verdict needs {FEW_TRIALS}"


def _safe(evidence: Evidence, arm: Arm, limits: Limits) -> str | None:
    if limits.collisions is None:
        return None
    where = evidence.sim if evidence.sim else evidence.targets[0]
    tried = evidence.sim_trials(arm.name) or evidence.cell(arm.name, "nominal", where)
    rows = [r for r in tried if r.collisions is not None]
    collided = sum(bool(row.collisions) for row in rows)
    bound = collision_bound(collided, len(rows))
    if bound <= limits.collisions:
        return None
    return (
        f"collisions in {collided} of {len(rows)} trials on {where}: up to {100 * bound:.1f} % "
        f"(95 %), over the limit of {100 * limits.collisions:g} %"
    )


def _precise(arm: Arm, limits: Limits, wanted: float | None) -> str | None:
    tolerance, bias, spread = limits.tolerance_mm, limits.bias_mm, limits.spread_mm
    if tolerance is None or bias is None or spread is None or role_of(arm) != "sim-only":
        return None
    hit = within_tolerance(tolerance, bias, spread)
    if hit >= (0.5 if wanted is None else wanted):
        return None
    return f"calibration error hits ±{tolerance:g} mm in only {100 * hit:.0f} % of attempts"
