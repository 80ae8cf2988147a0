"""A made-up explanation, for `simreal schema explanation --example`."""

from __future__ import annotations

from typing import Any

from simreal.core.types import STAND_IN
from simreal.verdicts.explain import Case, explanation
from simreal.verdicts.records import TrialRow

_FACTORS = ("visual", "dynamics", "sensing", "actuation")
#: Of 40 conditions, how many each factor spoils (the same ones in every variant).
_SPOILS = {"visual": range(6), "sensing": range(5, 8), "actuation": range(20, 21)}


def _rows(failed: set[int], n: int) -> list[TrialRow]:
    return [
        TrialRow(str(i), i not in failed, failure="missed" if i in failed else None)
        for i in range(n)
    ]


def explanation_example() -> dict[str, Any]:
    """40 conditions, 20 of them tried on the target, a profile that says nothing of dynamics."""
    case = Case(
        arm="sim-only",
        seed=0,
        target="twin-7",
        label=STAND_IN,
        profile="bench-7 (by hand)",
        factors=_FACTORS,
        described=tuple(_SPOILS),
    )
    variants = []
    for s in range(2 ** len(_FACTORS)):
        on = [name for i, name in enumerate(_FACTORS) if s >> i & 1 and name in _SPOILS]
        variants.append(_rows({39, *(c for name in on for c in _SPOILS[name])}, 40))
    return explanation(case, variants, _rows({*range(10)}, 20), _rows(set(), 20))
