"""Regions of a randomization space, and the search for those in which trials fail more.

A region bounds one or two factors. The search looks at many and finds something by chance too, so
what it returns are candidates: `failure_map` judges them by fresh trials.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from simreal.verdicts.numerics import Array

#: Factor -> its value in each of n trials.
Columns = Mapping[str, Array]
Flags = npt.NDArray[np.bool_]

#: Regions proposed at most.
MOST_REGIONS = 5
#: Factors of which pairs are tried: those with the strongest effect alone.
PAIRED_FACTORS = 10
#: Standard errors by which a candidate's failure rate has to exceed that elsewhere, and by which a
#: region of two factors has to exceed the best of one.
LEAST_Z, SIMPLER_Z = 3.0, 1.0
#: Trials that a region holds at least (weighted), and the largest share of all.
LEAST_TRIALS, LARGEST_SHARE = 20.0, 0.6
#: Up to so many different values a factor counts as discrete.
DISCRETE = 12


@dataclass(frozen=True)
class Scale:
    """How a factor's values are cut and written.

    edges: between neighbouring bins, ascending. whole: only whole numbers occur. prefix, suffix:
    what stands around a number (`x` of a factor, a unit).
    """

    edges: tuple[float, ...]
    whole: bool = False
    prefix: str = ""
    suffix: str = ""

    def number(self, value: float) -> str:
        """A value as it is read: `x0.7`, `12 deg`."""
        return f"{self.prefix}{value:.3g}{self.suffix}"


@dataclass(frozen=True)
class Bound:
    """One factor within [low, high]; None: open. `text` is what a person reads."""

    factor: str
    low: float | None
    high: float | None
    text: str

    def holds(self, values: Array) -> Flags:
        """Which values lie within."""
        low = -math.inf if self.low is None else self.low
        high = math.inf if self.high is None else self.high
        return np.asarray((values >= low) & (values <= high))


@dataclass(frozen=True)
class Region:
    """Where all of its bounds hold."""

    bounds: tuple[Bound, ...]

    def inside(self, columns: Columns) -> Flags:
        """Which trials lie in it, (n,)."""
        held = [bound.holds(np.asarray(columns[bound.factor])) for bound in self.bounds]
        return np.asarray(np.all(held, axis=0))

    @property
    def text(self) -> str:
        """`light_ambient below x0.7 and exposure above 0.2 stops`."""
        return " and ".join(bound.text for bound in self.bounds)


def scale_of(values: Array, prefix: str = "", suffix: str = "") -> Scale:
    """Cuts at the eighths of a reference sample, or between the values of a discrete factor.

    Cuts are rounded to three digits, so that the region that is tested is the one that is printed.
    """
    seen = np.unique(values)
    whole = bool(np.all(seen == np.round(seen)))
    if len(seen) <= DISCRETE:
        edges = (seen[1:] + seen[:-1]) / 2
    elif whole:
        edges = np.unique(np.floor(np.quantile(values, np.arange(1, 8) / 8))) + 0.5
    else:
        edges = np.array([float(f"{x:.3g}") for x in np.quantile(values, np.arange(1, 8) / 8)])
    inside = (edges > seen[0]) & (edges < seen[-1])
    return Scale(tuple(float(x) for x in np.unique(edges[inside])), whole, prefix, suffix)


def bound(factor: str, scale: Scale, first: int, last: int) -> Bound:
    """The bound that holds in bins `first` to `last` of the scale."""
    low = scale.edges[first - 1] if first > 0 else None
    high = scale.edges[last] if last < len(scale.edges) else None
    if scale.whole:
        low = None if low is None else float(math.ceil(low))
        high = None if high is None else float(math.floor(high))
    return Bound(factor, low, high, f"{factor} {_range(scale, low, high)}")


def _range(scale: Scale, low: float | None, high: float | None) -> str:
    if low is not None and high is not None:
        if low == high:
            return f"at {scale.number(low)}"
        return f"between {scale.number(low)} and {scale.number(high)}"
    if low is not None:
        return f"{scale.number(low)} or more" if scale.whole else f"above {scale.number(low)}"
    assert high is not None
    return f"{scale.number(high)} or less" if scale.whole else f"below {scale.number(high)}"


@dataclass(frozen=True)
class _Sums:
    """Weighted trials, failures and squared weights, of a part or of all."""

    weight: float
    failed: float
    squared: float

    def z(self, all_: _Sums) -> float:
        """By how many standard errors the rate here exceeds that elsewhere; -inf: too few."""
        weight, failed = all_.weight - self.weight, all_.failed - self.failed
        squared = all_.squared - self.squared
        if min(self.weight, weight, self.squared, squared) <= 1e-9:
            return -math.inf
        here, there = self.weight**2 / self.squared, weight**2 / squared
        share = self.weight / all_.weight
        if here < LEAST_TRIALS or there < LEAST_TRIALS or share > LARGEST_SHARE:
            return -math.inf
        pooled = all_.failed / all_.weight
        spread = pooled * (1 - pooled) * (1 / here + 1 / there)
        if spread <= 0:
            return -math.inf
        return (self.failed / self.weight - failed / weight) / math.sqrt(spread)


class _Trials:
    """Trials in bins: what a scan adds up."""

    def __init__(
        self, columns: Columns, scales: Mapping[str, Scale], failed: Flags, weights: Array
    ) -> None:
        self.scales = {name: scale for name, scale in scales.items() if scale.edges}
        self._bins = {
            name: np.searchsorted(scale.edges, columns[name], side="right")
            for name, scale in self.scales.items()
        }
        self._layers = np.stack([weights, weights * failed, weights**2])
        self.all = _Sums(*(float(x) for x in self._layers.sum(axis=1)))

    def _table(self, bins: npt.NDArray[np.intp], many: int) -> Array:
        return np.stack([np.bincount(bins, layer, many) for layer in self._layers])

    def single(self, name: str) -> tuple[float, Region]:
        """The interval of one factor with the largest z."""
        many = len(self.scales[name].edges) + 1
        sums = np.concatenate([np.zeros((3, 1)), self._table(self._bins[name], many).cumsum(1)], 1)
        best = max(
            (_Sums(*(sums[:, j + 1] - sums[:, i])).z(self.all), i, j) for i, j in _spans(many)
        )
        return best[0], Region((bound(name, self.scales[name], best[1], best[2]),))

    def double(self, a: str, b: str) -> tuple[float, Region]:
        """The rectangle of two factors, both bounded, with the largest z; cut half as finely."""
        (bins_a, edge_a), (bins_b, edge_b) = self._coarse(a), self._coarse(b)
        many_a, many_b = len(edge_a) - 1, len(edge_b) - 1
        table = self._table(bins_a * many_b + bins_b, many_a * many_b).reshape(3, many_a, many_b)
        sums = np.zeros((3, many_a + 1, many_b + 1))
        sums[:, 1:, 1:] = table.cumsum(1).cumsum(2)
        best: tuple[float, Region] = (-math.inf, Region(()))
        for i, j in _spans(many_a):
            rows = sums[:, j + 1] - sums[:, i]
            for k, m in _spans(many_b):
                z = _Sums(*(rows[:, m + 1] - rows[:, k])).z(self.all)
                if z > best[0]:
                    ends_a, ends_b = (edge_a[i], edge_a[j + 1] - 1), (edge_b[k], edge_b[m + 1] - 1)
                    bounds = (bound(a, self.scales[a], *ends_a), bound(b, self.scales[b], *ends_b))
                    best = (z, Region(bounds))
        return best

    def _coarse(self, name: str) -> tuple[npt.NDArray[np.intp], list[int]]:
        """Bins joined to at most four, and the first fine bin of each (the end behind the last)."""
        many = len(self.scales[name].edges) + 1
        starts = sorted({round(many * q / 4) for q in range(4)} - {many})
        return np.searchsorted(starts, self._bins[name], side="right") - 1, [*starts, many]


def _spans(many: int) -> Iterator[tuple[int, int]]:
    """First and last bin of every run of bins but the whole."""
    for i in range(many):
        for j in range(i, many):
            if (i, j) != (0, many - 1):
                yield i, j


def candidates(
    columns: Columns,
    scales: Mapping[str, Scale],
    failed: Flags,
    weights: Array,
    most: int = MOST_REGIONS,
) -> list[Region]:
    """Regions in which trials fail more, the clearest first; each is sought outside those before.

    weights: of each trial, such that the weighted trials are spread as the profile spreads them.
    """
    found: list[Region] = []
    left = np.ones(len(failed), dtype=bool)
    while len(found) < most:
        kept = {name: np.asarray(column)[left] for name, column in columns.items()}
        trials = _Trials(kept, scales, failed[left], weights[left])
        best = _clearest(trials)
        if best is None or best[0] < LEAST_Z:
            break
        found.append(best[1])
        left &= ~best[1].inside(columns)
    return found


def _clearest(trials: _Trials) -> tuple[float, Region] | None:
    singles = {name: trials.single(name) for name in trials.scales}
    if not singles:
        return None
    names = sorted(singles, key=lambda n: -singles[n][0])[:PAIRED_FACTORS]
    best = singles[names[0]]
    for a, b in combinations(names, 2):
        z, region = trials.double(a, b)
        if z - SIMPLER_Z > best[0]:
            best = (z - SIMPLER_Z, region)
    return best


def effect(column: Array, scale: Scale, failed: Flags, weights: Array) -> float:
    """The largest z of one factor over its intervals; -inf where it cannot be told."""
    if not scale.edges:
        return -math.inf
    return _Trials({"": column}, {"": scale}, failed, weights).single("")[0]


def columns_of(rows: Sequence[Mapping[str, float]]) -> dict[str, Array]:
    """Factor -> its values, of trials given one by one."""
    names = list(rows[0]) if rows else []
    return {name: np.array([row[name] for row in rows], dtype=float) for name in names}
