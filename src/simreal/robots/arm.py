"""What a connected arm is to a policy: its joints, its rest pose, its pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from PIL import Image

from simreal.core.errors import BadDataError, UsageError, unknown
from simreal.core.types import RATE_HZ, Floats, TargetSpec
from simreal.robots.robotfile import RobotFile
from simreal.robots.safety import SO101_LIMITS

LABEL = "robot"
#: Where episodes of the SO-101 start in simulation too (`worlds.so101.HOME_RAD`).
SO101_REST: Mapping[str, float] = {
    "shoulder_pan": 0.0,
    "shoulder_lift": -51.6,
    "elbow_flex": 34.4,
    "wrist_flex": 77.3,
    "wrist_roll": 0.0,
    "gripper": 56.0,
}


class Arm(Protocol):
    """What is used of `lerobot.robots.Robot`, connected."""

    @property
    def observation_features(self) -> Mapping[str, Any]:
        """`<joint>.pos` -> float, camera -> (height, width, 3)."""
        ...

    @property
    def action_features(self) -> Mapping[str, Any]:
        """`<joint>.pos` -> float."""
        ...

    def get_observation(self) -> Mapping[str, Any]:
        """Measured positions and pictures."""
        ...

    def send_action(self, action: dict[str, float]) -> Any:
        """Command absolute targets."""
        ...

    def disconnect(self) -> None:
        """Let go of the devices."""
        ...


@dataclass(frozen=True)
class RobotTask:
    """What an episode is: task, control steps until time is up, failure kinds, picture size."""

    name: str
    horizon: int
    failures: tuple[str, ...]
    size_px: int


def fitted(picture: Any, size_px: int, fit: str) -> npt.NDArray[np.uint8]:
    """A camera's picture (H, W, 3) as the policy's (size_px, size_px, 3), merged pixels averaged.

    fit: `crop` takes the middle square, `stretch` the whole picture.
    """
    array = np.asarray(picture)
    if array.ndim != 3 or array.shape[2] != 3 or array.dtype != np.uint8:
        raise BadDataError(f"A camera gave {array.dtype} of shape {array.shape}, not RGB bytes.")
    height, width = array.shape[:2]
    side = min(height, width)
    left, top = (width - side) // 2, (height - side) // 2
    box = (left, top, left + side, top + side) if fit == "crop" else (0, 0, width, height)
    small = Image.fromarray(array).resize((size_px, size_px), Image.Resampling.BOX, box=box)
    return np.asarray(small)


def robot_spec(arm: Arm, file: RobotFile, task: RobotTask) -> TargetSpec:
    """How the robot presents itself.

    Raises:
        UsageError: for a robot without plain joint positions, or without a camera it needs.
    """
    moved = list(arm.action_features)
    joints = [name.removesuffix(".pos") for name in moved if name.endswith(".pos")]
    if not joints or len(joints) != len(moved):
        raise UsageError(f"{file.path}: a robot moved by {moved} has no plain joint positions.")
    if set(joints) == set(SO101_LIMITS):
        joints = list(SO101_LIMITS)
    features = arm.observation_features.items()
    cameras = [name for name, shape in features if isinstance(shape, tuple) and shape[2:] == (3,)]
    for name in file.cameras:
        if name not in cameras:
            raise UsageError(
                f"{file.path}: the robot has no camera {name!r}, it has "
                f"{', '.join(cameras) or 'none'}; add [robot.cameras.{name}], or list those the "
                "policy reads under [images] cameras."
            )
    return TargetSpec(
        name=file.name,
        kind="robot",
        label=LABEL,
        batch=1,
        joint_names=tuple(joints),
        cameras=dict.fromkeys(file.cameras, (task.size_px, task.size_px)),
        rate_hz=RATE_HZ,
        task=task.name,
    )


def rest_pose(joints: Sequence[str], file: RobotFile) -> Floats:
    """The rest pose, (J,): the SO-101's own with the file's changes; else all from the file.

    Raises:
        UsageError: for an unknown joint, or one that is missing.
    """
    for name in file.rest:
        if name not in joints:
            raise unknown(f"joint of [rest] in {file.path}", name, joints)
    base = SO101_REST if set(joints) == set(SO101_REST) else {}
    pose = {**base, **file.rest}
    missing = [name for name in joints if name not in pose]
    if missing:
        raise UsageError(f"{file.path}: [rest] must give all joints; {', '.join(missing)} missing.")
    return np.array([pose[name] for name in joints], dtype=np.float32)
