"""The advisor: which road next, why, how sure, and what would flip it."""

from simreal.verdicts.advise.case import ADVICE_STATES, Advice, Request
from simreal.verdicts.advise.eligibility import Limits
from simreal.verdicts.advise.measured import advise

__all__ = ["ADVICE_STATES", "Advice", "Limits", "Request", "advise"]
