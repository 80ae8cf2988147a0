"""Which road next: advise."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from simreal.core.errors import UsageError
from simreal.verbs.deadlines import days_until
from simreal.verbs.options import Json, fraction

if TYPE_CHECKING:
    from simreal.verdicts.evidence import Evidence


def advise(
    source: Annotated[Path, tyro.conf.Positional],
    target: float | None = None,
    confidence: float = 0.8,
    budget: float | None = None,
    variants: int = 1,
    built: bool = False,
    to_build: bool = False,
    deadline: str | None = None,
    stage_days: float | None = None,
    prices: Path | None = None,
    collision_limit: float | None = None,
    tolerance_mm: float | None = None,
    bias_mm: float | None = None,
    spread_mm: float | None = None,
    json_output: Json = False,
) -> None:
    """Which road to take next, why, how sure, and what would change the answer.

    Args:
        source: A study's folder, or a table with condition, success, arm, n_real and n_sim.
        target: The success rate that must be reached (a fraction); the study's own goal if left
            out, if it has one.
        confidence: How sure of passing its test a road must be (a probability).
        budget: Money there is, in the currency of the prices; no limit if left out.
        variants: How many variants of the task are to be served; they share one simulator.
        built: The simulator is there already, as where simulated demonstrations were trained on.
        to_build: Count what building the simulator costs all the same, as for a new task.
        deadline: A date (2026-05-01), or a number of days from today.
        stage_days: Days that one stage takes; those of the lab in the price file if left out.
        prices: A TOML file of prices in place of the shipped ones.
        collision_limit: Highest acceptable rate of trials with a collision (a fraction).
        tolerance_mm: Half-width in mm that a placement must hit; needs --bias-mm and --spread-mm.
        bias_mm: Mean offset of the simulation's calibration, mm.
        spread_mm: Standard deviation of the calibration error along each axis, mm.
        json_output: Print one JSON object and nothing else.
    """
    from simreal.report.advice import advice_lines
    from simreal.verdicts.advise import Limits, Request
    from simreal.verdicts.advise import advise as give

    wanted = fraction("--target", target)
    evidence, notes = _evidence(source, prices)
    request = Request(
        target=evidence.goal if wanted is None else wanted,
        limits=Limits(collision_limit, tolerance_mm, bias_mm, spread_mm),
        confidence=confidence,
        budget=budget,
        variants=variants,
        built=_is_there(evidence, built, to_build),
        days=days_until(deadline),
        stage_days=stage_days,
    )
    advice = give(evidence, request)
    advice = replace(advice, assumptions=(*advice.assumptions, *notes))
    if json_output:
        print(json.dumps(advice.to_json()))
        return
    width = max(40, min(80, shutil.get_terminal_size().columns))
    print("\n".join(advice_lines(advice, width)))


def _is_there(evidence: Evidence, built: bool, to_build: bool) -> bool:
    """Whether the simulator costs nothing more to build."""
    from simreal.verdicts.advise import simulated

    if built and to_build:
        raise UsageError("Give --built or --to-build, not both.")
    return built or (simulated(evidence) and not to_build)


def _evidence(source: Path, prices: Path | None) -> tuple[Evidence, list[str]]:
    """The evidence of a study's folder, or of a table of trials and what was noticed in it."""
    if source.is_dir() or not source.suffix:
        from simreal.study.evidence import evidence_of

        return evidence_of(source, prices), []
    from simreal.verdicts.advise import evidence_of_table
    from simreal.verdicts.cost.prices import read_prices
    from simreal.verdicts.records import read_trials

    table = read_trials(source)
    notes = [f"{source.name}: {note}" for note in table.notes]
    return evidence_of_table(table.rows, read_prices(prices), source.name), notes
