"""What the advisor believes: a learning surface, and doubt about the surface itself.

The fitted surfaces improve with every demonstration and share one shape over all roads. Real ones
stop improving, jump, or gain less on one road than the shape of another suggests. Three departures
are therefore added to each draw, and the draws re-weighted by how well they then explain the cells:

- a level of its own for each road, a normal shift of the logit;
- a plateau: with some probability no gain beyond a random multiple of the present data;
- a leap: with some probability a gain of several logits from a random multiple on;
- a session: trials to come differ from those so far by a normal shift of the logit.

Their sizes were chosen on the development worlds of `benchmarks/advice.py`, not on the reported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from simreal.core.seeds import generator
from simreal.verdicts.advise.surface import Floats, Surface, at, log_mass
from simreal.verdicts.curves import CellCounts
from simreal.verdicts.evidence import ROADS
from simreal.verdicts.numerics import systematic

#: Copies of each draw, each with departures of its own.
_COPIES = 4
_EDGE = 1e-6


@dataclass(frozen=True)
class Doubt:
    """Sizes of the departures. road, session: standard deviations of logit shifts. plateau, leap:
    probabilities that learning stops or leaps, at up to `reach` times the present data
    (log-uniform). height: mean size of a leap in logits, exponential.
    """

    road: float = 0.2
    session: float = 0.2
    plateau: float = 0.1
    leap: float = 0.2
    height: float = 3.0
    reach: float = 16.0


#: No departure: the surface is taken at its word.
TRUSTING = Doubt(0.0, 0.0, 0.0, 0.0)
DEFAULT = Doubt()


@dataclass(frozen=True)
class Beliefs:
    """D equally weighted draws: rows of the surface with a departure each.

    shifts: road -> (D,) logits. session: (D,) logits. ends: (D,), multiple of the present data
    from which on nothing is gained, infinite where learning goes on. leaps: (D,), multiple from
    which on `heights` (D,), logits, are gained; infinite where there is no leap.
    """

    surface: Surface
    rows: npt.NDArray[np.int64]
    shifts: Mapping[str, Floats]
    session: Floats
    ends: Floats
    leaps: Floats
    heights: Floats

    def __len__(self) -> int:
        return len(self.rows)

    def along(self, road: str, base: tuple[int, int], multiples: Sequence[float]) -> Floats:
        """Mean success rates, (D, L), at multiples (>= 1) of the data `base` of one road."""
        steps = np.array([1.0, *multiples])
        places = [(round(base[0] * m), round(base[1] * m)) for m in steps]
        rate = at(self.surface, places)[self.rows]
        last = (steps[1:] <= self.ends[:, None]) * np.arange(1, len(steps))
        rate = np.take_along_axis(rate, np.maximum.accumulate(last, axis=1), axis=1)
        leap = np.where(steps[1:] >= self.leaps[:, None], self.heights[:, None], 0.0)
        return _shifted(rate, (self.shifts[road] + self.session)[:, None] + leap)

    def training(self, rate: Floats) -> tuple[Floats, Floats]:
        """Beta parameters, (D, L) each, of the rate of one training at mean rates (D, L)."""
        spread = self.surface.spread[self.rows][:, None]
        return rate * spread, (1 - rate) * spread

    def checkpoint(self, cell: CellCounts) -> tuple[Floats, Floats]:
        """Beta parameters, (D, 1) each, of a checkpoint that was tried, in a session to come."""
        spread = self.surface.spread[self.rows]
        rate = at(self.surface, [cell.place])[self.rows, 0]
        wins = _shifted(rate, self.shifts[cell.road]) * spread + cell.k
        total = spread + cell.n
        later = _shifted(wins / total, self.session) * total
        return later[:, None], (total - later)[:, None]


def believe(
    surface: Surface, cells: Sequence[CellCounts], doubt: Doubt = DEFAULT, seed: int = 0
) -> Beliefs:
    """The surface with departures that agree with the measured cells."""
    draws = len(surface.spread)
    rows = np.repeat(np.arange(draws), _COPIES)
    random = generator(seed, "advice doubt")
    shifts: dict[str, Floats] = {
        road: doubt.road * random.standard_normal(len(rows)) for road in ROADS
    }
    logs = _agreement(surface, cells, rows, shifts)
    picked = systematic(np.exp(logs - logs.max()), draws, random)
    kept = {road: shift[picked] for road, shift in shifts.items()}
    session = doubt.session * random.standard_normal(draws)
    ends = _multiples(doubt.plateau, doubt.reach, draws, random)
    leaps = _multiples(doubt.leap, doubt.reach, draws, random)
    heights = doubt.height * random.standard_exponential(draws)
    return Beliefs(surface, rows[picked], kept, session, ends, leaps, heights)


def _multiples(probability: float, reach: float, draws: int, random: np.random.Generator) -> Floats:
    """Multiples (> 1, up to `reach`, log-uniform) at which something happens, else infinite."""
    happens = random.random(draws) < probability
    return np.where(happens, reach ** random.random(draws), np.inf)


def _agreement(
    surface: Surface,
    cells: Sequence[CellCounts],
    rows: npt.NDArray[np.int64],
    shifts: Mapping[str, Floats],
) -> Floats:
    """How much better the cells are explained with the shifts than without, logarithms (N,)."""
    gain = np.zeros(len(rows))
    for cell in cells:
        rate = at(surface, [cell.place])[:, 0]
        plain = log_mass(cell.k, cell.n, rate * surface.spread, (1 - rate) * surface.spread)
        moved, spread = _shifted(rate[rows], shifts[cell.road]), surface.spread[rows]
        gain += log_mass(cell.k, cell.n, moved * spread, (1 - moved) * spread) - plain[rows]
    return gain


def _shifted(rate: Floats, shift: Floats) -> Floats:
    """Rates moved by logits and kept off 0 and 1."""
    moved = special.expit(special.logit(np.clip(rate, _EDGE, 1 - _EDGE)) + shift)
    return np.asarray(np.clip(moved, _EDGE, 1 - _EDGE))
