"""The decision rule of a pilot, stated before it is run: which result sends you which way.

The full calculation makes the choice of highest expected net worth after each result. The rule that
is printed has at most two thresholds on counts of successes, chosen to lose least against it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from simreal.verdicts.curves.models import Floats, Ints
from simreal.verdicts.numerics import quantiles
from simreal.verdicts.pilot.outlook import Outlook
from simreal.verdicts.pilot.pilots import Pilot
from simreal.verdicts.pilot.project import CHOICES, ROADS
from simreal.verdicts.pilot.value import Valued

_DEPTH = 2
#: Rarer results get no branch of their own ...
_RARE = 0.04
#: ... nor does a split that gains less than this share of what the target is worth.
_GAIN = 0.002

Rows = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Span:
    """The median and the ninth tenth of something."""

    p50: float
    p90: float

    def to_json(self) -> dict[str, float]:
        """`{p50, p90}`."""
        return {"p50": self.p50, "p90": self.p90}


def span(values: Floats, weights: Floats | None = None) -> Span:
    """Median and ninth tenth, weighted where weights are given; (D,) each."""
    return Span(*quantiles(values, (0.5, 0.9), weights))


@dataclass(frozen=True)
class Branch:
    """One outcome of the pilot: `when`, in words, what to do, and what to expect of it.

    share: probability of such a result. reach: probability that the choice reaches the target.
    cost, days: still to come; None when stopping.
    """

    when: tuple[str, ...]
    choice: str
    share: float
    reach: float
    cost: Span | None
    days: Span | None

    def to_json(self) -> dict[str, Any]:
        """An entry of the plan's `rule.branches`."""
        return {
            "when": list(self.when),
            "choice": self.choice,
            "share": self.share,
            "p_reach": self.reach,
            "cost": self.cost.to_json() if self.cost else None,
            "days": self.days.to_json() if self.days else None,
        }


@dataclass(frozen=True)
class Rule:
    """All branches. agrees: share of results where they make the calculated choice."""

    branches: tuple[Branch, ...]
    agrees: float

    def to_json(self) -> dict[str, Any]:
        """The plan's `rule`."""
        return {
            "branches": [branch.to_json() for branch in self.branches],
            "agrees": self.agrees,
        }


@dataclass(frozen=True)
class Count:
    """A count that a rule may look at: its value in each result, (Y,), and what it is out of."""

    words: str
    values: Ints
    trials: int | None

    def between(self, low: int | None, high: int | None) -> str:
        """`successes without simulated data: 14 or more of 40`; None leaves an end open."""
        of = f" of {self.trials}" if self.trials is not None else ""
        if low is None:
            return f"{self.words}: {high} or fewer{of}"
        if high is None:
            return f"{self.words}: {low} or more{of}"
        return f"{self.words}: {low} to {high}{of}"


@dataclass(frozen=True)
class _Leaf:
    """Some results, (Y,) flags; cuts: (index of a count, threshold, whether at or above it)."""

    rows: Rows
    cuts: tuple[tuple[int, int, bool], ...] = ()

    def choice(self, ahead: Floats) -> int:
        return int(ahead[self.rows].sum(axis=0).argmax())

    def when(self, looked_at: Sequence[Count]) -> tuple[str, ...]:
        """The cuts in words, one phrase for each count."""
        phrases = []
        for index in dict.fromkeys(cut[0] for cut in self.cuts):
            mine = [cut for cut in self.cuts if cut[0] == index]
            low = max((t for _, t, above in mine if above), default=None)
            high = min((t - 1 for _, t, above in mine if not above), default=None)
            phrases.append(looked_at[index].between(low, high))
        return tuple(phrases)


def counts(pilot: Pilot, results: Ints) -> tuple[Count, ...]:
    """Successes without and with simulated data, and their difference at equal real data."""
    kinds: Mapping[str, list[int]] = {
        "without": [i for i, (_, sim) in enumerate(pilot.cells) if sim == 0],
        "with": [i for i, (_, sim) in enumerate(pilot.cells) if sim > 0],
    }
    found = [
        Count(
            f"successes {word} simulated data",
            results[:, cells].sum(axis=1),
            len(cells) * pilot.trials,
        )
        for word, cells in kinds.items()
        if cells
    ]
    alone = {pilot.cells[i][0]: i for i in kinds["without"]}
    pairs = [(i, alone[pilot.cells[i][0]]) for i in kinds["with"] if pilot.cells[i][0] in alone]
    if pairs:
        gain = sum(results[:, i] - results[:, j] for i, j in pairs)
        words = "successes with minus without simulated data at equal real data"
        found.append(Count(words, np.asarray(gain), None))
    return tuple(found)


def rule_of(outlook: Outlook, valued: Valued) -> Rule:
    """The thresholds that lose least expected worth against the full calculation."""
    looked_at = counts(valued.pilot, valued.results)
    whole = _Leaf(np.ones(len(valued.results), dtype=bool))
    leaves = _grown(whole, looked_at, valued.ahead / outlook.worth, _DEPTH)
    chosen = np.zeros(len(valued.results), dtype=np.int64)
    for leaf in leaves:
        chosen[leaf.rows] = leaf.choice(valued.ahead)
    agrees = float(np.mean(chosen == valued.choices))
    branches = (_branch(outlook, valued, leaf, leaf.when(looked_at)) for leaf in leaves)
    return Rule(tuple(branches), agrees)


def _worth(ahead: Floats, rows: Rows) -> float:
    """The net worth summed over some results if one choice is made in all of them."""
    return float(ahead[rows].sum(axis=0).max())


def _grown(leaf: _Leaf, looked_at: Sequence[Count], ahead: Floats, depth: int) -> list[_Leaf]:
    """The leaf, or the leaves it splits into; ahead: in units of the target's worth."""
    best, sides = _worth(ahead, leaf.rows) + _GAIN * len(ahead), None
    least = _RARE * len(ahead)
    for index, count in enumerate(looked_at if depth else ()):
        for threshold in np.unique(count.values[leaf.rows])[1:].tolist():
            high = leaf.rows & (count.values >= threshold)
            low = leaf.rows & ~high
            if min(high.sum(), low.sum()) < least:
                continue
            worth = _worth(ahead, high) + _worth(ahead, low)
            if worth > best:
                best = worth
                sides = (
                    _Leaf(high, (*leaf.cuts, (index, threshold, True))),
                    _Leaf(low, (*leaf.cuts, (index, threshold, False))),
                )
    if sides is None:
        return [leaf]
    return [part for side in sides for part in _grown(side, looked_at, ahead, depth - 1)]


def _branch(outlook: Outlook, valued: Valued, leaf: _Leaf, when: tuple[str, ...]) -> Branch:
    pilot, choice = valued.pilot, leaf.choice(valued.ahead)
    share = float(leaf.rows.mean())
    if choice >= len(ROADS):
        return Branch(when, CHOICES[choice], share, 0.0, None, None)
    weights = valued.weights[leaf.rows].mean(axis=0)
    cost = outlook.cost(pilot.real, pilot.sim > 0)[:, choice]
    days = outlook.days(pilot.real, pilot.sim > 0)[:, choice]
    reach = float(weights @ outlook.reached[:, choice])
    return Branch(when, CHOICES[choice], share, reach, span(cost, weights), span(days, weights))
