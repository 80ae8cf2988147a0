"""The verdict card: the advice in a sentence, how sure, what it costs, what next."""

from __future__ import annotations

from collections.abc import Sequence

from simreal.core.types import STAND_IN
from simreal.report import outlook
from simreal.report.numbers import hours, money, percent
from simreal.report.records import Arm, Study
from simreal.report.words.rates import beside_counts
from simreal.report.words.states import known
from simreal.verdicts.advise import ADVICE_STATES


def headline(study: Study) -> str:
    """Which road: the first sentence a reader sees."""
    advice = study.summary["advice"]
    state = known("state of the advice", advice["state"], ADVICE_STATES)
    arm = advised(study)
    if state == "not enough evidence":
        return "Not enough evidence to choose a road."
    if state == "no strategy reaches it":
        if advice.get("roads"):
            return "No road tried here is likely to pass a test of the goal."
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
    """How likely the advised road passes its test, or else what was measured: (short, more)."""
    counts, measured = _measured(study)
    road = outlook.advised_road(study)
    if road is None or road.p_reach is None:
        return counts, measured
    goal = outlook.goal(study)
    to = f"to pass a test of {'the goal' if goal is None else percent(goal) + ' %'}"
    so_far = f"Measured so far: {counts}, {measured}" if "/" in counts else measured
    return f"{percent(road.p_reach)} % likely", f"{to}, by the fitted curves. {so_far}"


def _measured(study: Study) -> tuple[str, str]:
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
    return big, f"{whose}{beside_counts(arm)}{label}.{only}"


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
    """What the advice costs, (money, what is in it); setup: a band that a simulator may add."""
    spent, text = _spent(study, setup)
    road = outlook.advised_road(study)
    if road is None or road.p50 is None:
        return spent, text
    currency = outlook.currency(study)
    nine = "" if road.p90 is None else f"In nine of ten cases at most {money(road.p90, currency)}. "
    built = ""
    if setup:
        low, high = (money(x, currency) for x in setup)
        built = f"Building the simulation is not in it: {low} to {high}, an assumption. "
    so_far = f"Spent so far: {spent}." if spent != "Open" else ""
    expected = road.p50 if road.mean is None else road.mean
    return f"about {money(expected, currency)}", f"{nine}{built}{so_far}".strip() or text


def _spent(study: Study, setup: Sequence[float] | None) -> tuple[str, str]:
    """What the advised arm cost in all, (money, what is in it)."""
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


def _demonstrations(arm: Arm) -> str:
    parts = [(arm.n_sim, "simulated"), (arm.n_real, "real")]
    text = " and ".join(f"{n:,} {kind}" for n, kind in parts if n)
    return f"{text or 'no'} demonstrations"
