"""What every claim test shares: its outcome, the range rule, and who plays which part."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from simreal.verdicts.cost import Arm
from simreal.verdicts.evidence import Contrast, Evidence, contrast
from simreal.verdicts.planning import ALPHA
from simreal.verdicts.rates import Interval

FoundState = Literal["supported", "contradicted", "cannot tell"]


@dataclass(frozen=True)
class Finding:
    """What a test found; estimate and interval as fractions (or a factor, for cost ratios)."""

    state: FoundState
    estimate: float | None
    ci: Interval | None
    method: str


@dataclass(frozen=True)
class Lacking:
    """Why a claim was not tested: what is missing, as the object of "needs"."""

    what: str


Parameters = Mapping[str, Any]
Test = Callable[[Evidence, Parameters], Finding | Lacking]


def in_range(ci: Interval, low: float, high: float, enough: bool = True) -> FoundState:
    """supported: the interval lies inside [low, high]; contradicted: it lies outside."""
    if not enough:
        return "cannot tell"
    if low <= ci[0] and ci[1] <= high:
        return "supported"
    return "contradicted" if ci[1] < low or ci[0] > high else "cannot tell"


def player(evidence: Evidence, role: str, suite: str = "nominal") -> Arm | Lacking:
    """The arm a claim about a suite speaks of; the strongest one is so on the nominal suite."""
    if role == "strongest real-only":
        real = evidence.all_of("real-only")
        tried = [a for a in real if evidence.on_targets(a.name, suite)] or real
        arms = [a for a in tried if evidence.on_targets(a.name)]
        if arms:
            return max(arms, key=lambda a: (evidence.pooled_rate(a.name).rate or 0.0, a.n_real))
        role = "real-only"
    return evidence.role(role) or Lacking(f"a {role} arm")


def players(evidence: Evidence, names: Parameters) -> tuple[Arm, Arm] | Lacking:
    """The two arms a claim compares: its `arm` and what it is held `against`."""
    suite = names.get("suite", "nominal")
    first, second = (player(evidence, names[key], suite) for key in ("arm", "against"))
    if isinstance(first, Lacking):
        return first
    return second if isinstance(second, Lacking) else (first, second)


def difference(
    evidence: Evidence, first: Arm, second: Arm, suite: str, alpha: float = ALPHA
) -> Contrast | Lacking:
    """The first arm minus the second on one suite of the targets."""
    cells = evidence.on_targets(first.name, suite), evidence.on_targets(second.name, suite)
    found = contrast(cells[0], cells[1], margin=evidence.margin, alpha=alpha)
    return found or Lacking(f"trials of {first.name} and {second.name} on the suite {suite}")


def named(first: Arm, second: Arm, method: str) -> str:
    """A method with the direction of the difference in front."""
    return f"{first.name} minus {second.name}; {method}"
