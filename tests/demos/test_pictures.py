"""Pictures in files that all trainings map: the same numbers as from memory, decoded once."""

import shutil
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from tests.demos.store_kit import make_episode, small_spec

from simreal.demos import pictures
from simreal.demos.dataset import open_dataset
from simreal.demos.pictures import load_mapped, mapped
from simreal.demos.store import create
from simreal.policies.batches import Part

CHOSEN = [7, 2, 3, 11]


@pytest.fixture
def data(tmp_path):
    spec = small_spec(wrench=True)
    with create(tmp_path / "data", spec) as writer:
        for number in range(12):
            writer.write(make_episode(number, spec))
    return open_dataset(tmp_path / "data")


def test_mapped_frames_are_those_from_memory(data, tmp_path, monkeypatch):
    monkeypatch.setattr(pictures, "_AT_ONCE", 5)
    kept, there = load_mapped(data, CHOSEN, tmp_path / "files"), data.load(CHOSEN)
    for name in ("joint_pos", "actions", "episode", "wrench"):
        np.testing.assert_array_equal(getattr(kept, name), getattr(there, name))
    for camera, whole in there.images.items():
        seen = kept.images[camera]
        assert (seen.shape, seen.dtype, seen.ndim, len(seen)) == (
            whole.shape,
            whole.dtype,
            whole.ndim,
            len(whole),
        )
        np.testing.assert_array_equal(seen[:], whole)
        np.testing.assert_array_equal(seen[np.array([5, 0, 5])], whole[[5, 0, 5]])
    assert Part(kept, "data").digest() == Part(there, "data").digest()


def test_pictures_are_decoded_once_and_again_where_a_file_is_not_of_this_data(
    data, tmp_path, monkeypatch
):
    decoded = []
    true = pictures._decode
    monkeypatch.setattr(pictures, "_decode", lambda *a: (decoded.append(1), true(*a)))
    folder = tmp_path / "files"
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: mapped(data, folder), range(4)))
    load_mapped(data, CHOSEN, folder)
    assert len(decoded) == 1
    np.save(folder / "scene.npy", np.zeros((3, 16, 16, 3), np.uint8))
    np.testing.assert_array_equal(mapped(data, folder)["scene"], data.load().images["scene"])
    assert len(decoded) == 2


def test_mapped_pictures_cannot_be_written_to(data, tmp_path):
    whole = mapped(data, tmp_path / "files")["wrist"]
    with pytest.raises(ValueError, match="read-only"):
        whole[0] = 0


def test_without_room_on_the_disk_pictures_are_loaded_into_memory(data, tmp_path, monkeypatch):
    usage = namedtuple("usage", "free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(1000))
    frames = load_mapped(data, CHOSEN, tmp_path / "files")
    np.testing.assert_array_equal(frames.images["scene"], data.load(CHOSEN).images["scene"])
    assert [path.name for path in (tmp_path / "files").iterdir()] == ["lock"]
