"""Evidence as the learning surface takes it: one cell for each checkpoint and target."""

from __future__ import annotations

from collections.abc import Sequence

from simreal.verdicts.advise.eligibility import Eligibility
from simreal.verdicts.advise.plan import Have
from simreal.verdicts.advise.surface import Cell
from simreal.verdicts.evidence import Evidence, rate_of, role_of

#: A surface is fitted from so many different amounts of data and trials on.
FEWEST_PLACES, FEWEST_TRIALS = 2, 20


def cells_of(evidence: Evidence) -> tuple[Cell, ...]:
    """Successes on the targets, of each training seed on each target; repeats count once."""
    found = []
    for arm in evidence.arms:
        if role_of(arm) is None:
            continue
        for rows in evidence.on_targets(arm.name).values():
            for seed in sorted({row.seed for row in rows}, key=str):
                rate = rate_of(
                    [row for row in rows if row.seed == seed and row.success is not None]
                )
                if round(rate.n):
                    k = min(round(rate.k), round(rate.n))
                    found.append(Cell(arm.name, arm.n_real, arm.n_sim, k, round(rate.n)))
    return tuple(found)


def enough(cells: Sequence[Cell]) -> bool:
    """Whether a surface can be fitted at all."""
    places = {cell.place for cell in cells}
    return len(places) >= FEWEST_PLACES and sum(cell.n for cell in cells) >= FEWEST_TRIALS


def have_of(evidence: Evidence) -> Have:
    """The demonstrations that exist: the largest numbers that any arm trains on."""
    arms = evidence.arms
    return Have(max((a.n_real for a in arms), default=0), max((a.n_sim for a in arms), default=0))


def barred_roads(evidence: Evidence, rules: Sequence[Eligibility]) -> tuple[str, ...]:
    """Roads of which every tried arm breaks a rule of safety or precision."""
    verdict: dict[str, list[bool]] = {}
    for rule in rules:
        road = role_of(evidence.arm(rule.arm))
        if road is not None and not rule.untried:
            verdict.setdefault(road, []).append(rule.eligible)
    return tuple(road for road, eligible in verdict.items() if not any(eligible))


def eligible_cells(cells: Sequence[Cell], rules: Sequence[Eligibility]) -> tuple[Cell, ...]:
    """The cells of arms that may be advised."""
    allowed = {rule.arm for rule in rules if rule.eligible}
    return tuple(cell for cell in cells if cell.arm in allowed)
