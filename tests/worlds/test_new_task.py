"""The task in docs/new-task.md is whole: its code, as printed there, passes the kit."""

import re
import types
from pathlib import Path

from tests.contract.task_kit import check_task

from simreal.worlds.task import Task
from simreal.worlds.tasks import TASKS

DOCUMENT = Path(__file__).parents[2] / "docs" / "new-task.md"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.S | re.M)


def printed_module() -> types.ModuleType:
    """The Python block of the document, run as a module of its own."""
    (code,) = BLOCK.findall(DOCUMENT.read_text())
    module = types.ModuleType("printed_task")
    exec(compile(code, str(DOCUMENT), "exec"), module.__dict__)
    return module


def test_the_explanation_takes_a_hundred_lines_or_fewer():
    assert len(DOCUMENT.read_text().splitlines()) <= 100


def test_the_printed_task_passes_the_kit_and_registers_nothing():
    before = dict(TASKS)
    tasks = [value for value in vars(printed_module()).values() if isinstance(value, Task)]
    assert [task.name for task in tasks] == ["pull"]
    check_task(tasks[0])
    assert dict(TASKS) == before
    assert "pull" not in TASKS


def test_the_files_it_names_are_there():
    named = re.findall(r"`((?:src|tests)/[\w/]+\.py)`", DOCUMENT.read_text())
    assert len(named) >= 3
    missing = [name for name in named if not (DOCUMENT.parents[1] / name).is_file()]
    assert missing == ["src/simreal/worlds/tasks/pull.py"]
