"""Trying a checkpoint: in simulation, on a robot that asks, and on what packages add."""

import dataclasses
import json
import shutil
from typing import ClassVar

import numpy as np
import pytest
from tests.contract.fake_target import FakeTarget
from tests.robots.fake_arm import FakeArm

from simreal.compute.executor import make_executor
from simreal.robots import lerobot_robot
from simreal.robots.asking import Verdict
from simreal.study import single, targets, trying

FILE = '[robot]\ntype = "so101_follower"\nid = "me"\n[move]\nspeed_deg_s = 180\n'


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_in_simulation_json_is_one_object_and_what_is_there_is_kept(run, checkpoint, tmp_path):
    command = ("evaluate", checkpoint, "--on", "sim", "--trials", "2", "--out", "t.jsonl", "--json")
    code, out, err = run(*command, "--workers", "1")
    assert code == 0, err
    rate = json.loads(out)
    assert rate["n"] == 2
    assert len(rate["ci"]) == 2
    first = lines(tmp_path / "t.jsonl")
    assert [(t["condition"], t["target"], t["overruns"]) for t in first] == [
        (0, "sim", 0),
        (1, "sim", 0),
    ]
    assert run(*command)[1] == out
    assert lines(tmp_path / "t.jsonl") == first
    for changed in (("--seed", "1"), ("--trials", "3"), ("--task", "push")):
        code, out, err = run(*command, *changed)
        assert (code, out) == (2, "")
        assert "holds trials of another evaluation" in err


@dataclasses.dataclass
class Config:
    disable_torque_on_disconnect: bool = True


class Person:
    """Ends every episode after three steps; every other one was a success."""

    def __init__(self):
        self.steps, self.condition = 0, None

    def place(self, condition):
        self.steps, self.condition = 0, condition.index

    def ended(self):
        self.steps += 1
        return self.steps >= 3

    def verdict(self, failures):
        assert "dropped" in failures
        good = self.condition % 2 == 0
        return Verdict(good, None if good else "dropped")


@pytest.fixture
def arms(monkeypatch, tmp_path):
    """The arms that are connected to, one after the other; each may fail after some commands."""
    made = []

    def connect(file):
        arm = FakeArm()
        arm.config = Config()
        made.append(arm)
        if len(made) == arm.fails:
            arm.fail_after = 20
        return arm

    FakeArm.fails = None
    monkeypatch.setattr(lerobot_robot, "connect", connect)
    monkeypatch.setattr(lerobot_robot, "Person", Person)
    (tmp_path / "arm.toml").write_text(FILE)
    yield made
    del FakeArm.fails


def test_a_robot_is_tried_in_this_process_where_a_person_is_asked(run, checkpoint, arms, tmp_path):
    command = ("evaluate", checkpoint, "--on", "robot:arm.toml", "--trials", "4", "--json")
    code, out, err = run(*command, "--out", "t.jsonl")
    assert code == 0, err
    assert json.loads(out)["k"] == 2
    found = lines(tmp_path / "t.jsonl")
    assert [t["success"] for t in found] == [True, False, True, False]
    assert [t["failure"] for t in found] == [None, "dropped", None, "dropped"]
    assert {t["steps"] for t in found} == {3}
    assert all(isinstance(t["overruns"], int) for t in found)
    assert [arm.calls for arm in arms] == [["disconnect"], ["disconnect"]]
    assert not arms[0].commands  # the first connection only looks
    assert list(arms[1].commands[-1].values()) == pytest.approx([20.0] * 6)


def test_a_robot_that_is_lost_is_exit_code_3_and_can_be_gone_on_with(
    run, checkpoint, arms, tmp_path
):
    FakeArm.fails = 2
    command = (
        "evaluate",
        checkpoint,
        "--on",
        "robot:arm.toml",
        "--trials",
        "4",
        "--out",
        "t.jsonl",
    )
    code, out, err = run(*command)
    assert (code, out) == (3, "")
    assert "run the same command again" in err.splitlines()[-1]
    assert not arms[1].config.disable_torque_on_disconnect
    some = lines(tmp_path / "t.jsonl")
    assert 1 <= len(some) < 4
    assert run(*command)[0] == 0
    found = lines(tmp_path / "t.jsonl")
    assert found[: len(some)] == some
    assert [t["condition"] for t in found] == [0, 1, 2, 3]


