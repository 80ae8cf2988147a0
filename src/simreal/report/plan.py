"""The plan before any data, in words and small tables of 80 columns."""

from __future__ import annotations

from collections.abc import Iterable

from simreal.report.numbers import percent
from simreal.report.text import bullets, wrap
from simreal.verdicts.pilot.pilots import NONE, Pilot
from simreal.verdicts.pilot.plan import Plan, Weighed
from simreal.verdicts.pilot.project import Project
from simreal.verdicts.pilot.rule import Branch, Span

_WIDTH = 79
_STOP = (
    "Stop: the target is then too unlikely for what it is worth. Less of a target, "
    "more demonstrations (--most) or more worth (--worth) would change that."
)


def plan_lines(plan: Plan) -> list[str]:
    """All lines of `simreal plan`."""
    return [
        *wrap(_asked(plan.project), _WIDTH),
        "",
        *_roads(plan),
        "",
        *_pilots(plan),
        "",
        *_first(plan),
        "",
        *wrap(_trials(plan), _WIDTH),
        "",
        "Assumptions",
        *bullets(plan.assumptions, _WIDTH),
    ]


def _asked(project: Project) -> str:
    minutes, lab = project.minutes, project.lab
    ends = dict.fromkeys(f"{end:g}" for end in (minutes.low, minutes.high))
    return (
        f"Target: {100 * project.target:g} % success on {_number(lab.variants, 'task variant')}; "
        f"{' to '.join(ends)} minutes a demonstration; {_number(lab.stations, 'robot')} with "
        f"operator, {lab.day_hours:g} hours a day, {lab.days_a_week:g} days a week."
    )


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def _roads(plan: Plan) -> Iterable[str]:
    currency, most = plan.project.prices.currency, plan.project.most
    yield "Before any data (median / 9 of 10)"
    heads = ("reaches it", "real demos", f"cost, {currency}", "calendar days")
    yield "{:10}{:>11} {:>19} {:>18} {:>18}".format("road", *heads)
    for road in plan.roads:
        demos = " / ".join(
            f"{'>' if n >= most else ''}{_short(n)}"
            for n in (road.demonstrations.p50, road.demonstrations.p90)
        )
        reach, cost, days = _share(road.reach), _money(road.cost), _days(road.days)
        yield f"{road.name:10}{reach:>11} {demos:>19} {cost:>18} {days:>18}"
    if plan.project.lab.deadline_days is not None:
        kept = [f"{road.name} {_share(road.by_deadline or 0.0)}" for road in plan.roads]
        yield from wrap(
            f"Target reached within {plan.project.lab.deadline_days:g} days: {', '.join(kept)}.",
            _WIDTH,
        )
    yield from wrap(_building(plan), _WIDTH)


def _building(plan: Plan) -> str:
    project = plan.project
    if not project.simulates:
        return "Nobody can build a simulation (can_build = false): the hybrid road is closed."
    if project.built:
        return "The simulation is there: its set-up costs nothing here."
    if plan.worth_building <= 0:
        return "On average, building the simulation does not pay at any set-up cost."
    return (
        f"On average, building the simulation pays up to a set-up cost of "
        f"{plan.worth_building:,.0f} {project.prices.currency}."
    )


def _pilots(plan: Plan) -> Iterable[str]:
    currency = plan.project.prices.currency
    yield f"Pilots (net: worth of the project less all costs, expected, {currency})"
    yield f"{'pilot':29}{'trials':>7} {'cost':>18} {'days':>14} {'net':>8}"
    for one in plan.pilots:
        trials = one.pilot.trials * len(one.pilot.cells)
        mark = "*" if one.pilot == plan.chosen else " "
        cost, days, net = _money(one.cost), _days(one.days), _short(one.net)
        yield f"{mark} {one.pilot.name:27}{trials:>7} {cost:>18} {days:>14} {net:>8}"


def _first(plan: Plan) -> Iterable[str]:
    if plan.chosen == NONE:
        yield from wrap("No pilot is worth its cost here. The prior alone says:", _WIDTH)
    else:
        chosen = next(one for one in plan.pilots if one.pilot == plan.chosen)
        yield from wrap(_to_do(plan.chosen, chosen), _WIDTH)
        yield "Decide then, by this rule set before the trials:"
    yield from bullets((_branch(plan, branch) for branch in plan.rule.branches), _WIDTH)
    if any(branch.cost is None for branch in plan.rule.branches):
        yield from wrap(_STOP, _WIDTH)
    if plan.rule.agrees < 1:
        yield from wrap(
            f"The rule makes the choice of the full calculation after {_share(plan.rule.agrees)} "
            "of pilots; simreal advise weighs the trials themselves.",
            _WIDTH,
        )


def _to_do(pilot: Pilot, weighed: Weighed) -> str:
    cells = [_cell(real, sim) for real, sim in pilot.cells]
    listed = "; ".join(cells)
    return (
        f"Run this pilot first ({pilot.name}): train once on each of: {listed}; "
        f"{pilot.trials} trials each. It leads to the right choice in {_share(weighed.right)} of "
        "cases."
    )


def _cell(real: int, sim: int) -> str:
    parts = [f"{real:,} real"] if real else []
    return " + ".join([*parts, f"{sim:,} simulated"] if sim else parts)


def _branch(plan: Plan, branch: Branch) -> str:
    when = ", and ".join(branch.when)
    lead = f"{when} ({_share(branch.share)} of pilots): " if when else ""
    if branch.cost is None or branch.days is None:
        return f"{lead}stop."
    return (
        f"{lead}{branch.choice}. It reaches the target in {_share(branch.reach)} of draws, for "
        f"{_money(branch.cost)} {plan.project.prices.currency} and {_days(branch.days)} days more."
    )


def _trials(plan: Plan) -> str:
    first, *others = plan.shown
    allowed = ", ".join(f"{s.trials} with {s.failures}" for s in others)
    text = (
        f"To show {100 * plan.project.target:g} % with 95 % confidence takes {first.trials} trials "
        f"without a failure ({allowed})."
    )
    if plan.smallest is None:
        return text
    return (
        f"{text} Two cells of {plan.chosen.trials} trials tell apart differences of "
        f"{100 * plan.smallest:.0f} points or more (80 % power)."
    )


def _money(money: Span) -> str:
    return f"{_short(money.p50)} / {_short(money.p90)}"


def _days(days: Span) -> str:
    return " / ".join(f"{x:.1f}" if x < 999.95 else _short(x) for x in (days.p50, days.p90))


def _short(value: float) -> str:
    """A number in few characters: `-11,690`, `2.1 M`, `3.2 G`, `1.3 T`, `2.4e+18`."""
    if abs(value) >= 1e15:
        return f"{value:.1e}"
    for size, unit in ((1e12, "T"), (1e9, "G"), (1e6, "M")):
        if abs(value) >= 0.9999995 * size:
            return f"{value / size:,.1f} {unit}"
    return f"{value:,.0f}"


def _share(fraction: float) -> str:
    """`35 %`; nothing uncertain is 0 or 100 %."""
    return f"{percent(fraction)} %"
