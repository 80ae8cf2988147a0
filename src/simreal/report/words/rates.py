"""What was measured of one arm, and what a claim was judged by."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from simreal.report.numbers import THIN, factor, interval, percent, rate, share, signed, span
from simreal.report.records import Arm, Study


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


def goal_numbers(entry: Mapping[str, Any]) -> str:
    """What a goal was judged by: the estimate with its one-sided bounds, and what was wanted."""
    value, bounds, wanted = entry["estimate"], entry["bounds"], float(entry["wanted"])
    if value is None or bounds is None:
        return ""
    if wanted < 0:
        ends = f"{signed(bounds[0])} to {signed(bounds[1])}"
        return f"{signed(value)} points ({ends}); wanted: above {signed(wanted)}"
    return f"{percent(value)}{THIN}% ({span(bounds)}); wanted: {share(wanted)}{THIN}%"


def on_targets(arm: Arm) -> str:
    """The arm's success on its targets with its counts; with several, their mean."""
    cells = list(arm.targets.values())
    if len(cells) < 2:
        return rate(cells[0]) if cells else "no data"
    return f"{sum(c.k for c in cells)}/{sum(c.n for c in cells)}, {beside_counts(arm)}"


def beside_counts(arm: Arm) -> str:
    """What the counts on the targets come to."""
    cells = list(arm.targets.values())
    if len(cells) == 1:
        return f"{interval(cells[0])} on the target"
    if not arm.over_targets:
        return f"pooled over {len(cells)} targets, no interval over targets"
    over = arm.over_targets
    mean = f"{percent(over['mean'])}{THIN}% ({span(over['ci'])})"
    return f"counts pooled; mean of {over['n_targets']} targets {mean}"


def scope(arms: Sequence[Arm]) -> str:
    """Whether the study speaks of checkpoints or of recipes (at least two training seeds)."""
    fewest = min((len(arm.seeds) for arm in arms), default=0)
    if fewest >= 2:
        return f"Recipes: every arm was trained with at least {fewest} seeds."
    return (
        "Checkpoints, not recipes: there is one training seed an arm, and another seed of the "
        "same recipe may succeed at another rate. A claim about a recipe needs at least two."
    )


def _estimated(
    value: float | None, ci: Sequence[float] | None, form: Callable[[float], str], unit: str
) -> str:
    """A number with its interval, or the interval alone where the test gives no number."""
    if value is None:
        return f"between {form(ci[0])} and {form(ci[1])}{unit}" if ci else ""
    return f"{form(value)}{unit}" + (f" ({form(ci[0])} to {form(ci[1])})" if ci else "")
