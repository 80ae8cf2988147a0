"""What it costs and how long it takes: cost, days, clock."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from simreal.core.errors import UsageError
from simreal.verbs.deadlines import days_until
from simreal.verbs.options import Json, fraction, refuse

if TYPE_CHECKING:
    from simreal.verdicts.cost.inputs import Inputs

Kind = Annotated[Literal["engineering", "validation"], tyro.conf.Positional]

_WORTH = (
    "This counts demonstrations and says nothing of what they are worth: how many real ones a "
    "simulated one stands for is measured by a study. Training and tests are left out."
)
_UNTESTED = "only with a study; --demonstrations leaves training and tests out"


def cost(
    folder: Annotated[Path, tyro.conf.Positional],
    prices: Path | None = None,
    variants: str = "1,5,20",
    built: bool = False,
    not_built: bool = False,
    rate: float | None = None,
    json_output: Json = False,
) -> None:
    """What each arm of a study cost, what success costs, and when a simulator pays.

    Args:
        folder: A study's folder.
        prices: A TOML file of prices in place of the shipped ones.
        variants: Numbers of task variants for break-even points, joined by commas.
        built: The simulator is there already: its cost is left out everywhere.
        not_built: It is not: break-even points for that case only; both if neither is said.
        rate: The success rate (a fraction) to give the cost of; several if left out.
        json_output: Print one JSON object and nothing else.
    """
    from simreal.report.costs import report_lines
    from simreal.study.evidence import evidence_of
    from simreal.verdicts.cost.economics import cost_report
    from simreal.verdicts.cost.reach import RATES

    if built and not_built:
        raise UsageError("Give --built or --not-built, not both.")
    known = built if built or not_built else None
    numbers = _numbers("--variants", variants)
    asked = fraction("--rate", rate)
    rates = RATES if asked is None else (asked,)
    evidence = evidence_of(folder, prices)
    found = cost_report(evidence, variants=numbers, built=known, rates=rates)
    print(json.dumps(found) if json_output else "\n".join(report_lines(found)))


def _numbers(option: str, text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise UsageError(f"{option} {text}; give whole numbers from 1 up, such as 1,5,20.")
    return list(dict.fromkeys(map(int, parts)))


@dataclass(frozen=True)
class LabOptions:
    """What works on a task; what an option does not say, [calendar] of the price file says."""

    robots: str | None = None
    """Robots at work; several numbers joined by commas give a table each."""
    operators: int | None = None
    """Operators in each shift; one a robot if left out."""
    shifts: str | None = None
    """Shifts a day; several numbers joined by commas."""
    shift_hours: float | None = None
    """Hours of a shift."""
    days_a_week: float | None = None
    """Working days of a week."""
    deadline: str | None = None
    """A date (2026-05-01), or a number of days from today."""
    cores: int | None = None
    """Cores that simulate."""
    gpus: int | None = None
    """GPUs that train."""
    cannot_build: bool = False
    """Nobody can build a simulation."""
    engineers: int | None = None
    """Engineers who build it."""
    variants: int | None = None
    """Task variants, each with data, training and test of its own."""
    trials: int | None = None
    """Trials of the test that ends each variant."""
    stopped_line_per_hour: float | None = None
    """Money for each robot hour while a line stands still."""

    def labs(self, shipped: Inputs) -> list[Inputs]:
        """The labs of a table: every number of robots with every number of shifts."""
        options = {
            "operators": self.operators,
            "shift_hours": self.shift_hours,
            "days_a_week": self.days_a_week,
            "deadline_days": days_until(self.deadline),
            "cores": self.cores,
            "gpus": self.gpus,
            "can_build": False if self.cannot_build else None,
            "engineers": self.engineers,
            "variants": self.variants,
            "trials": self.trials,
            "stopped_line": self.stopped_line_per_hour,
        }
        own: dict[str, Any] = {name: x for name, x in options.items() if x is not None}
        counts = _numbers("--robots", self.robots) if self.robots else [shipped.robots]
        per_day = _numbers("--shifts", self.shifts) if self.shifts else [shipped.shifts]
        return [replace(shipped, **own, robots=r, shifts=s) for r in counts for s in per_day]


def days(
    folder: Annotated[Path | None, tyro.conf.Positional] = None,
    demonstrations: int | None = None,
    target: float | None = None,
    prices: Path | None = None,
    built: bool = False,
    json_output: Json = False,
    lab: Annotated[LabOptions, tyro.conf.arg(name="")] = LabOptions(),
) -> None:
    """How many calendar days each road takes, with the robots and people there are.

    Args:
        folder: A study's folder; without one, --demonstrations is asked for.
        demonstrations: Without a study: so many demonstrations, by robot or in simulation.
        target: The success rate that must be reached (a fraction).
        prices: A TOML file of prices in place of the shipped ones.
        built: The simulator is there already.
        json_output: Print one JSON object and nothing else.
        lab: Who and what works.
    """
    from simreal.report.costs import days_lines
    from simreal.study.evidence import evidence_of
    from simreal.verdicts.cost.prices import read_prices
    from simreal.verdicts.cost.timing import time_of

    goal = fraction("--target", target)
    if folder is None:
        known, note = read_prices(prices), _WORTH
        labs = lab.labs(known.calendar.inputs)
        refuse({"trials": lab.trials, "gpus": lab.gpus}, _UNTESTED)
        cases = _planned(demonstrations, goal, known, labs, built)
    else:
        if demonstrations is not None:
            raise UsageError("--demonstrations is for planning without a study; leave one out.")
        evidence = evidence_of(folder, prices)
        assert evidence.prices is not None
        known, note = evidence.prices, ""
        labs = lab.labs(known.calendar.inputs)
        found = [time_of(evidence, one, goal=goal, built=built) for one in labs]
        cases = [case for case in found if case is not None]
    if json_output:
        print(json.dumps({"currency": known.currency, "cases": cases}))
    else:
        print("\n".join(days_lines(cases, known.currency, note)))


def _planned(
    demonstrations: int | None, goal: float | None, prices: Any, labs: list[Inputs], built: bool
) -> list[dict[str, Any]]:
    """Nothing was measured: so many demonstrations, on a robot or in simulation."""
    from simreal.verdicts.cost.timing import demonstrations_case

    if demonstrations is None:
        raise UsageError("Give a study's folder, or --demonstrations N.")
    if demonstrations < 1:
        raise UsageError(f"--demonstrations {demonstrations}; ask for at least 1.")
    if goal is not None:
        raise UsageError("--target needs a study: what reaches it is read off its trials.")
    return [demonstrations_case(demonstrations, lab, prices, built) for lab in labs]


def clock_start(kind: Kind, what: str, study: Path = Path(), robot: bool = False) -> None:
    """Start the clock of engineering or validation; both may run at once.

    Args:
        kind: engineering (building the simulation) or validation (checking it).
        what: What the time goes into.
        study: The study's folder; the present one if left out. It need not hold a study yet.
        robot: With validation: a robot stands by, and its time is booked too.
    """
    from simreal.study.clock import Clock

    session = Clock(study).start(kind, what, robot)
    print(f"The {kind} clock runs since {session.started}.")


def clock_stop(kind: Kind, study: Path = Path(), hours: float | None = None) -> None:
    """Stop the clock and book its hours in the study's ledger.

    Args:
        kind: engineering or validation.
        study: The study's folder; the present one if left out.
        hours: Book so many hours instead, where the clock was forgotten.
    """
    from simreal.study.clock import Clock

    session, booked = Clock(study).stop(kind, hours)
    print(f"Booked {booked:.2f} h of {kind} in {study / 'ledger.jsonl'}: {session.what}.")


def clock_show(study: Path = Path(), json_output: Json = False) -> None:
    """What runs, and what is booked.

    Args:
        study: The study's folder; the present one if left out.
        json_output: Print one JSON object and nothing else.
    """
    from simreal.report.costs import clock_lines
    from simreal.study.clock import clock_state

    found = clock_state(study)
    print(json.dumps(found) if json_output else "\n".join(clock_lines(found)))


def clock_propose(
    task: Path = Path(),
    study: Path = Path(),
    accept: bool = False,
    gap_hours: float = 2.0,
    lead_in_hours: float = 0.5,
) -> None:
    """Propose engineering hours from the history of a task's files; book them with --accept.

    Saves (commits, else times of last change) closer together than the gap are one session, which
    counts from its first save to its last plus the lead-in. Sessions during which the clock ran
    and those booked before are left out.

    Args:
        task: The task's folder or file.
        study: The study's folder; the present one if left out.
        accept: Book the hours in the study's ledger.
        gap_hours: Hours without a save that end a session.
        lead_in_hours: Hours of work before the first save of a session.
    """
    from simreal.compute.meter import utc_now
    from simreal.study import history
    from simreal.study.clock import Clock
    from simreal.verbs.tables import show

    clock = Clock(study)
    found = history.propose(task, clock, gap_hours, lead_in_hours)
    for stretch in found.stretches:
        saves = f"{stretch.saves} save{'' if stretch.saves == 1 else 's'}"
        print(f"{stretch.started}  {stretch.hours(found.lead_in_h):6.2f} h  {saves}")
    count = len(found.stretches)
    show(
        [
            f"{found.hours:.2f} h in {count} session{'' if count == 1 else 's'}, by "
            f"{found.origin}: gap {gap_hours:g} h, lead-in {lead_in_hours:g} h; {found.left_out} "
            "left out (clocked or booked)."
        ]
    )
    if not count:
        print("There is nothing to book.")
        return
    if not accept:
        print("Nothing is booked; book it with --accept.")
        return
    history.accept(found, task.resolve(), clock, utc_now())
    print(f"Booked in {study / 'ledger.jsonl'}.")
