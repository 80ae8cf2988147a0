"""Which trials of two tables share their initial condition: the keys that make pairs.

The choice rests on names of conditions, suites, seeds and targets, never on an outcome.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from simreal.verdicts.pairing import Outcome, Sample, tally
from simreal.verdicts.records import TrialRow

_BASE = ("suite", "condition")


def outcomes(rows: Sequence[TrialRow], fields: Sequence[str] = _BASE) -> dict[Hashable, Outcome]:
    """Trials keyed by `fields`; where a key occurs more than once its outcomes form a tuple."""
    grouped: dict[Hashable, list[bool | None]] = {}
    for row in rows:
        grouped.setdefault(tuple(getattr(row, f) for f in fields), []).append(row.success)
    return {key: _outcome(found) for key, found in grouped.items()}


def _outcome(found: list[bool | None]) -> Outcome:
    seen = tuple(success for success in found if success is not None)
    if len(seen) > 1:
        return seen
    return seen[0] if seen else None


def _unique(rows: Sequence[TrialRow], fields: Sequence[str]) -> bool:
    keys = {tuple(getattr(row, f) for f in fields) for row in rows}
    return len(keys) == len(rows)


def keyed(
    a: Sequence[TrialRow], b: Sequence[TrialRow], across_targets: bool = False
) -> tuple[dict[Hashable, Outcome], dict[Hashable, Outcome]]:
    """Both tables keyed by the fewest names that tell all trials apart on both sides.

    Suite and condition first, then the training seed, then the target (unless the two tables are
    compared across targets, as for a gap). What still repeats counts once.
    """
    first, second = keyed_alike([a, b], across_targets)
    return first, second


def keyed_alike(
    tables: Sequence[Sequence[TrialRow]], across_targets: bool = False
) -> list[dict[Hashable, Outcome]]:
    """As `keyed`, for any number of tables."""
    more = [("seed",)] if across_targets else [("target",), ("seed",), ("target", "seed")]
    for extra in [(), *more]:
        fields = (*_BASE, *extra)
        if all(_unique(rows, fields) for rows in tables):
            return [outcomes(rows, fields) for rows in tables]
    return [outcomes(rows) for rows in tables]


def sample_of(rows: Sequence[TrialRow]) -> Sample:
    """Trials of one side alone, repeats of a condition together."""
    (found,) = keyed_alike([rows])
    return Sample(tuple(tally(outcome) for outcome in found.values()))
