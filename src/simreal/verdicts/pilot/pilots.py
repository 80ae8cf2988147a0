"""The pilots that can be run first: few cells, one training each, tried equally often."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from simreal.verdicts.cost.calendar import Plan, days
from simreal.verdicts.curves.models import Floats
from simreal.verdicts.pilot.outlook import Outlook
from simreal.verdicts.pilot.project import Project


@dataclass(frozen=True)
class Pilot:
    """`cells`: (n_real, n_sim) of each training; smaller cells use part of the largest one's data.

    trials: on the robot, for each cell.
    """

    name: str
    cells: tuple[tuple[int, int], ...]
    trials: int

    @property
    def real(self) -> int:
        """Real demonstrations to collect."""
        return max((n_real for n_real, _ in self.cells), default=0)

    @property
    def sim(self) -> int:
        """Simulated demonstrations to generate."""
        return max((n_sim for _, n_sim in self.cells), default=0)

    def cost(self, outlook: Outlook) -> Floats:
        """Money, (D,), the simulation's set-up included where a cell needs it."""
        rates = outlook.rates
        money = self.real * rates.demo + self.sim * rates.sim
        money = money + len(self.cells) * (self.trials * rates.trial + rates.training)
        return money + rates.setup if self.sim else money

    def days(self, outlook: Outlook) -> Floats:
        """Calendar days, (D,), on one task variant."""
        project = outlook.project
        lab = replace(project.lab, variants=1, trials=self.trials * len(self.cells))
        rounds = math.ceil(len(self.cells) / lab.slots)
        plan = Plan(
            self.name,
            self.real,
            self.sim,
            train_hours=rounds * project.training_hours,
            build=self.sim > 0 and not project.built,
        )
        return days(plan, lab, outlook.rates.times).days


#: To decide from the prior alone.
NONE = Pilot("none", (), 0)


def candidates(project: Project) -> tuple[Pilot, ...]:
    """The pilots that are weighed up.

    None has more real demonstrations than `most`, or a simulation that nobody can build.
    """
    n_sim = project.n_sim
    square = ((10, 0), (50, 0), (10, n_sim), (50, n_sim))
    found = (
        NONE,
        Pilot("one real cell", ((20, 0),), 20),
        Pilot("real curve", ((10, 0), (50, 0)), 20),
        Pilot("long real curve", ((25, 0), (100, 0)), 20),
        Pilot("simulation alone", ((0, n_sim),), 20),
        Pilot("with and without simulation", ((20, 0), (20, n_sim)), 20),
        Pilot("three roads", ((0, n_sim), (20, 0), (20, n_sim)), 20),
        Pilot("square", square, 20),
        Pilot("square, twice the trials", square, 40),
    )
    return tuple(
        pilot
        for pilot in found
        if pilot.real <= project.most and (project.simulates or not pilot.sim)
    )
