"""The JSON schema of `simreal plan --json`, and a valid example."""

from __future__ import annotations

from typing import Any

from simreal.verdicts.cost.inputs import Inputs
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
        lab=record(
            robots=COUNT,
            operators=optional(COUNT),
            shift_hours=AMOUNT,
            shifts=COUNT,
            days_a_week=AMOUNT,
            deadline_days=optional(AMOUNT),
            cores=COUNT,
            gpus=COUNT,
            can_build=FLAG,
            engineers=COUNT,
            stopped_line=AMOUNT,
            variants=COUNT,
            trials=COUNT,
        ),
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

EXAMPLE: dict[str, Any] = {
    "target": 0.9,
    "inputs": {
        "minutes": {"low": 3.0, "high": 3.0, "source": "user"},
        "lab": Inputs().to_json(),
        "usable": 0.85,
        "most": 1000,
        "n_sim": 1000,
        "built": True,
        "training_hours": 2.0,
    },
    "currency": "USD",
    "worth": 7500.0,
    "roads": [
        {
            "road": "real-only",
            "p_reach": 0.33,
            "demonstrations": {"p50": 1000, "p90": 1000},
            "cost": {"p50": 2300.0, "p90": 2800.0},
            "days": {"p50": 7.6, "p90": 7.6},
            "by_deadline": None,
        }
    ],
    "pilots": [
        {
            "name": "one real cell",
            "cells": [{"n_real": 20, "n_sim": 0}],
            "trials": 20,
            "cost": {"p50": 85.0, "p90": 100.0},
            "days": {"p50": 0.4, "p90": 0.4},
            "expected_net": 900.0,
            "p_right": 0.7,
        }
    ],
    "pilot": "one real cell",
    "rule": {
        "branches": [
            {
                "when": ["successes without simulated data: 12 or more of 20"],
                "choice": "real-only",
                "share": 0.3,
                "p_reach": 0.6,
                "cost": {"p50": 900.0, "p90": 2500.0},
                "days": {"p50": 3.0, "p90": 7.0},
            },
            {
                "when": ["successes without simulated data: 11 or fewer of 20"],
                "choice": "stop",
                "share": 0.7,
                "p_reach": 0.0,
                "cost": None,
                "days": None,
            },
        ],
        "agrees": 1.0,
    },
    "trials": {
        "confidence": 0.95,
        "shown": [{"failures": 0, "trials": 29}, {"failures": 1, "trials": 46}],
        "smallest_difference": 0.43,
    },
    "worth_building": 200.0,
    "assumptions": ["Learning curves: the prior of the published studies, no data of your own."],
}
