"""Before any data: which pilot to run first, what it takes, and what its result decides."""

from simreal.verdicts.pilot.pilots import Pilot, candidates
from simreal.verdicts.pilot.plan import Plan, make_plan
from simreal.verdicts.pilot.project import CHOICES, ROADS, Project
from simreal.verdicts.pilot.rule import Rule

__all__ = [
    "CHOICES",
    "ROADS",
    "Pilot",
    "Plan",
    "Project",
    "Rule",
    "candidates",
    "make_plan",
]
