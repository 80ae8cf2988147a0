"""Every sentence that compares is made here, from the state of a declared test and nothing else.

"better" can only come out of a test whose state is "better", "worse" only out of "worse". The rest
of the report holds no comparative word at all (a test reads it and its templates).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from simreal.core.errors import unknown
from simreal.core.types import STAND_IN
from simreal.report.numbers import (
    THIN,
    factor,
    hours,
    interval,
    money,
    p_value,
    percent,
    points,
    rate,
    share,
    signed,
    span,
)
from simreal.report.records import Arm, Study
from simreal.verdicts.advise import ADVICE_STATES
from simreal.verdicts.claims import CLAIM_STATES
from simreal.verdicts.compare import STATES

_COMPARED = {
    "better": "{a} did better than {b}",
    "worse": "{a} did worse than {b}",
    "equivalent": "{a} and {b} are equivalent within the declared margin",
    "cannot tell": "{a} and {b} cannot be told apart by these trials",
}
_SUITES = {
    "nominal": "the conditions of training",
    "backgrounds": "unseen backgrounds",
    "distractors": "distractors",
    "orientations": "new orientations",
    "session": "another session",
    "unit": "a second unit",
}
_MARKS = {"supported": "✓", "contradicted": "✕", "cannot tell": "?", "not tested here": "–"}


def comparison(a: str, b: str, verdict: Any, where: str = "") -> str:
    """Two arms compared: `hybrid did better than real-only on the target: +9.0 points (...), ...`.

    verdict: an entry of summary.json's verdicts, or a `Comparison`.
    """
    numbers = _numbers(verdict)
    return _compared(a, b, verdict, where) + (f": {numbers}" if numbers else "")


def declared(verdict: Mapping[str, Any]) -> tuple[str, str]:
    """A declared test of summary.json (`A against B, suite`) as (sentence, its numbers)."""
    asked = re.fullmatch(r"(.+) against (.+), ([^,]+)", str(verdict["claim"]))
    if asked is None:
        state = _known("state of a comparison", verdict["state"], STATES)
        return f"{verdict['claim']}: {state}.", _numbers(verdict)
    where = "the target" if asked[3] == "nominal" else suite(asked[3])
    return f"{_compared(asked[1], asked[2], verdict, where)}.", _numbers(verdict)


def _compared(a: str, b: str, verdict: Any, where: str) -> str:
    state = _known("state of a comparison", _get(verdict, "state"), STATES)
    on = f" on {where}" if where else ""
    if _get(verdict, "estimate", "difference") is None:
        return f"{a} and {b} were not compared{on}"
    return _COMPARED[state].format(a=a, b=b) + on


def suite(name: str) -> str:
    """A suite as people call it."""
    return _SUITES.get(name, name.replace("_", " "))


def claim(state: str) -> tuple[str, str]:
    """The state of a claim with the mark printed before it."""
    known = _known("state of a claim", state, CLAIM_STATES)
    return _MARKS[known], known


def transfer(arm: Arm) -> str:
    """An arm's gap, simulation minus target, and whether it can be told from zero."""
    gap = arm.gap
    if not gap or gap.get("points") is None:
        return "The gap was not measured."
    low, high = gap["ci"]
    if low > 0:
        return "The gap is above zero."
    if high < 0:
        return "The gap is below zero."
    return "The gap cannot be told from zero by these trials."


def estimate(study: Study, test: str, entry: Mapping[str, Any]) -> str:
    """What a claim was judged by, in the unit of its test; a rate comes with its counts."""
    value, ci = entry.get("estimate"), entry.get("ci")
    if value is None and ci is None:
        return ""
    if test == "rate_at_least":
        arm = next((a for a in study.arms if str(entry["method"]).startswith(f"{a.name};")), None)
        return on_targets(arm) if arm else ""
    if test == "cost_ratio_in_range":
        return _estimated(value, ci, factor, " times")
    if test == "saving_in_range":
        return _estimated(value, ci, share, f"{THIN}%")
    return _estimated(value, ci, signed, " points")


def headline(study: Study) -> str:
    """Which road: the first sentence a reader sees."""
    advice = study.summary["advice"]
    state = _known("state of the advice", advice["state"], ADVICE_STATES)
    arm = advised(study)
    if state == "not enough evidence":
        return "Not enough evidence to choose a road."
    if state == "no strategy reaches it":
        return "None of the arms tried here reaches the goal."
    if arm is None:
        return f"Take {advice['strategy']}."
    if state == "do not build a simulator":
        return f"Do not build a simulator: train on {_demonstrations(arm)}."
    return f"Take {arm.name}: train on {_demonstrations(arm)}."


def advised(study: Study) -> Arm | None:
    """The arm the advice names, None where it names none."""
    name = study.summary["advice"]["strategy"]
    return next((arm for arm in study.arms if arm.name == name), None)


def how_sure(study: Study) -> tuple[str, str]:
    """The measured success of the advised arm, or of the nearest: (counts, what they mean)."""
    advice = study.summary["advice"]
    name = advice["strategy"] or advice.get("runner_up")
    arm = next((a for a in study.arms if a.name == name), None)
    if arm is None or not any(c.measured for c in arm.targets.values()):
        return "No measurement", "No arm has enough trials on the target."
    cells = arm.targets.values()
    big = f"{sum(c.k for c in cells)}/{sum(c.n for c in cells)}"
    whose = "" if advice["strategy"] else f"{arm.name}, which is not advised: "
    label = f", {study.label}" if study.label else ""
    only = "" if len(arm.seeds) > 1 else " One training seed: this checkpoint, not the recipe."
    return big, f"{whose}{_beside_counts(arm)}{label}.{only}"


