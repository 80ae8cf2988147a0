"""JSON schemas of what simreal writes; `examples` has a valid record of each.

Plain dictionaries in JSON Schema 2020-12, printed by `simreal schema NAME [--example]`. An object
lists all its fields; none may be missing and none may be added.
"""

from __future__ import annotations

from collections.abc import Mapping

from simreal.core.errors import unknown
from simreal.verdicts.advise import ADVICE_STATES
from simreal.verdicts.by_suite import BY_SUITE, OPERATOR
from simreal.verdicts.claims import CLAIM_STATES
from simreal.verdicts.compare import STATES
from simreal.verdicts.cost import KINDS
from simreal.verdicts.cost.schema import CLOCK, COST_REPORT, DAYS, ECONOMICS, TIME
from simreal.verdicts.curves.schema import CURVES
from simreal.verdicts.explain import EXPLANATION
from simreal.verdicts.failure_map import FAILURE_MAP
from simreal.verdicts.force import FORCE
from simreal.verdicts.goals import GOALS
from simreal.verdicts.judged_schema import (
    ACCEPTANCE,
    EVALUATE,
    RANKING,
    RECIPES,
    VALIDATE,
)
from simreal.verdicts.pilot.schema import PLAN
from simreal.verdicts.schema_parts import (
    AMOUNT,
    CI,
    COUNT,
    FLAG,
    FRACTION,
    NAME,
    NUMBER,
    RATE,
    RATE_FIELDS,
    TEXT,
    Schema,
    array,
    mapping,
    one_of,
    optional,
    record,
)

#: The `schema` field of a summary written by this version.
SUMMARY_SCHEMA = "simreal.summary/2"

TRIAL: Schema = record(
    plan_sha=NAME,
    arm=NAME,
    seed=COUNT,
    target=NAME,
    suite=NAME,
    condition=COUNT,
    success=FLAG,
    score=FRACTION,
    failure=optional(TEXT),
    steps=COUNT,
    seconds=AMOUNT,
    collisions=COUNT,
    peak_force=optional(AMOUNT),
    overruns=COUNT,
    media=optional(TEXT),
)

CHARGE: Schema = record(
    when=NAME,
    source=NAME,
    arm=NAME,
    kind=one_of(*KINDS),
    quantity=AMOUNT,
    unit=one_of("s", "min", "h", "count"),
    note=TEXT,
)

COMPARISON: Schema = record(
    a=RATE,
    b=RATE,
    paired=FLAG,
    difference=optional(NUMBER),
    ci=CI,
    p=optional(FRACTION),
    method=NAME,
    state=one_of(*STATES),
    smallest_detectable=optional(FRACTION),
)

GAP: Schema = record(
    sim=RATE,
    real=RATE,
    paired=FLAG,
    points=optional(NUMBER),
    ci=CI,
    method=NAME,
    relative_drop=optional(record(value=NUMBER, ci=CI)),
    state=one_of(*STATES),
)

FINDINGS: Schema = record(
    findings=array(
        record(
            code=NAME,
            severity=one_of("error", "warning", "note"),
            where=TEXT,
            message=NAME,
            fix=TEXT,
        )
    ),
    ok=FLAG,
)

_COST = record(
    total=AMOUNT,
    currency=NAME,
    robot_h=AMOUNT,
    operator_h=AMOUNT,
    engineering_h=AMOUNT,
    compute_h=AMOUNT,
)

_ADVICE = record(
    state=one_of(*ADVICE_STATES),
    strategy=optional(NAME),
    reason=NAME,
    next=record(arm=optional(NAME), n_real=COUNT, n_sim=COUNT, trials=COUNT, why=TEXT),
    runner_up=optional(NAME),
    flips=array(NAME),
    cost=optional(_COST),
    eligibility=array(record(arm=NAME, eligible=FLAG, reasons=array(NAME))),
    assumptions=array(NAME),
    goal=optional(FRACTION),
    road=optional(NAME),
    p_reach=optional(FRACTION),
    roads=array(
        record(
            road=NAME,
            next=record(n_real=COUNT, n_sim=COUNT),
            p_reach=FRACTION,
            after=optional(FRACTION),
            cost=record(mean=AMOUNT, p50=AMOUNT, p90=AMOUNT),
            pareto=FLAG,
            tried=FLAG,
        )
    ),
    currency=NAME,
    evpi=optional(AMOUNT),
    evsi=array(record(measurement=NAME, value=AMOUNT, cost=AMOUNT)),
)

_ARM = record(
    name=NAME,
    n_sim=COUNT,
    n_real=COUNT,
    seeds=array(COUNT),
    sim=optional(RATE),
    target=array(record(name=NAME, **RATE_FIELDS)),
    over_targets=optional(
        record(mean=NUMBER, ci=CI, method=NAME, n_targets={"type": "integer", "minimum": 2})
    ),
    gap=optional(record(points=optional(NUMBER), ci=CI, method=NAME)),
    suites=mapping(RATE),
    cost=optional(_COST),
)

SUMMARY: Schema = record(
    schema={"const": SUMMARY_SCHEMA},
    study=NAME,
    form=NAME,
    goal=optional(FRACTION),
    targets=array(
        record(
            kind=NAME,
            name=NAME,
            seed=optional(COUNT),
            severity=optional(NAME),
            label=TEXT,
        )
    ),
    arms=array(_ARM),
    claims=array(
        record(
            id=NAME,
            state=one_of(*CLAIM_STATES),
            estimate=optional(NUMBER),
            ci=optional(CI),
            method=NAME,
        )
    ),
    verdicts=array(
        record(
            claim=NAME,
            state=one_of(*STATES),
            estimate=optional(NUMBER),
            ci=CI,
            p=optional(FRACTION),
            method=NAME,
        )
    ),
    advice=_ADVICE,
    recipes=RECIPES,
    ranking=optional(RANKING),
    acceptance=ACCEPTANCE,
    goals=GOALS,
    by_suite=BY_SUITE,
    force=optional(FORCE),
    operator=OPERATOR,
    curves=CURVES,
    economics=optional(ECONOMICS),
    time=optional(TIME),
    explanation=optional(EXPLANATION),
    versions=mapping(TEXT),
    wall_s=AMOUNT,
)

SCHEMAS: Mapping[str, Schema] = {
    "trials": TRIAL,
    "ledger": CHARGE,
    "summary": SUMMARY,
    "findings": FINDINGS,
    "compare": COMPARISON,
    "ranking": RANKING,
    "validate": VALIDATE,
    "evaluate": EVALUATE,
    "plan": PLAN,
    "gap": GAP,
    "explanation": EXPLANATION,
    "explore": FAILURE_MAP,
    "advice": _ADVICE,
    "cost": COST_REPORT,
    "days": DAYS,
    "clock": CLOCK,
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
