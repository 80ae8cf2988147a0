"""An advice in 80 columns."""

from __future__ import annotations

from collections.abc import Sequence

from simreal.report.text import WIDTH, bullets, capital, wrap
from simreal.verdicts.advise.case import Advice, RoadFacts
from simreal.verdicts.advise.words import percent

#: Measurements shown; the others are in the JSON.
_SHOWN = 3


def advice_lines(advice: Advice, width: int = WIDTH) -> list[str]:
    """The verdict first, then why, the next step, the roads, what flips it, what it rests on."""
    lines = [*wrap(_verdict(advice), width), "", *wrap(capital(advice.reason), width)]
    if advice.next.why:
        lines += ["", *wrap(advice.next.why, width)]
    if advice.runner_up and advice.strategy is not None:
        lines += ["", *wrap(f"Runner-up: {advice.runner_up}.", width)]
    if advice.roads:
        lines += ["", *_roads(advice)]
    if advice.evsi:
        lines += ["", *_measurements(advice, width)]
    for title, entries in (
        ("What would change the answer:", advice.flips),
        ("Not eligible:", _ruled_out(advice)),
        ("Taken for granted:", advice.assumptions),
    ):
        if entries:
            lines += ["", title, *bullets(entries, width)]
    return lines


def _verdict(advice: Advice) -> str:
    state = capital(advice.state)
    label = f", {advice.label}" if advice.label else ""
    if advice.strategy is None:
        return f"{state}{label}."
    road = advice.road or ""
    named = advice.strategy if road in ("", advice.strategy) else f"{road} (from {advice.strategy})"
    return f"{state}: {named}{label}."


def _roads(advice: Advice) -> list[str]:
    goal = percent(advice.goal or 0.0)
    what = "" if advice.wanted else ", the highest rate measured"
    scale = _scale(advice.roads)
    unit = advice.currency if scale == 1 else f"{scale:,} {advice.currency}"
    head = f"Roads to {goal}{what} ({unit} until a test is passed):"
    columns = f"  {'':<10} {'passes':>7} {'true':>5} {'mean':>8} {'half':>8} {'9 in 10':>8}  next"
    return [head, columns, *(_road(fact, scale) for fact in advice.roads)]


def _scale(roads: Sequence[RoadFacts]) -> int:
    """1, or as many thousands as let every sum of money fit its column."""
    most, scale = max(max(fact.mean, fact.p50, fact.p90) for fact in roads), 1
    while most / scale >= 999_999.5:
        scale *= 1000
    return scale


def _road(fact: RoadFacts, scale: int) -> str:
    real, sim = fact.next
    data = " + ".join(f"{n:,} {kind}" for n, kind in ((real, "real"), (sim, "sim")) if n)
    mark = "*" if fact.pareto else " " if fact.tried else "?"
    money = " ".join(f"{x / scale:>8,.0f}" for x in (fact.mean, fact.p50, fact.p90))
    true = "" if fact.after is None else f"{100 * fact.after:.0f} %"
    return f"{mark} {fact.road:<10} {100 * fact.p_reach:>5.0f} % {true:>5} {money}  {data}"


def _measurements(advice: Advice, width: int) -> list[str]:
    unit = advice.currency
    told = [one for one in advice.evsi if one.value >= 1][:_SHOWN]
    untried = "" if all(r.tried for r in advice.roads) else "? never tried: measured at most. "
    text = (
        f"* no other road is as sure for as little. {untried}Knowing the truth before choosing "
        f"would save {unit} {advice.evpi or 0.0:,.0f}; "
    )
    if not told:
        return wrap(
            f"{text}no measurement beforehand is expected to save as much as {unit} 1.", width
        )
    entries = [f"{capital(m.text)}: saves {m.value:,.0f}, costs {m.cost:,.0f}" for m in told]
    return [*wrap(f"{text}measurements beforehand:", width), *bullets(entries, width)]


def _ruled_out(advice: Advice) -> list[str]:
    """Arms that break a rule; where all do, the reason says so already."""
    out = [e for e in advice.eligibility if not e.eligible]
    if len(out) == len(advice.eligibility):
        return []
    return [f"{e.arm}: {'; '.join(e.reasons)}." for e in out]
