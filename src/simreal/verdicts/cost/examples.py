"""Valid examples of the schemas of money and time, made by the code that writes the real ones."""

from __future__ import annotations

from typing import Any

from simreal.verdicts.cost.economics import cost_report
from simreal.verdicts.cost.timing import time_of
from simreal.verdicts.evidence import Evidence


def money_example(name: str, evidence: Evidence) -> Any:
    """A valid record of the schema `cost`, `days` or `clock`."""
    if name == "cost":
        return cost_report(evidence)
    if name == "days":
        return {"currency": "USD", "cases": [time_of(evidence)]}
    since, what = "2026-01-15T09:30:00+00:00", "replay of robot logs"
    return {
        "running": [{"kind": "validation", "since": since, "what": what, "hours": 0.5}],
        "booked": [{"kind": "engineering", "source": "clock", "hours": 12.25}],
    }
