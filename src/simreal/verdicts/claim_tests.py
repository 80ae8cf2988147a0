"""The tests of success behind the claims: each takes the evidence and a claim's parameters.

It returns a `Finding`, or a `Lacking` that names what would have to be measured.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from simreal.verdicts.claim_costs import cost_ratio_in_range, saving_in_range
from simreal.verdicts.claim_parts import (
    Finding,
    FoundState,
    Lacking,
    Parameters,
    Test,
    difference,
    in_range,
    named,
    player,
    players,
)
from simreal.verdicts.compare import decide
from simreal.verdicts.cost import Arm
from simreal.verdicts.evidence import Contrast, Evidence, contrast
from simreal.verdicts.exact import holm
from simreal.verdicts.planning import ALPHA


def rate_at_least(evidence: Evidence, p: Parameters) -> Finding | Lacking:
    """One-sided bounds of one arm's rate against `rate`."""
    arm = player(evidence, p["arm"])
    if isinstance(arm, Lacking):
        return arm
    reach = evidence.reach(arm.name, p["suite"])
    if reach is None:
        return Lacking(f"trials of {arm.name} on a target")
    state = in_range(reach.bounds, p["rate"], 1.0, reach.enough)
    return Finding(state, reach.rate, reach.bounds, f"{arm.name}; {reach.method}")


def gap_in_range(evidence: Evidence, p: Parameters) -> Finding | Lacking:
    """The gap of one arm between simulation and the targets, against [low, high]."""
    arm = player(evidence, p["arm"])
    if isinstance(arm, Lacking):
        return arm
    found = evidence.gap_of(arm.name, p["suite"])
    if found is None:
        return Lacking(f"trials of {arm.name} in simulation and on a target")
    state = in_range(found.estimate.ci, p["low"], p["high"], found.enough)
    method = f"{arm.name}, simulation minus target; {found.method}"
    return Finding(state, found.estimate.difference, found.estimate.ci, method)


def difference_in_range(evidence: Evidence, p: Parameters) -> Finding | Lacking:
    """The difference of two arms on a suite, against [low, high]; for one task where named."""
    if "task" in p and not evidence.task.startswith(p["task"]):
        return Lacking(f"the task {p['task']}")
    pair = players(evidence, p)
    if isinstance(pair, Lacking):
        return pair
    found = difference(evidence, *pair, p["suite"])
    if isinstance(found, Lacking):
        return found
    state = in_range(found.estimate.ci, p["low"], p["high"], found.enough)
    method = named(*pair, found.method)
    return Finding(state, found.estimate.difference, found.estimate.ci, method)


def better_on_suite(evidence: Evidence, p: Parameters) -> Finding | Lacking:
    """Whether one arm beats another on a suite; shown equal or worse contradicts it."""
    pair = players(evidence, p)
    if isinstance(pair, Lacking):
        return pair
    found = difference(evidence, *pair, p["suite"])
    if isinstance(found, Lacking):
        return found
    verdict = decide(found.estimate.ci, found.estimate.p, p["margin"], found.enough)
    states: dict[str, FoundState] = {"better": "supported", "cannot tell": "cannot tell"}
    method = named(*pair, found.method)
    state = states.get(verdict, "contradicted")
    return Finding(state, found.estimate.difference, found.estimate.ci, method)


def same_everywhere(evidence: Evidence, p: Parameters) -> Finding | Lacking:
    """One arm on its own suite against other sessions and units: a loss anywhere contradicts."""
    arm = player(evidence, p["arm"])
    if isinstance(arm, Lacking):
        return arm
    own = evidence.on_targets(arm.name, p["suite"])
    found = {
        suite: result
        for suite in p["suites"]
        if (result := contrast(own, evidence.on_targets(arm.name, suite), p["margin"]))
    }
    if not found:
        return Lacking(f"trials of {arm.name} in another session and on a second unit")
    worst = max(found.values(), key=lambda c: c.estimate.difference or 0.0)
    enough = [c for c in found.values() if c.enough]
    state: FoundState = "cannot tell"
    if any(c.estimate.ci[0] > 0 for c in enough):
        state = "contradicted"
    elif len(enough) == len(p["suites"]) and all(c.estimate.ci[1] < p["margin"] for c in enough):
        state = "supported"
    method = f"{arm.name}, own session minus {' and '.join(found)} (largest loss); {worst.method}"
    return Finding(state, worst.estimate.difference, worst.estimate.ci, method)


