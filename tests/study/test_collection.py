"""Filling a data set shard by shard: what a kill leaves is taken up and nothing comes twice."""

import numpy as np
import pytest
from tests.demos.store_kit import make_episode, small_spec

from simreal.core.errors import UsageError
from simreal.demos.dataset import open_dataset
from simreal.study.collection import Collection

SPEC = small_spec()
REQUEST = {"task": "lift", "seed": 1}
SHARDS = [[make_episode(10 * shard + i, SPEC) for i in range(4)] for shard in range(3)]
LINE = {"failed": [], "steps": 8}


def collection(root, wanted, request=REQUEST):
    return Collection(root, SPEC, wanted, request)


def stored(root):
    """Which episodes are in a data set, by their first joint position."""
    frames = open_dataset(root).load()
    starts = np.flatnonzero(np.diff(frames.episode, prepend=-1))
    firsts = frames.joint_pos[starts, 0]
    every = {
        float(e.joint_pos[0, 0]): (s, i) for s, es in enumerate(SHARDS) for i, e in enumerate(es)
    }
    return [every[float(first)] for first in firsts]


def fill(root, wanted):
    """Take shards until it is full, as the study does."""
    data = collection(root, wanted)
    while not data.full:
        data.take(SHARDS[len(data.lines)], LINE)
    data.close()


IN_ORDER = [(shard, i) for shard in range(3) for i in range(4)]


def test_a_collection_is_filled_to_the_wanted_number(tmp_path):
    fill(tmp_path / "sim", 10)
    assert stored(tmp_path / "sim") == IN_ORDER[:10]
    data = collection(tmp_path / "sim", 10)
    assert data.full
    assert [(line["shard"], line["stored"]) for line in data.lines] == [(0, 4), (1, 4), (2, 2)]
    data.close()


class Killed(BaseException):
    """Stands for a kill: no handler of the code under test takes it."""


@pytest.mark.parametrize("shard", [0, 1, 2])
@pytest.mark.parametrize("written", [0, 1, 2])
def test_a_kill_before_the_shards_line_leads_to_no_duplicate(tmp_path, shard, written):
    """`written` episodes of the shard are in the data set; its line is not."""
    root = tmp_path / "sim"
    data = collection(root, 10)
    for number in range(shard):
        data.take(SHARDS[number], LINE)
    for episode in SHARDS[shard][:written]:
        data._writer.write(episode)
    data._writer._release()  # what the end of a process does
    again = collection(root, 10)
    assert len(again.lines) == shard
    assert again.stored == 4 * shard
    again.close()
    fill(root, 10)
    assert stored(root) == IN_ORDER[:10]


def test_a_kill_between_the_last_episode_and_the_line(tmp_path, monkeypatch):
    root = tmp_path / "sim"
    data = collection(root, 10)
    data.take(SHARDS[0], LINE)

    def killed(path, records):
        raise Killed

    monkeypatch.setattr("simreal.study.collection.append_jsonl", killed)
    with pytest.raises(Killed):
        data.take(SHARDS[1], LINE)
    monkeypatch.undo()
    data._writer._release()
    fill(root, 10)
    assert stored(root) == IN_ORDER[:10]


def test_a_torn_line_does_not_count(tmp_path):
    root = tmp_path / "sim"
    data = collection(root, 10)
    data.take(SHARDS[0], LINE)
    data.take(SHARDS[1], LINE)
    data.close()
    log = tmp_path / "sim.shards.jsonl"
    log.write_bytes(log.read_bytes()[:-7])
    fill(root, 10)
    assert stored(root) == IN_ORDER[:10]
    assert len(log.read_text().splitlines()) == 3


def test_a_set_that_more_will_follow_can_be_read_and_grows(tmp_path):
    root = tmp_path / "sim"
    first = Collection(root, SPEC, 6, REQUEST, finish=False)
    while not first.full:
        first.take(SHARDS[len(first.lines)], LINE)
    first.close()
    assert stored(root) == IN_ORDER[:6]
    again = Collection(root, SPEC, 6, REQUEST, finish=False)
    assert again.full
    again.close()
    data = collection(root, 9)
    assert (data.stored, data.full) == (6, False)
    data.take(SHARDS[2], LINE)
    data.close()
    assert stored(root) == [*IN_ORDER[:6], *IN_ORDER[8:11]]


def test_shards_without_a_success_count_as_done(tmp_path):
    data = collection(tmp_path / "sim", 3)
    assert data.take([], LINE) == 0
    assert data.take(SHARDS[0], LINE) == 3
    assert [line["shard"] for line in data.lines] == [0, 1]
    data.close()
    assert stored(tmp_path / "sim") == IN_ORDER[:3]


def test_a_folder_begun_by_another_request_is_refused(tmp_path):
    collection(tmp_path / "sim", 10).close()
    with pytest.raises(UsageError, match=r"sim was begun with another seed"):
        collection(tmp_path / "sim", 10, {"task": "lift", "seed": 2})
    with pytest.raises(UsageError, match="another"):
        collection(tmp_path / "sim", 10, {"task": "lift"})
