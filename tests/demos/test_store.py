"""What is written comes back, finished or not; what is broken is named."""

import contextlib
import dataclasses
import json
import shutil
import subprocess
import sys

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.demos.store_kit import JOINTS, assert_same, make_episode, small_spec, stray_files

from simreal.core.errors import BadDataError, UsageError
from simreal.core.types import Episode, Scenario
from simreal.demos.store import DatasetSpec, create, open_dataset, open_writer

STORAGES = ("image", "video")


@pytest.fixture(params=STORAGES)
def spec(request):
    return small_spec(request.param)


@pytest.fixture
def written(tmp_path, spec):
    """A finished set of 9 episodes in several large files, and the episodes."""
    episodes = [make_episode(number, spec) for number in range(9)]
    with create(tmp_path / "set", spec, file_mb=0.05) as writer:
        assert [writer.write(episode) for episode in episodes] == list(range(9))
    return tmp_path / "set", episodes


def test_everything_comes_back_across_large_files(written, spec):
    root, episodes = written
    assert len(list((root / "data").rglob("*.parquet"))) > 1
    data = open_dataset(root)
    assert data.spec == spec
    assert_same(data, episodes, exact=spec.storage == "image")
    assert stray_files(root) == []


def test_an_unfinished_set_reads_as_far_as_it_was_written(tmp_path, spec):
    episodes = [make_episode(number, spec) for number in range(5)]
    with create(tmp_path / "set", spec) as writer:
        for count, episode in enumerate(episodes):
            assert_same(open_dataset(writer.root), episodes[:count], spec.storage == "image")
            writer.write(episode)
        assert_same(open_dataset(writer.root), episodes, spec.storage == "image")


def test_load_takes_slices_and_lists_in_the_order_named(written):
    data = open_dataset(written[0])
    everything = data.load()
    for wanted in (slice(2, 7, 2), [7, 0, 3], np.array([1]), []):
        frames = data.load(wanted)
        numbers = range(9)[wanted] if isinstance(wanted, slice) else wanted
        assert list(dict.fromkeys(frames.episode)) == list(numbers)
        for number in numbers:
            here, there = frames.episode == number, everything.episode == number
            np.testing.assert_array_equal(frames.actions[here], everything.actions[there])
            for camera in data.spec.cameras:
                np.testing.assert_array_equal(
                    frames.images[camera][here], everything.images[camera][there]
                )


def test_row_groups_of_another_size_are_read(written):
    """Converted sets have row groups that hold many episodes, or end within one."""
    root, episodes = written
    for path in (root / "data").rglob("*.parquet"):
        table = pq.read_table(path)
        pq.write_table(table, path, row_group_size=7)
    data = open_dataset(root)
    assert_same(data, episodes, exact=data.spec.storage == "image")
    numbers = [8, 1, 4, 3]
    expected = np.concatenate([episodes[number].joint_pos for number in numbers])
    np.testing.assert_array_equal(data.load(numbers).joint_pos, expected)


def test_load_refuses_episodes_that_do_not_exist_or_come_twice(written):
    data = open_dataset(written[0])
    with pytest.raises(UsageError, match="no episode 9; it holds 9"):
        data.load([9])
    with pytest.raises(UsageError, match="name each once"):
        data.load([1, 1])
    with pytest.raises(UsageError, match="no episode -1"):
        data.episode_meta(-1)


def test_resuming_goes_on_with_the_next_number(tmp_path, spec):
    episodes = [make_episode(number, spec) for number in range(8)]
    with create(tmp_path / "set", spec) as writer:
        for episode in episodes[:3]:
            writer.write(episode)
    with open_writer(tmp_path / "set") as writer:
        assert (writer.num_episodes, writer.num_frames) == (3, sum(map(len, episodes[:3])))
        assert writer.write(episodes[3]) == 3
        writer.finalize()
        assert writer.write(episodes[4]) == 4
    with create(tmp_path / "set", spec, resume=True) as writer:
        for episode in episodes[5:]:
            writer.write(episode)
    assert_same(open_dataset(tmp_path / "set"), episodes, spec.storage == "image")
    assert stray_files(tmp_path / "set") == []


def test_indices_run_on_over_files_and_sessions(written):
    root, episodes = written
    with open_writer(root) as writer:
        writer.write(make_episode(9, writer.spec))
    frames = sum(map(len, episodes)) + len(make_episode(9, writer.spec))
    tables = [pq.read_table(path) for path in sorted((root / "data").rglob("*.parquet"))]
    index = np.concatenate([table["index"].to_numpy() for table in tables])
    np.testing.assert_array_equal(index, np.arange(frames))
    info = json.loads((root / "meta/info.json").read_text())
    assert (info["total_episodes"], info["total_frames"], info["total_tasks"]) == (10, frames, 3)
    assert info["splits"] == {"train": "0:10"}


