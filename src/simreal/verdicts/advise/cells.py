"""What of the evidence the advisor may build on: enough cells, existing data, roads not barred."""

from __future__ import annotations

from collections.abc import Sequence

from simreal.verdicts.advise.eligibility import Eligibility
from simreal.verdicts.advise.plan import Have
from simreal.verdicts.curves import CellCounts
from simreal.verdicts.evidence import Evidence, role_of

#: A surface is fitted from so many different amounts of data and trials on.
FEWEST_PLACES, FEWEST_TRIALS = 2, 20


def enough(cells: Sequence[CellCounts]) -> bool:
    """Whether a surface can be fitted at all."""
    places = {cell.place for cell in cells}
    return len(places) >= FEWEST_PLACES and sum(cell.n for cell in cells) >= FEWEST_TRIALS


def have_of(evidence: Evidence) -> Have:
    """The demonstrations that exist: the largest numbers that any arm trains on."""
    arms = evidence.arms
    return Have(max((a.n_real for a in arms), default=0), max((a.n_sim for a in arms), default=0))


def simulated(evidence: Evidence) -> bool:
    """Whether a simulator is there: an arm was trained on its demonstrations.

    What building it cost is spent; the next step does not pay for it again.
    """
    return any(arm.n_sim for arm in evidence.arms)


def barred_roads(evidence: Evidence, rules: Sequence[Eligibility]) -> tuple[str, ...]:
    """Roads of which every tried arm breaks a rule of safety or precision."""
    verdict: dict[str, list[bool]] = {}
    for rule in rules:
        road = role_of(evidence.arm(rule.arm))
        if road is not None and not rule.untried:
            verdict.setdefault(road, []).append(rule.eligible)
    return tuple(road for road, eligible in verdict.items() if not any(eligible))


def eligible_cells(
    cells: Sequence[CellCounts], rules: Sequence[Eligibility]
) -> tuple[CellCounts, ...]:
    """The cells of arms that may be advised."""
    allowed = {rule.arm for rule in rules if rule.eligible}
    return tuple(cell for cell in cells if cell.arm in allowed)
