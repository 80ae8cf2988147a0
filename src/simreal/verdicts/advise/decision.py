"""The decision on a learning surface: a road, a measurement first, or neither."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from simreal.verdicts.advise.beliefs import DEFAULT, Beliefs, Doubt, believe
from simreal.verdicts.advise.clock import Clock
from simreal.verdicts.advise.measuring import Measurement, measurements, worth_it
from simreal.verdicts.advise.plan import Have
from simreal.verdicts.advise.rates import Rates
from simreal.verdicts.advise.roads import Prospect, Question, Survey, prospects, survey
from simreal.verdicts.advise.voi import evpi
from simreal.verdicts.curves import CellCounts, fit

#: Draws of the posterior.
DRAWS = 2000
#: A measurement must promise this share of the expected loss beyond its cost: a decision that is
#: worth less than that to improve is taken as it stands.
WORTHWHILE = 0.02

Kind = Literal["take", "measure", "unreachable"]


@dataclass(frozen=True)
class Decision:
    """What to do, with all that led to it. evpi: None where no road may be chosen.

    measure: the measurement that would help most; only with kind "measure" is it to be made first.
    """

    kind: Kind
    survey: Survey
    beliefs: Beliefs
    found: tuple[Prospect, ...]
    candidates: tuple[Measurement, ...]
    measure: Measurement | None
    evpi: float | None


def decide(
    cells: Sequence[CellCounts],
    have: Have,
    rates: Rates,
    question: Question,
    barred: Sequence[str] = (),
    doubt: Doubt = DEFAULT,
    seed: int = 0,
    tried: Sequence[CellCounts] | None = None,
    clock: Clock | None = None,
) -> Decision:
    """Fit the surface to the cells, look down every road, and weigh measuring against going.

    barred: roads that may not be taken. tried: cells whose checkpoints may be used, all if None.
    clock: days of each stage, where there is a deadline.

    Between "sure enough" and "as good as impossible" (P(reach) under 1 - confidence on every road)
    lies what the evidence cannot settle; there the answer is a measurement.
    """
    surface = fit(cells, seed=seed, draws=DRAWS)
    beliefs = believe(surface, cells, doubt, seed)
    usable = cells if tried is None else tried
    found = prospects(beliefs, usable, have, question.goal, barred, clock)
    seen = survey(found, rates, question)
    if not seen.outlooks:
        return Decision("measure", seen, beliefs, found, (), None, None)
    candidates = measurements(found, beliefs, seen, rates)
    least = WORTHWHILE * float(seen.losses.mean(axis=0).min())
    wanted = worth_it(candidates, seen.chosen, least)
    taken = None if seen.chosen is None else seen.chosen.losses(seen.miss)
    worth = evpi(seen.losses, taken=taken)
    best = wanted or _most_telling(candidates, seen, least)
    surest = seen.surest
    if seen.chosen is not None:
        kind: Kind = "measure" if wanted else "take"
    elif wanted is None and surest is not None and surest.p_reach < 1 - question.confidence:
        kind = "unreachable"
    else:
        kind = "measure"
    return Decision(kind, seen, beliefs, found, candidates, best, worth)


def _most_telling(
    candidates: Sequence[Measurement], seen: Survey, least: float
) -> Measurement | None:
    """The measurement worth most before its cost; where none is worth anything, the next training
    of the surest road: nothing else moves that road's chances as much.
    """
    best = max(candidates, key=lambda m: m.value, default=None)
    if best is None or best.value > least or seen.surest is None:
        return best
    road = seen.surest.plan.road
    return next((m for m in candidates if m.road == road and m.fresh), best)