def test_the_journal_survives_and_says_where_an_episode_comes_from(written):
    root, _ = written
    lines = [
        json.loads(line) for line in (root / "meta/simreal/episodes.jsonl").read_text().splitlines()
    ]
    assert [line["episode"] for line in lines] == list(range(9))
    assert lines[4]["scenario"]["index"] == 4
    assert (lines[4]["seed"], lines[4]["source"], lines[4]["success"]) == (7, "sim", False)
    header = json.loads((root / "meta/simreal/dataset.json").read_text())
    assert "degrees" in header["spec"]["units"]
    assert {"simreal", "numpy", "pyarrow"} <= set(header["versions"])


def test_a_set_without_cameras_and_one_frame_long(tmp_path):
    spec = DatasetSpec(fps=10, joint_names=("a.pos", "b"), cameras={})
    assert spec.joint_names == ("a", "b")
    ones = np.ones((1, 2), np.float32)
    with create(tmp_path / "set", spec) as writer:
        writer.write(Episode(ones, 2 * ones, {}, "Wave.", True, "real"))
    data = open_dataset(tmp_path / "set")
    assert data.load().actions.tolist() == [[2.0, 2.0]]
    assert data.episode_meta(0).scenario is None


def test_an_empty_set_is_a_set(tmp_path):
    create(tmp_path / "set", small_spec()).close()
    data = open_dataset(tmp_path / "set")
    assert len(data) == 0
    assert data.load().images["scene"].shape == (0, 16, 16, 3)


def _without(episode, **changes):
    return Episode(**{**vars(episode), **changes})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"joint_pos": np.zeros((4, 5), np.float32)},
            r"joint_pos has shape \(4, 5\), not \(4, 6\)",
        ),
        (
            {"actions": np.full((4, 6), np.nan, np.float32)},
            "actions has values that are not finite",
        ),
        ({"images": {}}, r"its cameras are \[\], not \['scene', 'wrist'\]"),
        ({"provenance": {"x": float("nan")}}, r"provenance\['x'\] is nan"),
        ({"provenance": {"x": {1, 2}}}, r"provenance\['x'\] is \{1, 2\}"),
        ({"scenario": Scenario("full", 0, 0, {"a": (np.inf,)})}, "scenario.*is inf"),
    ],
)
def test_an_episode_that_does_not_fit_is_refused_and_nothing_is_lost(tmp_path, change, said):
    spec = small_spec()
    with create(tmp_path / "set", spec) as writer:
        writer.write(make_episode(0, spec))
        with pytest.raises(UsageError, match=said):
            writer.write(_without(make_episode(1, spec, frames=4), **change))
        writer.write(make_episode(1, spec))
    assert_same(open_dataset(tmp_path / "set"), [make_episode(i, spec) for i in range(2)])


def test_pictures_of_another_size_or_kind_are_refused(tmp_path):
    spec = small_spec()
    episode = make_episode(0, spec)
    wrong = {"scene": episode.images["scene"][:, :8], "wrist": episode.images["wrist"] / 255.0}
    with (
        create(tmp_path / "set", spec) as writer,
        pytest.raises(UsageError, match=r"camera 'scene' has.*camera 'wrist' has float64"),
    ):
        writer.write(_without(episode, images=dict(sorted(wrong.items()))))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"fps": 12.5}, "whole number"),
        ({"joint_names": ()}, "at least one"),
        ({"joint_names": ("a", "a.pos")}, "each once"),
        ({"cameras": {"a/b": (4, 4)}}, "camera 'a/b'"),
        ({"cameras": {"a": (0, 4)}}, "camera 'a'"),
        ({"storage": "vidio"}, "Did you mean 'video'"),
    ],
)
def test_a_spec_that_lerobot_could_not_read_is_refused(change, said):
    with pytest.raises(UsageError, match=said):
        DatasetSpec(**{"fps": 20, "joint_names": JOINTS, "cameras": {}, **change})


def test_create_refuses_what_is_already_there(tmp_path, written, spec):
    root, _ = written
    with pytest.raises(UsageError, match="already holds a data set"):
        create(root, spec)
    other = DatasetSpec(fps=30, joint_names=JOINTS, cameras={})
    with pytest.raises(UsageError, match="another spec"):
        create(root, other, resume=True)
    (tmp_path / "other").mkdir()
    (tmp_path / "other/notes.txt").write_text("mine")
    with pytest.raises(UsageError, match=r"not an empty folder \(1 files, such as .*notes\.txt"):
        create(tmp_path / "other", spec)
    with pytest.raises(UsageError, match="not an empty folder"):
        create(tmp_path / "other/notes.txt", spec)
    with pytest.raises(UsageError, match="not written by simreal"):
        open_writer(tmp_path / "other")