def less_real_data(evidence: Evidence, p: Parameters) -> Finding | Lacking:
    """Non-inferiority of an arm with a declared share less real data than the real-only arm."""
    other = player(evidence, p["against"])
    if isinstance(other, Lacking):
        return other
    most = other.n_real * (1 - p["less"]) + 1e-9
    arms = [a for a in evidence.all_of(p["arm"]) if a.n_real <= most]
    lacking = Lacking(f"a {p['arm']} arm with at most {math.floor(most)} real demonstrations")
    if not arms:
        return lacking
    arm = max(arms, key=lambda a: (a.n_real, a.n_sim))
    found = difference(evidence, arm, other, p["suite"], 2 * ALPHA)
    if isinstance(found, Lacking):
        return found
    ci, margin = found.estimate.ci, p["margin"]
    state = in_range(ci, -margin, math.inf, found.enough)
    detail = f"non-inferiority, margin {margin:g}, one-sided 95 %: {found.method}"
    method = f"{arm.name} ({arm.n_real} real) minus {other.name} ({other.n_real} real); {detail}"
    return Finding(state, found.estimate.difference, ci, method)


def best_mix(evidence: Evidence, p: Parameters) -> Finding | Lacking:
    """The arm with the literal mixture against every other mixture.

    Supported where it is non-inferior to all of them; contradicted where one is better (Holm).
    """
    mixes = [a for a in evidence.all_of(p["arm"]) if evidence.on_targets(a.name, p["suite"])]
    literal = [a for a in mixes if abs(share_of(a) - p["sim_share"]) <= 0.005]
    others = [a for a in mixes if a not in literal]
    if not literal or not others:
        return Lacking("an arm with 90 % simulation and others with other shares")
    arm = max(literal, key=lambda a: (a.n_real, a.n_sim))
    wide = [difference(evidence, arm, o, p["suite"]) for o in others]
    found = [c for c in wide if isinstance(c, Contrast)]
    if len(found) < len(others):
        return Lacking("trials of every mixture on the same target")
    worst = min(found, key=lambda c: c.estimate.difference or 0.0)
    adjusted = holm([1.0 if c.estimate.p is None else c.estimate.p for c in found])
    losing = any(
        decide(c.estimate.ci, p_value, p["margin"], c.enough) == "worse"
        for c, p_value in zip(found, adjusted, strict=True)
    )
    near = all(c.enough and c.estimate.ci[0] > -p["margin"] for c in found)
    state: FoundState = "contradicted" if losing else "supported" if near else "cannot tell"
    method = f"{arm.name} against {len(others)} other mixtures (worst shown); {worst.method}; Holm"
    return Finding(state, worst.estimate.difference, worst.estimate.ci, method)


def share_of(arm: Arm) -> float:
    """Share of simulation in an arm: of its batches where fixed, else of its demonstrations."""
    if arm.sim_share is not None:
        return arm.sim_share
    return arm.n_sim / (arm.n_sim + arm.n_real)


def advice_differs(evidence: Evidence, p: Parameters) -> Finding | Lacking:
    """Whether the advised strategy changes over the declared situations (tasks, prices, limits)."""
    advised = dict(evidence.strategies)
    if len(advised) < 2:
        return Lacking("the advice for several situations (tasks, prices, limits)")
    different = len(set(advised.values()))
    method = "the advisor's answers over " + ", ".join(sorted(advised))
    return Finding("supported" if different > 1 else "contradicted", different, None, method)


TESTS: Mapping[str, Test] = {
    "rate_at_least": rate_at_least,
    "gap_in_range": gap_in_range,
    "difference_in_range": difference_in_range,
    "better_on_suite": better_on_suite,
    "same_everywhere": same_everywhere,
    "saving_in_range": saving_in_range,
    "cost_ratio_in_range": cost_ratio_in_range,
    "less_real_data": less_real_data,
    "best_mix": best_mix,
    "advice_differs": advice_differs,
}
