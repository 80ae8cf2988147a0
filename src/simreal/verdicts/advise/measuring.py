"""What could be measured before a road is taken, what it costs, and what it is worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from simreal.verdicts.advise.beliefs import Beliefs
from simreal.verdicts.advise.plan import TRIALS, Outlook, money
from simreal.verdicts.advise.rates import Rates
from simreal.verdicts.advise.roads import Prospect, Survey
from simreal.verdicts.advise.surface import Floats, masses
from simreal.verdicts.advise.voi import evsi


@dataclass(frozen=True)
class Measurement:
    """One measurement: a test of a checkpoint, new or not. value: what it is expected to save.

    n_real, n_sim: demonstrations to have in total. fresh: whether something is trained for it.
    """

    text: str
    road: str
    arm: str | None
    n_real: int
    n_sim: int
    value: float
    cost: float
    fresh: bool

    @property
    def gain(self) -> float:
        """What it is worth beyond its cost."""
        return self.value - self.cost

    def to_json(self) -> dict[str, Any]:
        """The entry of `evsi`."""
        return {"measurement": self.text, "value": self.value, "cost": self.cost}


def measurements(
    found: Sequence[Prospect], beliefs: Beliefs, survey: Survey, rates: Rates
) -> tuple[Measurement, ...]:
    """All candidates: more trials of each road's best checkpoint, and each road's next training."""
    results = []
    losses = survey.losses
    for one in found:
        plan = one.plan
        after = losses if one.open else _with(survey, plan.road, losses)
        if plan.confirm is not None:
            cell = plan.confirm
            value = evsi(losses, masses(*beliefs.checkpoint(cell), TRIALS), after=after)
            text = f"{TRIALS} more trials of {cell.arm}"
            cost = TRIALS * rates.trial
            results.append(
                Measurement(text, plan.road, cell.arm, *cell.place, value, cost, fresh=False)
            )
        first = beliefs.along(plan.road, plan.base, plan.multiples[:1])
        value = evsi(losses, masses(*beliefs.training(first), TRIALS), after=after)
        step = int(plan.confirm is not None)
        cost = float(money(plan, rates)[0][step])
        arm = plan.start.arm if plan.start else None
        place = plan.levels[0]
        text = f"a {plan.road} training on {data(place)} with {TRIALS} trials"
        results.append(Measurement(text, plan.road, arm, *place, value, cost, fresh=True))
    return tuple(sorted(results, key=lambda m: -m.gain))


def data(place: tuple[int, int]) -> str:
    """`50 real and 1,200 simulated demonstrations`."""
    parts = [f"{n:,} {kind}" for n, kind in zip(place, ("real", "simulated"), strict=True) if n]
    return f"{' and '.join(parts)} demonstrations"


def _with(survey: Survey, road: str, losses: Floats) -> Floats:
    """Losses with a road that its first measurement opens."""
    opened = [o.losses(survey.miss) for o in survey.untried if o.plan.road == road]
    return np.concatenate([losses, *(column[:, None] for column in opened)], axis=1)


def worth_it(
    candidates: Sequence[Measurement], chosen: Outlook | None, least: float
) -> Measurement | None:
    """The measurement with the most gain, if that is more than `least`.

    The next stage of the chosen road is none: it is done anyway, and learned from.
    """
    for one in candidates:
        own = chosen is not None and one.road == chosen.plan.road and _is_next(one, chosen)
        if one.gain > least and not own:
            return one
    return None


def _is_next(one: Measurement, chosen: Outlook) -> bool:
    return one.fresh == (chosen.plan.confirm is None)
