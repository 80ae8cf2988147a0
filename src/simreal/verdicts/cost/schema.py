"""JSON schemas of money and time: `economics` and `time` of summary.json, and the commands'."""

from __future__ import annotations

from simreal.verdicts.cost.purposes import RESOURCES
from simreal.verdicts.schema_parts import (
    AMOUNT,
    CI,
    COUNT,
    FLAG,
    FRACTION,
    NAME,
    TEXT,
    Schema,
    array,
    one_of,
    optional,
    pair,
    record,
)

_SOME = {"type": "integer", "minimum": 1}
_QUANTILES = record(p50=optional(AMOUNT), p90=optional(AMOUNT))
_SPEED = record(p10=AMOUNT, p90=AMOUNT, source=TEXT)

_ECONOMICS: dict[str, Schema] = {
    "per_arm": array(
        record(
            arm=NAME,
            total=AMOUNT,
            ends=pair(AMOUNT),
            setup=optional(pair(AMOUNT)),
            per_demonstration=record(real=optional(AMOUNT), sim=optional(AMOUNT)),
            per_success_point=optional(AMOUNT),
            stack=record(**dict.fromkeys(RESOURCES, AMOUNT)),
            label=TEXT,
        )
    ),
    "reach": array(
        record(
            road=NAME,
            basis=one_of("learning curve", "measured arm"),
            points=array(
                record(
                    rate=FRACTION, p10=optional(AMOUNT), p50=optional(AMOUNT), p90=optional(AMOUNT)
                )
            ),
        )
    ),
    "break_even": array(
        record(
            arm=NAME,
            against=NAME,
            variants=_SOME,
            built=FLAG,
            demonstrations=pair(optional(AMOUNT)),
            saving=optional(CI),
        )
    ),
    "avoided": optional(record(events=COUNT, money=pair(AMOUNT))),
    "note": optional(NAME),
}
ECONOMICS: Schema = record(**_ECONOMICS)

#: What `simreal cost --json` prints.
COST_REPORT: Schema = record(
    currency=NAME,
    spent=AMOUNT,
    **_ECONOMICS,
    success_point=NAME,
    assumptions=array(NAME),
    setup=optional(pair(AMOUNT)),
    headline=FLAG,
)

#: The fields of `inputs.Inputs`.
LAB: dict[str, Schema] = {
    "robots": _SOME,
    "operators": optional(_SOME),
    "shift_hours": AMOUNT,
    "shifts": _SOME,
    "days_a_week": AMOUNT,
    "deadline_days": optional(AMOUNT),
    "cores": _SOME,
    "gpus": COUNT,
    "can_build": FLAG,
    "engineers": _SOME,
    "stopped_line": AMOUNT,
    "variants": _SOME,
    "trials": COUNT,
}

TIME: Schema = record(
    inputs=record(
        **LAB,
        minutes=_SPEED,
        usable=_SPEED,
        trial_minutes=_SPEED,
        setup_hours=_SPEED,
        per_core_hour=_SPEED,
        goal=optional(FRACTION),
    ),
    roads=array(
        record(
            name=NAME,
            days=_QUANTILES,
            robot_days=_QUANTILES,
            by_deadline=optional(FRACTION),
            cost=_QUANTILES,
        )
    ),
    fastest=optional(NAME),
    cheapest=optional(NAME),
    label=TEXT,
)

#: What `simreal days --json` prints: one entry for each number of robots and shifts.
DAYS: Schema = record(currency=NAME, cases=array(TIME))

#: What `simreal clock show --json` prints; hours are by kind.
CLOCK: Schema = record(
    running=array(record(kind=NAME, since=NAME, what=TEXT, hours=AMOUNT)),
    booked=array(record(kind=NAME, source=NAME, hours=AMOUNT)),
)
