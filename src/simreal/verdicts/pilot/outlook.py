"""What each road takes under each draw of the learning surface.

  c_demo = minutes / 60 / usable * (operator + robot + wear) + review
  real-only: variants * N_real * c_demo
  hybrid:    set-up + variants * (N_hybrid * c_demo + n_sim * c_sim)

and for both training and the acceptance trials (the formulas of `cost/breakeven.py`); calendar days
by `cost/calendar.py`. N is the number of real demonstrations from which on a draw reaches the
target, at most `most`; a draw that does not reach it pays for all of those and is worth nothing.
Stopping costs and is worth nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from simreal.verdicts.cost.calendar import Plan, days
from simreal.verdicts.curves import Posterior
from simreal.verdicts.curves.models import Floats
from simreal.verdicts.pilot.project import ODDS, ROADS, Project, Rates, rates_of

#: Net worth of a road that is closed.
_CLOSED = -1e30


@dataclass(frozen=True)
class Outlook:
    """A project seen from draws of the learning surface.

    needed: real demonstrations a variant, at most `most`, (D, 2) in the order of `ROADS`. reached:
    whether they reach the target, (D, 2).
    """

    project: Project
    rates: Rates
    surfaces: Posterior
    needed: Floats
    reached: npt.NDArray[np.bool_]

    def left(self, real: int) -> Floats:
        """Real demonstrations still to collect for all variants, (D, 2), `real` being there."""
        variants = self.project.lab.variants
        return np.asarray(variants * self.needed - np.minimum(self.needed, real))

    def cost(self, real: int = 0, set_up: bool = False) -> Floats:
        """Money still to spend on each road, (D, 2). set_up: the simulation is paid for."""
        project, rates = self.project, self.rates
        variants = project.lab.variants
        shared = variants * (project.acceptance * rates.trial + rates.training)
        money = self.left(real) * rates.demo[:, None] + shared[:, None]
        money[:, 1] += variants * project.n_sim * rates.sim
        if not set_up:
            money[:, 1] += rates.setup
        return np.asarray(money)

    def days(self, real: int = 0, set_up: bool = False) -> Floats:
        """Calendar days still to go on each road, (D, 2); infinite where it is closed."""
        project = self.project
        lab = replace(project.lab, trials=project.acceptance)
        found = []
        for index, name in enumerate(ROADS):
            sim = project.n_sim * index
            plan = Plan(
                name,
                self.left(real)[:, index] / lab.variants,
                sim,
                train_hours=project.training_hours,
                build=sim > 0 and not (set_up or project.built),
            )
            found.append(days(plan, lab, self.rates.times).days)
        return np.stack(found, axis=1)

    @property
    def worth(self) -> float:
        """Money that reaching the target is worth."""
        project = self.project
        if project.worth is not None:
            return project.worth
        return float(ODDS * project.lab.variants * project.most * self.rates.demo.mean())

    def net(self, real: int = 0, set_up: bool = False) -> Floats:
        """Worth less money still to spend, (D, 3) in the order of `CHOICES`."""
        roads = self.worth * self.reached - self.cost(real, set_up)
        if not self.project.simulates:
            roads[:, 1] = _CLOSED
        return np.concatenate([roads, np.zeros((len(roads), 1))], axis=1)

    def worth_building(self) -> float:
        """The set-up cost at which both roads are worth the same on average; negative: never."""
        roads = self.worth * self.reached - self.cost(set_up=True)
        net = roads.mean(axis=0)
        return float(net[1] - net[0])


def outlook(project: Project, surfaces: Posterior, seed: int = 0) -> Outlook:
    """What each road takes under each draw of the learning surface."""
    found = surfaces.surfaces
    needed = np.stack(
        [found.needed(project.target), found.needed(project.target, project.n_sim)], axis=1
    )
    reached = needed <= project.most
    capped = np.ceil(np.minimum(needed, project.most))
    return Outlook(project, rates_of(project, len(found), seed), surfaces, capped, reached)
