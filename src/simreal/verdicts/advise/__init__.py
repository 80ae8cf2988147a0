"""The advisor: which road next, why, how sure, and what would flip it."""

from simreal.verdicts.advise.answer import advise
from simreal.verdicts.advise.case import ADVICE_STATES, Advice, Request, RoadFacts
from simreal.verdicts.advise.cells import simulated
from simreal.verdicts.advise.eligibility import Eligibility, Limits
from simreal.verdicts.advise.sheet import evidence_of_table
from simreal.verdicts.advise.situations import strategies_of

__all__ = [
    "ADVICE_STATES",
    "Advice",
    "Eligibility",
    "Limits",
    "Request",
    "RoadFacts",
    "advise",
    "evidence_of_table",
    "simulated",
    "strategies_of",
]
