"""A table of trials as evidence: what `advise` needs when there is no study folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from simreal.core.errors import BadDataError
from simreal.verdicts.cost import Arm
from simreal.verdicts.cost.prices import Prices
from simreal.verdicts.evidence import Evidence
from simreal.verdicts.records import SIMULATION, TrialRow

#: A row without a target was tried on the robot.
_ROBOT = "target"


def evidence_of_table(rows: Sequence[TrialRow], prices: Prices, name: str = "table") -> Evidence:
    """Evidence from trials with the columns arm, n_real and n_sim.

    Raises:
        BadDataError: where an arm lacks its numbers of demonstrations, has several, or has none.
    """
    trials = tuple(_placed(row, name) for row in rows)
    arms = tuple(_arm(arm, trials, name) for arm in dict.fromkeys(row.arm for row in trials) if arm)
    targets = tuple(dict.fromkeys(row.target for row in trials if row.target not in SIMULATION))
    simulated = next((row.target for row in trials if row.target in SIMULATION), None)
    if not any(targets):
        raise BadDataError(
            f"{name} holds trials in simulation only; advice needs some on a target."
        )
    return Evidence(
        task=name,
        arms=arms,
        trials=trials,
        targets=tuple(t for t in targets if t is not None),
        sim=simulated,
        prices=prices,
    )


def _placed(row: TrialRow, name: str) -> TrialRow:
    if row.arm is None:
        raise BadDataError(
            f"{name}: the trial at condition {row.condition} names no arm; advice needs the "
            "columns condition, success, arm, n_real and n_sim."
        )
    return row if row.target else replace(row, target=_ROBOT)


def _arm(arm: str, rows: Sequence[TrialRow], name: str) -> Arm:
    mine = [row for row in rows if row.arm == arm]
    numbers = {(row.n_real, row.n_sim) for row in mine}
    if any(None in pair for pair in numbers):
        raise BadDataError(
            f"{name}: arm {arm!r} lacks n_real or n_sim in some rows; give how many real and "
            "simulated demonstrations it was trained on."
        )
    if len(numbers) > 1:
        shown = ", ".join(f"{real} real and {sim} simulated" for real, sim in sorted(numbers))
        raise BadDataError(
            f"{name}: arm {arm!r} has several amounts of data ({shown}); give each its own name."
        )
    n_real, n_sim = (int(n or 0) for n in next(iter(numbers)))
    if n_real == 0 and n_sim == 0:
        raise BadDataError(
            f"{name}: arm {arm!r} has n_real 0 and n_sim 0; an arm is trained on some "
            "demonstrations, real or simulated."
        )
    seeds = tuple(sorted({row.seed for row in mine if row.seed is not None})) or (0,)
    return Arm(arm, n_sim, n_real, seeds)
