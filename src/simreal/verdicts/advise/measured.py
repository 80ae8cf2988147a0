"""Advice from measured arms only: what their own trials on the target show, nothing beyond."""

from __future__ import annotations

from collections.abc import Sequence

from simreal.verdicts.advise.case import Advice, Case, Request
from simreal.verdicts.advise.choice import Contest, cheapest, contests
from simreal.verdicts.advise.eligibility import eligibility
from simreal.verdicts.advise.increment import first_trials, more_data, more_trials, trials_to_decide
from simreal.verdicts.advise.words import percent
from simreal.verdicts.cost import Arm
from simreal.verdicts.evidence import Evidence


def case_of(evidence: Evidence, request: Request) -> Case:
    """The evidence seen from the request: eligible arms with what they reach and cost."""
    rules = tuple(
        eligibility(evidence, arm, request.limits, request.target) for arm in evidence.arms
    )
    reach = {
        rule.arm: found
        for rule in rules
        if rule.eligible and (found := evidence.reach(rule.arm)) is not None
    }
    return Case(evidence, request, rules, reach, evidence.costs)


def judge(case: Case) -> Advice:
    """What the measured arms say."""
    if not case.reach:
        reasons = "; ".join(f"{r.arm}: {r.reasons[0]}" for r in case.rules)
        return case.answer("not enough evidence", None, f"No arm may be advised: {reasons}.")
    if case.request.target:
        return _for_target(case, case.request.target)
    return _for_best(case)


def able_arms(case: Case, target: float) -> list[Arm]:
    """Arms that are shown to reach the target."""
    return [a for a in case.arms if case.reach[a.name].bounds[0] >= target]


def _for_target(case: Case, target: float) -> Advice:
    """Advice where a success rate has to be reached."""
    able = able_arms(case, target)
    if able:
        return cheapest(case, able, f"is shown to reach {percent(target)}", target)
    possible = [a for a in case.arms if case.reach[a.name].bounds[1] >= target]
    if possible:
        return _open(case, possible, target)
    unknown = [rule for rule in case.rules if rule.untried]
    if unknown:
        return case.answer(
            "not enough evidence",
            None,
            f"No arm that was tried reaches {percent(target)}; {unknown[0].arm} was not tried "
            f"enough ({unknown[0].reasons[0]}).",
            next=first_trials(case.evidence.arm(unknown[0].arm)),
        )
    best = max(case.arms, key=lambda a: (case.reach[a.name].bounds[1], a.name))
    top = case.reach[best.name]
    return case.answer(
        "no strategy reaches it",
        None,
        f"Even the best arm, {best.name}, succeeds in at most {percent(top.bounds[1])} (95 %); "
        f"{percent(target)} is wanted.",
        next=more_data(best, case.evidence.arms),
        runner_up=best.name,
    )


def _open(case: Case, possible: Sequence[Arm], target: float) -> Advice:
    """No arm is shown to reach the target, some may: say which measurement helps most."""
    best = max(possible, key=lambda a: (case.reach[a.name].rate or 0.0, *_thrifty(case, a)))
    found = case.reach[best.name]
    rate = case.evidence.pooled_rate(best.name)
    increment = more_trials(best, rate, target, case.evidence.arms)
    return case.answer(
        "not enough evidence",
        None,
        f"No arm is shown to reach {percent(target)}. {best.name} comes nearest: {rate.k} of "
        f"{rate.n}, which leaves {percent(found.bounds[0])} to {percent(found.bounds[1])} "
        f"({found.method}).",
        next=increment,
        runner_up=best.name,
    )


def _thrifty(case: Case, arm: Arm) -> tuple[float, ...]:
    return tuple(-x for x in case.money(arm))


def _for_best(case: Case) -> Advice:
    """Advice where no rate is asked for: the arm that beats, or else matches at less cost."""
    if len(case.arms) == 1:
        only = case.arms[0].name
        return case.answer(
            "not enough evidence", None, f"Only {only} may be judged; there is no road beside it."
        )
    margin, found = case.evidence.margin, contests(case)
    others = {a: [b for b in case.arms if b != a] for a in case.arms}

    def states(arm: Arm) -> list[Contest | None]:
        return [found.get((arm.name, other.name)) for other in others[arm]]

    first = [a for a in case.arms if all(c and c.state == "better" for c in states(a))]
    if first:
        return cheapest(case, first, "is shown to be better than every other arm", None)
    level = [a for a in case.arms if all(c and c.ci[0] > -margin for c in states(a))]
    if level:
        what = f"is shown to be at most {100 * margin:g} points behind any other arm"
        return cheapest(case, level, what, None)
    ranked = sorted(case.arms, key=lambda a: -(case.reach[a.name].rate or 0.0))
    increment = trials_to_decide(*(case.evidence.pooled_rate(a.name) for a in ranked[:2]))
    return case.answer(
        "not enough evidence",
        None,
        f"The trials do not tell the best arms apart ({ranked[0].name} and {ranked[1].name}).",
        next=increment,
        runner_up=ranked[0].name,
    )
