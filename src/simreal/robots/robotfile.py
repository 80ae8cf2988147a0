"""The file that names a real robot: LeRobot's settings of it, pictures, rest pose, who is asked.

[robot]                      # handed to LeRobot 0.6.1 as it is
type = "so101_follower"
id = "my_arm"
port = "/dev/ttyACM0"
[robot.cameras.scene]
type = "opencv"
index_or_path = 0
width = 640
height = 480
fps = 30
[robot.cameras.wrist]        # and so on

[images]                     # the rest may be left out
cameras = ["scene", "wrist"] # those the policy reads
fit = "crop"                 # the middle square; or "stretch": the whole picture
[rest]                       # where episodes start: degrees, gripper 0-100
elbow_flex = 34.4
[move]
speed_deg_s = 30.0           # of the way there, also for the gripper's units
[ask]
command = ["./judge.sh"]     # a hook in place of the person at the terminal
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from simreal.core.errors import UsageError, unknown

#: How a camera's picture becomes the policy's square one; both average the pixels they merge.
FITS = ("crop", "stretch")

#: Tables of a robot file and their keys; None: any.
_TABLES: Mapping[str, tuple[str, ...] | None] = {
    "robot": None,
    "images": ("cameras", "fit"),
    "rest": None,
    "move": ("speed_deg_s",),
    "ask": ("command",),
}


@dataclass(frozen=True)
class RobotFile:
    """A robot file. path: for messages. robot: LeRobot's own settings; `rest`: joint -> position.

    command: the hook that is asked; empty: a person at the terminal.
    """

    path: str
    robot: Mapping[str, Any]
    cameras: tuple[str, ...] = ("scene", "wrist")
    fit: str = "crop"
    rest: Mapping[str, float] = field(default_factory=dict)
    speed_deg_s: float = 30.0
    command: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Type and id, such as `so101_follower my_arm`."""
        return f"{self.robot['type']} {self.robot.get('id', '')}".strip()


def read_robot(path: Path) -> RobotFile:
    """Read a robot file.

    Raises:
        UsageError: for a missing or broken file, an unknown key, or a value that is not allowed.
    """
    if not path.is_file():
        raise UsageError(f"No robot file {path}; docs/targets.md shows one.")
    try:
        content = tomllib.loads(path.read_text())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"Robot file {path} is not valid TOML: {error}.") from error
    _check_keys(path, content)
    images, ask = content.get("images", {}), content.get("ask", {})
    found = RobotFile(
        path=str(path),
        robot=content["robot"],
        cameras=_texts(path, "cameras", images.get("cameras", ["scene", "wrist"])),
        fit=images.get("fit", "crop"),
        rest={k: _number(path, k, v) for k, v in content.get("rest", {}).items()},
        speed_deg_s=_number(path, "speed_deg_s", content.get("move", {}).get("speed_deg_s", 30.0)),
        command=_texts(path, "command", ask["command"]) if ask else (),
    )
    if found.fit not in FITS:
        raise unknown(f"fit in robot file {path}", str(found.fit), FITS)
    if not 1 <= found.speed_deg_s <= 180:
        raise UsageError(f"{path}: speed_deg_s = {found.speed_deg_s:g}; allowed: 1 to 180.")
    return found


def _check_keys(path: Path, content: Mapping[str, Any]) -> None:
    for name, table in content.items():
        if name not in _TABLES:
            raise unknown(f"table of robot file {path}", name, _TABLES)
        if not isinstance(table, dict):
            raise UsageError(f"{path}: {name} must be a table, [{name}].")
        allowed = _TABLES[name]
        for key in table:
            if allowed is not None and key not in allowed:
                raise unknown(f"key of [{name}] in {path}", key, allowed)
    if not isinstance(content.get("robot", {}).get("type"), str):
        raise UsageError(f"Robot file {path} must hold [robot] with a type, as LeRobot names it.")
    if content.get("ask") == {}:
        raise UsageError(f"{path}: [ask] needs a command; without [ask] a person is asked.")


def _texts(path: Path, key: str, value: Any) -> tuple[str, ...]:
    if not (isinstance(value, list) and value and all(isinstance(x, str) and x for x in value)):
        raise UsageError(f"{path}: {key} = {value!r}; give a list of texts.")
    return tuple(value)


def _number(path: Path, key: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value):
        raise UsageError(f"{path}: {key} = {value!r}; give a finite number.")
    return float(value)
