"""One small file a task; `TASKS` lists them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simreal.core.errors import unknown
from simreal.worlds.task import Task
from simreal.worlds.tasks.insert import INSERT, INSERT_SQUARE
from simreal.worlds.tasks.lift import LIFT
from simreal.worlds.tasks.push import PUSH

TASKS: Mapping[str, Task[Any]] = {task.name: task for task in (LIFT, PUSH, INSERT, INSERT_SQUARE)}


def task(name: str) -> Task[Any]:
    """The task of that name.

    Raises:
        UsageError: naming the tasks there are.
    """
    if name not in TASKS:
        raise unknown("task", name, TASKS)
    return TASKS[name]
