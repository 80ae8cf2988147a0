"""Every sentence that compares is made here, from the state of a declared test and nothing else.

"better" can only come out of a test whose state is "better", "worse" only out of "worse". The rest
of the report holds no comparative word at all (a test reads it and its templates).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from simreal.report.numbers import p_value, percent, points, share
from simreal.report.words.states import known, suite
from simreal.verdicts.compare import STATES
from simreal.verdicts.curves.savings import SAVING_STATES

_COMPARED = {
    "better": "{a} did better than {b}",
    "worse": "{a} did worse than {b}",
    "equivalent": "{a} and {b} are equivalent within the declared margin",
    "cannot tell": "{a} and {b} cannot be told apart by these trials",
}


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
        state = known("state of a comparison", verdict["state"], STATES)
        return f"{verdict['claim']}: {state}.", _numbers(verdict)
    where = "the target" if asked[3] == "nominal" else suite(asked[3])
    return f"{_compared(asked[1], asked[2], verdict, where)}.", _numbers(verdict)


def _compared(a: str, b: str, verdict: Any, where: str) -> str:
    state = known("state of a comparison", _get(verdict, "state"), STATES)
    on = f" on {where}" if where else ""
    if _get(verdict, "estimate", "difference") is None:
        return f"{a} and {b} were not compared{on}"
    return _COMPARED[state].format(a=a, b=b) + on


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


def recipe(entry: Mapping[str, Any]) -> tuple[str, str]:
    """A claim about recipes (training again gives another policy) as (sentence, its numbers)."""
    text = str(entry["claim"])
    asked = re.fullmatch(r"(.+) against (.+?)(?:, ([^,]+))?", text)
    state = str(entry["state"]).replace("_", " ")
    if asked is None or state not in STATES:
        return f"{text}: {state}.", _numbers(entry).removeprefix(f"{state}: ")
    where = suite(asked[3]) if asked[3] and asked[3] != "nominal" else "the target"
    said = _compared(f"The recipe {asked[1]}", f"the recipe {asked[2]}", entry, where)
    return f"{said}.", _numbers(entry)


def ranked(ranking: Mapping[str, Any]) -> str:
    """The order of the arms, with the letters that say what of it is shown."""
    order = ", ".join(f"{arm['arm']} ({arm['letters']})" for arm in ranking["arms"])
    return f"By success on the target: {order}. Arms that share a letter are not told apart."


def saving(found: Mapping[str, Any] | None) -> str:
    """How much real data simulation replaces at the goal, or why that cannot be said."""
    if not found:
        return ""
    goal = f"{percent(found['goal'])} %"
    reached = _reached(found)
    if known("state of a saving", found["state"], SAVING_STATES) == "not estimable":
        return f"A saving at {goal} cannot be estimated{reached and ': '}{reached}."
    low, middle, high = (found.get(q) for q in ("p10", "p50", "p90"))
    if low is None or middle is None or high is None:
        return f"A saving at {goal} has no finite quantiles{reached and ': '}{reached}."
    return (
        f"To reach {goal} with {found['n_sim']:,} simulated demonstrations takes an estimated "
        f"{_saved_share(middle)} % fewer real ones than without simulation (80 % band "
        f"{_saved_share(low)} to {_saved_share(high)} %){reached and '; '}{reached}."
    )


def _reached(found: Mapping[str, Any]) -> str:
    parts = [
        f"{name} in {percent(found[key])} %"
        for key, name in (("reach_real", "real data alone"), ("reach_hybrid", "the hybrid"))
        if found.get(key) is not None
    ]
    return f"of the drawn curves reach it: {', '.join(parts)}" if parts else ""


def worth(value: float | None, cost: float | None) -> str:
    """Whether a measurement is expected to pay for itself."""
    if value is None or cost is None:
        return "not estimated"
    return "worth more than it costs" if value > cost else "not worth its cost"


def pace(time: Mapping[str, Any]) -> str:
    """The fastest road against the cheapest one, as the study's own estimate names them."""
    fastest, cheapest = time.get("fastest"), time.get("cheapest")
    if fastest is None or cheapest is None:
        return ""
    if fastest == cheapest:
        return f"{fastest} is expected to be both the fastest and the cheapest road."
    return f"Expected to be fastest: {fastest}; expected to be cheapest: {cheapest}."


def accepted(entry: Mapping[str, Any]) -> tuple[str, str]:
    """What one arm is shown to reach on a target as (sentence, its numbers)."""
    bound = f"{percent(entry['lower'])} % or more" if entry.get("lower") is not None else "no bound"
    counts = f"{entry['k']}/{entry['n']}"
    return str(entry["sentence"]), f"{counts}, one-sided Clopper-Pearson bound: {bound}"


def saved(saving: Sequence[float] | None, at: int | None = None) -> str:
    """What a simulation saves at break-even prices, or that it costs more; a band, never one.

    at: real demonstrations a variant at which that was reckoned.
    """
    where = "" if at is None else f"at {at:,} a variant: "
    if saving is None:
        return "no figure: the set-up cost is an assumption"
    if saving[1] <= 0:
        return f"{where}none, it costs more"
    return f"{where}{' to '.join(dict.fromkeys(map(_saved_share, saving)))} %"


def _saved_share(fraction: float) -> str:
    """A saving in per cent; what is less than all is not rounded up to 100."""
    return ">99" if 0.99 < fraction < 1 else share(fraction)
