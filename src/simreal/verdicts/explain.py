"""Where a transfer gap comes from: trials of simulator variants, and of the target, judged.

The variants are all sets of factors in which the simulation follows a target profile; each was
tried from the same conditions. Fractions of 1; a positive share is success that is lost.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from simreal.core.errors import BadDataError
from simreal.verdicts.compare import estimate, method_name
from simreal.verdicts.keys import outcomes
from simreal.verdicts.numerics import Array
from simreal.verdicts.pairing import Outcome, match
from simreal.verdicts.rates import FEW_TRIALS, Rate
from simreal.verdicts.records import TrialRow
from simreal.verdicts.schema_parts import (
    CI,
    COUNT,
    FLAG,
    NAME,
    NUMBER,
    RATE,
    TEXT,
    Schema,
    array,
    mapping,
    optional,
    record,
)
from simreal.verdicts.shapley import Effect, interactions, paired_effect, shares
from simreal.verdicts.taxonomy import failures

#: What an explanation is not; printed with every one.
CAVEAT = (
    "This shares the loss out among variants of the simulator. It is no causal claim about the "
    "robot: what the profile leaves out, or has wrong, is in the unexplained part."
)

_EFFECT = record(points=optional(NUMBER), ci=CI, paired=FLAG, n=COUNT, method=NAME)

EXPLANATION: Schema = record(
    arm=NAME,
    seed=COUNT,
    target=NAME,
    label=TEXT,
    profile=NAME,
    conditions=COUNT,
    factors=array(
        record(
            name=NAME,
            share=NUMBER,
            ci=CI,
            first_in=NUMBER,
            first_in_ci=CI,
            last_in=NUMBER,
            last_in_ci=CI,
            described=FLAG,
        )
    ),
    interactions=array(record(factors=array(NAME), points=NUMBER, ci=CI)),
    sim=RATE,
    calibrated=RATE,
    real=RATE,
    explained=record(points=NUMBER, ci=CI),
    unexplained=_EFFECT,
    gap=_EFFECT,
    cells=array(record(factors=array(NAME), k=COUNT, n=COUNT)),
    recorded=record(n=COUNT, differ=COUNT),
    failures=record(sim=mapping(COUNT), calibrated=mapping(COUNT), real=mapping(COUNT)),
    note=NAME,
)


@dataclass(frozen=True)
class Case:
    """What is explained: which checkpoint, which target, by which profile.

    factors: in the order of the variants' bits. described: those the profile says anything about;
    the others are nominal in every variant and share in nothing.
    """

    arm: str
    seed: int
    target: str
    label: str
    profile: str
    factors: tuple[str, ...]
    described: tuple[str, ...]


def explanation(
    case: Case,
    variants: Sequence[Sequence[TrialRow]],
    real: Sequence[TrialRow],
    recorded: Sequence[TrialRow] = (),
) -> dict[str, Any]:
    """The content of explain.json (`EXPLANATION`).

    variants: rows of variant s at index s, where bit i of s says that factor i follows the profile.
    real: the same checkpoint's trials on the target; those from a condition the variants also
    played are pairs. There may be none. recorded: its earlier trials in the nominal simulation,
    which the first variant has to repeat.

    Raises:
        BadDataError: for variants that differ in their conditions, or fewer than 5 of these.
    """
    successes = table(variants)
    sides = {"sim": variants[0], "calibrated": variants[-1], "real": real}
    return {
        **_about(case),
        "conditions": int(successes.shape[1]),
        "factors": _factors(case, successes),
        "interactions": _interactions(case, successes),
        **{side: _rate(rows) for side, rows in sides.items()},
        "explained": _effect(paired_effect(successes[0] - successes[-1])),
        "unexplained": _difference(sides["calibrated"], real),
        "gap": _difference(sides["sim"], real),
        "cells": [
            {"factors": _names(case, s), "k": int(row.sum()), "n": len(row)}
            for s, row in enumerate(successes)
        ],
        "recorded": _repeated(sides["sim"], recorded),
        "failures": {side: failures(rows) for side, rows in sides.items()},
        "note": CAVEAT,
    }


def _about(case: Case) -> dict[str, Any]:
    return {key: getattr(case, key) for key in ("arm", "seed", "target", "label", "profile")}


def table(variants: Sequence[Sequence[TrialRow]]) -> Array:
    """Successes (2^k, n) of the variants from their common conditions, in order of name.

    Raises:
        BadDataError: as `explanation`.
    """
    found = [{row.condition: row.success for row in rows} for rows in variants]
    common = sorted(found[0])
    for s, successes in enumerate(found):
        if sorted(successes) != common or len(variants[s]) != len(common):
            raise BadDataError(
                f"Variant {s} was tried from {len(variants[s])} conditions and the first one from "
                f"{len(common)}; all need the same."
            )
    if len(common) < FEW_TRIALS:
        raise BadDataError(f"{len(common)} conditions; an explanation needs {FEW_TRIALS} or more.")
    if any(success is None for successes in found for success in successes.values()):
        raise BadDataError("A trial of a variant has no outcome.")
    return np.array([[bool(successes[c]) for c in common] for successes in found], dtype=float)


def _names(case: Case, variant: int) -> list[str]:
    return [name for i, name in enumerate(case.factors) if variant >> i & 1]


def _factors(case: Case, successes: Array) -> list[dict[str, Any]]:
    return [
        {
            "name": share.name,
            "share": share.share.points,
            "ci": list(share.share.ci),
            "first_in": share.first_in.points,
            "first_in_ci": list(share.first_in.ci),
            "last_in": share.last_in.points,
            "last_in_ci": list(share.last_in.ci),
            "described": share.name in case.described,
        }
        for share in shares(successes, case.factors)
    ]


def _interactions(case: Case, successes: Array) -> list[dict[str, Any]]:
    """Pairs of factors that the profile describes."""
    return [
        {"factors": list(pair.names), **_effect(pair.effect)}
        for pair in interactions(successes, case.factors)
        if set(pair.names) <= set(case.described)
    ]


def _effect(effect: Effect) -> dict[str, Any]:
    return {"points": effect.points, "ci": list(effect.ci)}


def _rate(rows: Sequence[TrialRow]) -> dict[str, Any]:
    seen = [row.success for row in rows if row.success is not None]
    return Rate.of(sum(seen), len(seen)).to_json()


def _repeated(sim: Sequence[TrialRow], recorded: Sequence[TrialRow]) -> dict[str, int]:
    """How many earlier trials were played again, and how many ended otherwise."""
    before = {row.condition: row.success for row in recorded}
    again = [row.success == before[row.condition] for row in sim if row.condition in before]
    return {"n": len(again), "differ": again.count(False)}


def _by_condition(rows: Sequence[TrialRow]) -> dict[Hashable, Outcome]:
    return outcomes(rows, ("condition",))


def _difference(sim: Sequence[TrialRow], real: Sequence[TrialRow]) -> dict[str, Any]:
    """Success in simulation less that on the target; paired where they share conditions."""
    found = match(_by_condition(sim), _by_condition(real))
    result = estimate(found, test=False)
    return {
        "points": result.difference,
        "ci": list(result.ci),
        "paired": found.paired,
        "n": found.observed().b.effective_n,
        "method": f"{method_name(found, test=False)}; 95 %",
    }
