"""From two sets of trials to one table: who is paired with whom, what is missing, what repeats.

An outcome is given per condition: True or False; None for a planned trial that was lost; a
sequence of booleans where one condition was tried several times (its repeats then count as one
trial with their mean, the cautious reading: ICC = 1).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from simreal.core.errors import UsageError
from simreal.verdicts.rates import CONFIDENCE, Rate, clustered_rate, rate_with_missing

#: What happened at one condition.
Outcome = bool | None | Sequence[bool]
#: Trials keyed by condition; equal keys in two of these make a pair.
Outcomes = Mapping[Hashable, Outcome]


@dataclass(frozen=True)
class Tally:
    """Outcomes at one condition: `k` successes of `n` trials; n = 0 is a lost trial."""

    k: int
    n: int

    @property
    def mean(self) -> float:
        """The share of successes; needs n > 0."""
        return self.k / self.n


def tally(outcome: Outcome) -> Tally:
    """Count one condition's outcome."""
    if outcome is None:
        return Tally(0, 0)
    if isinstance(outcome, Sequence):
        return Tally(sum(bool(success) for success in outcome), len(outcome))
    return Tally(int(bool(outcome)), 1)


@dataclass(frozen=True)
class Sample:
    """One side of a comparison after matching, in matched order.

    effective_k and effective_n count each observed condition once.
    """

    tallies: tuple[Tally, ...]

    @property
    def missing(self) -> int:
        """Lost trials."""
        return sum(t.n == 0 for t in self.tallies)

    @property
    def repeated(self) -> bool:
        """Whether any condition was tried more than once."""
        return any(t.n > 1 for t in self.tallies)

    @property
    def effective_n(self) -> int:
        """Conditions observed."""
        return sum(t.n > 0 for t in self.tallies)

    @property
    def effective_k(self) -> float:
        """Successes with each condition counted once."""
        return sum(t.mean for t in self.tallies if t.n)

    def filled(self, success: bool) -> Sample:
        """The same sample with every lost trial given one outcome."""
        fill = Tally(int(success), 1)
        return Sample(tuple(t if t.n else fill for t in self.tallies))

    def rate(self, confidence: float = CONFIDENCE) -> Rate:
        """Raw counts with the interval that missing and repeated trials leave."""
        seen = [t for t in self.tallies if t.n]
        k, n = sum(t.k for t in seen), sum(t.n for t in seen)
        if self.missing:
            return rate_with_missing(k, n, self.missing, confidence)
        return clustered_rate([t.k for t in seen], [t.n for t in seen], 1.0, confidence)


@dataclass(frozen=True)
class Match:
    """Two samples ready to be compared. `excluded` conditions occur on one side only."""

    a: Sample
    b: Sample
    paired: bool
    excluded: tuple[Hashable, ...] = ()

    @property
    def missing(self) -> int:
        """Lost trials on both sides together."""
        return self.a.missing + self.b.missing

    @property
    def repeated(self) -> bool:
        """Whether a condition was tried more than once on either side."""
        return self.a.repeated or self.b.repeated

    def observed(self) -> Match:
        """Without lost trials (and, if paired, without their partners)."""
        if not self.paired:
            return Match(_seen(self.a), _seen(self.b), False, self.excluded)
        both = [(s, t) for s, t in zip(self.a.tallies, self.b.tallies, strict=True) if s.n and t.n]
        first, second = tuple(s for s, _ in both), tuple(t for _, t in both)
        return Match(Sample(first), Sample(second), True, self.excluded)

    def discordant(self) -> tuple[float, float]:
        """Pairs won by the first side only and by the second only (means where repeated)."""
        pairs = list(zip(self.a.tallies, self.b.tallies, strict=True))
        first = sum(s.mean * (1 - t.mean) for s, t in pairs)
        second = sum((1 - s.mean) * t.mean for s, t in pairs)
        return first, second


def _seen(sample: Sample) -> Sample:
    return Sample(tuple(t for t in sample.tallies if t.n))


def _sample(outcomes: Outcomes, keys: Iterable[Hashable]) -> Sample:
    return Sample(tuple(tally(outcomes[key]) for key in keys))


def match(a: Outcomes, b: Outcomes, paired: bool | None = None) -> Match:
    """Match two sets of trials. Conditions that occur in both are pairs; the rest is excluded.

    Without a common condition, or with `paired=False`, all trials count and none is paired. The
    choice rests on the conditions alone, never on an outcome.
    """
    shared = [key for key in a if key in b]
    if paired and not shared:
        raise UsageError(
            "A paired comparison was asked for, but no condition occurs on both sides; use equal "
            "condition names for trials with the same initial state, or compare unpaired."
        )
    if paired is False or not shared:
        return Match(_sample(a, a), _sample(b, b), False)
    excluded = tuple(k for k in a if k not in b) + tuple(k for k in b if k not in a)
    return Match(_sample(a, shared), _sample(b, shared), True, excluded)
