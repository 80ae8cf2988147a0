"""JSON schemas of recipes, rankings, acceptance, agreement and sequential evaluation."""

from __future__ import annotations

from simreal.verdicts.agreement import AGREEMENT_STATES
from simreal.verdicts.recipe import RECIPE_STATES
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
    one_of,
    optional,
    record,
)
from simreal.verdicts.stopping import STOP_STATES

#: summary.json's `recipes`: the declared tests read as claims about recipes.
RECIPES: Schema = array(
    record(
        claim=NAME,
        state=one_of(*RECIPE_STATES),
        estimate=optional(NUMBER),
        ci=optional(CI),
        method=NAME,
    )
)

#: summary.json's `ranking`, and `simreal compare FILE --json` for several arms in one file.
RANKING: Schema = record(
    method=NAME,
    arms=array(record(arm=NAME, **RATE_FIELDS, letters=NAME)),
)

#: summary.json's `acceptance`: one entry an arm and target.
ACCEPTANCE: Schema = array(
    record(
        arm=NAME,
        target=NAME,
        k=COUNT,
        n=COUNT,
        lower=FRACTION,
        goal=FRACTION,
        trials_needed=COUNT,
        shown=FLAG,
        sentence=NAME,
    )
)

_MEASURED = record(k=optional(COUNT), n=optional(COUNT), rate=FRACTION, ci=optional(CI))
_STATISTIC = record(value=NUMBER, ci=optional(CI), ci_policies=optional(CI), p=FRACTION)

#: `simreal validate --json`.
VALIDATE: Schema = record(
    policies=array(record(arm=NAME, sim=_MEASURED, real=_MEASURED)),
    mmrv=_STATISTIC,
    pearson=optional(_STATISTIC),
    spearman=optional(_STATISTIC),
    state=one_of(*AGREEMENT_STATES),
    method=NAME,
)

_DECIDED = record(
    question=one_of("against", "at least"),
    by=one_of("success", "score"),
    arms=array(record(arm=NAME, **RATE_FIELDS, score=optional(FRACTION))),
    goal=optional(FRACTION),
    state=one_of(*STOP_STATES),
    estimate=optional(NUMBER),
    ci=CI,
    e=optional(AMOUNT),
    p=optional(FRACTION),
    alpha=FRACTION,
    block=COUNT,
    max_trials=COUNT,
    trials=COUNT,
    saved=COUNT,
    plan_sha=NAME,
    label=TEXT,
    method=NAME,
)

#: `simreal evaluate --json`: a rate; with --until-decided the decision and how it came about.
EVALUATE: Schema = {"anyOf": [RATE, _DECIDED]}
