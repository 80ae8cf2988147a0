"""Every arm on every suite it was tried on: in simulation, on the targets, and the gap between."""

from __future__ import annotations

from typing import Any

from simreal.verdicts.evidence import Evidence, rate_of
from simreal.verdicts.force import OVER_TARGETS, over_targets
from simreal.verdicts.rates import Rate
from simreal.verdicts.schema_parts import (
    CI,
    NAME,
    NUMBER,
    RATE,
    RATE_FIELDS,
    Schema,
    array,
    optional,
    record,
)

#: summary.json's `by_suite`. target: counts pooled over the targets, these targets only; targets:
#: those of each.
BY_SUITE: Schema = array(
    record(
        arm=NAME,
        suite=NAME,
        sim=optional(RATE),
        target=RATE,
        targets=array(record(name=NAME, **RATE_FIELDS)),
        over_targets=OVER_TARGETS,
        gap=optional(record(points=optional(NUMBER), ci=CI, method=NAME)),
    )
)

#: summary.json's `operator`: attempts at demonstrations that succeeded, by target and suite.
OPERATOR: Schema = array(record(target=NAME, suite=NAME, **RATE_FIELDS))


def by_suite(evidence: Evidence) -> list[dict[str, Any]]:
    """One entry for each arm and suite that has trials on a target."""
    found = []
    for arm in evidence.arms:
        for suite in evidence.suites_of(arm.name):
            cells = evidence.on_targets(arm.name, suite)
            if not cells:
                continue
            rates = {name: rate_of(rows) for name, rows in cells.items()}
            sim = evidence.sim_trials(arm.name, suite)
            found.append(
                {
                    "arm": arm.name,
                    "suite": suite,
                    "sim": rate_of(sim).to_json() if sim else None,
                    "target": evidence.pooled_rate(arm.name, suite).to_json(),
                    "targets": [{"name": n, **r.to_json()} for n, r in rates.items()],
                    "over_targets": over_targets([rate.rate for rate in rates.values()]),
                    "gap": gap_entry(evidence, arm.name, suite),
                }
            )
    return found


def operator_of(evidence: Evidence) -> list[dict[str, Any]]:
    """One entry for each target and suite that the operator tried."""
    return [
        {"target": target, "suite": suite, **Rate.of(*counts).to_json()}
        for target, suites in evidence.operator.items()
        for suite, counts in suites.items()
    ]


def gap_entry(evidence: Evidence, arm: str, suite: str = "nominal") -> dict[str, Any] | None:
    """The gap of one arm on one suite; None without trials of both sides."""
    found = evidence.gap_of(arm, suite)
    if found is None:
        return None
    estimate = found.estimate
    return {"points": estimate.difference, "ci": list(estimate.ci), "method": found.method}
