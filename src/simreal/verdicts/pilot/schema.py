"""The JSON schema of `simreal plan --json`."""

from __future__ import annotations

from simreal.verdicts.cost.schema import LAB
from simreal.verdicts.pilot.project import CHOICES, ROADS
from simreal.verdicts.schema_parts import (
    AMOUNT,
    COUNT,
    FLAG,
    FRACTION,
    NAME,
    NUMBER,
    array,
    one_of,
    optional,
    record,
)

_SPAN = record(p50=AMOUNT, p90=AMOUNT)

PLAN = record(
    target=FRACTION,
    inputs=record(
        minutes=record(low=AMOUNT, high=AMOUNT, source=NAME),
        lab=record(**LAB),
        usable=FRACTION,
        most=COUNT,
        n_sim=COUNT,
        built=FLAG,
        training_hours=AMOUNT,
    ),
    currency=NAME,
    worth=AMOUNT,
    roads=array(
        record(
            road=one_of(*ROADS),
            p_reach=FRACTION,
            demonstrations=_SPAN,
            cost=_SPAN,
            days=_SPAN,
            by_deadline=optional(FRACTION),
        )
    ),
    pilots=array(
        record(
            name=NAME,
            cells=array(record(n_real=COUNT, n_sim=COUNT)),
            trials=COUNT,
            cost=_SPAN,
            days=_SPAN,
            expected_net=NUMBER,
            p_right=FRACTION,
        )
    ),
    pilot=NAME,
    rule=record(
        branches=array(
            record(
                when=array(NAME),
                choice=one_of(*CHOICES),
                share=FRACTION,
                p_reach=FRACTION,
                cost=optional(_SPAN),
                days=optional(_SPAN),
            )
        ),
        agrees=FRACTION,
    ),
    trials=record(
        confidence=FRACTION,
        shown=array(record(failures=COUNT, trials=COUNT)),
        smallest_difference=optional(FRACTION),
    ),
    worth_building=NUMBER,
    assumptions=array(NAME),
)
