"""How hard and how long: forces within their limit and cycle times, by arm, place and suite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from simreal.verdicts.evidence import Evidence, pooled_note, rate_of
from simreal.verdicts.intervals import t_interval
from simreal.verdicts.rates import clopper_pearson
from simreal.verdicts.records import TrialRow
from simreal.verdicts.schema_parts import (
    AMOUNT,
    CI,
    COUNT,
    FRACTION,
    NAME,
    NUMBER,
    RATE,
    Schema,
    array,
    one_of,
    optional,
    record,
)

#: The failure of an episode that ended because a force limit was passed.
FORCE_STOP = "force stop"
PLACES = ("simulation", "targets")

_SPREAD = record(p10=AMOUNT, p50=AMOUNT, p90=AMOUNT)
OVER_TARGETS: Schema = optional(
    record(mean=NUMBER, ci=CI, method=NAME, n_targets={"type": "integer", "minimum": 2})
)
#: summary.json's `force`.
FORCE: Schema = record(
    limit_n=AMOUNT,
    method=NAME,
    cells=array(
        record(
            arm=NAME,
            suite=NAME,
            place=one_of(*PLACES),
            within=RATE,
            lower=FRACTION,
            over_targets=OVER_TARGETS,
            peak_n=optional(_SPREAD),
            successes=COUNT,
            cycle_s=optional(_SPREAD),
        )
    ),
)


def within(rows: Sequence[TrialRow], limit_n: float) -> tuple[TrialRow, ...]:
    """The trials whose force was measured, `success` saying whether it stayed within the limit."""
    return tuple(
        TrialRow(
            row.condition,
            row.peak_force <= limit_n and row.failure != FORCE_STOP,
            row.arm,
            row.target,
            row.suite,
            row.seed,
        )
        for row in rows
        if row.peak_force is not None
    )


def over_targets(rates: Sequence[float | None]) -> dict[str, Any] | None:
    """A t interval over target means; None for a single target."""
    means = [rate for rate in rates if rate is not None]
    if len(means) < 2:
        return None
    mean, ci = t_interval(means)
    method = "t interval over target means"
    return {"mean": mean, "ci": list(ci), "method": method, "n_targets": len(means)}


def force_of(evidence: Evidence) -> dict[str, Any] | None:
    """The `force` of summary.json; None without a limit or a measured force."""
    limit = evidence.force_limit_n
    if limit is None:
        return None
    cells = []
    for arm in evidence.arms:
        for suite in evidence.suites_of(arm.name):
            found = evidence.on_targets(arm.name, suite)
            on_targets = [row for rows in found.values() for row in rows]
            places = zip(PLACES, (evidence.sim_trials(arm.name, suite), on_targets), strict=True)
            for place, rows in places:
                kept = within(rows, limit)
                if kept:
                    head = {"arm": arm.name, "suite": suite, "place": place}
                    cells.append({**head, **_cell(rows, kept)})
    if not cells:
        return None
    note = pooled_note([row for row in evidence.trials if row.target in evidence.targets])
    method = f"peak force of at most {limit:g} N and no {FORCE_STOP}; Wilson interval"
    method += "; lower: one-sided 95 % Clopper-Pearson bound"
    return {"limit_n": limit, "method": f"{method}; {note}" if note else method, "cells": cells}


def _cell(rows: Sequence[TrialRow], kept: Sequence[TrialRow]) -> dict[str, Any]:
    rate = rate_of(kept)
    names = dict.fromkeys(row.target for row in kept)
    rates = [rate_of([row for row in kept if row.target == name]).rate for name in names]
    done = [row for row in rows if row.success and row.seconds is not None]
    return {
        "within": rate.to_json(),
        "lower": clopper_pearson(rate.k, rate.n, side="lower")[0],
        "over_targets": over_targets(rates),
        "peak_n": _spread([row.peak_force for row in rows]),
        "successes": len(done),
        "cycle_s": _spread([row.seconds for row in done]),
    }


def _spread(values: Sequence[float | None]) -> dict[str, float] | None:
    """10, 50 and 90 % quantiles; None without a value."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    shares = {"p10": 0.1, "p50": 0.5, "p90": 0.9}
    return {name: round(float(np.quantile(known, share)), 4) for name, share in shares.items()}
