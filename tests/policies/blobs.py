"""A tiny task with a known answer: reach the joint angles that a blob's place tells."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from simreal.core.protocols import Policy
from simreal.core.seeds import generator
from simreal.core.types import Observation
from simreal.policies.batches import Part
from simreal.policies.recipe import Progress, TrainConfig, TrainingStage
from simreal.policies.train import train

JOINTS = ("shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll", "gripper")
CAMERAS = ("scene", "wrist")
SIDE = 32
STEP = 2.0
LENGTH = 16


@dataclass(frozen=True)
class Frames:
    joint_pos: np.ndarray
    actions: np.ndarray
    images: dict[str, np.ndarray]
    episode: np.ndarray
    wrench: np.ndarray | None = None


@dataclass(frozen=True)
class UniformSampler:
    """Rows drawn uniformly from each part, parts by their shares."""

    rows: tuple[int, ...]
    shares: tuple[float, ...]
    size: int = 32
    seed: int = 0

    def draw(self, step: int) -> tuple[np.ndarray, np.ndarray]:
        draw = generator(self.seed, "test sampler", step)
        which = draw.choice(len(self.rows), size=self.size, p=self.shares)
        place = draw.random(self.size)
        picks = [int(p * self.rows[w]) for w, p in zip(which, place, strict=True)]
        return which, np.array(picks)


def goal(row: np.ndarray, column: np.ndarray) -> np.ndarray:
    """The joint angles that a blob with this top left corner asks for, (..., 6)."""
    y, x = row / (SIDE - 6), column / (SIDE - 6)
    roll = np.full_like(x, 12.5)
    return np.stack([60 * x - 30, 40 * y - 20, 30 * (x - y), 10 * y, roll, 100 * x], axis=-1)


def picture(row: int, column: int, draw: np.random.Generator) -> np.ndarray:
    image = draw.integers(60, 90, (SIDE, SIDE, 3), dtype=np.uint8)
    image[row : row + 6, column : column + 6] = (220, 40, 30)
    return image


def make_frames(episodes: int, seed: int = 0) -> Frames:
    """Demonstrations that step towards the goal by at most STEP units; wrist_roll never moves."""
    draw = generator(seed, "blobs")
    poses, actions, pictures, numbers = [], [], [], []
    for number in range(episodes):
        row, column = draw.integers(0, SIDE - 6, 2)
        wanted = goal(row, column)
        pose = wanted + draw.uniform(-30, 30, 6)
        pose[4] = 12.5
        for _ in range(LENGTH):
            action = pose + np.clip(wanted - pose, -STEP, STEP)
            poses.append(pose)
            actions.append(action)
            pictures.append(picture(row, column, draw))
            numbers.append(number)
            pose = action
    images = {name: np.stack(pictures) for name in CAMERAS}
    return Frames(
        np.array(poses, np.float32), np.array(actions, np.float32), images, np.array(numbers)
    )


def make_part(episodes: int, seed: int = 0, name: str = "blobs") -> Part:
    """A part of that many demonstrations."""
    return Part(make_frames(episodes, seed), name)


def make_stage(
    parts: Sequence[Part],
    steps: int,
    shares: Sequence[float] = (1.0,),
    size: int = 32,
    peak_lr: float = 1e-3,
    held_out: Sequence[Part] = (),
) -> TrainingStage:
    sampler = UniformSampler(tuple(len(part) for part in parts), tuple(shares), size)
    return TrainingStage(tuple(parts), sampler, steps, peak_lr, tuple(held_out))


def quick_config(**changes: object) -> TrainConfig:
    settings = {"progress_every_s": 0.0, "save_every_s": 1e9, "log_every": 10, **changes}
    return TrainConfig(**settings)  # type: ignore[arg-type]


def closed_loop_errors(policy: Policy, worlds: int) -> tuple[float, float]:
    """Mean distance to the goal (joint units) before and after LENGTH steps of `policy`."""
    draw = generator(7, "closed loop")
    corners = draw.integers(0, SIDE - 6, (worlds, 2))
    wanted = goal(corners[:, 0], corners[:, 1])
    pose = wanted + draw.uniform(-30, 30, wanted.shape)
    pose[:, 4] = 12.5
    before = float(np.abs(pose - wanted).mean())
    policy.reset(worlds)
    for step in range(LENGTH):
        pictures = np.stack([picture(row, column, draw) for row, column in corners])
        seen = Observation(pose.astype(np.float32), dict.fromkeys(CAMERAS, pictures), step / 20)
        pose = policy.act(seen)
    return before, float(np.abs(pose - wanted).mean())


def two_stages() -> list[TrainingStage]:
    """A run over two sources in two stages, small enough to be repeated."""
    first, second = make_part(12, 1, "sim"), make_part(3, 2, "real")
    held_out = [make_part(1, 3, "real, held out")]
    return [
        make_stage([first], 25, size=16),
        make_stage([first, second], 25, (0.75, 0.25), 16, peak_lr=5e-4, held_out=held_out),
    ]


def train_two_stages(folder: str) -> None:
    """The job of a process that will be killed: slow, and saving its state at every step."""

    def linger(_told: Progress) -> None:
        time.sleep(0.02)

    config = quick_config(save_every_s=0.0)
    names, out = JOINTS, Path(folder)
    train(two_stages(), config, out, joint_names=names, progress=linger, resume=True)
