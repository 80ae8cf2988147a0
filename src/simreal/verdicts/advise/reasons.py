"""The sentences of an advice on roads: why this one, what next, what it rests on."""

from __future__ import annotations

import math

from simreal.verdicts.advise.decision import Decision
from simreal.verdicts.advise.increment import Increment
from simreal.verdicts.advise.measuring import Measurement, data
from simreal.verdicts.advise.plan import TRIALS, Outlook, least_passes
from simreal.verdicts.advise.rates import AMOUNTS, Rates
from simreal.verdicts.advise.roads import Question, Survey
from simreal.verdicts.advise.words import percent


def cents(value: float) -> str:
    """Money with cents below 100."""
    return f"{value:,.2f}" if value < 100 else f"{value:,.0f}"


def prospect(outlook: Outlook, rates: Rates, question: Question) -> str:
    """`hybrid passes in 91 of 100 cases, for USD 420 (USD 1,300 in the dearest tenth)`."""
    return (
        f"{outlook.plan.road} passes a test of {percent(question.goal)} in "
        f"{_cases(outlook.p_reach)}, for about {rates.currency} {cents(outlook.mean)} "
        f"(half the cases up to {cents(outlook.p50)}, nine in ten up to {cents(outlook.p90)})"
    )


def _cases(probability: float) -> str:
    return f"{100 * probability:.0f} of 100 cases"


def because_ahead(seen: Survey, rates: Rates, question: Question) -> str:
    """Why the chosen road is the one."""
    chosen = seen.chosen
    assert chosen is not None
    sure = [o for o in seen.outlooks if o.p_reach >= question.confidence]
    text = prospect(chosen, rates, question)
    if len(sure) == 1:
        return f"{text}; no other road is {percent(question.confidence)} sure."
    others = [o for o in sure if o is not chosen]
    costs = ", ".join(f"{o.plan.road} {cents(o.mean)}" for o in others)
    return f"{text}. It has the least expected cost of the roads that are sure enough ({costs})."


def because_unreachable(seen: Survey, question: Question) -> str:
    """Why no road can be advised."""
    surest = seen.surest
    assert surest is not None
    limit = question.bounds
    within = "the budget" if math.isfinite(limit.budget) else "16 times the present data"
    if math.isfinite(limit.days):
        within += " and the time left"
    return (
        f"No road passes a test of {percent(question.goal)} within {within}: even the surest, "
        f"{surest.plan.road}, does in {_cases(surest.p_reach)} only."
    )


def because_open(decision: Decision, rates: Rates, question: Question) -> str:
    """Why the evidence does not settle it, and what the measurement is worth."""
    seen, one = decision.survey, decision.measure
    leading = seen.chosen or seen.surest
    assert leading is not None
    text = prospect(leading, rates, question)
    if seen.chosen is None:
        text = f"No road is {percent(question.confidence)} sure. The surest: {text}"
    if one is None:
        return f"{text}."
    money = f"{rates.currency} {cents(one.cost)}"
    worth = f"{rates.currency} {cents(one.value)}"
    if one.gain > 0:
        return f"{text}. First, {one.text} would cost {money} and save an expected {worth}."
    return f"{text}. No measurement is worth its cost; the most telling is {one.text}."


def because_break_even(rates: Rates) -> str:
    """Why no simulator is to be built."""
    low, high = rates.setup
    return (
        f"A simulator would be taken if it were there, and does not earn what building it costs "
        f"({rates.currency} {low:,.0f} to {high:,.0f})."
    )


def because_harmful(probability: float) -> str:
    """Why simulated data is left out."""
    return (
        f"Simulated demonstrations lower success beside the same real ones with probability "
        f"{percent(probability)}."
    )


def next_stage(taken: Outlook, arm: str, question: Question) -> Increment:
    """The first stage of a road."""
    least = least_passes(question.goal)
    plan = taken.plan
    test = f"{TRIALS} fresh trials; {least} successes pass"
    if plan.confirm is not None:
        n_real, n_sim = plan.confirm.place
        why = f"Next: try {arm} again in {test}. No new data before that."
        return Increment(arm, n_real, n_sim, TRIALS, why)
    n_real, n_sim = plan.levels[0]
    more = (max(0, n_real - plan.have.n_real), max(0, n_sim - plan.have.n_sim))
    collect = f"collect {data(more)} more, then " if any(more) else ""
    why = f"Next: {collect}train {plan.road} on {data((n_real, n_sim))} and try it in {test}."
    return Increment(arm, n_real, n_sim, TRIALS, why)


def next_measurement(one: Measurement) -> Increment:
    """A measurement as the next increment."""
    why = f"Next: {one.text}; then ask again."
    return Increment(one.arm or one.road, one.n_real, one.n_sim, TRIALS, why)


def grounds(rates: Rates, question: Question, decision: Decision) -> tuple[str, ...]:
    """What the forecast of the roads takes for granted."""
    found = [
        f"A road passes with {least_passes(question.goal)} of {TRIALS} fresh trials, by luck too; "
        "the true success to expect then stands beside it. One stage follows another with twice "
        "the data, up to 16 times what exists."
    ]
    priced = [AMOUNTS[name] for name in AMOUNTS if rates.sources.get(name) == "prices"]
    if priced:
        found.append(f"Costs from default prices, not from a ledger: {', '.join(priced)}.")
    if rates.built:
        found.append(
            "The simulator is there and costs nothing more to build (--to-build counts it, as for "
            "a new task)."
        )
    else:
        low, high = rates.setup
        found.append(
            f"Building the simulator costs {rates.currency} {low:,.0f} to {high:,.0f}; where it is "
            "there already, say --built."
        )
    found.append(
        "The roads are extrapolated by learning curves, with doubt added that these are wrong: "
        "only the next increment is meant to be bought."
    )
    return tuple(found)
