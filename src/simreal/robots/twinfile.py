"""The file that names a twin. It holds no parameter: they stay with the twin's server."""

from __future__ import annotations

import dataclasses
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simreal.core.errors import UsageError, unknown
from simreal.core.files import write_text
from simreal.core.types import FORMS
from simreal.robots.ranges import SEVERITIES

#: What a twin's table can show: its everyday look, or backgrounds nothing was trained on.
SUITES = ("nominal", "backgrounds")
SEED_LIMIT = 2**63

_TEXT = """\
# A twin: a simulated stand-in for a real robot. What it is drawn to be stays hidden in its server.
[twin]
seed = {seed}
severity = "{severity}"
task = "{task}"
form = "{form}"
"""


@dataclass(frozen=True)
class TwinFile:
    """Which twin: its draw (seed, severity), the task on its table, and the robot's form."""

    seed: int
    severity: str = "moderate"
    task: str = "lift"
    form: str = "primitive"

    def __post_init__(self) -> None:
        """Refuse unknown names.

        Raises:
            UsageError: naming what was wrong and what is allowed.
        """
        if type(self.seed) is not int or not 0 <= self.seed < SEED_LIMIT:
            raise UsageError(f"Twin seed {self.seed!r}; allowed: whole numbers from 0 to 2^63 - 1.")
        if self.severity not in SEVERITIES:
            raise unknown("severity", str(self.severity), SEVERITIES)
        if self.form not in FORMS:
            raise unknown("form", str(self.form), FORMS)
        if not (isinstance(self.task, str) and self.task.replace("-", "_").isidentifier()):
            raise UsageError(f"Twin task {self.task!r} is not the name of a task, such as 'lift'.")


def write_twin(path: Path, twin: TwinFile) -> None:
    """Write a twin file (TOML)."""
    write_text(path, _TEXT.format(**dataclasses.asdict(twin)))


def read_twin(path: Path) -> TwinFile:
    """Read a twin file.

    Raises:
        UsageError: for a missing or broken file, an unknown key, or a value that is not allowed.
    """
    if not path.is_file():
        raise UsageError(f"No twin file {path}; make one with `simreal twin new --seed N`.")
    try:
        content: dict[str, Any] = tomllib.loads(path.read_text())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"Twin file {path} is not valid TOML: {error}.") from error
    table = content.get("twin")
    if set(content) != {"twin"} or not isinstance(table, dict):
        raise UsageError(f"Twin file {path} must hold one table, [twin].")
    allowed = [field.name for field in dataclasses.fields(TwinFile)]
    for key in table:
        if key not in allowed:
            raise unknown(f"key in twin file {path}", key, allowed)
    if "seed" not in table:
        raise UsageError(f"Twin file {path} has no seed.")
    try:
        return TwinFile(**table)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error
