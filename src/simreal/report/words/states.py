"""States that a sentence may come from, and names of suites."""

from __future__ import annotations

from typing import Any

from simreal.core.errors import unknown
from simreal.verdicts.claims import CLAIM_STATES
from simreal.verdicts.goals import GOAL_STATES

_SUITES = {
    "nominal": "the conditions of training",
    "backgrounds": "unseen backgrounds",
    "distractors": "distractors",
    "orientations": "new orientations",
    "session": "another session",
    "unit": "a second unit",
}
_MARKS = {"supported": "✓", "contradicted": "✕", "cannot tell": "?", "not tested here": "–"}


def known(what: str, state: Any, allowed: Any) -> str:
    """The state as text; one that does not exist is refused."""
    text = str(state).replace("_", " ")
    if text not in allowed:
        raise unknown(what, text, allowed)
    return text


def suite(name: str) -> str:
    """A suite as people call it."""
    return _SUITES.get(name, name.replace("_", " "))


def goal(state: str) -> tuple[str, str]:
    """The state of a declared goal with the mark printed before it."""
    found = known("state of a goal", state, GOAL_STATES)
    return {"met": "✓", "missed": "✕", "not shown": "?"}.get(found, "–"), found


def claim(state: str) -> tuple[str, str]:
    """The state of a claim with the mark printed before it."""
    found = known("state of a claim", state, CLAIM_STATES)
    return _MARKS[found], found
