"""Initial values that a profile asks for: bounds on what a task draws, in a share of the draws.

A file says it so: `[[starts]]`, `weight = 0.5`, `object_y_m = { low = 0.05 }`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from simreal.core.errors import UsageError, unknown
from simreal.worlds.task import Task

#: Draws after which bounds count as empty.
MOST_DRAWS = 20_000


@dataclass(frozen=True)
class Starts:
    """Initial values within bounds (name, low, high; infinite: open) in a share of the draws."""

    weight: float
    bounds: tuple[tuple[str, float, float], ...]

    def __post_init__(self) -> None:
        """Refuse impossible shares and ranges.

        Raises:
            UsageError: naming what is wrong.
        """
        if not 0 <= self.weight <= 1:
            raise UsageError(f"weight {self.weight} of [[starts]] lies between 0 and 1.")
        if not self.bounds:
            raise UsageError(
                "A table [[starts]] bounds no initial value; give ranges such as "
                "object_y_m = { low = 0.05 }."
            )
        for name, low, high in self.bounds:
            if not low < high:
                raise UsageError(f"[[starts]]: {name} needs low < high; got {low} and {high}.")

    def holds(self, values: Mapping[str, float]) -> bool:
        """Whether initial values lie within."""
        return all(low <= values[name] <= high for name, low, high in self.bounds)

    @property
    def text(self) -> str:
        """The bounds in words, and in which share of the draws they hold."""
        ends = ", ".join(f"{name} in [{low:g}, {high:g}]" for name, low, high in self.bounds)
        return f"{ends} in {self.weight:.0%} of the draws".replace("%", " %")

    def to_json(self) -> dict[str, Any]:
        """A JSON value that `starts_from_json` turns back into equal starts."""
        ends = {
            name: {k: v for k, v in (("low", low), ("high", high)) if math.isfinite(v)}
            for name, low, high in self.bounds
        }
        return {"weight": self.weight, **ends}


def starts_from_json(content: Any) -> tuple[Starts, ...]:
    """Read the tables `[[starts]]` of a profile.

    Raises:
        UsageError: for anything that is no share and no range, or shares of more than all draws.
    """
    if not isinstance(content, list | tuple) or not all(isinstance(c, Mapping) for c in content):
        raise UsageError(f"starts is a list of tables [[starts]]; got {content!r}.")
    found = tuple(_one(table) for table in content)
    if sum(one.weight for one in found) > 1 + 1e-9:
        raise UsageError("The weights of all [[starts]] sum to more than 1.")
    return found


def _one(table: Mapping[str, Any]) -> Starts:
    rest = dict(table)
    try:
        weight = float(rest.pop("weight", 1.0))
        bounds = tuple(_bound(str(name), ends) for name, ends in rest.items())
    except (TypeError, ValueError, AttributeError) as error:
        raise UsageError(
            f"[[starts]] {dict(table)!r}: give a weight, and for initial values ranges such as "
            "object_y_m = { low = 0.05 }."
        ) from error
    return Starts(weight, bounds)


def _bound(name: str, ends: Any) -> tuple[str, float, float]:
    if not ends:
        raise UsageError(f"[[starts]]: {name} has no bound; give low, high or both.")
    for key in ends:
        if key not in ("low", "high"):
            raise unknown(f"entry of {name} in [[starts]]", str(key), ("low", "high"))
    return name, float(ends.get("low", -math.inf)), float(ends.get("high", math.inf))


def starting(
    task: Task[Any], starts: Sequence[Starts]
) -> Callable[[np.random.Generator], dict[str, float]]:
    """The task's draw of initial values, kept within the bounds in their share of the draws.

    Raises:
        UsageError: for an initial value that the task does not have; the draw itself, where none
            of many draws lies within the bounds.
    """
    for name in (name for one in starts for name, _, _ in one.bounds):
        if name not in task.reset_names:
            raise unknown(f"initial value of the task {task.name}", name, task.reset_names)
    if not starts:
        return task.draw

    def draw(rng: np.random.Generator) -> dict[str, float]:
        chance = float(rng.random())
        for one in starts:
            if chance < one.weight:
                return _within(task, one, rng)
            chance -= one.weight
        return task.draw(rng)

    return draw


def _within(task: Task[Any], one: Starts, rng: np.random.Generator) -> dict[str, float]:
    for _ in range(MOST_DRAWS):
        values = task.draw(rng)
        if one.holds(values):
            return values
    ends = ", ".join(f"{name} in [{low:g}, {high:g}]" for name, low, high in one.bounds)
    raise UsageError(f"The task {task.name} draws no initial values with {ends}.")
