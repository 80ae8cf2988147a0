import dataclasses
import json

import numpy as np
import pytest
from tests.contract.fake_target import FakeTarget, conditions

from simreal.core.errors import BadDataError
from simreal.core.files import append_jsonl
from simreal.core.types import Trial
from simreal.trials.run import done_trials, record, run_shard

HORIZON = 12
SHA = "a" * 64


class Pans:
    """Turns world i by 9 (i + 1) degrees; success on the fake target is a pan beyond 20."""

    def __init__(self, every=3):
        self.every, self.step, self.looked = every, 0, 0

    def reset(self, n):
        self.n, self.step = n, 0

    def looks(self):
        return self.step % self.every == 0

    def act(self, observation):
        assert bool(observation.images) == self.looks()
        self.step += 1
        goal = observation.joint_pos.copy()
        goal[:, 0] = 9.0 * (np.arange(self.n) + 1)
        return goal


def tried(n=5, target=None, **changes):
    options = {"target_name": "a", "plan_sha": SHA, "arm": "sim-only", "seed": 2}
    return run_shard(
        target or FakeTarget(), Pans(), conditions(n), horizon=HORIZON, **{**options, **changes}
    )


def test_each_condition_gives_a_trial():
    trials = tried().trials
    assert [t.condition for t in trials] == [0, 1, 2, 3, 4]
    assert [t.success for t in trials] == [False, False, True, True, True]
    assert [t.failure for t in trials] == ["never panned"] * 2 + [None] * 3
    for trial in trials:
        assert (trial.plan_sha, trial.arm, trial.seed, trial.target) == (SHA, "sim-only", 2, "a")
        assert trial.suite == "nominal"
        assert trial.seconds == trial.steps / 20
        assert trial.peak_force is None
        assert trial.overruns == 0


def test_trials_are_valid_records():
    jsonschema = pytest.importorskip("jsonschema")
    from simreal.verdicts.schemas import schema

    for trial in tried().trials:
        jsonschema.validate(record(trial), schema("trials"))


def test_late_control_periods_reach_the_records():
    class Slow(FakeTarget):
        def outcome(self):
            return dataclasses.replace(super().outcome(), overruns=self.step)

    assert [t.overruns for t in tried(2, Slow()).trials] == [HORIZON, HORIZON]


def test_films_show_the_first_of_each_kind_and_only_what_the_policy_saw():
    strips = tried().strips
    assert sorted(strips) == [0, 2]
    assert set(strips[0]) == {"scene"}
    assert len(strips[0]["scene"]) == HORIZON / 3
    seen = strips[2]["scene"][:, 0, 0, 0].astype(int)
    assert (np.diff(seen) >= 0).all()
    assert seen[-1] > seen[0]


def lines(path, **changes):
    """Five trials on disk."""
    trials = [dataclasses.replace(t, **changes) for t in tried().trials]
    append_jsonl(path, [record(t) for t in trials])
    return trials


def test_what_is_done_is_read_from_the_records(tmp_path):
    path = tmp_path / "trials.jsonl"
    assert done_trials(path, SHA) == set()
    lines(path)
    assert done_trials(path, SHA) == {("sim-only", 2, "a", "nominal", i) for i in range(5)}
    lines(path, suite="backgrounds")
    assert len(done_trials(path, SHA)) == 10
    path.write_bytes(path.read_bytes()[:-5])
    assert len(done_trials(path, SHA)) == 9


def test_a_trial_of_another_plan_or_told_twice_is_refused(tmp_path):
    path = tmp_path / "trials.jsonl"
    lines(path)
    with pytest.raises(BadDataError, match="line 1: a trial of another plan"):
        done_trials(path, "b" * 64)
    path.write_text(json.dumps({"plan_sha": SHA, "arm": "x"}) + "\n")
    with pytest.raises(
        BadDataError, match="line 1: a trial without seed, target, suite, condition"
    ):
        done_trials(path, SHA)
    path.unlink()
    lines(path)
    lines(path)
    with pytest.raises(BadDataError, match=r"line 6: the trial .* stands there twice"):
        done_trials(path, SHA)


def test_a_record_is_a_trial():
    trial = tried(1).trials[0]
    assert Trial(**record(trial)) == trial
