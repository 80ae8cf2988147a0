"""Reads a study folder's raw records into the evidence that verdicts are made from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from simreal.core.errors import BadDataError
from simreal.study.ledger import read_charges
from simreal.trials.plan import Plan, load_plan
from simreal.trials.run import done_trials
from simreal.verdicts.cost import Arm
from simreal.verdicts.cost.prices import read_prices
from simreal.verdicts.evidence import Evidence
from simreal.verdicts.records import read_trials

#: Name of the simulation among a study's targets.
SIM = "simulation"


def evidence_of(folder: Path, prices: Path | None = None) -> Evidence:
    """What a study folder's raw records say, ready for verdicts.

    prices: a price file; without one, STUDY/prices.toml where it exists, else the shipped prices.

    Raises:
        BadDataError: when the plan was changed, a trial is not of this plan, or a record is broken.
    """
    plan = load_plan(folder / "plan.json")
    done_trials(folder / "trials.jsonl", plan.sha)
    own = folder / "prices.toml"
    try:
        declared = _declared(plan)
    except (KeyError, TypeError) as error:
        raise BadDataError(f"{folder / 'plan.json'} is no plan of a study: {error}.") from error
    return replace(
        declared,
        trials=read_trials(folder / "trials.jsonl").rows,
        charges=read_charges(folder / "ledger.jsonl"),
        prices=read_prices(prices or (own if own.exists() else None)),
    )


def _declared(plan: Plan) -> Evidence:
    """What the plan alone says: arms, targets, margin, goal."""
    content = plan.content
    return Evidence(
        task=content["study"]["task"],
        arms=tuple(
            Arm(a["name"], a["n_sim"], a["n_real"], plan.seeds, a["sim_share"])
            for a in content["arms"]
        ),
        trials=(),
        targets=tuple(t["name"] for t in content["targets"]),
        sim=SIM,
        margin=content["study"]["margin"],
        goal=content["study"]["goal"],
    )
