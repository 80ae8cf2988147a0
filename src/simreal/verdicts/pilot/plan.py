"""The answer before any data: which pilot first, what it takes, and what its result decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from simreal.verdicts.acceptance import trials_needed
from simreal.verdicts.curves import DEFAULT, Prior, fit
from simreal.verdicts.pilot.outlook import Outlook, outlook
from simreal.verdicts.pilot.pilots import Pilot, candidates
from simreal.verdicts.pilot.project import ODDS, ROADS, Project
from simreal.verdicts.pilot.rule import Rule, Span, rule_of, span
from simreal.verdicts.pilot.value import Valued, value
from simreal.verdicts.planning import smallest_detectable
from simreal.verdicts.rates import CONFIDENCE

_DRAWS = 9000


@dataclass(frozen=True)
class Road:
    """What one road takes, as far as the prior tells.

    demonstrations: real, a variant. by_deadline: probability that the target is reached by the
    lab's deadline; None without one.
    """

    name: str
    reach: float
    demonstrations: Span
    cost: Span
    days: Span
    by_deadline: float | None

    def to_json(self) -> dict[str, Any]:
        """An entry of the plan's `roads`."""
        return {
            "road": self.name,
            "p_reach": self.reach,
            "demonstrations": self.demonstrations.to_json(),
            "cost": self.cost.to_json(),
            "days": self.days.to_json(),
            "by_deadline": self.by_deadline,
        }


@dataclass(frozen=True)
class Weighed:
    """A pilot beside the others. net: expected net worth of the project if it is run first.

    right: probability that the choice made after it is the right one.
    """

    pilot: Pilot
    cost: Span
    days: Span
    net: float
    right: float

    def to_json(self) -> dict[str, Any]:
        """An entry of the plan's `pilots`."""
        return {
            "name": self.pilot.name,
            "cells": [{"n_real": real, "n_sim": sim} for real, sim in self.pilot.cells],
            "trials": self.pilot.trials,
            "cost": self.cost.to_json(),
            "days": self.days.to_json(),
            "expected_net": self.net,
            "p_right": self.right,
        }


@dataclass(frozen=True)
class Shown:
    """Trials that show the target at 95 %, by how many of them may fail."""

    failures: int
    trials: int


@dataclass(frozen=True)
class Plan:
    """Everything `simreal plan` says. chosen: the pilot of highest expected net worth.

    worth: of reaching the target. worth_building: set-up cost up to which the hybrid road pays on
    average, before any data.
    smallest: difference between two of the pilot's cells that its trials would see (80 % power).
    """

    project: Project
    roads: tuple[Road, ...]
    pilots: tuple[Weighed, ...]
    chosen: Pilot
    rule: Rule
    shown: tuple[Shown, ...]
    smallest: float | None
    worth: float
    worth_building: float

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the plan rests on without a source."""
        project, names = self.project, self.project.prices.assumptions
        unsourced = [
            name
            for name in names
            if not (name in _OF_SETUP and (project.built or not project.simulates))
        ]
        lines = [
            "Learning curves: the prior of the published studies, no data of your own.",
            f"More than {project.most:,} real demonstrations a variant count as not reached, and "
            "are paid for.",
            "Every variant needs its own demonstrations; the pilot is run on one of them.",
            f"A training takes {project.training_hours:g} machine hours; a trial takes as long as "
            "a demonstration with its reset.",
            f"{project.usable:.0%} of recordings can be used (--usable).",
        ]
        if project.worth is None:
            lines.append(
                f"Reaching the target is worth {self.worth:,.0f} {project.prices.currency}: {ODDS} "
                f"times what {project.most:,} real demonstrations a variant cost (--worth)."
            )
        if unsourced:
            listed = ", ".join(unsourced)
            lines.append(f"Prices without a source, set your own with --prices: {listed}.")
        return tuple(lines)

    def to_json(self) -> dict[str, Any]:
        """The object of `simreal plan --json`."""
        return {
            "target": self.project.target,
            "inputs": _inputs(self.project),
            "currency": self.project.prices.currency,
            "worth": self.worth,
            "roads": [road.to_json() for road in self.roads],
            "pilots": [weighed.to_json() for weighed in self.pilots],
            "pilot": self.chosen.name,
            "rule": self.rule.to_json(),
            "trials": {
                "confidence": CONFIDENCE,
                "shown": [{"failures": s.failures, "trials": s.trials} for s in self.shown],
                "smallest_difference": self.smallest,
            },
            "worth_building": self.worth_building,
            "assumptions": list(self.assumptions),
        }


_OF_SETUP = ("engineering", "setup_hours")


def make_plan(project: Project, *, prior: Prior = DEFAULT, seed: int = 0) -> Plan:
    """Weigh up the pilots for a project from the prior alone."""
    view = outlook(project, fit([], seed=seed, draws=_DRAWS, prior=prior), seed)
    valued = [value(view, pilot, seed) for pilot in candidates(project)]
    best = max(valued, key=lambda one: one.net)
    return Plan(
        project,
        tuple(_road(view, index) for index in range(len(ROADS) if project.simulates else 1)),
        tuple(_weighed(view, one) for one in valued),
        best.pilot,
        rule_of(view, best),
        tuple(Shown(failures, trials_needed(project.target, failures)) for failures in range(3)),
        smallest_detectable(0.5, best.pilot.trials, best.pilot.trials),
        view.worth,
        view.worth_building(),
    )


def _road(view: Outlook, index: int) -> Road:
    reached, days = view.reached[:, index], view.days()[:, index]
    deadline = view.project.lab.deadline_days
    return Road(
        ROADS[index],
        float(reached.mean()),
        span(view.needed[:, index]),
        span(view.cost()[:, index]),
        span(days),
        None if deadline is None else float(np.mean(reached & (days <= deadline))),
    )


def _weighed(view: Outlook, one: Valued) -> Weighed:
    pilot = one.pilot
    return Weighed(pilot, span(pilot.cost(view)), span(pilot.days(view)), one.net, one.right)


def _inputs(project: Project) -> dict[str, Any]:
    minutes = project.minutes
    return {
        "minutes": {"low": minutes.low, "high": minutes.high, "source": minutes.source},
        "lab": project.lab.to_json(),
        "usable": project.usable,
        "most": project.most,
        "n_sim": project.n_sim,
        "built": project.built,
        "training_hours": project.training_hours,
    }