def test_one_writer_at_a_time(tmp_path):
    other = "import sys; from simreal.demos.store import open_writer; open_writer(sys.argv[1])"
    with create(tmp_path / "set", small_spec()) as writer:
        command = [sys.executable, "-c", other, str(writer.root)]
        second = subprocess.run(command, capture_output=True, text=True)
        assert "UsageError" in second.stderr
        assert "is being written by another process" in second.stderr
        writer.write(make_episode(0, writer.spec))
    with pytest.raises(UsageError, match="closed"):
        writer.write(make_episode(1, writer.spec))


def test_a_missing_file_is_named(written):
    root, _ = written
    victim = sorted((root / "data").rglob("*.parquet"))[1]
    victim.unlink()
    with pytest.raises(BadDataError, match=rf"{victim} is missing; restore it from a copy"):
        open_dataset(root)


def test_a_file_without_footer_is_named(written):
    root, _ = written
    victim = sorted((root / "data").rglob("*.parquet"))[-1]
    victim.write_bytes(victim.read_bytes()[:-100])
    with pytest.raises(BadDataError, match=rf"{victim} is not a whole Parquet file.*footer"):
        open_dataset(root)
    victim = sorted((root / "meta/episodes").rglob("*.parquet"))[0]
    victim.write_bytes(victim.read_bytes()[:-100])
    with pytest.raises(BadDataError, match=rf"{victim} is not a whole Parquet file"):
        open_writer(root)


def test_another_version_is_named_with_its_remedy(written):
    root, _ = written
    info = json.loads((root / "meta/info.json").read_text())
    (root / "meta/info.json").write_text(json.dumps(info | {"codebase_version": "v2.1"}))
    with pytest.raises(BadDataError, match=r"info\.json says codebase_version 'v2\.1'.*convert"):
        open_dataset(root)
    (root / "meta/info.json").unlink()
    with pytest.raises(BadDataError, match=r"info\.json is missing"):
        open_dataset(root)


def test_a_short_journal_and_a_damaged_line_are_named(written):
    root, _ = written
    path = root / "meta/simreal/episodes.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([*lines[:3], "{broken\n", *lines[4:]]))
    with pytest.raises(BadDataError, match=r"episodes\.jsonl, line 4, is not valid JSON"):
        open_dataset(root).episode_meta(3)
    path.write_text("".join(lines[:5]))
    with pytest.raises(BadDataError, match="has 5 lines for 9 episodes"):
        open_dataset(root)


def test_a_pending_file_that_is_cut_short_is_named(tmp_path, spec):
    with contextlib.suppress(KeyboardInterrupt), create(tmp_path / "set", spec) as writer:
        writer.write(make_episode(0, spec))
        raise KeyboardInterrupt
    victim = next((tmp_path / "set/meta/simreal/pending").iterdir())
    victim.write_bytes(victim.read_bytes()[:-1])
    for opening in (open_dataset, open_writer):
        with pytest.raises(BadDataError, match=rf"{victim.name} has \d+ of \d+ bytes"):
            opening(tmp_path / "set")


def test_damaged_pictures_are_named(written):
    root, _ = written
    victim = sorted(p for p in root.rglob("*") if p.suffix == ".mp4" or "data/" in str(p))[-1]
    content = bytearray(victim.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 64] = bytes(64)
    victim.write_bytes(content)
    if victim.suffix == ".mp4":
        victim.write_bytes(content[:middle])
    with pytest.raises(BadDataError, match=victim.name):
        open_dataset(root).load()


def test_what_is_not_a_data_set_is_refused(tmp_path):
    with pytest.raises(UsageError, match="is not a folder"):
        open_dataset(tmp_path / "nowhere")
    with pytest.raises(BadDataError, match=r"meta/info\.json is missing"):
        open_dataset(tmp_path)


json_values = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**60), 2**60),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(max_size=8),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)
scenarios = st.builds(
    Scenario,
    st.text(max_size=6),
    st.integers(0, 2**40),
    st.integers(0, 10**6),
    st.dictionaries(
        st.text(max_size=6),
        st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=3).map(tuple),
        max_size=3,
    ),
    st.integers(0, 9),
)
sizes = st.tuples(st.integers(1, 12), st.integers(1, 12))


