"""How trials fail, in words that hold for every task.

Each task names its failures by its own stages; here, and nowhere else, they become the kinds in
which simulation and target are compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from simreal.verdicts.records import TrialRow

#: The kinds, and what they mean.
KINDS: Mapping[str, str] = {
    "missed": "did not get to the object or to the right place",
    "slipped": "had the object at its fingers and lost hold of it",
    "collided": "hit something harder than it may",
    "jammed": "was where it should be and could not move on",
    "dropped": "had moved the object and lost it",
    "timed out": "was where it should be too late, or not for long enough",
    "unsafe stop": "was stopped: a command or a state that no arm may follow",
    "other": "failed in a way that has no kind here",
}

#: Failures of our tasks, of the judge and of the safety layer -> kind.
_KIND_OF: Mapping[str, str] = {
    "never reached": "missed",
    "missed": "missed",
    "off course": "dropped",
    "slipped": "slipped",
    "missed hole": "missed",
    "slipped in hand": "slipped",
    "wedged": "jammed",
    "force stop": "collided",
    "collided": "collided",
    "stuck": "jammed",
    "jammed": "jammed",
    "dropped": "dropped",
    "timed out": "timed out",
    "unsafe stop": "unsafe stop",
    "diverged": "unsafe stop",
}


def kind(failure: str | None) -> str:
    """The kind of a task's failure; `other` for one that is not known here."""
    return _KIND_OF.get((failure or "").strip().lower(), "other")


def failures(rows: Iterable[TrialRow]) -> dict[str, int]:
    """How many failed trials there are of each kind, in the order of `KINDS`, zeros left out."""
    counts = Counter(kind(row.failure) for row in rows if row.success is False)
    return {name: counts[name] for name in KINDS if counts[name]}
