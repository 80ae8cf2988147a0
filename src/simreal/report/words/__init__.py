"""The sentences of the report; only `compared` may hold a word that compares."""

from __future__ import annotations

from simreal.report.words.card import advised, headline, how_sure, next_step, price, sentence
from simreal.report.words.compared import (
    accepted,
    comparison,
    declared,
    pace,
    ranked,
    recipe,
    saved,
    saving,
    worth,
)
from simreal.report.words.outlook import (
    advisable,
    avoided,
    caveat,
    evpi,
    likely,
    missed,
    models,
    repeated,
    road_next,
    unreached,
)
from simreal.report.words.rates import estimate, goal_numbers, on_targets, scope, transfer
from simreal.report.words.states import claim, goal, suite

__all__ = [
    "accepted",
    "advisable",
    "advised",
    "avoided",
    "caveat",
    "claim",
    "comparison",
    "declared",
    "estimate",
    "evpi",
    "goal",
    "goal_numbers",
    "headline",
    "how_sure",
    "likely",
    "missed",
    "models",
    "next_step",
    "on_targets",
    "pace",
    "price",
    "ranked",
    "recipe",
    "repeated",
    "road_next",
    "saved",
    "saving",
    "scope",
    "sentence",
    "suite",
    "transfer",
    "unreached",
    "worth",
]
