"""Measured cells in which success falls as data grows: said in words, never smoothed silently."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from simreal.verdicts.compare import LARGEST_EXACT, score_p
from simreal.verdicts.curves.posterior import CellCounts
from simreal.verdicts.exact import boschloo, holm
from simreal.verdicts.planning import ALPHA


@dataclass(frozen=True)
class Drop:
    """Success falls from `less` to `more` data; p: of `test`, Holm over all neighbours."""

    less: CellCounts
    more: CellCounts
    p: float
    test: str = "Boschloo"

    @property
    def sentence(self) -> str:
        """The fall in words, with counts."""
        real = self.less.n_real != self.more.n_real
        fixed = (
            f"{self.less.n_sim:,} simulated" if real else f"{self.less.n_real:,} real"
        ) + " demonstrations"
        ends = [(c.n_real if real else c.n_sim, f"{c.k}/{c.n}") for c in (self.less, self.more)]
        kind = "real" if real else "simulated"
        if self.p <= ALPHA:
            verdict = "more than trials alone explain"
            verdict += "" if real else "; simulated data may hurt here"
        else:
            verdict = "chance may explain it"
        return (
            f"At {fixed}, success falls from {ends[0][1]} at {ends[0][0]:,} {kind} to "
            f"{ends[1][1]} at {ends[1][0]:,}: {verdict} ({self.test} p = {self.p:.2g}, Holm)."
        )


def pooled(cells: Sequence[CellCounts]) -> tuple[CellCounts, ...]:
    """One cell for each pair of counts, trainings added up, in rising order."""
    sums: dict[tuple[int, int], tuple[int, int]] = {}
    for cell in cells:
        k, n = sums.get(cell.place, (0, 0))
        sums[cell.place] = (k + cell.k, n + cell.n)
    return tuple(CellCounts(*place, *counts) for place, counts in sorted(sums.items()) if counts[1])


def drops(cells: Sequence[CellCounts]) -> tuple[Drop, ...]:
    """All falls between neighbouring cells that differ in one kind of data only."""
    known = pooled(cells)
    pairs = []
    for along, fixed in (("n_real", "n_sim"), ("n_sim", "n_real")):
        for value in sorted({getattr(cell, fixed) for cell in known}):
            row = sorted(
                (c for c in known if getattr(c, fixed) == value), key=lambda c: getattr(c, along)
            )
            pairs += list(itertools.pairwise(row))
    falls = [a.k * b.n > b.k * a.n for a, b in pairs]
    values = [_p(a, b) if fall else 1.0 for (a, b), fall in zip(pairs, falls, strict=True)]
    adjusted = holm(values) if values else ()
    found = zip(pairs, falls, adjusted, strict=True)
    return tuple(Drop(*pair, p, _test(*pair)) for pair, fall, p in found if fall)


def _test(a: CellCounts, b: CellCounts) -> str:
    return "Boschloo" if a.n + b.n <= LARGEST_EXACT else "score test"


def _p(a: CellCounts, b: CellCounts) -> float:
    """Boschloo's p; of very many trials that of the score test, as `compare` gives it."""
    if _test(a, b) == "Boschloo":
        return boschloo(a.k, a.n, b.k, b.n)
    return score_p(a.k, a.n, b.k, b.n)
