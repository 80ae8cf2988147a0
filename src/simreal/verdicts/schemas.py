"""JSON schemas of what simreal writes; `examples` has a valid record of each.

Plain dictionaries in JSON Schema 2020-12, printed by `simreal schema NAME [--example]`. An object
lists all its fields; none may be missing and none may be added.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simreal.core.errors import unknown
from simreal.verdicts.advise_case import ADVICE_STATES
from simreal.verdicts.claims import CLAIM_STATES
from simreal.verdicts.compare import STATES
from simreal.verdicts.cost import KINDS

Schema = dict[str, Any]

#: The `schema` field of a summary written by this version.
SUMMARY_SCHEMA = "simreal.summary/1"

_TEXT: Schema = {"type": "string"}
_NAME: Schema = {"type": "string", "minLength": 1}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_AMOUNT: Schema = {"type": "number", "minimum": 0}
_NUMBER: Schema = {"type": "number"}
_FLAG: Schema = {"type": "boolean"}
_FRACTION: Schema = {"type": "number", "minimum": 0, "maximum": 1}


def _optional(schema: Schema) -> Schema:
    """The schema, or null."""
    if isinstance(schema.get("type"), str):
        return {**schema, "type": [schema["type"], "null"]}
    return {"anyOf": [schema, {"type": "null"}]}


def _object(**fields: Schema) -> Schema:
    """An object with exactly these fields, all required."""
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _map(values: Schema) -> Schema:
    return {"type": "object", "additionalProperties": values}


def _one_of(*values: str) -> Schema:
    return {"enum": list(values)}


def _pair(ends: Schema) -> Schema:
    return {"type": "array", "items": ends, "minItems": 2, "maxItems": 2}


_RATE_FIELDS: dict[str, Schema] = {
    "k": _COUNT,
    "n": _COUNT,
    "rate": _optional(_FRACTION),
    "ci": _pair(_FRACTION),
}
_RATE = _object(**_RATE_FIELDS)
_CI = _pair(_NUMBER)

TRIAL: Schema = _object(
    plan_sha=_NAME,
    arm=_NAME,
    seed=_COUNT,
    target=_NAME,
    suite=_NAME,
    condition=_COUNT,
    success=_FLAG,
    score=_FRACTION,
    failure=_optional(_TEXT),
    steps=_COUNT,
    seconds=_AMOUNT,
    collisions=_COUNT,
    peak_force=_optional(_AMOUNT),
    overruns=_COUNT,
    media=_optional(_TEXT),
)

CHARGE: Schema = _object(
    when=_NAME,
    source=_NAME,
    arm=_NAME,
    kind=_one_of(*KINDS),
    quantity=_AMOUNT,
    unit=_one_of("s", "min", "h", "count"),
    note=_TEXT,
)

COMPARISON: Schema = _object(
    a=_RATE,
    b=_RATE,
    paired=_FLAG,
    difference=_optional(_NUMBER),
    ci=_CI,
    p=_optional(_FRACTION),
    method=_NAME,
    state=_one_of(*STATES),
    smallest_detectable=_optional(_FRACTION),
)

GAP: Schema = _object(
    sim=_RATE,
    real=_RATE,
    paired=_FLAG,
    points=_optional(_NUMBER),
    ci=_CI,
    method=_NAME,
    relative_drop=_optional(_object(value=_NUMBER, ci=_CI)),
    state=_one_of(*STATES),
)

FINDINGS: Schema = _object(
    findings=_list(
        _object(
            code=_NAME,
            severity=_one_of("error", "warning", "note"),
            where=_TEXT,
            message=_NAME,
            fix=_TEXT,
        )
    ),
    ok=_FLAG,
)

_COST = _object(
    total=_AMOUNT,
    currency=_NAME,
    robot_h=_AMOUNT,
    operator_h=_AMOUNT,
    engineering_h=_AMOUNT,
    compute_h=_AMOUNT,
)

_ADVICE = _object(
    state=_one_of(*ADVICE_STATES),
    strategy=_optional(_NAME),
    reason=_NAME,
    next=_object(arm=_optional(_NAME), n_real=_COUNT, n_sim=_COUNT, trials=_COUNT, why=_TEXT),
    runner_up=_optional(_NAME),
    flips=_list(_NAME),
    cost=_optional(_COST),
    eligibility=_list(_object(arm=_NAME, eligible=_FLAG, reasons=_list(_NAME))),
    assumptions=_list(_NAME),
)

_ARM = _object(
    name=_NAME,
    n_sim=_COUNT,
    n_real=_COUNT,
    seeds=_list(_COUNT),
    sim=_optional(_RATE),
    target=_list(_object(name=_NAME, **_RATE_FIELDS)),
    over_targets=_optional(
        _object(mean=_NUMBER, ci=_CI, method=_NAME, n_targets={"type": "integer", "minimum": 2})
    ),
    gap=_optional(_object(points=_optional(_NUMBER), ci=_CI, method=_NAME)),
    suites=_map(_RATE),
    cost=_optional(_COST),
)

SUMMARY: Schema = _object(
    schema={"const": SUMMARY_SCHEMA},
    study=_NAME,
    form=_NAME,
    targets=_list(
        _object(
            kind=_NAME,
            name=_NAME,
            seed=_optional(_COUNT),
            severity=_optional(_NAME),
            label=_TEXT,
        )
    ),
    arms=_list(_ARM),
    claims=_list(
        _object(
            id=_NAME,
            state=_one_of(*CLAIM_STATES),
            estimate=_optional(_NUMBER),
            ci=_optional(_CI),
            method=_NAME,
        )
    ),
    verdicts=_list(
        _object(
            claim=_NAME,
            state=_one_of(*STATES),
            estimate=_optional(_NUMBER),
            ci=_CI,
            p=_optional(_FRACTION),
            method=_NAME,
        )
    ),
    advice=_ADVICE,
    versions=_map(_TEXT),
    wall_s=_AMOUNT,
)

SCHEMAS: Mapping[str, Schema] = {
    "trials": TRIAL,
    "ledger": CHARGE,
    "summary": SUMMARY,
    "findings": FINDINGS,
    "compare": COMPARISON,
    "gap": GAP,
}


def schema(name: str) -> Schema:
    """The schema of one record (trials, ledger) or one object (summary, findings, compare, gap)."""
    if name not in SCHEMAS:
        raise unknown("schema", name, SCHEMAS)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"simreal {name}",
        **SCHEMAS[name],
    }
