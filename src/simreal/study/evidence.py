"""Reads a study folder's raw records into the evidence that verdicts are made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from simreal.core.errors import BadDataError
from simreal.core.files import read_jsonl
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
        BadDataError: when the plan was changed, there is no trial yet, a trial is not of this plan,
            or a record is broken.
    """
    plan = load_plan(folder / "plan.json")
    if not done_trials(folder / "trials.jsonl", plan.sha):
        raise BadDataError(f"{folder} holds no trials yet; go on with its study (--resume) first.")
    own = folder / "prices.toml"
    try:
        declared = _declared(plan)
    except (KeyError, TypeError) as error:
        raise BadDataError(f"{folder / 'plan.json'} is no plan of a study: {error}.") from error
    return replace(
        declared,
        trials=read_trials(folder / "trials.jsonl").rows,
        operator=_operator(folder, declared.targets),
        charges=read_charges(folder / "ledger.jsonl"),
        prices=read_prices(prices or (own if own.exists() else None)),
    )


def _declared(plan: Plan) -> Evidence:
    """What the plan alone says: arms, targets, margin, goal."""
    content = plan.content
    return Evidence(
        task=content["study"]["task"],
        arms=tuple(
            Arm(a["name"], a["n_sim"], a["n_real"], plan.seeds, a.get("sim_share"))
            for a in content["arms"]
        ),
        trials=(),
        targets=tuple(t["name"] for t in content["targets"]),
        sim=SIM,
        margin=content["study"]["margin"],
        goal=content["study"]["goal"],
        variants=tuple(
            a["name"]
            for a in content["arms"]
            if a.get("wrench") != content["arms"][0].get("wrench")
        ),
        force_limit_n=content["study"].get("force_limit_n"),
    )


def _variants(arms: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """The arms whose policies sense something else than the first one's."""
    return tuple(arm["name"] for arm in arms if arm.get("wrench") != arms[0].get("wrench"))


def _operator(folder: Path, targets: Sequence[str]) -> dict[str, dict[str, tuple[int, int]]]:
    """Target -> suite -> (successes, attempts) of the demonstrations, from their shard logs."""
    found: dict[str, dict[str, tuple[int, int]]] = {}
    for target in targets:
        counts: dict[str, tuple[int, int]] = {}
        for line in read_jsonl(folder / "data" / f"real-{target}.shards.jsonl"):
            for suite, (good, tried) in line.get("suites", {}).items():
                k, n = counts.get(suite, (0, 0))
                counts[suite] = (k + int(good), n + int(tried))
        if counts:
            found[target] = counts
    return found
