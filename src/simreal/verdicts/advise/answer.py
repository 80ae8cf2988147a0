"""Which road to take, why, how sure, and what would flip it.

First the measured arms: one that is shown to reach the target needs no forecast. Else the roads:
a learning surface is fitted to the cells, a doubling plan of each road is followed over its
posterior, and the road of least expected cost among those sure enough is advised, unless a
measurement is worth more than it costs, or no road is sure enough. The same evidence always gets
the same answer.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from simreal.verdicts.advise.case import Advice, AdviceState, Case, Request, RoadFacts
from simreal.verdicts.advise.cells import barred_roads, eligible_cells, enough, have_of
from simreal.verdicts.advise.clock import Clock, fixed_clock, lab_clock
from simreal.verdicts.advise.decision import DRAWS, Decision, decide
from simreal.verdicts.advise.flips import flips
from simreal.verdicts.advise.increment import Increment
from simreal.verdicts.advise.measured import able_arms, case_of, judge
from simreal.verdicts.advise.plan import Outlook
from simreal.verdicts.advise.rates import Rates, rates_of
from simreal.verdicts.advise.reasons import (
    because_ahead,
    because_break_even,
    because_harmful,
    because_open,
    because_unreachable,
    grounds,
    next_measurement,
    next_stage,
)
from simreal.verdicts.advise.roads import Question, Survey, runner_up, survey
from simreal.verdicts.cost.prices import Prices
from simreal.verdicts.curves import cells_of, drops
from simreal.verdicts.evidence import Evidence
from simreal.verdicts.planning import ALPHA

#: Simulation is called harmful where real-only beats hybrid, at equal real data, in so many draws.
_HARMFUL = 0.95
#: Goals beyond these cannot be told apart by a test of 50 trials.
_LOWEST_GOAL, _HIGHEST_GOAL = 0.02, 0.98


def advise(evidence: Evidence, request: Request | None = None) -> Advice:
    """The advice of this evidence."""
    request = request or Request()
    case = case_of(evidence, request)
    plain = judge(case)
    cells = cells_of(evidence)
    goal = request.target if request.target is not None else _best_rate(case)
    if goal is None or evidence.prices is None or not enough(cells):
        return plain
    rates = rates_of(evidence, evidence.prices, request.built)
    question = Question(goal, request.confidence, request.bounds)
    decision = decide(
        cells,
        have_of(evidence),
        rates,
        question,
        barred_roads(evidence, case.rules),
        tried=eligible_cells(cells, case.rules),
        clock=_clock(evidence, evidence.prices, request),
    )
    if not decision.survey.outlooks:
        return plain
    seen = replace(_with_roads(plain, decision, rates, goal), wanted=request.target is not None)
    if request.target is None or able_arms(case, request.target):
        return seen
    falls = [d.sentence for d in drops(cells) if d.p <= ALPHA]
    seen = replace(seen, assumptions=(*seen.assumptions, *falls))
    return _on_roads(case, seen, decision, rates, question)


def _clock(evidence: Evidence, prices: Prices, request: Request) -> Clock | None:
    """How long stages take, where there is a deadline."""
    if request.days is None:
        return None
    if request.stage_days is not None:
        return fixed_clock(request.stage_days, DRAWS)
    return lab_clock(evidence, prices, DRAWS, request.built)


def _best_rate(case: Case) -> float | None:
    """Without a target the roads are judged by what the best arm reached."""
    rates = [r.rate for r in case.reach.values() if r.rate is not None]
    return float(np.clip(max(rates), _LOWEST_GOAL, _HIGHEST_GOAL)) if rates else None


def _with_roads(plain: Advice, decision: Decision, rates: Rates, goal: float) -> Advice:
    """An advice with what the roads come to."""
    seen = decision.survey
    roads = [_facts(o, seen, tried=True) for o in seen.outlooks]
    roads += [_facts(o, seen, tried=False) for o in seen.untried]
    return replace(
        plain,
        goal=goal,
        roads=tuple(roads),
        currency=rates.currency,
        evpi=decision.evpi,
        evsi=decision.candidates,
    )


def _facts(outlook: Outlook, seen: Survey, tried: bool) -> RoadFacts:
    first = outlook.plan.places[0]
    numbers = (outlook.p_reach, outlook.mean, outlook.p50, outlook.p90)
    pareto = tried and seen.pareto(outlook)
    return RoadFacts(outlook.plan.road, first, *numbers, pareto, tried, outlook.after)


def _on_roads(
    case: Case, seen: Advice, decision: Decision, rates: Rates, question: Question
) -> Advice:
    """No arm is shown to reach the target: the roads decide."""
    chosen, second = decision.survey.chosen, runner_up(decision.survey)
    state, reason, why = _state(decision, rates, question)
    leading = chosen or decision.survey.surest
    taken = chosen if state in ("advice", "do not build a simulator") else None
    after = second if taken else leading
    arm = arm_on(taken) if taken else None
    cost = case.costs.get(arm) if arm else None
    return replace(
        seen,
        state=state,
        strategy=arm,
        road=taken.plan.road if taken else None,
        reason=f"{reason} {why}".strip(),
        next=_next(decision, taken, question),
        runner_up=arm_on(after) if after else None,
        flips=flips(decision.found, rates, question, decision.survey),
        cost=cost,
        p_reach=taken.p_reach if taken else None,
        assumptions=(*seen.assumptions, *grounds(rates, question, decision)),
    )


def arm_on(outlook: Outlook) -> str:
    """The arm that stands for a road: the one its plan starts from, else the road's own name."""
    return outlook.plan.start.arm if outlook.plan.start else outlook.plan.road


def _state(decision: Decision, rates: Rates, question: Question) -> tuple[AdviceState, str, str]:
    """The state with the sentences that give its reason."""
    seen = decision.survey
    if decision.kind == "unreachable":
        return "no strategy reaches it", because_unreachable(seen, question), ""
    if decision.kind == "measure" or seen.chosen is None:
        return "not enough evidence", because_open(decision, rates, question), ""
    ahead = because_ahead(seen, rates, question)
    if seen.chosen.plan.road == "real-only":
        harm = _harm(decision)
        if harm is not None and harm >= _HARMFUL:
            return "do not build a simulator", ahead, because_harmful(harm)
        if not rates.built and _would_win(decision, rates, question):
            return "do not build a simulator", ahead, because_break_even(rates)
    return "advice", ahead, ""


def _would_win(decision: Decision, rates: Rates, question: Question) -> bool:
    """Whether a road with simulation would be taken if the simulator were there already."""
    there = survey(decision.found, replace(rates, setup=(0.0, 0.0)), question)
    return there.chosen is not None and there.chosen.plan.road != "real-only"


def _harm(decision: Decision) -> float | None:
    """P(simulation lowers success at the present data); None where a road of the two is missing."""
    plans = {p.plan.road: p.plan for p in decision.found if p.open}
    if not {"real-only", "hybrid"} <= set(plans):
        return None
    base = plans["hybrid"].base
    with_sim = decision.beliefs.along("hybrid", base, (1,))
    without = decision.beliefs.along("real-only", (base[0], 0), (1,))
    return float((with_sim < without).mean())


def _next(decision: Decision, taken: Outlook | None, question: Question) -> Increment:
    """The next increment only: the first stage of the road, or the measurement."""
    if taken is not None:
        return next_stage(taken, arm_on(taken), question)
    one = decision.measure
    if decision.kind == "unreachable" or one is None:
        return Increment(why="")
    return next_measurement(one)
