"""Reads a study folder's raw records into the evidence that verdicts are made from."""

from __future__ import annotations

from pathlib import Path

from simreal.core.files import read_jsonl
from simreal.core.types import Charge
from simreal.trials.plan import load_plan
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
        BadDataError: when the plan was changed or a trial is not of this plan.
    """
    plan = load_plan(folder / "plan.json")
    done_trials(folder / "trials.jsonl", plan.sha)
    content, own = plan.content, folder / "prices.toml"
    arms = tuple(Arm(**a, seeds=plan.seeds) for a in content["arms"])
    return Evidence(
        task=content["study"]["task"],
        arms=arms,
        trials=read_trials(folder / "trials.jsonl").rows,
        targets=tuple(t["name"] for t in content["targets"]),
        sim=SIM,
        charges=tuple(Charge(**line) for line in read_jsonl(folder / "ledger.jsonl")),
        prices=read_prices(prices or (own if own.exists() else None)),
        margin=content["study"]["margin"],
        goal=content["study"]["goal"],
    )
