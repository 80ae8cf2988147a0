"""Calendar days of the stages of a plan, where there is a deadline."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from simreal.verdicts.advise.plan import TRIALS, Plan
from simreal.verdicts.advise.surface import Floats
from simreal.verdicts.cost import calendar
from simreal.verdicts.cost.prices import Prices
from simreal.verdicts.cost.speeds import speeds_of
from simreal.verdicts.cost.usage import training_hours
from simreal.verdicts.evidence import Evidence

#: Plan -> calendar days of each stage, (D, S).
Clock = Callable[[Plan], Floats]


def fixed_clock(days: float, draws: int) -> Clock:
    """Every stage takes so many days."""

    def clock(plan: Plan) -> Floats:
        return np.full((draws, len(plan.places)), days)

    return clock


def lab_clock(evidence: Evidence, prices: Prices, draws: int, built: bool) -> Clock:
    """Days as the lab of the price file ([calendar]) works; the simulator is built before
    the first training.
    """
    lab = replace(prices.calendar.inputs, trials=TRIALS, variants=1)
    speeds = speeds_of(evidence, prices).resized(draws).draws
    trained = [sum(training_hours(evidence, arm)) for arm in evidence.arms]
    hours = sum(trained) / max(1, len(trained))

    def clock(plan: Plan) -> Floats:
        real, sim = plan.have.n_real, plan.have.n_sim
        steps: list[tuple[int, int, float]] = [(0, 0, 0.0)] if plan.confirm is not None else []
        for n_real, n_sim in plan.levels:
            steps.append((max(0, n_real - real), max(0, n_sim - sim), hours))
            real, sim = max(real, n_real), max(sim, n_sim)
        columns = []
        for stage, (n_real, n_sim, training) in enumerate(steps):
            first = stage == int(plan.confirm is not None)
            build = first and not built and plan.road != "real-only"
            part = calendar.Plan(plan.road, n_real, n_sim, train_hours=training, build=build)
            columns.append(calendar.days(part, lab, speeds).days)
        return np.stack(columns, axis=1)

    return clock
