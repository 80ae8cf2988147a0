"""Verdicts as lines of text for the terminal; wording comes from `words`."""

from __future__ import annotations

from simreal.report import words
from simreal.report.numbers import (
    MINUS,
    THIN,
    cell,
    p_value,
    percent,
    points,
    rate,
    share,
    span,
)
from simreal.verdicts.agreement import Agreement, Measured, Statistic
from simreal.verdicts.compare import STATES, Comparison
from simreal.verdicts.gap import Gap
from simreal.verdicts.ranking import Ranking
from simreal.verdicts.rates import Rate
from simreal.verdicts.stopping import Decision, Tried


def plain(text: str) -> str:
    """Text for a terminal: ordinary spaces and minus signs."""
    return text.replace(THIN, " ").replace(MINUS, "-")


def rate_line(found: Rate, where: str) -> str:
    """`84/100 = 84 % (76 to 90) on twin:FILE.`."""
    return plain(f"{rate(cell(found.to_json()))} on {where}.")


def comparison_lines(found: Comparison, a: str, b: str) -> list[str]:
    """One sentence, both counts, the method, and the smallest difference that could be seen."""
    lines = [
        words.comparison(a, b, {**found.to_json(), "method": None}) + ".",
        f"{a}: {rate(cell(found.a.to_json()))}; {b}: {rate(cell(found.b.to_json()))}.",
        f"Method: {found.method}; 95 % intervals.",
        _detectable(found.smallest_detectable),
    ]
    return [plain(line) for line in lines if line]


def ranking_lines(found: Ranking) -> list[str]:
    """The order with its letters, each arm's counts, the method."""
    order = ", ".join(f"{arm.name} ({arm.letters})" for arm in found.arms)
    seen = [c.smallest_detectable for c in found.comparisons.values()]
    largest = max((x for x in seen if x is not None), default=None)
    lines = [
        f"By success: {order}. Arms that share a letter are not told apart.",
        *(f"{arm.name}: {rate(cell(arm.rate.to_json()))}." for arm in found.arms),
        f"Method: {found.method}; 95 % intervals.",
        _detectable(largest),
    ]
    return [plain(line) for line in lines if line]


_AGREEMENT = {
    "agrees": "Where simulation rates a policy high, so does the target",
    "disagrees": "Where simulation rates a policy high, the target rates it low",
    "cannot tell": "Whether the target rates these policies as simulation does cannot be told",
}


def agreement_lines(found: Agreement) -> list[str]:
    """One sentence, the three measures, each policy's counts, the method."""
    count = len(found.policies)
    linear = found.pearson
    shown = f"Pearson {linear.value:+.2f}" if linear else "one side is constant"
    # p counts the assignments that agree as well; it says nothing for policies that disagree.
    if linear and found.state != "disagrees":
        shown += f", {p_value(linear.p)}"
    lines = [
        f"{_AGREEMENT[found.state]}: {shown}, over {count} policies.",
        f"MMRV {_statistic(found.mmrv, '.3f')}: the largest difference on the target that "
        "simulation orders the other way, mean over policies (0 is none).",
        f"Pearson {_statistic(found.pearson, '+.2f')}.",
        f"Spearman {_statistic(found.spearman, '+.2f')}.",
        *(
            f"{name}: simulation {_measured(sim)}, target {_measured(real)}."
            for name, (sim, real) in found.policies.items()
        ),
        f"Method: {found.method}.",
    ]
    return [plain(line) for line in lines]


def _statistic(found: Statistic | None, form: str) -> str:
    if found is None:
        return "is not defined: one side is constant"
    of = {"these policies": found.ci, "policies like these": found.ci_policies}
    ends = [f"{name}: {ci[0]:{form}} to {ci[1]:{form}}" for name, ci in of.items() if ci]
    return f"{found.value:{form}}" + (f" ({'; '.join(ends)})" if ends else "")


def _measured(found: Measured) -> str:
    if found.k is None:
        return f"{percent(found.rate)} % (no counts)"
    return rate(cell(found.to_json()))


def decided_lines(found: Decision, on: str, label: str) -> list[str]:
    """The decision in one sentence, the counts, what was saved, and the method."""
    rule = found.rule
    said = _compared_early(found) if rule.goal is None else _against_goal(found, rule.goal)
    where = f"On {on}, {label}." if label else f"On {on}."
    counts = [f"{arm.name}: {_tried(arm)}." for arm in found.arms]
    if found.decided:
        stopped = (
            f"Stopped after {found.conditions} of {rule.most} conditions (decided by condition "
            f"{found.at}): {found.saved} trials saved."
        )
    else:
        stopped = f"All {found.conditions} conditions were tried; none was saved."
    interval = "Intervals hold at any time (confidence sequences, 95 %)."
    lines = [said, *counts, where, stopped, f"Method: {rule.method}.", interval]
    return [plain(line) for line in lines]


def _tried(arm: Tried) -> str:
    score = "" if arm.score is None else f", mean stage score {arm.score:.2f}"
    return f"{rate(cell(arm.to_json()))}{score}"


def _compared_early(found: Decision) -> str:
    verdict = {"state": found.state, "difference": found.estimate, "ci": found.ci}
    p = {"p": found.p, "method": "at any time"}
    where = "" if found.rule.by == "success" else "the mean stage score"
    first, second = (arm.name for arm in found.arms)
    return words.comparison(first, second, {**verdict, **p}, where) + "."


def _against_goal(found: Decision, goal: float) -> str:
    what = "success" if found.rule.by == "success" else "the mean stage score"
    (arm,) = found.arms
    said = {
        "reached": f"{arm.name}: {what} is above {100 * goal:g} %",
        "missed": f"{arm.name}: {what} is below {100 * goal:g} %",
    }.get(
        found.state,
        f"{arm.name}: whether {what} is above {100 * goal:g} % cannot be told by these trials",
    )
    if found.estimate is None:
        return f"{said}."
    return f"{said}: {percent(found.estimate)} % ({span(found.ci)}), at any time."


def _detectable(smallest: float | None) -> str:
    if smallest is None:
        return ""
    size = percent(smallest)
    unit = "point" if size == "1" else "points"
    return f"So many trials see a true difference of {size} {unit} in 4 of 5 studies."


#: What each state of a comparison means of a gap, simulation being the first side.
_GAP = dict(
    zip(
        STATES,
        (
            "there is a gap",
            "the target succeeds more often than simulation",
            "no gap beyond the margin",
            "these trials cannot tell whether there is a gap",
        ),
        strict=True,
    )
)


def gap_lines(found: Gap) -> list[str]:
    """The gap in points with its state, both counts, the relative drop where it means something.

    Then the method, and the smallest gap that could have been seen.
    """
    if found.points is None:
        return ["The gap was not measured: one side has no trials."]
    drop = found.relative_drop
    lines = [
        f"Transfer gap, simulation less target: {points(found.points, found.ci)}; "
        f"{_GAP[found.state]}.",
        f"Simulation: {rate(cell(found.sim.to_json()))}; "
        f"target: {rate(cell(found.real.to_json()))}.",
        f"Relative drop: {share(drop.value)} % ({share(drop.ci[0])} to {share(drop.ci[1])})."
        if drop
        else "",
        f"Method: {found.method}; 95 % intervals.",
        _detectable(found.smallest_detectable),
    ]
    return [plain(line) for line in lines if line]
