"""The `time` of summary.json: calendar days, robot days and cost of every road in a lab."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from simreal.core.seeds import generator
from simreal.verdicts.cost.arms import Arm
from simreal.verdicts.cost.calendar import Draws, Plan, days
from simreal.verdicts.cost.inputs import Inputs
from simreal.verdicts.cost.prices import Prices
from simreal.verdicts.cost.reach import Road, needed, roads
from simreal.verdicts.cost.speeds import Speeds, planned_speeds, speeds_of
from simreal.verdicts.cost.usage import Floats, PriceDraws, draw_prices, training_hours
from simreal.verdicts.curves import Posterior, posterior_of
from simreal.verdicts.evidence import Evidence, role_of

Flags = npt.NDArray[np.bool_]


def time_of(
    evidence: Evidence,
    inputs: Inputs | None = None,
    *,
    goal: float | None = None,
    posterior: Posterior | None = None,
    built: bool = False,
) -> dict[str, Any] | None:
    """The `time` of summary.json; None without prices.

    inputs: the lab; that of the price file if left out. goal: with it, and at least 3 different
    cells, each road takes as many demonstrations as the learning curve says; else each arm as many
    as it was tried with. built: the simulator is there already.
    """
    prices = evidence.prices
    if prices is None:
        return None
    lab = inputs or prices.calendar.inputs
    speeds = speeds_of(evidence, prices)
    curve = (posterior or posterior_of(evidence)) if goal else None
    if curve is not None and goal is not None:
        speeds = speeds.resized(len(curve.spread))
        plans = [_fitted(evidence, curve, road, goal, built) for road in roads(curve)]
    else:
        plans = [_as_tried(evidence, arm, built) for arm in evidence.arms if role_of(arm)]
    reached = {
        plan.name: _reaches(evidence, plan.name, goal, len(speeds.draws))
        for plan in plans
        if curve is None
    }
    return schedule(plans, lab, speeds, prices, reached, goal)


def demonstrations_case(
    count: int, inputs: Inputs, prices: Prices, built: bool = False
) -> dict[str, Any]:
    """So many demonstrations, on robots or in simulation, from planning figures alone.

    Nothing is said of what either is worth. No training and no test is counted. built: leave out
    building the simulator.
    """
    plans = [Plan("on robots", count, 0)]
    if not built:
        plans.append(Plan("in simulation, to be built", 0, count, build=True))
    plans.append(Plan("in simulation, built", 0, count))
    return schedule(plans, replace(inputs, trials=0), planned_speeds(prices), prices)


def schedule(
    plans: Sequence[Plan],
    inputs: Inputs,
    speeds: Speeds,
    prices: Prices,
    reached: Mapping[str, Flags] | None = None,
    goal: float | None = None,
) -> dict[str, Any]:
    """Every plan in a lab, with the fastest and the cheapest by their middle (p50).

    reached: plan name -> (D,) true where the policy reaches the goal.
    """
    money = draw_prices(prices, len(speeds.draws))
    found = [
        _road(plan, inputs, speeds.draws, money, (reached or {}).get(plan.name)) for plan in plans
    ]
    fastest = [r for r in found if r["days"]["p50"] is not None]
    return {
        "inputs": {**inputs.to_json(), **speeds.shown, "goal": goal},
        "roads": found,
        "fastest": min(fastest, key=lambda r: r["days"]["p50"], default={"name": None})["name"],
        "cheapest": min(fastest, key=lambda r: r["cost"]["p50"], default={"name": None})["name"],
        "label": speeds.label,
    }


def _road(
    plan: Plan, inputs: Inputs, draws: Draws, prices: PriceDraws, reached: Flags | None
) -> dict[str, Any]:
    found = days(plan, inputs, draws)
    never = np.isinf(found.days)
    by_deadline = None
    if inputs.deadline_days is not None:
        kept = found.days <= inputs.deadline_days
        by_deadline = float(np.mean(kept if reached is None else kept & reached))
    n_real, n_sim = (np.where(never, 0.0, n) for n in (plan.n_real, plan.n_sim))
    machine = n_sim / draws.per_core_hour + plan.pretrain_hours + plan.train_hours
    values = prices.values
    robot = values["operator"] + values["robot"] + values["wear"] + inputs.stopped_line
    cost = (
        np.where(never, 0.0, found.robot_hours) * robot
        + np.where(never, 0.0, found.engineering_hours) * values["engineering"]
        + inputs.variants * (machine * values["compute"] + n_real * values["quality_check"])
    )
    return {
        "name": plan.name,
        "days": _quantiles(found.days),
        "robot_days": _quantiles(found.robot_hours / inputs.day_hours),
        "by_deadline": by_deadline,
        "cost": _quantiles(np.where(never, math.inf, cost)),
    }


def _quantiles(values: Floats) -> dict[str, float | None]:
    found = np.quantile(values, [0.5, 0.9], method="inverted_cdf")
    pairs = zip(("p50", "p90"), found, strict=True)
    return {name: float(x) if math.isfinite(x) else None for name, x in pairs}


def _as_tried(evidence: Evidence, arm: Arm, built: bool) -> Plan:
    before, rest = training_hours(evidence, arm)
    return Plan(arm.name, arm.n_real, arm.n_sim, before, rest, arm.n_sim > 0 and not built)


def _fitted(evidence: Evidence, curve: Posterior, road: Road, goal: float, built: bool) -> Plan:
    n_real, n_sim = needed(curve, road, goal)
    trained = [training_hours(evidence, arm) for arm in evidence.all_of(road.role)]
    before, rest = (sum(part) / len(trained) for part in zip(*trained, strict=True))
    return Plan(road.name, n_real, n_sim, before, rest, road.n_sim != 0 and not built)


def _reaches(evidence: Evidence, arm: str, goal: float | None, draws: int) -> Flags:
    """Whether an arm as tried reaches the goal, (D,): Jeffreys' posterior of its rate."""
    if goal is None:
        return np.ones(draws, bool)
    rate = evidence.pooled_rate(arm)
    random = generator(0, f"reaches/{arm}")
    drawn = random.beta(rate.k + 0.5, rate.n - rate.k + 0.5, draws)
    return np.asarray(drawn >= goal)
