"""Does a simulator rank policies as reality does? MMRV, Pearson and Spearman over policies.

Sources: Li et al. (2024, SIMPLER) for the mean maximum rank violation; Fisher (1921) and Bonett
and Wright (2000) for the intervals of the correlations.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from simreal.core.errors import UsageError
from simreal.verdicts.rates import CONFIDENCE, Interval, z_value

#: With fewer policies a correlation says nothing.
LEAST_POLICIES = 4

Numbers = npt.NDArray[np.float64]


def _rates(real: Sequence[float], sim: Sequence[float]) -> tuple[Numbers, Numbers]:
    first, second = np.asarray(real, dtype=float), np.asarray(sim, dtype=float)
    if first.shape != second.shape or first.ndim != 1 or len(first) < 2:
        raise UsageError(
            f"Real and simulated rates must be of the same 2 or more policies; got {len(first)} "
            f"and {len(second)}."
        )
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise UsageError("Rates must be finite numbers.")
    return first, second


def mmrv(real: Sequence[float], sim: Sequence[float]) -> float:
    """Mean maximum rank violation; 0 is perfect. Not symmetric: real rates come first.

    For each policy the largest real difference to another that simulation orders the other way.
    """
    r, s = _rates(real, sim)
    gap = np.abs(r[:, None] - r[None, :])
    violated = (s[:, None] > s[None, :]) != (r[:, None] > r[None, :])
    return float((gap * violated).max(axis=1).mean())


def pearson(real: Sequence[float], sim: Sequence[float]) -> float | None:
    """Linear correlation; None where either side is constant."""
    r, s = _rates(real, sim)
    r, s = r - r.mean(), s - s.mean()
    scale = math.sqrt(float((r * r).sum()) * float((s * s).sum()))
    if scale < 1e-15:
        return None
    return float(np.clip((r * s).sum() / scale, -1.0, 1.0))


def _ranks(values: Numbers) -> Numbers:
    """Ranks from 1, ties share their mean."""
    less = (values[None, :] < values[:, None]).sum(axis=1)
    equal = (values[None, :] == values[:, None]).sum(axis=1)
    return np.asarray(less + (equal + 1) / 2, dtype=float)


def spearman(real: Sequence[float], sim: Sequence[float]) -> float | None:
    """Rank correlation, ties by mean ranks; None where either side is constant."""
    r, s = _rates(real, sim)
    return pearson(_ranks(r).tolist(), _ranks(s).tolist())


def _fisher(value: float, variance: float, confidence: float) -> Interval:
    centre = math.atanh(min(max(value, -1 + 1e-12), 1 - 1e-12))
    half = z_value(confidence) * math.sqrt(variance)
    return math.tanh(centre - half), math.tanh(centre + half)


@dataclass(frozen=True)
class Correlation:
    """A correlation over policies with its interval."""

    value: float
    ci: Interval

    def to_json(self) -> dict[str, Any]:
        """`{value, ci}`."""
        return {"value": self.value, "ci": list(self.ci)}


@dataclass(frozen=True)
class Agreement:
    """How simulation ranks policies against reality. None: constant rates on one side."""

    policies: tuple[str, ...]
    mmrv: float
    pearson: Correlation | None
    spearman: Correlation | None

    def to_json(self) -> dict[str, Any]:
        """A JSON value."""
        return {
            "policies": list(self.policies),
            "mmrv": self.mmrv,
            "pearson": self.pearson.to_json() if self.pearson else None,
            "spearman": self.spearman.to_json() if self.spearman else None,
        }


def agreement(
    real: Mapping[str, float], sim: Mapping[str, float], confidence: float = CONFIDENCE
) -> Agreement:
    """MMRV and correlations over the policies that both sides tried; at least 4 are needed.

    The intervals treat the policies as a sample; they leave out the noise of each rate.
    """
    names = tuple(name for name in real if name in sim)
    if len(names) < LEAST_POLICIES:
        raise UsageError(
            f"Agreement needs at least {LEAST_POLICIES} policies tried on both sides; got "
            f"{len(names)}."
        )
    r, s = [real[name] for name in names], [sim[name] for name in names]
    freedom = len(names) - 3
    linear, rank = pearson(r, s), spearman(r, s)
    return Agreement(
        names,
        mmrv(r, s),
        None if linear is None else Correlation(linear, _fisher(linear, 1 / freedom, confidence)),
        None
        if rank is None
        else Correlation(rank, _fisher(rank, (1 + rank**2 / 2) / freedom, confidence)),
    )
