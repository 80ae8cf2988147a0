"""What a pilot is worth: the expected net worth of the whole project with it.

The results of a pilot are simulated from the prior's draws (retraining noise included); after each
result the draws are weighted by its likelihood, and the choice of highest expected net worth is
made.

  net = E over results of max over choices of E[worth - cost left | result] - E[cost of the pilot]

Real demonstrations of the pilot and its simulation are used again afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from simreal.verdicts.curves.models import Floats, Ints
from simreal.verdicts.pilot.outlook import Outlook
from simreal.verdicts.pilot.pilots import Pilot

#: Every 15th draw of the prior stands for a truth from which results are simulated.
_STRIDE = 15
_EDGE = 1e-6


@dataclass(frozen=True)
class Valued:
    """A pilot and what was found out about it.

    results: (Y, C) simulated successes. weights: (Y, D) of the draws after each result. ahead:
    (Y, 3) expected net worth of each choice after it. net: expected net worth of the project with
    this pilot. right: probability that the choice made then is the right one in truth.
    """

    pilot: Pilot
    results: Ints
    weights: Floats
    ahead: Floats
    net: float
    right: float

    @property
    def choices(self) -> Ints:
        """The choice made after each result, (Y,), an index into CHOICES."""
        return np.asarray(self.ahead.argmax(axis=1))


def value(outlook: Outlook, pilot: Pilot, seed: int = 0) -> Valued:
    """Weigh up one pilot."""
    draws = len(outlook.surfaces.spread)
    truths = np.arange(_STRIDE // 2, draws, _STRIDE)
    others = np.setdiff1d(np.arange(draws), truths)
    results = _results(outlook, pilot, seed)[truths]
    weights = np.zeros((len(truths), draws))
    weights[:, others] = special.softmax(_likelihoods(outlook, pilot, results)[:, others], axis=1)
    net = outlook.net(pilot.real, set_up=pilot.sim > 0)
    ahead = weights @ net
    gain = float(ahead.max(axis=1).mean() - ahead.mean(axis=0).max())
    total = float(net.mean(axis=0).max() - pilot.cost(outlook).mean()) + gain
    right = float(np.mean(ahead.argmax(axis=1) == net[truths].argmax(axis=1)))
    return Valued(pilot, results, weights, ahead, total, right)


def _places(pilot: Pilot) -> tuple[Floats, Floats]:
    table = np.array(pilot.cells, dtype=float).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def _results(outlook: Outlook, pilot: Pilot, seed: int) -> Ints:
    if not pilot.cells:
        return np.zeros((len(outlook.surfaces.spread), 0), dtype=np.int64)
    return outlook.surfaces.outcomes(*_places(pilot), pilot.trials, seed)


def _likelihoods(outlook: Outlook, pilot: Pilot, results: Ints) -> Floats:
    """Log likelihood of each result under each draw, (Y, D), beta-binomial."""
    spread = outlook.surfaces.spread
    total = np.zeros((len(results), len(spread)))
    if not pilot.cells:
        return total
    rates = np.clip(outlook.surfaces.success(*_places(pilot)), _EDGE, 1 - _EDGE)
    counts = np.arange(pilot.trials + 1)[:, None]
    for cell in range(len(pilot.cells)):
        wins, losses = rates[:, cell] * spread, (1 - rates[:, cell]) * spread
        table = special.gammaln(wins + counts) + special.gammaln(losses + pilot.trials - counts)
        total += (table - special.gammaln(wins) - special.gammaln(losses))[results[:, cell]]
    ends = special.gammaln(spread + pilot.trials) - special.gammaln(spread)
    return np.asarray(total - len(pilot.cells) * ends)
