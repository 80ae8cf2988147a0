"""The plan before any data, in words and small tables of 80 columns."""

from __future__ import annotations

from collections.abc import Iterable

from simreal.report.text import bullets, wrap
from simreal.verdicts.pilot.pilots import NONE, Pilot
from simreal.verdicts.pilot.plan import Plan, Weighed
from simreal.verdicts.pilot.project import Project
from simreal.verdicts.pilot.rule import Branch, Span

_WIDTH = 79
_STOP = (
    "Stop: the target is then too unlikely for what it is worth. A lower target, more "
    "demonstrations (--most) or a higher worth (--worth) would change that."
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
        f"Target: {project.target:.0%} success on {_number(lab.variants, 'task variant')}; "
        f"{' to '.join(ends)} minutes a demonstration; {_number(lab.stations, 'robot')} with "
        f"operator, {lab.day_hours:g} hours a day, {lab.days_a_week:g} days a week."
    )


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def _roads(plan: Plan) -> Iterable[str]:
    currency, most = plan.project.prices.currency, plan.project.most
    yield "Before any data (median / 9 of 10)"
    heads = ("reaches it", "real demos", f"cost, {currency}", "calendar days")
    yield "{:12}{:>11}{:>17}{:>20}{:>16}".format("road", *heads)
    for road in plan.roads:
        demos = " / ".join(
            f"{'>' if n >= most else ''}{n:,.0f}"
            for n in (road.demonstrations.p50, road.demonstrations.p90)
        )
        yield f"{road.name:12}{road.reach:>11.0%}{demos:>17}{_money(road.cost):>20}" + (
            f"{_days(road.days):>16}"
        )
    if plan.project.lab.deadline_days is not None:
        kept = [f"{road.name} {road.by_deadline:.0%}" for road in plan.roads]
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
    yield f"{'pilot':30}{'trials':>7}{'cost':>17}{'days':>12}{'net':>9}"
    for one in plan.pilots:
        trials = one.pilot.trials * len(one.pilot.cells)
        mark = "*" if one.pilot == plan.chosen else " "
        yield f"{mark} {one.pilot.name:28}{trials:>7}{_money(one.cost):>17}" + (
            f"{_days(one.days):>12}{one.net:>9,.0f}"
        )


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
            f"The rule makes the choice of the full calculation after {plan.rule.agrees:.0%} of "
            "pilots; simreal advise weighs the trials themselves.",
            _WIDTH,
        )


def _to_do(pilot: Pilot, weighed: Weighed) -> str:
    cells = [_cell(real, sim) for real, sim in pilot.cells]
    listed = "; ".join(cells)
    return (
        f"Run this pilot first ({pilot.name}): train once on each of: {listed}; "
        f"{pilot.trials} trials each. It leads to the right choice in {weighed.right:.0%} of cases."
    )


def _cell(real: int, sim: int) -> str:
    parts = [f"{real:,} real"] if real else []
    return " + ".join([*parts, f"{sim:,} simulated"] if sim else parts)


def _branch(plan: Plan, branch: Branch) -> str:
    when = ", and ".join(branch.when)
    lead = f"{when} ({branch.share:.0%} of pilots): " if when else ""
    if branch.cost is None or branch.days is None:
        return f"{lead}stop."
    return (
        f"{lead}{branch.choice}. It reaches the target in {branch.reach:.0%} of draws, for "
        f"{_money(branch.cost)} {plan.project.prices.currency} and {_days(branch.days)} days more."
    )


def _trials(plan: Plan) -> str:
    first, *others = plan.shown
    allowed = ", ".join(f"{s.trials} with {s.failures}" for s in others)
    text = (
        f"To show {plan.project.target:.0%} with 95 % confidence takes {first.trials} trials "
        f"without a failure ({allowed})."
    )
    if plan.smallest is None:
        return text
    return (
        f"{text} Two cells of {plan.chosen.trials} trials tell apart differences of "
        f"{100 * plan.smallest:.0f} points or more (80 % power)."
    )


def _money(money: Span) -> str:
    return f"{money.p50:,.0f} / {money.p90:,.0f}"


def _days(days: Span) -> str:
    return f"{days.p50:,.1f} / {days.p90:,.1f}"
