"""What information is worth: losses of actions under draws of the truth, and nothing else.

`losses` has shape (D, A): money lost by action a if draw d is true; all draws weigh the same unless
`weights` (D,) says otherwise. Nothing is fitted again: what a measurement would say re-weights the
draws.
"""

from __future__ import annotations

import numpy as np

from simreal.core.errors import UsageError
from simreal.verdicts.advise.surface import Floats


def _weights(losses: Floats, weights: Floats | None) -> Floats:
    if losses.ndim != 2 or 0 in losses.shape:
        raise UsageError(f"Losses must have shape (draws, actions); got {losses.shape}.")
    if weights is None:
        return np.full(len(losses), 1 / len(losses))
    if weights.shape != losses.shape[:1] or not weights.sum() > 0 or weights.min() < 0:
        raise UsageError("There must be one weight >= 0 for each draw, not all of them 0.")
    return np.asarray(weights / weights.sum())


def evpi(losses: Floats, weights: Floats | None = None, taken: Floats | None = None) -> float:
    """Expected value of perfect information: what knowing the truth before choosing would save.

    taken: losses, (D,), of the action that is taken without it; the least expected if None.
    """
    weight = _weights(losses, weights)
    without = (weight @ losses).min() if taken is None else weight @ taken
    return max(0.0, float(without - weight @ losses.min(axis=1)))


def evsi(
    losses: Floats,
    outcomes: Floats,
    weights: Floats | None = None,
    after: Floats | None = None,
) -> float:
    """Expected value of a measurement before it is made.

    outcomes: (D, K), probability of each of its K results under each draw; rows sum to 1.
    after: losses of the actions that are open once it was made, if these are more.
    """
    weight = _weights(losses, weights)
    if outcomes.shape[:1] != losses.shape[:1] or not np.allclose(
        outcomes.sum(axis=1), 1, atol=1e-6
    ):
        raise UsageError("Each draw needs the probabilities of all outcomes; they sum to 1.")
    joint = (weight[:, None] * outcomes).T  # (K, D)
    informed = (joint @ (losses if after is None else after)).min(axis=1).sum()
    return max(0.0, float((weight @ losses).min() - informed))
