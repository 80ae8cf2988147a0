"""The JSON schema of the `curves` of summary.json."""

from __future__ import annotations

from simreal.verdicts.curves.savings import SAVING_STATES
from simreal.verdicts.schema_parts import (
    AMOUNT,
    COUNT,
    FRACTION,
    NAME,
    NUMBER,
    array,
    mapping,
    one_of,
    optional,
    record,
)

_ALWAYS = record(
    target=NAME,
    cells=array(record(arm=NAME, n_real=COUNT, n_sim=COUNT, k=COUNT, n=COUNT)),
    lines=array(
        record(
            n_sim=COUNT,
            n_real=array(AMOUNT),
            p10=array(FRACTION),
            p50=array(FRACTION),
            p90=array(FRACTION),
            measured_to=COUNT,
        )
    ),
    models=mapping(FRACTION),
    non_monotone=array(NAME),
    saving=optional(
        record(
            goal=FRACTION,
            n_sim=COUNT,
            state=one_of(*SAVING_STATES),
            p10=optional(NUMBER),
            p50=optional(NUMBER),
            p90=optional(NUMBER),
            reach_real=FRACTION,
            reach_hybrid=FRACTION,
        )
    ),
)

#: `note` stands there only where the draws are too few to be relied on.
CURVES = optional({**_ALWAYS, "properties": {**_ALWAYS["properties"], "note": NAME}})
