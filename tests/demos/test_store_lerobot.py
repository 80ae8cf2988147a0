"""LeRobot reads every column and frame that we write back equal; we read what it writes."""

import json
import shutil
import warnings

import numpy as np
import pyarrow.parquet as pq
import pytest
from tests.demos.store_kit import JOINTS, make_episode, small_spec

from simreal.core.errors import BadDataError
from simreal.demos import png
from simreal.demos.store import DatasetSpec, create, open_dataset

pytestmark = [pytest.mark.lerobot, pytest.mark.filterwarnings("ignore")]

COUNT = 9
LONG = 130  # frames of the one episode that is long enough to have its pictures sampled


@pytest.fixture(scope="module")
def lerobot(tmp_path_factory):
    """LeRobot's data set class, offline, with its caches in a folder of this test."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import datasets
        from lerobot.datasets import LeRobotDataset

    patch = pytest.MonkeyPatch()
    cache = tmp_path_factory.mktemp("cache")
    patch.setattr(datasets.config, "HF_DATASETS_CACHE", str(cache))
    yield LeRobotDataset
    patch.undo()


def episodes_of(spec):
    lengths = [None] * (COUNT - 1) + [LONG]
    return [make_episode(number, spec, length) for number, length in enumerate(lengths)]


@pytest.fixture(scope="module", params=["image", "video"])
def ours(request, tmp_path_factory):
    """A set in several large files, of ours; the one with videos has force/torque windows too."""
    spec = small_spec(request.param, side=32, wrench=request.param == "video")
    root = tmp_path_factory.mktemp("ours") / "set"
    with create(root, spec, file_mb=0.05) as writer:
        for episode in episodes_of(spec):
            writer.write(episode)
    assert len(list((root / "data").rglob("*.parquet"))) >= 3
    return root, spec


@pytest.fixture(scope="module")
def theirs(lerobot, ours, tmp_path_factory):
    """The same episodes written by LeRobot."""
    root, spec = tmp_path_factory.mktemp("theirs") / "set", ours[1]
    features = json.loads((ours[0] / "meta/info.json").read_text())["features"]
    chosen = {
        key: {**feature, "shape": tuple(feature["shape"])}
        for key, feature in features.items()
        if key.startswith(("observation", "action"))
    }
    for feature in chosen.values():
        feature.pop("info", None)
    data = lerobot.create(
        "local/theirs",
        fps=spec.fps,
        features=chosen,
        root=root,
        robot_type=spec.robot_type,
        use_videos=spec.storage == "video",
    )
    for episode in episodes_of(spec):
        for frame in range(len(episode)):
            pictures = {f"observation.images.{k}": v[frame] for k, v in episode.images.items()}
            vectors = {
                "observation.state": episode.joint_pos[frame],
                "action": episode.actions[frame],
            }
            if episode.wrench is not None:
                vectors["observation.wrench"] = episode.wrench[frame].reshape(-1)
            data.add_frame({**pictures, **vectors, "task": episode.task})
        data.save_episode(parallel_encoding=False)
    data.finalize()
    return root


def test_every_column_task_and_frame_comes_back(lerobot, ours):
    root, spec = ours
    data = lerobot("local/ours", root=root, video_backend="pyav", return_uint8=True)
    assert (data.num_episodes, data.fps) == (COUNT, spec.fps)
    index = 0
    for number, episode in enumerate(episodes_of(spec)):
        for frame in range(len(episode)):
            item = data[index]
            np.testing.assert_array_equal(item["observation.state"], episode.joint_pos[frame])
            np.testing.assert_array_equal(item["action"], episode.actions[frame])
            if episode.wrench is not None:
                window = item["observation.wrench"].reshape(25, 6)
                np.testing.assert_array_equal(window, episode.wrench[frame])
            assert item["timestamp"].item() == np.float32(frame / spec.fps)
            assert (item["episode_index"], item["frame_index"]) == (number, frame)
            assert item["index"] == index
            assert item["task"] == episode.task
            for camera, pictures in episode.images.items():
                picture = np.moveaxis(np.asarray(item[f"observation.images.{camera}"]), 0, 2)
                if picture.dtype != np.uint8:
                    picture = np.round(picture * 255).astype(np.uint8)
                error = np.abs(picture.astype(int) - pictures[frame])
                assert error.max() == 0 if spec.storage == "image" else error.mean() < 4
            index += 1
    assert index == len(data)


def test_we_and_lerobot_decode_the_same(lerobot, ours):
    root, spec = ours
    frames = open_dataset(root).load()
    data = lerobot("local/ours", root=root, video_backend="pyav")
    for index in (0, 7, len(data) - LONG, len(data) - 1):
        for camera in spec.cameras:
            picture = np.asarray(data[index][f"observation.images.{camera}"]) * 255
            mine = np.moveaxis(frames.images[camera][index], 2, 0)
            np.testing.assert_allclose(picture, mine, atol=0.01)


def test_chosen_episodes_and_time_windows(lerobot, ours):
    root, spec = ours
    step = 1 / spec.fps
    data = lerobot(
        "local/ours",
        root=root,
        episodes=[1, COUNT - 1],
        delta_timestamps={"action": [0.0, step, 2 * step]},
        video_backend="pyav",
    )
    episode = episodes_of(spec)[COUNT - 1]
    item = data[len(data) - LONG]
    np.testing.assert_array_equal(item["action"], episode.actions[:3])
    assert data[len(data) - 1]["action_is_pad"].tolist() == [False, True, True]


def episode_rows(root):
    files = sorted((root / "meta/episodes").rglob("*.parquet"))
    return [row for path in files for row in pq.read_table(path).to_pylist()]


def test_the_files_are_those_that_lerobot_writes(ours, theirs):
    root, _ = ours
    mine, other = (json.loads((r / "meta/info.json").read_text()) for r in (root, theirs))
    assert list(mine) == list(other)
    assert list(mine["features"]) == list(other["features"])
    for content in (mine, other):
        del content["data_files_size_in_mb"], content["video_files_size_in_mb"]
        for feature in content["features"].values():
            for name in ("codec", "pix_fmt", "g", "crf", "preset", "extra_options"):
                feature.get("info", {}).pop(f"video.{name}", None)
    assert mine == other
    for kind in ("data", "meta/episodes", "meta/tasks.parquet"):
        paths = [sorted((r / kind).rglob("*.parquet")) or [r / kind] for r in (root, theirs)]
        mine, other = (pq.read_schema(p[0]) for p in paths)
        assert mine.equals(other), kind
        if kind == "data":
            described = [json.loads(s.metadata[b"huggingface"])["info"] for s in (mine, other)]
            assert described[0]["features"] == described[1]["features"]


def test_the_statistics_are_those_that_lerobot_computes(ours, theirs):
    root, _ = ours
    mine, other = (json.loads((r / "meta/stats.json").read_text()) for r in (root, theirs))
    assert mine.keys() == other.keys()
    for key, stats in other.items():
        assert mine[key].keys() == stats.keys()
        for name, value in stats.items():
            np.testing.assert_allclose(
                mine[key][name], value, rtol=1e-3, atol=1e-3, err_msg=f"{key}/{name}"
            )
    rows = [episode_rows(folder) for folder in (root, theirs)]
    for mine, other in zip(*rows, strict=True):
        for name in other:
            if name.startswith("stats/"):
                np.testing.assert_allclose(
                    mine[name], other[name], rtol=1e-3, atol=1e-3, err_msg=name
                )
            elif not name.endswith(("_index", "_timestamp")) or name.startswith("dataset"):
                assert mine[name] == other[name], name


def test_we_read_what_lerobot_writes(ours, theirs):
    _, spec = ours
    data = open_dataset(theirs)
    assert (data.spec.joint_names, data.spec.cameras) == (spec.joint_names, spec.cameras)
    assert data.spec.storage == spec.storage
    meta = data.episode_meta(4)
    assert (meta.task, meta.success, meta.source) == ("Lift cube 1.", None, "lerobot")
    frames = data.load([COUNT - 1, 2])
    expected = [episodes_of(spec)[number] for number in (COUNT - 1, 2)]
    np.testing.assert_array_equal(frames.actions, np.concatenate([e.actions for e in expected]))
    for camera in spec.cameras:
        pictures = np.concatenate([e.images[camera] for e in expected])
        error = np.abs(frames.images[camera].astype(int) - pictures)
        assert error.max() == 0 if spec.storage == "image" else error.mean() < 8


def test_a_killed_recorder_of_lerobot_is_named(theirs, tmp_path):
    root = tmp_path / "set"
    shutil.copytree(theirs, root)
    info = json.loads((root / "meta/info.json").read_text())
    (root / "meta/info.json").write_text(json.dumps(info | {"total_episodes": COUNT + 2}))
    with pytest.raises(BadDataError, match=rf"counts {COUNT + 2} episodes.*has {COUNT}: its rec"):
        open_dataset(root)


def test_long_videos_stay_readable_for_lerobot(lerobot, tmp_path):
    """LeRobot compares times as float32; a video of 2,000 s in one file would be refused."""
    spec = DatasetSpec(fps=1, joint_names=JOINTS, cameras={"top": (16, 16)}, storage="video")
    episodes = [make_episode(number, spec, frames=450) for number in range(5)]
    with create(tmp_path / "set", spec) as writer:
        for episode in episodes:
            writer.write(episode)
    assert len(list((tmp_path / "set/videos").rglob("*.mp4"))) == 3
    data = lerobot("local/long", root=tmp_path / "set", video_backend="pyav")
    for index in (0, 899, 1349, 1350, 2249):
        mine = open_dataset(tmp_path / "set").load([index // 450]).images["top"][index % 450]
        picture = np.moveaxis(np.asarray(data[index]["observation.images.top"]), 0, 2) * 255
        np.testing.assert_allclose(picture, mine, atol=0.01)


def test_our_png_is_a_png_to_pillow():
    pictures = make_episode(0, small_spec()).images["wrist"]
    np.testing.assert_array_equal(png._decode_any(png.encode(pictures), 16, 24), pictures)
