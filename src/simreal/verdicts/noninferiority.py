"""Is one arm at most a margin worse than another? The primary claim of every "less real data"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from simreal.verdicts.compare import check_margin, enough_trials, estimate, method_name
from simreal.verdicts.pairing import Outcomes, match
from simreal.verdicts.planning import ALPHA
from simreal.verdicts.rates import Interval, Rate

#: "inferior" is the contradiction: even the upper one-sided bound lies below the margin.
NonInferiorState = Literal["non-inferior", "inferior", "cannot tell"]


@dataclass(frozen=True)
class NonInferiority:
    """Whether a's rate exceeds b's minus `margin`; `bounds` are the two one-sided bounds."""

    a: Rate
    b: Rate
    difference: float | None
    bounds: Interval
    margin: float
    state: NonInferiorState
    method: str


def noninferior(
    a: Outcomes, b: Outcomes, margin: float, alpha: float = ALPHA, paired: bool | None = None
) -> NonInferiority:
    """Test p_a - p_b > -margin at one-sided `alpha`, with Tango's or Newcombe's bound."""
    check_margin(margin)
    found = match(a, b, paired)
    result = estimate(found, 1 - 2 * alpha, test=False)
    state: NonInferiorState = "cannot tell"
    if enough_trials(found) and result.difference is not None:
        if result.ci[0] > -margin:
            state = "non-inferior"
        elif result.ci[1] < -margin:
            state = "inferior"
    method = f"{method_name(found, test=False)}, one-sided {100 * (1 - alpha):g} %"
    rates = found.a.rate(1 - alpha), found.b.rate(1 - alpha)
    return NonInferiority(*rates, result.difference, result.ci, margin, state, method)
