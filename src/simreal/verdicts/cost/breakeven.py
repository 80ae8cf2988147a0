"""Costs before anything was spent: a demonstration, a plan, and where a simulator pays for itself.

c_real = (t_demo + t_reset) / 60 / yield * (operator + robot + wear) + review
total  = set-up + sum over variants of
         (n_real * c_real + n_sim * c_sim + training + evaluation + sum P(incident) * cost)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from simreal.core.errors import UsageError
from simreal.verdicts.rates import Interval


def _check_amounts(**amounts: float) -> None:
    for name, amount in amounts.items():
        if not (math.isfinite(amount) and amount >= 0):
            raise UsageError(f"{name} must be finite and >= 0; got {amount}.")


def demonstration_cost(minutes: float, usable: float, hourly: float, review: float = 0.0) -> float:
    """Money for one usable demonstration on a robot.

    minutes: recording and reset together. usable: share of recordings that can be used (yield).
    hourly: operator, robot and wear together, per hour. review: per demonstration.
    """
    _check_amounts(minutes=minutes, hourly=hourly, review=review)
    if not 0 < usable <= 1:
        raise UsageError(f"The usable share must lie in (0, 1]; got {usable}.")
    return minutes / 60 / usable * hourly + review


@dataclass(frozen=True)
class Variant:
    """One variant of a task (an object, a fixture): what its policy takes. Money where not counted.

    incidents: (probability, cost) of things that break or stop.
    """

    n_real: float
    n_sim: float
    training: float = 0.0
    evaluation: float = 0.0
    incidents: tuple[tuple[float, float], ...] = ()

    def cost(self, c_real: float, c_sim: float) -> float:
        """Expected money for this variant without the set-up."""
        risk = sum(probability * cost for probability, cost in self.incidents)
        data = self.n_real * c_real + self.n_sim * c_sim
        return data + self.training + self.evaluation + risk


def planned_cost(
    variants: Sequence[Variant], c_real: float, c_sim: float, setup: float = 0.0
) -> float:
    """Expected money for all variants with the set-up paid once."""
    _check_amounts(c_real=c_real, c_sim=c_sim, setup=setup)
    return setup + sum(variant.cost(c_real, c_sim) for variant in variants)


def break_even(setup: float, c_real: float, saved: float) -> float:
    """Real demonstrations from which on a simulator pays: setup / (c_real * saved).

    saved: share of real demonstrations it makes unnecessary; infinite where that is none.
    """
    _check_amounts(setup=setup, c_real=c_real)
    if not 0 <= saved <= 1:
        raise UsageError(f"The saved share must lie between 0 and 1; got {saved}.")
    gain = c_real * saved
    if setup == 0:
        return 0.0
    return math.inf if gain == 0 else setup / gain


def break_even_band(setup: Interval, c_real: float, saved: float) -> Interval:
    """`break_even` over an unknown set-up cost."""
    return break_even(setup[0], c_real, saved), break_even(setup[1], c_real, saved)


def learning_curve_saving(uplift: float, exponent: float) -> float:
    """Share of real data saved when simulation multiplies the failure rate by `uplift`.

    Failure falls as n ** -exponent: saving = 1 - uplift ** (1 / exponent); .3 and .8 give .7780.
    """
    if not (0 < uplift <= 1 and exponent > 0):
        raise UsageError(f"Need 0 < uplift <= 1 and exponent > 0; got {uplift} and {exponent}.")
    return 1 - math.pow(uplift, 1 / exponent)
