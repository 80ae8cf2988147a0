"""The `curves` of summary.json: measured cells, fitted lines with bands, the saving."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from simreal.verdicts.curves.models import Floats
from simreal.verdicts.curves.monotone import drops
from simreal.verdicts.curves.posterior import CellCounts, Posterior, fit
from simreal.verdicts.curves.savings import saving
from simreal.verdicts.evidence import Evidence, role_of
from simreal.verdicts.keys import sample_of
from simreal.verdicts.records import TrialRow

#: Fewer different cells than this make no curve.
FEW_CELLS = 3
#: Lines end at this multiple of the largest measured number of real demonstrations.
FARTHEST = 4
_POINTS = 25


def cells_of(evidence: Evidence, suite: str = "nominal") -> tuple[CellCounts, ...]:
    """Counts by arm, target and training seed: each is a cell of its own."""
    found = []
    for arm in filter(role_of, evidence.arms):
        for rows in evidence.on_targets(arm.name, suite).values():
            for seed in sorted({row.seed for row in rows}, key=str):
                k, n = _counted([row for row in rows if row.seed == seed])
                if n:
                    found.append(CellCounts(arm.n_real, arm.n_sim, k, n, arm.name))
    return tuple(found)


def _counted(rows: Sequence[TrialRow]) -> tuple[int, int]:
    """Successes and trials; a repeated condition counts once, with its mean."""
    sample = sample_of(rows)
    return round(sample.effective_k), sample.effective_n


def posterior_of(evidence: Evidence) -> Posterior | None:
    """The learning surface of a study; None with fewer than 3 different cells.

    Cells of several targets are fitted together, target by target.
    """
    cells = cells_of(evidence)
    if len({cell.place for cell in cells}) < FEW_CELLS:
        return None
    return fit(cells)


def curves_of(
    evidence: Evidence, goal: float | None = None, *, posterior: Posterior | None = None
) -> dict[str, Any] | None:
    """The `curves` of summary.json; None where there is no learning surface.

    posterior: that of the study, fitted here unless given. `target` names all targets. `note` is
    there only where the draws are too few to be relied on.
    """
    posterior = posterior or posterior_of(evidence)
    if posterior is None:
        return None
    note = {"note": posterior.note} if posterior.note else {}
    return {
        "target": " + ".join(name for name in evidence.targets if _tried(evidence, name)),
        "cells": _pooled_by_arm(cells_of(evidence)),
        "lines": lines(posterior),
        "models": dict(posterior.models),
        "non_monotone": [drop.sentence for drop in drops(posterior.cells)],
        "saving": _saving(posterior, goal),
        **note,
    }


def grid(largest: int) -> Floats:
    """Numbers of real demonstrations to draw at: 0, then log-spaced up to 4 times the largest."""
    end = FARTHEST * max(largest, 1)
    spaced = np.unique(np.round(np.geomspace(1, end, _POINTS)))
    return np.concatenate([[0.0], spaced])


def lines(posterior: Posterior) -> list[dict[str, Any]]:
    """A line with its 80 % band for each measured number of simulated demonstrations, and 0.

    measured_to: the largest measured number of real demonstrations on that line; 0 where none was.
    """
    points = grid(posterior.measured_real)
    found = []
    for n_sim in sorted({0, *(cell.n_sim for cell in posterior.cells)}):
        rates = posterior.success(points, np.full(len(points), n_sim))
        low, middle, high = np.quantile(rates, [0.1, 0.5, 0.9], axis=0)
        measured = [cell.n_real for cell in posterior.cells if cell.n_sim == n_sim]
        found.append(
            {
                "n_sim": n_sim,
                "n_real": [int(n) for n in points],
                "p10": low.tolist(),
                "p50": middle.tolist(),
                "p90": high.tolist(),
                "measured_to": max(measured, default=0),
            }
        )
    return found


def _saving(posterior: Posterior, goal: float | None) -> dict[str, Any] | None:
    """At the largest measured number of simulated demonstrations, within the drawn range."""
    if goal is None or posterior.measured_sim == 0:
        return None
    within = FARTHEST * max(posterior.measured_real, 1)
    return saving(posterior, goal, posterior.measured_sim, within).to_json()


def _tried(evidence: Evidence, target: str) -> bool:
    return any(row.target == target and row.suite == "nominal" for row in evidence.trials)


def _pooled_by_arm(measured: Sequence[CellCounts]) -> list[dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for cell in measured:
        entry = found.setdefault(
            cell.arm,
            {"arm": cell.arm, "n_real": cell.n_real, "n_sim": cell.n_sim, "k": 0, "n": 0},
        )
        entry["k"] += cell.k
        entry["n"] += cell.n
    return list(found.values())