class Small(FakeTarget):
    """Another package's target that takes three conditions at once; `sizes` of its batches."""

    sizes: ClassVar[list[int]] = []

    def __init__(self, argument, job):
        super().__init__(batch=3)
        cameras = {"scene": (16, 16), "wrist": (16, 16)}
        self.spec = dataclasses.replace(self.spec, kind="twin", cameras=cameras)

    def reset(self, conditions):
        Small.sizes.append(len(conditions))
        super().reset(conditions)

    def observe(self, images=True):
        seen = super().observe(images)
        if not images:
            return seen
        n = len(seen.joint_pos)
        pictures = {name: np.zeros((n, 16, 16, 3), np.uint8) for name in self.spec.cameras}
        return dataclasses.replace(seen, images=pictures)


@pytest.fixture
def small(monkeypatch):
    """The kind `small`, played in this process."""
    kinds = {**targets.factories(), "small": Small}
    monkeypatch.setattr(targets, "factories", lambda: kinds)
    monkeypatch.setattr(single, "pool_of", lambda workers: single.make_executor("inline"))
    Small.sizes.clear()


def test_shards_fit_the_batch_of_the_target(run, checkpoint, small, tmp_path):
    command = ("evaluate", checkpoint, "--on", "small:x", "--trials", "7", "--out", "t.jsonl")
    assert run(*command)[0] == 0
    assert Small.sizes == [3, 3, 1]
    whole = lines(tmp_path / "t.jsonl")
    assert [t["condition"] for t in whole] == list(range(7))
    kept = (tmp_path / "t.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "t.jsonl").write_text("".join(kept[:5]))
    assert run(*command)[0] == 0
    assert lines(tmp_path / "t.jsonl") == whole
    assert Small.sizes == [3, 3, 1, 3, 1]


def test_another_checkpoint_in_the_same_place_is_another_evaluation(
    run, checkpoint, small, tmp_path
):
    shutil.copytree(checkpoint, tmp_path / "run" / "checkpoint")
    command = ("evaluate", "run/checkpoint", "--on", "small:x", "--out", "t.jsonl", "--trials", "3")
    assert run(*command)[0] == 0
    weights = tmp_path / "run" / "checkpoint" / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(bytes(content))
    code, _, err = run(*command)
    assert code == 2
    assert "holds trials of another evaluation" in err


def test_a_policy_that_does_not_fit_the_target_is_refused(run, checkpoint, small, monkeypatch):
    def blind(argument, job):
        target = Small(argument, job)
        target.spec = dataclasses.replace(target.spec, cameras={"front": (16, 16)})
        return target

    monkeypatch.setitem(targets.factories(), "small", blind)
    code, out, err = run("evaluate", checkpoint, "--on", "small:x", "--out", "t.jsonl")
    assert (code, out) == (1, "")
    assert "The policy reads the cameras" in err
    assert not Small.sizes


STARTS = "[[starts]]\nobject_y_m = { low = 0.05 }\n"


def test_starts_bound_the_initial_values_on_any_target(run, checkpoint, tmp_path, monkeypatch):
    """On a target of its own with --starts, on sim:FILE without."""
    begun = []

    def seen(job):
        begun.extend(c.reset["object_y_m"] for c in job.conditions)
        return trying.trial_job(job)

    monkeypatch.setattr(single, "trial_job", seen)
    monkeypatch.setattr(single, "pool_of", lambda workers: make_executor("inline"))
    (tmp_path / "left.toml").write_text(STARTS)
    command = ("evaluate", checkpoint, "--trials", "3")
    assert run(*command, "--on", "sim", "--out", "a.jsonl", "--starts", "left.toml")[0] == 0
    assert run(*command, "--on", "sim:left.toml", "--out", "b.jsonl")[0] == 0
    assert begun[:3] == begun[3:]
    assert min(begun) >= 0.05
    code, _, err = run(*command, "--on", "sim", "--out", "c.jsonl", "--starts", "full")
    assert (code, "no [[starts]]" in err) == (2, True)
