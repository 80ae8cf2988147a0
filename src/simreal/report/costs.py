"""Money and time as lines of text for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from simreal.report.lines import plain
from simreal.report.numbers import money, percent
from simreal.report.text import capital, wrap

_Entry = Mapping[str, Any]

#: No saving is all of the cost: beyond this, in per cent, it is said as more.
_NEARLY_ALL = 99


def report_lines(found: _Entry) -> list[str]:
    """The object of `simreal cost --json` in words, 80 columns."""
    currency = found["currency"]
    lines = ["What each arm would cost alone:"]
    for entry in found["per_arm"]:
        lines += _arm(entry, currency)
    lines += _legend(found)
    lines += ["", *_reach(found["reach"], currency)]
    lines += ["", *_break_even(found, currency)]
    if found["avoided"]:
        lines += ["", _avoided(found["avoided"], currency)]
    lines += ["", f"Spent in this study, each charge once: {money(found['spent'], currency)}."]
    if found["assumptions"]:
        names = ", ".join(found["assumptions"])
        lines.append(f"No source was found for: {names}; give your own with --prices.")
    return _wrapped(lines)


def _wrapped(lines: Sequence[str]) -> list[str]:
    """Plain text in 80 columns; what a line continues is indented."""
    found = []
    for line in map(plain, lines):
        indent = " " * (len(line) - len(line.lstrip()) + 2)
        found += wrap(line, rest=indent) or [""]
    return found


def _arm(entry: _Entry, currency: str) -> list[str]:
    ends = [money(x, currency) for x in entry["ends"]]
    label = f", robot time {entry['label']}" if entry["label"] else ""
    lines = [f"  {entry['arm']}: {money(entry['total'], currency)} ({ends[0]} to {ends[1]}){label}"]
    if entry["setup"]:
        low, high = (money(x, currency) for x in entry["setup"])
        lines.append(f"    and building the simulation, unknown: {low} to {high}")
    stack = [f"{name.replace('_', ' ')} {money(x, currency)}" for name, x in _spent(entry)]
    if stack:
        lines.append(f"    {', '.join(stack)}")
    each = entry["per_demonstration"]
    parts = [
        f"{name} demonstration {_small(each[key], currency)}"
        for key, name in (("real", "real"), ("sim", "simulated"))
        if each[key] is not None
    ]
    if entry["per_success_point"] is not None:
        parts.append(f"success point {_small(entry['per_success_point'], currency)}")
    if parts:
        lines.append(f"    a {', a '.join(parts)}")
    return lines


def _spent(entry: _Entry) -> list[tuple[str, float]]:
    return [(name, x) for name, x in entry["stack"].items() if x > 0]


def _small(amount: float, currency: str) -> str:
    """Money that may be a fraction of a cent."""
    if 0 < amount < 0.01:
        return f"{amount:.2g} {currency}"
    return money(amount, currency)


def _legend(found: _Entry) -> list[str]:
    lines = ["In brackets: all prices at the low and the high end of their bands."]
    return [*lines, f"{capital(found['success_point'])}."]


def _reach(roads: Sequence[_Entry], currency: str) -> list[str]:
    if not roads:
        return ["No arm was tried on the target: no cost to reach a rate."]
    lines = ["Money for data, one training and the simulator, p50 (p10 to p90):"]
    for road in roads:
        reached = [p for p in road["points"] if p["p50"] is not None]
        where = "learning curve" if road["basis"] == "learning curve" else "as tried"
        lines.append(f"  {road['road']}, {where}:" + ("" if reached else " no rate reached"))
        lines += [
            f"    {percent(point['rate'])} %: {_quantiles(point, currency)}"
            for point in _thinned(reached)
        ]
        lost = [p for p in road["points"] if p["p50"] is None]
        if reached and lost:
            rate = percent(lost[0]["rate"])
            lines.append(f"    {rate} %: in most draws not within 4 times the data measured")
    return lines


def _thinned(points: Sequence[_Entry]) -> Sequence[_Entry]:
    """At most five of them, the last one kept."""
    step = -(-len(points) // 5)
    return list(reversed(points[::-1][:: max(1, step)]))


def _quantiles(point: _Entry, currency: str) -> str:
    low, high = (
        "not reached" if point[q] is None else money(point[q], currency) for q in ("p10", "p90")
    )
    return f"{money(point['p50'], currency)} ({low} to {high})"


def _break_even(found: _Entry, currency: str) -> list[str]:
    entries = found["break_even"]
    if not entries:
        return [found["note"]]
    first = entries[0]
    lines = [
        f"{first['arm']} pays against {first['against']} from so many real demonstrations a "
        "variant on:"
    ]
    for entry in entries:
        number = entry["variants"]
        what = f"{number:,} variant{'' if number == 1 else 's'}"
        there = "built already" if entry["built"] else "to be built"
        saved = ""
        if entry["saving"]:
            low, high = (100 * x for x in entry["saving"])
            saved = f"; at the sizes tried {_saves(low, high)}"
        lines.append(f"  {what}, simulator {there}: {_band(entry['demonstrations'])}{saved}")
    if not found["headline"]:
        lines.append("Bands, no headline: the cost of building the simulator is a default.")
    return lines


def _saves(low: float, high: float) -> str:
    """A band of a saving in per cent, where it is one."""
    if high <= 0:
        return "it costs more"
    if low > _NEARLY_ALL:
        return f"it saves more than {_NEARLY_ALL} %"
    least = "nothing" if low <= 0 else f"{low:,.0f}"
    most = f"more than {_NEARLY_ALL}" if high > _NEARLY_ALL else f"{high:,.0f}"
    return f"it saves {least} to {most} %"


def _band(ends: Sequence[float | None]) -> str:
    low, high = ends
    if low is None:
        return "never"
    if high is None:
        return f"{low:,.0f}, or never"
    return f"{low:,.0f}" if round(low) == round(high) else f"{low:,.0f} to {high:,.0f}"


def _avoided(found: _Entry, currency: str) -> str:
    events = f"{found['events']:,} collision{'' if found['events'] == 1 else 's'} in simulation"
    low, high = found["money"]
    if high == 0:
        return f"Avoided on a robot: {events}, priced at nothing until you give a price (incident)."
    return f"Avoided on a robot: {events}, {money(low, currency)} to {money(high, currency)}."


def days_lines(cases: Sequence[_Entry], currency: str, note: str = "") -> list[str]:
    """The cases of `simreal days --json` in words: a table for each, a note below all."""
    lines: list[str] = []
    for case in cases:
        lines += [_lab(case["inputs"]), *_roads(case, currency), ""]
    label = cases[0]["label"]
    lines += _rests(cases[0]["inputs"])
    if label:
        lines.append(f"Minutes on the robot are {label}.")
    if note:
        lines.append(note)
    return _wrapped(lines)


def _lab(inputs: _Entry) -> str:
    def some(name: str, one: str) -> str:
        number = inputs[name]
        return f"{number:,} {one}{'' if number == 1 else 's'}"

    operators = "" if inputs["operators"] is None else f", {some('operators', 'operator')}"
    wanted = "" if inputs["goal"] is None else f", {percent(inputs['goal'])} % wanted"
    return (
        f"{some('robots', 'robot')}{operators}, {some('shifts', 'shift')} of "
        f"{inputs['shift_hours']:g} h, {inputs['days_a_week']:g} days a week, "
        f"{some('cores', 'core')}, {some('variants', 'variant')}{wanted}:"
    )


def _roads(case: _Entry, currency: str) -> list[str]:
    width = max([len(r["name"]) for r in case["roads"]] + [4])
    lines = [f"  {'road':{width}}  days p50 / p90    robot days  cost p50 / p90"]
    for road in case["roads"]:
        days, cost = road["days"], road["cost"]
        reached = days["p50"] is not None
        spans = f"{_days(days['p50'])} / {_days(days['p90'])}" if reached else "not reached"
        robot = _days(road["robot_days"]["p50"]) if reached else "-"
        spent = " / ".join("-" if cost[q] is None else money(cost[q], currency) for q in cost)
        in_time = ""
        if road["by_deadline"] is not None:
            in_time = f", {percent(road['by_deadline'])} % in time"
        lines.append(f"  {road['name']:{width}}  {spans:16}  {robot:10}  {spent}{in_time}")
    if case["fastest"]:
        aside = "" if case["inputs"]["goal"] else " Success is not compared."
        lines.append(f"  Fewest days: {case['fastest']}. Least money: {case['cheapest']}.{aside}")
    return lines


def _days(value: float | None) -> str:
    if value is None:
        return "not reached"
    return f"{value:,.0f}" if value >= 9.95 else f"{value:.2f}" if value < 0.1 else f"{value:.1f}"


def _rests(inputs: _Entry) -> list[str]:
    named = {
        "minutes": "minutes a demonstration",
        "trial_minutes": "minutes a trial",
        "usable": "usable share",
        "setup_hours": "hours to build the simulator",
        "per_core_hour": "simulated demonstrations a core hour",
    }
    lines = ["Rests on (the middle 80 % of draws):"]
    for key, name in named.items():
        found = inputs[key]
        low, high = (
            f"{found[q]:,.3g}" if found[q] < 100 else f"{found[q]:,.0f}" for q in ("p10", "p90")
        )
        span = low if low == high else f"{low} to {high}"
        lines.append(f"  {name}: {span}; {found['source']}")
    return lines


def clock_lines(found: _Entry) -> list[str]:
    """The object of `simreal clock show --json` in words."""
    lines = [
        f"The {r['kind']} clock runs since {r['since']} ({r['hours']:.2f} h): {r['what']}."
        for r in found["running"]
    ]
    lines += [
        f"Booked: {b['hours']:.2f} h of {b['kind']} ({b['source']})." for b in found["booked"]
    ]
    return lines or ["No clock runs, and nothing is booked."]
