"""Who operates which task: one way to make a scripted operator for any of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from simreal.core.types import Action, Observation
from simreal.demos.experts import ScriptedOperator, Style
from simreal.demos.inserting import InsertingOperator
from simreal.worlds.task import Task


class Operator(Protocol):
    """A `Policy` with privileged eyes; `labels` are the targets it meant in the last `act`."""

    @property
    def labels(self) -> Action:
        """What was meant in the last `act`."""
        ...

    def start_at(self, first_index: int) -> None:
        """Episode numbers of the coming batch begin here; they select the random streams."""
        ...

    def reset(self, n: int) -> None:
        """Begin N episodes, numbered from `start_at`."""
        ...

    def looks(self) -> bool:
        """Operators never need images."""
        ...

    def act(self, observation: Observation) -> Action:
        """Absolute targets (N, J), the boundary's units."""
        ...


def make_operator(
    task: Task[Any], privileged: Callable[[], Any], style: Style, seed: int
) -> Operator:
    """The scripted operator of a task: by its phases, or the one who inserts.

    privileged: the world's exact values. style, seed: how it moves.
    """
    if task.phases:
        return ScriptedOperator(task, privileged, style, seed)
    return InsertingOperator(task, privileged, style.name, seed)