def on_targets(arm: Arm) -> str:
    """The arm's success on its targets with its counts; with several, their mean."""
    cells = list(arm.targets.values())
    if len(cells) < 2:
        return rate(cells[0]) if cells else "no data"
    return f"{sum(c.k for c in cells)}/{sum(c.n for c in cells)}, {_beside_counts(arm)}"


def _beside_counts(arm: Arm) -> str:
    """What the counts on the targets come to."""
    cells = list(arm.targets.values())
    if len(cells) == 1:
        return f"{interval(cells[0])} on the target"
    if not arm.over_targets:
        return f"pooled over {len(cells)} targets, no interval over targets"
    over = arm.over_targets
    mean = f"{percent(over['mean'])}{THIN}% ({span(over['ci'])})"
    return f"counts pooled; mean of {over['n_targets']} targets {mean}"


def next_step(study: Study) -> tuple[str, str]:
    """What to do next, (in short, why): the advice's increment, or a confirmation where due."""
    step = study.summary["advice"].get("next") or {}
    why = str(step.get("why") or "").removeprefix("Next: ")
    arm = next((a for a in study.arms if a.name == step.get("arm")), None)
    real, sim = (arm.n_real, arm.n_sim) if arm else (0, 0)
    more = [
        f"{count:,} more {name}"
        for count, name in (
            (step.get("n_real", 0) - real, "real demonstrations"),
            (step.get("n_sim", 0) - sim, "simulated demonstrations"),
            (step.get("trials", 0), "trials"),
        )
        if count > 0
    ]
    if more:
        return ", ".join(more), sentence(why or (f"For {arm.name}." if arm else "For every arm."))
    if why:
        return "First", sentence(why)
    if study.stand_in:
        return "Trials on a robot", f"The target of this study is a {STAND_IN}."
    return "Nothing more", "No further measurement is needed for this choice."


def price(study: Study, setup: Sequence[float] | None = None) -> tuple[str, str]:
    """What the advised arm cost in all, (money, what is in it); setup: a band it may add."""
    arm = advised(study)
    cost = study.summary["advice"].get("cost") or (arm.cost if arm else None)
    if not cost:
        return "Open", "No arm is advised, so none is priced here; all costs stand below."
    spent = [
        f"{hours(cost[key])} {name}"
        for key, name in (
            ("operator_h", "operator"),
            ("robot_h", "robot"),
            ("compute_h", "compute"),
            ("engineering_h", "engineering (assumption)"),
        )
        if cost.get(key)
    ]
    text = f"{', '.join(spent) or 'Nothing was charged'}."
    if setup:
        low, high = (money(x, cost["currency"]) for x in setup)
        text += f" Building the simulation is not in it: {low} to {high}, an assumption."
    return money(cost["total"], cost["currency"]), text


def sentence(text: str) -> str:
    """`text` with a capital letter in front."""
    return text[:1].upper() + text[1:]


def scope(arms: Sequence[Arm]) -> str:
    """Whether the study speaks of checkpoints or of recipes (at least two training seeds)."""
    fewest = min((len(arm.seeds) for arm in arms), default=0)
    if fewest >= 2:
        return f"Recipes: every arm was trained with at least {fewest} seeds."
    return (
        "Checkpoints, not recipes: there is one training seed an arm, and another seed of the "
        "same recipe may succeed at another rate. A claim about a recipe needs at least two."
    )


def _demonstrations(arm: Arm) -> str:
    parts = [(arm.n_sim, "simulated"), (arm.n_real, "real")]
    text = " and ".join(f"{n:,} {kind}" for n, kind in parts if n)
    return f"{text or 'no'} demonstrations"


def _estimated(
    value: float | None, ci: Sequence[float] | None, form: Callable[[float], str], unit: str
) -> str:
    """A number with its interval, or the interval alone where the test gives no number."""
    if value is None:
        return f"between {form(ci[0])} and {form(ci[1])}{unit}" if ci else ""
    return f"{form(value)}{unit}" + (f" ({form(ci[0])} to {form(ci[1])})" if ci else "")


def _numbers(verdict: Any) -> str:
    estimate, ci = _get(verdict, "estimate", "difference"), _get(verdict, "ci")
    shown = [points(estimate, ci)] if estimate is not None else []
    shown += [text for text in (p_value(_get(verdict, "p")), _get(verdict, "method")) if text]
    return ", ".join(shown)


def _get(verdict: Any, *names: str) -> Any:
    """A value by the first name that a JSON object or a verdict object has."""
    for name in names:
        if isinstance(verdict, Mapping) and name in verdict:
            return verdict[name]
        if not isinstance(verdict, Mapping) and name in getattr(
            verdict, "__dataclass_fields__", ()
        ):
            return getattr(verdict, name)
    return None


def _known(what: str, state: Any, allowed: Any) -> str:
    text = str(state).replace("_", " ")
    if text not in allowed:
        raise unknown(what, text, allowed)
    return text
