"""Calendar time of a road: people work in shifts, machines day and night, both at once.

`days` is a pure function of a plan, a lab and draws of what is uncertain. It follows V task
variants through stations that work side by side:

    build the simulator -> simulate -> pretrain --.
                             collect on robots ---+-> train on all -> test on the robot

A variant is pretrained as soon as its simulated data is there, and trained on all as soon as its
real data is. Robots collect for all variants first and test then. Engineers work one shift a day,
robots and their operators all shifts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simreal.core.errors import UsageError
from simreal.verdicts.cost.inputs import Inputs

Floats = npt.NDArray[np.float64]
HOURS_A_DAY = 24.0
DAYS_A_WEEK = 7.0


@dataclass(frozen=True)
class Plan:
    """A road, for each task variant alike.

    n_real, n_sim: demonstrations, a number or one a draw, (D,); infinite where none is enough.
    pretrain_hours: machine hours of the part of a training that needs no real data.
    train_hours: of the rest. build: whether a simulator must be built first.
    """

    name: str
    n_real: float | Floats
    n_sim: float | Floats
    pretrain_hours: float = 0.0
    train_hours: float = 0.0
    build: bool = False


@dataclass(frozen=True)
class Draws:
    """What is uncertain, one number a draw, each (D,).

    minutes: of a robot and its operator for a recorded demonstration with its reset. usable: share
    of recordings that can be used. trial_minutes: of a trial with its reset. setup_hours: until a
    task runs in simulation. per_core_hour: simulated demonstrations that a core makes in an hour.
    """

    minutes: Floats
    usable: Floats
    trial_minutes: Floats
    setup_hours: Floats
    per_core_hour: Floats

    def __len__(self) -> int:
        return len(self.minutes)


@dataclass(frozen=True)
class Times:
    """Calendar days from the start to the last test, robot hours and engineering hours, (D,) each.

    All are infinite in draws where no number of demonstrations is enough, or where nobody can
    build the simulator.
    """

    days: Floats
    robot_hours: Floats
    engineering_hours: Floats


def days(plan: Plan, inputs: Inputs, draws: Draws) -> Times:
    """How long a plan takes in a lab. More of anything in `inputs` never takes longer."""
    d = len(draws)
    n_real, n_sim = (np.broadcast_to(np.asarray(n, float), (d,)) for n in (plan.n_real, plan.n_sim))
    if np.any(n_real < 0) or np.any(n_sim < 0):
        raise UsageError("Numbers of demonstrations must be >= 0.")
    never = np.isinf(n_real) | np.isinf(n_sim)
    if plan.build and not inputs.can_build:
        never = np.ones(d, bool)
    n_real, n_sim = np.where(never, 0.0, n_real), np.where(never, 0.0, n_sim)
    engineering = draws.setup_hours if plan.build else np.zeros(d)
    record_hours = n_real * draws.minutes / 60 / draws.usable
    test_hours = inputs.trials * draws.trial_minutes / 60
    ended = _ends(
        inputs,
        build=engineering / inputs.engineers / inputs.shift_hours * _weeks(inputs),
        simulate=n_sim / draws.per_core_hour / inputs.cores / HOURS_A_DAY,
        collect=_in_shifts(record_hours / inputs.stations, inputs),
        pretrain=plan.pretrain_hours / HOURS_A_DAY,
        train=plan.train_hours / HOURS_A_DAY,
        test=_in_shifts(test_hours / inputs.stations, inputs),
    )
    robot = inputs.variants * (record_hours + test_hours)
    return Times(*(np.where(never, np.inf, x) for x in (ended, robot, engineering)))


def _in_shifts(hours: Floats, inputs: Inputs) -> Floats:
    """Calendar days for hours of people's work, weekends spread evenly."""
    return hours / inputs.day_hours * _weeks(inputs)


def _weeks(inputs: Inputs) -> float:
    """Calendar days for a working day."""
    return DAYS_A_WEEK / inputs.days_a_week


def _ends(
    inputs: Inputs,
    *,
    build: Floats,
    simulate: Floats,
    collect: Floats,
    pretrain: float,
    train: float,
    test: Floats,
) -> Floats:
    """Days until the last variant is tested; the arguments are days for one variant.

    A variant is trained once its data is there and the one before it in its slot is done; tests
    follow one another. All these are linear in the number of the variant and in its round through
    the slots, so the latest of all lies at an end of either.
    """
    count, slots = inputs.variants, min(inputs.slots, inputs.variants)

    def trained(number: int) -> Floats:
        rounds, first = divmod(number, slots)
        return np.maximum(alone(number), alone(first) + rounds * (pretrain + train))

    def alone(number: int) -> Floats:
        simulated = build + (number + 1) * simulate + pretrain
        return np.asarray(np.maximum(simulated, (number + 1) * collect) + train)

    last = (count - 1) // slots * slots
    numbers = {0, slots - 1, max(0, last - 1), last, count - 1}
    tested = [trained(number) + (count - number) * test for number in sorted(numbers)]
    return np.asarray(np.maximum.reduce([count * (collect + test), *tested]))
