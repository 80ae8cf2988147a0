"""Several arms in order, with letters: arms that share a letter are not told apart.

Every pair is compared, Holm over all pairs. The letters are the compact letter display of Piepho
(2004), by insertion and absorption.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from simreal.core.errors import UsageError
from simreal.verdicts.compare import MARGIN, Comparison, compare, within_family
from simreal.verdicts.evidence import Evidence, pooled_note
from simreal.verdicts.keys import keyed_alike
from simreal.verdicts.pairing import Outcomes
from simreal.verdicts.rates import Rate


def letters(names: Sequence[str], different: Collection[tuple[str, str]]) -> dict[str, str]:
    """Letters for arms, best first: two arms share one if and only if they are not `different`."""
    for pair in different:
        if not set(pair) <= set(names) or pair[0] == pair[1]:
            raise UsageError(f"{pair} is not a pair of {list(names)}.")
    groups: list[frozenset[str]] = [frozenset(names)]
    for first, second in different:
        split = [
            part
            for group in groups
            for part in (
                (group - {first}, group - {second}) if {first, second} <= group else (group,)
            )
        ]
        groups = _absorbed(split)
    order = {name: place for place, name in enumerate(names)}
    groups = sorted(groups, key=lambda group: sorted(order[name] for name in group))
    marks = {id(group): _mark(place) for place, group in enumerate(groups)}
    return {name: "".join(marks[id(g)] for g in groups if name in g) for name in names}


def _absorbed(groups: Sequence[frozenset[str]]) -> list[frozenset[str]]:
    """Groups that lie in no other one, each once."""
    unique = list(dict.fromkeys(groups))
    return [g for g in unique if not any(g < other for other in unique)]


def _mark(place: int) -> str:
    """a to z, then aa. to zz. and so on, so that no two groups share a mark."""
    alphabet = "abcdefghijklmnopqrstuvwxyz"
    if place < len(alphabet):
        return alphabet[place]
    return f"({_mark(place // 26 - 1)}{alphabet[place % 26]})"


@dataclass(frozen=True)
class Ranked:
    """One arm in a ranking."""

    name: str
    rate: Rate
    letters: str


@dataclass(frozen=True)
class Ranking:
    """Arms by rate, best first, and the comparisons behind the letters, keyed (better, other)."""

    arms: tuple[Ranked, ...]
    comparisons: Mapping[tuple[str, str], Comparison]
    note: str = ""

    @property
    def method(self) -> str:
        """How the letters came about."""
        methods = dict.fromkeys(c.method for c in self.comparisons.values())
        found = "; ".join(methods) or "one arm, no comparison"
        return f"{found}; {self.note}" if self.note else found

    def to_json(self) -> dict[str, Any]:
        """`{method, arms: [{arm, k, n, rate, ci, letters}]}`, the highest rate first."""
        arms = [{"arm": a.name, **a.rate.to_json(), "letters": a.letters} for a in self.arms]
        return {"method": self.method, "arms": arms}


def rank(arms: Mapping[str, Outcomes], margin: float = MARGIN) -> Ranking:
    """Rank arms by their success; the order is by rate, the letters say what of it is shown."""
    pairs = list(itertools.combinations(arms, 2))
    family = within_family([compare(arms[a], arms[b], margin) for a, b in pairs])
    found = dict(zip(pairs, family, strict=True))
    rates = {name: compare(outcomes, outcomes, margin).a for name, outcomes in arms.items()}
    names = sorted(arms, key=lambda name: (-(rates[name].rate or 0.0), name))
    different = [pair for pair, c in found.items() if c.state in ("better", "worse")]
    marks = letters(names, different)
    return Ranking(tuple(Ranked(name, rates[name], marks[name]) for name in names), found)


def ranking_of(evidence: Evidence, suite: str = "nominal") -> Ranking | None:
    """The arms of a study on one suite of its targets; None with fewer than two arms tried there.

    Trials of several targets or training seeds are pooled, and the method says so.
    """
    tried = {}
    for arm in evidence.arms:
        rows = [r for cell in evidence.on_targets(arm.name, suite).values() for r in cell]
        if rows:
            tried[arm.name] = rows
    if len(tried) < 2:
        return None
    keyed = keyed_alike(list(tried.values()))
    ranked = rank(dict(zip(tried, keyed, strict=True)), evidence.margin)
    every = [row for rows in tried.values() for row in rows]
    return replace(ranked, note=pooled_note(every))
