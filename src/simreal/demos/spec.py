"""What every episode of a data set has in common, and whether one fits."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from simreal.core.errors import UsageError, unknown
from simreal.core.types import WRENCH_NAMES, WRENCH_SAMPLES, Episode

UNITS = "arm joints in degrees, gripper 0-100 (100 = open)"
STORAGES = ("image", "video")


@dataclass(frozen=True)
class DatasetSpec:
    """What every episode of a data set has in common.

    fps: frames per second (LeRobot wants a whole number). joint_names: without the `.pos` that the
    stored feature names carry. cameras: name -> (height_px, width_px). units: of positions and
    actions, in words. storage: `image` (PNG, exact) or `video` (H.264, lossy).
    wrench: whether every frame holds a force/torque window (`core.types.Observation.wrench`).
    """

    fps: int
    joint_names: tuple[str, ...]
    cameras: Mapping[str, tuple[int, int]]
    robot_type: str = "so101_follower"
    units: str = UNITS
    storage: str = "image"
    wrench: bool = False

    def __post_init__(self) -> None:
        """Bring names and sizes into one form, and refuse what LeRobot could not read."""
        joints = tuple(str(name).removesuffix(".pos") for name in self.joint_names)
        cameras = {str(k): (int(h), int(w)) for k, (h, w) in self.cameras.items()}
        object.__setattr__(self, "joint_names", joints)
        object.__setattr__(self, "cameras", cameras)
        if self.fps != int(self.fps) or self.fps < 1:
            raise UsageError(f"fps is {self.fps}; LeRobot stores a whole number, 1 or more.")
        object.__setattr__(self, "fps", int(self.fps))
        if not joints or len(set(joints)) != len(joints):
            raise UsageError(f"joint names {list(joints)}; give at least one, each once.")
        for name, size in cameras.items():
            if not re.fullmatch(r"\w[\w.-]*", name) or min(size) < 1:
                raise UsageError(
                    f"camera {name!r} with {size} pixels; allowed are names of letters, digits, "
                    "'_', '-', '.', and a height and width of 1 or more."
                )
        if self.storage not in STORAGES:
            raise unknown("storage", self.storage, STORAGES)

    def to_json(self) -> dict[str, Any]:
        """A JSON value that `from_json` turns back into an equal spec."""
        return asdict(self) | {
            "joint_names": list(self.joint_names),
            "cameras": {name: list(size) for name, size in self.cameras.items()},
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> DatasetSpec:
        """The inverse of `to_json`."""
        cameras = {name: (size[0], size[1]) for name, size in content["cameras"].items()}
        rest = {key: content[key] for key in ("fps", "robot_type", "units", "storage")}
        wrench = bool(content.get("wrench", False))
        return cls(
            joint_names=tuple(content["joint_names"]), cameras=cameras, wrench=wrench, **rest
        )


def check(episode: Episode, spec: DatasetSpec) -> None:
    """Refuse an episode that does not fit its data set, naming all that is wrong at once."""
    wrong = []
    shape = (len(episode), len(spec.joint_names))
    for name, values in (("joint_pos", episode.joint_pos), ("actions", episode.actions)):
        if np.shape(values) != shape:
            wrong.append(f"{name} has shape {np.shape(values)}, not {shape}")
        elif not np.isfinite(values).all():
            wrong.append(f"{name} has values that are not finite")
    if len(episode) == 0:
        wrong.append("it has no frames")
    wrong += _wrench_faults(episode, spec)
    if set(episode.images) != set(spec.cameras):
        wrong.append(f"its cameras are {sorted(episode.images)}, not {sorted(spec.cameras)}")
    for camera in sorted(set(episode.images) & set(spec.cameras)):
        pictures = episode.images[camera]
        wanted = (len(episode), *spec.cameras[camera], 3)
        if pictures.shape != wanted or pictures.dtype != np.uint8:
            wrong.append(
                f"camera {camera!r} has {pictures.dtype} {pictures.shape}, not uint8 {wanted}"
            )
    if wrong:
        raise UsageError(f"the episode does not fit the data set: {'; '.join(wrong)}.")


def _wrench_faults(episode: Episode, spec: DatasetSpec) -> list[str]:
    """What is wrong with the force/torque windows of an episode."""
    if episode.wrench is None or not spec.wrench:
        told = "needs" if spec.wrench else "has no place for"
        differ = (episode.wrench is not None) != spec.wrench
        return [f"the data set {told} force/torque windows"] if differ else []
    shape = (len(episode), WRENCH_SAMPLES, len(WRENCH_NAMES))
    if episode.wrench.shape != shape:
        return [f"wrench has shape {episode.wrench.shape}, not {shape}"]
    bad = np.argwhere(~np.isfinite(episode.wrench))
    if len(bad):
        frame, _, axis = (int(i) for i in bad[0])
        return [
            f"wrench is not finite at frame {frame}, {WRENCH_NAMES[axis]}: check the sensor's "
            "cable and record the episode again"
        ]
    return []