@given(st.data())
@settings(max_examples=20, deadline=None)
def test_any_set_comes_back(tmp_path_factory, data):
    joints = tuple(f"joint{i}" for i in range(data.draw(st.integers(1, 4))))
    cameras = data.draw(st.dictionaries(st.sampled_from(["a", "b.c", "d-e"]), sizes, max_size=2))
    spec = DatasetSpec(data.draw(st.integers(1, 60)), joints, cameras)
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    episodes = []
    for _ in range(data.draw(st.integers(0, 6))):
        count = data.draw(st.integers(1, 5))
        pictures = {k: rng.integers(0, 256, (count, *s, 3), np.uint8) for k, s in cameras.items()}
        vectors = [rng.normal(size=(count, len(joints))).astype(np.float32) for _ in range(2)]
        note = data.draw(st.dictionaries(st.text(max_size=4), json_values, max_size=2))
        scenario = data.draw(st.none() | scenarios)
        success, task = data.draw(st.booleans()), data.draw(st.text(min_size=1, max_size=9))
        episodes.append(Episode(*vectors, pictures, task, success, "sim", scenario, note))
    root = tmp_path_factory.mktemp("any") / "set"
    with create(root, spec, file_mb=data.draw(st.sampled_from([0.001, 0.01, 100.0]))) as writer:
        for episode in episodes:
            writer.write(episode)
            if data.draw(st.booleans()):
                writer.finalize()
    assert_same(open_dataset(root), episodes)
    shutil.rmtree(root)


@pytest.fixture
def felt(tmp_path):
    """A spec with force/torque windows."""
    return small_spec(wrench=True)


def test_a_data_file_without_the_windows_it_should_have_is_named(tmp_path, felt):
    with create(tmp_path / "set", felt) as writer:
        writer.write(make_episode(0, felt))
    victim = next((tmp_path / "set/data").rglob("*.parquet"))
    pq.write_table(pq.read_table(victim).drop(["observation.wrench"]), victim)
    with pytest.raises(BadDataError, match=rf"{victim.name} lacks observation\.wrench, which"):
        open_dataset(tmp_path / "set").load()


def test_force_torque_windows_come_back_in_order(tmp_path, felt):
    episodes = [make_episode(number, felt) for number in range(4)]
    with create(tmp_path / "set", felt) as writer:
        for episode in episodes[:2]:
            writer.write(episode)
        assert_same(open_dataset(writer.root), episodes[:2])
        for episode in episodes[2:]:
            writer.write(episode)
    data = open_dataset(tmp_path / "set")
    assert_same(data, episodes)
    info = json.loads((tmp_path / "set" / "meta/info.json").read_text())
    feature = info["features"]["observation.wrench"]
    assert feature["shape"] == [150]
    assert feature["names"][:7] == ["fx.0", "fy.0", "fz.0", "tx.0", "ty.0", "tz.0", "fx.1"]


def test_windows_of_double_precision_are_stored_as_the_others(tmp_path, felt):
    episode = make_episode(0, felt)
    double = dataclasses.replace(episode, wrench=episode.wrench.astype(np.float64))
    with create(tmp_path / "set", felt) as writer:
        writer.write(double)
    assert_same(open_dataset(tmp_path / "set"), [episode])


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda w: None, "needs force/torque windows"),
        (lambda w: w[:, :24], r"wrench has shape \(\d+, 24, 6\), not \(\d+, 25, 6\)"),
        (lambda w: np.where(np.arange(6) == 4, np.nan, w), "not finite at frame 0, ty: check the"),
    ],
)
def test_windows_that_do_not_fit_are_refused(tmp_path, felt, spoil, words):
    episode = make_episode(0, felt)
    spoiled = dataclasses.replace(episode, wrench=spoil(episode.wrench))
    with create(tmp_path / "set", felt) as writer, pytest.raises(UsageError, match=words):
        writer.write(spoiled)


def test_windows_have_no_place_in_a_set_without_them(tmp_path, felt):
    words = "has no place for force/torque windows"
    with create(tmp_path / "set", small_spec()) as writer, pytest.raises(UsageError, match=words):
        writer.write(make_episode(0, felt))


def test_a_header_from_before_there_were_windows_opens(tmp_path):
    with create(tmp_path / "set", small_spec()) as writer:
        writer.write(make_episode(0, small_spec()))
    path = tmp_path / "set" / "meta/simreal/dataset.json"
    content = json.loads(path.read_text())
    assert content["spec"].pop("wrench") is False
    path.write_text(json.dumps(content))
    assert open_dataset(tmp_path / "set").spec == small_spec()
