"""Valid examples of the schemas of money and time, made by the code that writes the real ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from simreal.verdicts.cost.economics import cost_report
from simreal.verdicts.cost.timing import time_of
from simreal.verdicts.evidence import Evidence


def _days(evidence: Evidence) -> Any:
    return {"currency": "USD", "cases": [time_of(evidence)]}


def _clock(_: Evidence) -> Any:
    since, what = "2026-01-15T09:30:00+00:00", "replay of robot logs"
    return {
        "running": [{"kind": "validation", "since": since, "what": what, "hours": 0.5}],
        "booked": [{"kind": "engineering", "source": "clock", "hours": 12.25}],
    }


#: Schema -> a valid record, from a small study where it takes one.
EXAMPLES: Mapping[str, Callable[[Evidence], Any]] = {
    "cost": cost_report,
    "days": _days,
    "clock": _clock,
}
