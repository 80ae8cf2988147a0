"""A project before any data: what is wanted, in which lab, at what prices."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from simreal.core.errors import UsageError
from simreal.core.seeds import generator
from simreal.verdicts.cost.calendar import Draws
from simreal.verdicts.cost.inputs import Inputs
from simreal.verdicts.cost.prices import Price, Prices
from simreal.verdicts.cost.usage import PriceDraws, draw_prices
from simreal.verdicts.curves.models import Floats
from simreal.verdicts.evidence import Role
from simreal.verdicts.planning import trials_without_failure

#: The roads that can be planned before any data.
ROADS: tuple[Role, ...] = ("real-only", "hybrid")
#: What can be decided after a pilot.
CHOICES = (*ROADS, "stop")
#: Default worth of the target, in units of the most that real data may cost.
ODDS = 3


@dataclass(frozen=True)
class Project:
    """What is wanted and what there is to do it with.

    target: success rate. minutes: a recorded demonstration with its reset; a trial takes as long.
    lab: people, robots, machines and the number of task variants, each with demonstrations of its
    own. usable: share of recordings that can be used. most: real demonstrations a variant after
    which a road counts as failed. n_sim: simulated demonstrations a variant on the hybrid road.
    built: the task runs in simulation already. training_hours: of a machine, for one training.
    worth: money that reaching the target with all variants is worth; None for 3 times what `most`
    real demonstrations a variant cost (who sets such a limit is then ready to spend it on a chance
    of one in three).
    """

    target: float
    minutes: Price
    prices: Prices
    lab: Inputs = field(default_factory=Inputs)
    usable: float = 0.85
    most: int = 1000
    n_sim: int = 1000
    built: bool = False
    training_hours: float = 2.0
    worth: float | None = None

    def __post_init__(self) -> None:
        if not 0 < self.target < 1:
            raise UsageError(
                f"--target {self.target:g}; give a fraction between 0 and 1, such as 0.85."
            )
        if not 0 < self.usable <= 1:
            raise UsageError(f"--usable {self.usable:g}; give a fraction above 0, at most 1.")
        for name in ("most", "n_sim"):
            if getattr(self, name) < 1:
                option = "--" + name.replace("_", "-")
                raise UsageError(f"{option} {getattr(self, name)}; give at least 1.")
        if not 0 <= self.training_hours < math.inf:
            raise UsageError(f"--training-hours {self.training_hours:g}; give 0 or more.")
        if self.worth is not None and not 0 < self.worth < math.inf:
            raise UsageError(f"--worth {self.worth:g}; give a positive sum of money.")
        if not self.minutes.low > 0:
            raise UsageError(f"A demonstration takes time; got {self.minutes.low:g} minutes.")

    @property
    def acceptance(self) -> int:
        """Trials without a failure that show the target with 95 % confidence."""
        return trials_without_failure(self.target)

    @property
    def simulates(self) -> bool:
        """Whether a simulation is there or can be built."""
        return self.built or self.lab.can_build


@dataclass(frozen=True)
class Rates:
    """Prices and times, one draw of their bands for each draw of the learning surface.

    demo, trial, training, sim: money for one, (D,). setup: money until the task runs in
    simulation, (D,). times: what the calendar takes.
    """

    demo: Floats
    trial: Floats
    training: Floats
    sim: Floats
    setup: Floats
    times: Draws


def rates_of(project: Project, draws: int, seed: int = 0) -> Rates:
    """Draws that are uniform in the bands of prices and times."""
    prices: PriceDraws = draw_prices(project.prices, draws, seed)
    minutes, speed = project.minutes, project.prices.calendar.per_core_hour
    random = generator(seed, "pilot times")
    times = Draws(
        minutes=(taken := random.uniform(minutes.low, minutes.high, draws)),
        usable=np.full(draws, project.usable),
        trial_minutes=taken,
        setup_hours=np.zeros(draws) if project.built else prices.setup_hours,
        per_core_hour=random.uniform(speed.low, speed.high, draws),
    )
    robot = {"operator": 1.0, "robot": 1.0, "wear": 1.0}
    hourly = prices.money(robot) + project.lab.stopped_line
    machine = prices.values["compute"]
    return Rates(
        demo=taken / 60 / project.usable * hourly + prices.values["quality_check"],
        trial=taken / 60 * hourly,
        training=machine * project.training_hours,
        sim=machine / times.per_core_hour,
        setup=times.setup_hours * prices.values["engineering"],
        times=times,
    )
