"""Forces over trials: what a shard leaves, what its quantiles are, and what an operator tried."""

import dataclasses
import json

import numpy as np
import pytest
from tests.contract.fake_target import FakeTarget, conditions
from tests.trials.test_run import HORIZON, SHA, Pans

from simreal.core.errors import BadDataError
from simreal.core.files import read_jsonl
from simreal.demos.live import Attempt
from simreal.study.data import _live_line, operator_reset
from simreal.study.evidence import _operator, _variants
from simreal.study.forces import PROFILES, RECORDS, keep_forces, write_profiles
from simreal.trials.run import run_shard
from simreal.worlds.tasks import task

NAMES = {"arm": "hybrid", "seed": 0, "target": "a", "suite": "nominal"}


class Feeling(FakeTarget):
    """The fake target as a tool that goes down 2 mm a step and feels its step number and 0.5 N."""

    def __init__(self):
        super().__init__()
        names = ("shoulder_pan", "tool_x", "tool_z", "tool_rx", "tool_ry", "tool_rz")
        self.spec = dataclasses.replace(self.spec, joint_names=names, wrench=True)

    def observe(self, images=True):
        seen = super().observe(images)
        joints = seen.joint_pos.copy()
        joints[:, 2] = 100 - 2 * self.step
        wrench = np.zeros((len(joints), 25, 6), np.float32)
        wrench[:, 3, :3] = [0, 0.3 * (self.step + 0.5), 0.4 * (self.step + 0.5)]  # 0.5 (step + .5)
        wrench[:, :, 5] = 99.0  # torques are no forces
        return dataclasses.replace(seen, joint_pos=joints, wrench=wrench)


def tried():
    options = {"target_name": "a", "plan_sha": SHA, "arm": "hybrid", "seed": 0}
    return run_shard(Feeling(), Pans(), conditions(5), horizon=HORIZON, **options)


def test_forces_are_the_largest_of_each_window_until_the_trial_ends():
    found = tried()
    steps = [trial.steps for trial in found.trials]
    force, way = found.felt.of(4, steps[4])
    assert force == pytest.approx(0.5 * (np.arange(steps[4]) + 0.5))
    assert way == pytest.approx(2 * np.arange(steps[4])[::-1])


def test_a_target_without_a_sensor_leaves_nothing(tmp_path):
    options = {"target_name": "a", "plan_sha": SHA, "arm": "hybrid", "seed": 0}
    found = run_shard(FakeTarget(), Pans(), conditions(2), horizon=3, **options)
    assert found.felt is None
    keep_forces(tmp_path, NAMES, found, [], 20.0)
    write_profiles(tmp_path, [])
    assert list(tmp_path.iterdir()) == []


def test_quantiles_come_of_the_bins_and_a_shard_played_twice_counts_once(tmp_path):
    found = tried()
    for target in ("a", "b", "simulation", "a"):
        keep_forces(tmp_path, {**NAMES, "target": target}, found, [2], 20.0)
    (tmp_path / "media").mkdir()
    write_profiles(tmp_path, ["simulation"])
    content = json.loads((tmp_path / PROFILES).read_text())
    profiles = {p["target"]: p for p in content["profiles"]}
    assert {name: p["trials"] for name, p in profiles.items()} == {
        "a": 5,
        "b": 5,
        "simulation": 5,
        "targets": 10,
    }
    assert profiles["targets"]["successes"] == 6
    longest = max(trial.steps for trial in found.trials)
    time = profiles["targets"]["time_s"]
    assert time["at"][0] == 0.25
    assert time["p50"][0] == pytest.approx(0.5 * (min(10, longest) - 0.5), abs=0.05)
    films = content["films"]
    assert {(f["target"], f["condition"]) for f in films} == {
        (t, found.trials[2].condition) for t in ("a", "b", "simulation")
    }
    assert films[0]["force_n"][1] == pytest.approx(0.8, abs=0.06)


def test_records_are_small(tmp_path):
    keep_forces(tmp_path, NAMES, tried(), [], 20.0)
    assert (tmp_path / RECORDS).stat().st_size < 5 * 300


def test_a_missing_sample_is_left_out(tmp_path):
    found = tried()
    found.felt.force[1][0] = np.nan
    keep_forces(tmp_path, NAMES, found, [0], 20.0)
    (line,) = read_jsonl(tmp_path / RECORDS)
    assert line["trials"][0]["film"]["force"][1] is None


def test_an_operators_attempts_are_counted_by_suite(tmp_path):
    attempts = [
        Attempt(condition=i, episode=None, success=i % 3 > 0, failure=None, seconds=1.0)
        for i in range(60)
    ]
    line = _live_line(attempts, "insert", seed=5)
    assert sum(n for _, n in line["suites"].values()) == line["attempts"] == 60
    assert sum(k for k, _ in line["suites"].values()) == 40
    wide = [
        a.success
        for a in attempts
        if operator_reset("insert", 5, a.condition)["clearance_m"]
        == task("insert").suites["wide"]["clearance_m"]
    ]
    assert line["suites"]["wide"] == [sum(wide), len(wide)]
    assert "suites" not in _live_line(attempts, "lift", seed=5)
    (tmp_path / "data").mkdir()
    log = tmp_path / "data" / "real-a.shards.jsonl"
    log.write_text(json.dumps(line) + "\n" + json.dumps(line) + "\n")
    counts = _operator(tmp_path, ["a", "b"])
    assert counts.keys() == {"a"}
    assert counts["a"]["wide"] == (2 * sum(wide), 2 * len(wide))


def test_arms_that_sense_something_else_than_the_first_are_variants():
    arms = [{"name": "a", "wrench": "full"}, {"name": "b", "wrench": "full"}]
    assert _variants([*arms, {"name": "c", "wrench": "none"}]) == ("c",)
    assert _variants([{"name": "a"}, {"name": "b"}]) == ()


@pytest.mark.parametrize(
    "line",
    [
        {"bad": 1},
        {**NAMES, "trials": [3]},
        {**NAMES, "trials": [{"condition": 0, "success": True, "time": ["a"] * 3, "way": []}] * 5},
        {**NAMES, "trials": [{"condition": 0, "success": True, "time": 3, "way": []}]},
        {**NAMES, "trials": 3},
        {**NAMES, "arm": [], "trials": []},
    ],
)
def test_records_that_no_trial_left_are_refused_by_name(tmp_path, line):
    (tmp_path / RECORDS).write_text(json.dumps(line) + "\n")
    with pytest.raises(BadDataError, match=r"forces\.jsonl holds what no trial felt"):
        write_profiles(tmp_path, ())
