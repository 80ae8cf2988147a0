"""Episodes that tell which they are, and how to compare what comes back."""

from pathlib import Path

import numpy as np

from simreal.core.types import Episode, Scenario
from simreal.demos.store import Dataset, DatasetSpec

JOINTS = ("shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll", "gripper")


def small_spec(storage: str = "image", side: int = 16, wrench: bool = False) -> DatasetSpec:
    cameras = {"scene": (side, side), "wrist": (side, side + 8)}
    return DatasetSpec(fps=20, joint_names=JOINTS, cameras=cameras, storage=storage, wrench=wrench)


def make_episode(number: int, spec: DatasetSpec, frames: int | None = None) -> Episode:
    """Episode `number`: smooth pictures with a square that moves; 3 to 9 frames unless told."""
    rng = np.random.default_rng(number)
    count = frames or 3 + number % 7
    joints = len(spec.joint_names)
    images = {}
    for place, (camera, (height, width)) in enumerate(spec.cameras.items()):
        ramp = np.linspace(40, 160, width)[None, None, :, None]
        picture = np.broadcast_to(ramp + 7 * place + number, (count, height, width, 3)).copy()
        for frame in range(count):
            left = frame % max(1, width - 4)
            picture[frame, height // 3 : height // 2, left : left + 4] = (210, 60, 30)
        picture += rng.normal(0, 2, picture.shape)
        images[camera] = np.clip(picture, 0, 255).astype(np.uint8)
    values = {"light.x": (rng.normal(), rng.normal()), "object.mass": (0.03,)}
    return Episode(
        joint_pos=rng.normal(0, 40, (count, joints)).astype(np.float32),
        actions=rng.normal(0, 40, (count, joints)).astype(np.float32),
        images=images,
        task=f"Lift cube {number % 3}.",
        success=number % 4 != 0,
        source="sim",
        scenario=Scenario("full", 7, number, values, rejected=number % 2),
        provenance={"seconds": 1.5, "number": np.int64(number)},
        wrench=rng.normal(0, 5, (count, 25, 6)).astype(np.float32) if spec.wrench else None,
    )


def assert_same(data: Dataset, expected: list[Episode], exact: bool = True) -> None:
    """Every frame, column and note of `data` is that of the `expected` episodes."""
    assert data.num_episodes == len(expected)
    frames = data.load()
    assert len(frames) == sum(map(len, expected)) == data.num_frames
    start = 0
    for number, episode in enumerate(expected):
        rows = slice(start, start + len(episode))
        start += len(episode)
        assert (frames.episode[rows] == number).all()
        np.testing.assert_array_equal(frames.joint_pos[rows], episode.joint_pos)
        np.testing.assert_array_equal(frames.actions[rows], episode.actions)
        if episode.wrench is None:
            assert frames.wrench is None
        else:
            np.testing.assert_array_equal(frames.wrench[rows], episode.wrench)
        for camera, pictures in episode.images.items():
            stored = frames.images[camera][rows]
            if exact:
                np.testing.assert_array_equal(stored, pictures)
            else:
                assert np.abs(stored.astype(int) - pictures).mean() < 4
        meta = data.episode_meta(number)
        assert (meta.episode, meta.frames, meta.task) == (number, len(episode), episode.task)
        assert (meta.success, meta.source) == (episode.success, episode.source)
        assert meta.scenario == episode.scenario
        assert meta.provenance == dict(episode.provenance)


def stray_files(root: Path) -> list[str]:
    """Files under `root` that a finished data set does not consist of."""
    known = ("data/", "videos/", "meta/episodes/")
    names = [p.relative_to(root).as_posix() for p in root.rglob("*") if p.is_file()]
    whole = [n for n in names if n.startswith(known) and n.endswith((".parquet", ".mp4"))]
    fixed = ["meta/info.json", "meta/stats.json", "meta/tasks.parquet"]
    own = ["meta/simreal/lock", "meta/simreal/dataset.json", "meta/simreal/episodes.jsonl"]
    return sorted(set(names) - set(whole) - set(fixed) - set(own))
