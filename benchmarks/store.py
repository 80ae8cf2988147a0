"""Speed and size of the demonstration store beside LeRobot's own writer and loader, in one run.

    python benchmarks/store.py [--episodes N] [--noise SD] [--codecs]

Made pictures: a smooth background with texture, a square and a disc that move, sensor noise of
standard deviation `--noise`. 40 frames, two cameras of 64 x 64 pixels, 6 joints. Rates are per
second of CPU time (of all threads, one thread allowed where a library asks), so that other work
on the machine does not count; wall time stands beside them. `--codecs` compares ways to write PNG.
"""

from __future__ import annotations

import argparse
import io
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from simreal.core.types import Episode
from simreal.demos import png
from simreal.demos.store import DatasetSpec, create, open_dataset

FRAMES, SIDE = 40, 64
JOINTS = ("shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll", "gripper")
CAMERAS = ("scene", "wrist")


def make_pictures(seed: int, noise: float) -> np.ndarray:
    rng = np.random.default_rng(seed)
    down, right = np.mgrid[0:SIDE, 0:SIDE].astype(np.float32)
    base = np.stack([100 + 0.6 * right, 90 + 0.5 * down, 120 - 0.3 * right], -1)
    base += rng.uniform(-20, 20, (16, 16, 3)).repeat(4, 0).repeat(4, 1)
    pictures = np.empty((FRAMES, SIDE, SIDE, 3), np.uint8)
    for frame in range(FRAMES):
        picture = base.copy()
        picture[20:28, 10 + frame // 2 : 20 + frame // 2] = (200, 40, 30)
        picture[(right - 40) ** 2 + (down - 30 - frame / 4) ** 2 < 120] = (230, 180, 60)
        pictures[frame] = np.clip(picture + rng.normal(0, noise, picture.shape), 0, 255)
    return pictures


def make_episode(seed: int, noise: float) -> Episode:
    rng = np.random.default_rng(seed)
    vectors = [rng.normal(0, 40, (FRAMES, 6)).cumsum(0).astype(np.float32) for _ in range(2)]
    pictures = {camera: make_pictures(2 * seed + i, noise) for i, camera in enumerate(CAMERAS)}
    return Episode(*vectors, pictures, "Lift the cube.", True, "sim")


def timed(job: Callable[[], object]) -> tuple[float, float]:
    """CPU and wall seconds of one call."""
    cpu, wall = time.process_time(), time.perf_counter()
    job()
    return time.process_time() - cpu, time.perf_counter() - wall


def spec_of(storage: str) -> DatasetSpec:
    return DatasetSpec(20, JOINTS, dict.fromkeys(CAMERAS, (SIDE, SIDE)), storage=storage)


def write_ours(root: Path, storage: str, episodes: list[Episode]) -> None:
    with create(root, spec_of(storage)) as writer:
        for episode in episodes:
            writer.write(episode)


def write_lerobot(root: Path, storage: str, episodes: list[Episode]) -> None:
    from lerobot.datasets import LeRobotDataset

    names = [f"{joint}.pos" for joint in JOINTS]
    vector = {"dtype": "float32", "shape": (6,), "names": names}
    picture = {"dtype": storage, "shape": (SIDE, SIDE, 3), "names": ["height", "width", "channels"]}
    features = {"observation.state": vector, "action": vector}
    features |= {f"observation.images.{camera}": picture for camera in CAMERAS}
    data = LeRobotDataset.create(
        "local/bench", 20, features, root=root, use_videos=storage == "video", encoder_threads=1
    )
    for episode in episodes:
        for frame in range(FRAMES):
            pictures = {f"observation.images.{k}": v[frame] for k, v in episode.images.items()}
            data.add_frame(
                {
                    "observation.state": episode.joint_pos[frame],
                    "action": episode.actions[frame],
                    "task": episode.task,
                    **pictures,
                }
            )
        data.save_episode(parallel_encoding=False)
    data.finalize()


def load_lerobot(root: Path) -> None:
    from lerobot.datasets import LeRobotDataset

    data = LeRobotDataset("local/bench", root=root, video_backend="pyav")
    for index in range(len(data)):
        data[index]


def error_of(root: Path, episodes: list[Episode]) -> float:
    stored = open_dataset(root).load().images[CAMERAS[0]].astype(int)
    return float(np.abs(stored - np.concatenate([e.images[CAMERAS[0]] for e in episodes])).mean())


def row(name: str, storage: str, episodes: list[Episode], base: Path) -> tuple[float, ...]:
    """Frames/s written (of CPU, of wall), episodes/h, frames/s loaded, bytes a frame, error."""
    root = base / f"{name}-{storage}"
    write = write_lerobot if name == "LeRobot" else write_ours
    load = load_lerobot if name == "LeRobot" else lambda root: open_dataset(root).load()
    cpu, wall = timed(lambda: write(root, storage, episodes))
    loading = timed(lambda: load(root))[0]
    frames = len(episodes) * FRAMES
    size = sum(p.stat().st_size for p in root.rglob("*") if p.is_file())
    hourly = 3600 * len(episodes) / cpu
    error = error_of(root, episodes)
    return frames / cpu, frames / wall, hourly, frames / loading, size / frames, error


def store_table(count: int, noise: float, base: Path) -> None:
    episodes = [make_episode(seed, noise) for seed in range(count)]
    few = episodes[: max(2, count // 10)]
    for name in ("LeRobot", "simreal"):  # imports are not what is measured
        row(name, "image", few[:1], base / "warm")
    print(f"{count} episodes of {FRAMES} frames (LeRobot: {len(few)}), noise {noise:g}")
    heads = ("written by", "write", "x", "wall", "episodes/h", "load", "x", "bytes", "error")
    print(("{:17}" + "{:>11}" * 8).format(*heads))
    for storage in ("image", "video"):
        theirs, ours = row("LeRobot", storage, few, base), row("simreal", storage, episodes, base)
        for name, mine in (("LeRobot", theirs), ("simreal", ours)):
            cpu, wall, hourly, load, size, error = mine
            print(
                f"{name + ' ' + storage:17}{cpu:11.0f}{cpu / theirs[0]:11.1f}{wall:11.0f}"
                f"{hourly:11.0f}{load:11.0f}{load / theirs[3]:11.1f}{size:11.0f}{error:11.2f}"
            )
    print("write, wall, load: frames/s (wall: of wall time, the others of CPU time); bytes: of a")
    print("frame of two cameras; error: mean absolute, of 255; x: times LeRobot's in this run")


def pillow(level: int) -> Callable[[np.ndarray], list[bytes]]:
    from PIL import Image

    def encode(images: np.ndarray) -> list[bytes]:
        written = []
        for image in images:
            buffer = io.BytesIO()
            Image.fromarray(image).save(buffer, "PNG", compress_level=level)
            written.append(buffer.getvalue())
        return written

    return encode


def opencv(images: np.ndarray) -> list[bytes]:
    import cv2

    options = [cv2.IMWRITE_PNG_COMPRESSION, 1, cv2.IMWRITE_PNG_STRATEGY, 3]
    return [cv2.imencode(".png", image[..., ::-1], options)[1].tobytes() for image in images]


def codec_table(noise: float) -> None:
    images = make_pictures(0, noise)
    ways = {"this module": png.encode, "OpenCV, level 1, RLE": opencv}
    ways |= {f"Pillow, compress_level {level}": pillow(level) for level in (0, 1, 6)}
    print(f"noise {noise:g}; milliseconds of CPU time for {FRAMES} frames of {SIDE} x {SIDE}")
    print(f"{'encoder':28}{'write':>10}{'read back':>12}{'bytes a frame':>16}")
    for name, encode in ways.items():
        written = encode(images)
        write = min(timed(lambda e=encode: e(images))[0] for _ in range(9))
        read = min(timed(lambda w=written: png.decode(w, SIDE, SIDE))[0] for _ in range(9))
        size = sum(map(len, written)) / FRAMES
        print(f"{name:28}{1000 * write:10.1f}{1000 * read:12.1f}{size:16.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--episodes", type=int, default=200)
    parser.add_argument("--noise", type=float, default=3.0)
    parser.add_argument("--codecs", action="store_true")
    arguments = parser.parse_args()
    if arguments.codecs:
        codec_table(arguments.noise)
        return
    base = Path(tempfile.mkdtemp())
    os.environ |= {"HF_HOME": str(base / "cache"), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    try:
        store_table(arguments.episodes, arguments.noise, base)
    finally:
        shutil.rmtree(base)


if __name__ == "__main__":
    main()
