"""Trials of a study: what a kill leaves is completed, and no trial stands twice."""

import dataclasses
import json

import pytest
from tests.contract.fake_target import FakeTarget
from tests.trials.test_run import Pans

from simreal.compute.executor import make_executor
from simreal.compute.meter import Meter
from simreal.core.errors import InterruptedRunError
from simreal.core.types import Condition
from simreal.study import trying
from simreal.study.ledger import Ledger
from simreal.study.targets import TargetJob
from simreal.study.trying import TrialJob, run_trials, trial_charges
from simreal.trials.run import done_trials, run_shard

SHA = "c" * 64


def jobs():
    """Two arms on one target, three shards of four conditions each."""
    shards = [
        tuple(Condition(i, "nominal", {}, seed=i) for i in range(first, first + 4))
        for first in (0, 4, 8)
    ]
    return [
        TrialJob(SHA, arm, 0, f"{arm}/checkpoint", TargetJob("twin:a"), "a", "target", shard, 12)
        for arm in ("sim-only", "real-only")
        for shard in shards
    ]


def play(job):
    options = {"target_name": job.name, "plan_sha": job.plan_sha, "arm": job.arm, "seed": job.seed}
    return run_shard(FakeTarget(), Pans(), job.conditions, horizon=job.horizon, **options)


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Runs what is not done yet; returns the shards that were played."""
    played = []

    def job(given):
        played.append(given.key(given.conditions[0].index))
        return play(given)

    monkeypatch.setattr(trying, "trial_job", job)

    def go(folder=tmp_path / "study"):
        played.clear()
        done = done_trials(folder / "trials.jsonl", SHA)
        with make_executor("inline") as pool:
            run_trials(folder, jobs(), done, pool, Ledger(folder / "ledger.jsonl"))
        return list(played), sorted((folder / "trials.jsonl").read_text().splitlines())

    return go


def test_every_trial_of_every_shard_is_recorded_once(run, tmp_path):
    played, lines = run()
    assert len(played) == 6
    keys = [(t["arm"], t["condition"]) for t in map(json.loads, lines)]
    assert sorted(keys) == [(arm, i) for arm in ("real-only", "sim-only") for i in range(12)]
    assert run() == ([], lines)


@pytest.mark.parametrize("kept", [0, 3, 4, 6, 23])
@pytest.mark.parametrize("torn", [0, 17])
def test_whatever_a_kill_left_is_completed(run, tmp_path, kept, torn):
    """Whole lines of a half-written shard count; the shard is played again for the rest."""
    unbroken = run(tmp_path / "unbroken")[1]
    run()
    path = tmp_path / "study" / "trials.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:kept]) + lines[kept][:torn])
    played, after = run()
    assert after == unbroken
    assert len(played) == 6 - kept // 4


def test_time_is_charged_once_however_often_a_shard_is_played(run, tmp_path):
    run()
    ledger = tmp_path / "study" / "ledger.jsonl"
    before = ledger.read_text()
    (tmp_path / "study" / "trials.jsonl").unlink()
    run()
    assert ledger.read_text() == before
    charges = [json.loads(line) for line in before.splitlines()]
    assert {c["kind"] for c in charges} == {"trial", "reset"}
    assert all("stand-in (simulated)" in c["note"] for c in charges)
    trials = [c["quantity"] for c in charges if (c["kind"], c["unit"]) == ("trial", "count")]
    assert sum(trials) == 24


def test_an_interrupted_run_keeps_what_is_finished(run, tmp_path, monkeypatch):
    unbroken = run(tmp_path / "unbroken")[1]

    def interrupted(job):
        if job.arm == "real-only":
            raise KeyboardInterrupt
        return play(job)

    with monkeypatch.context() as patch:
        patch.setattr(trying, "trial_job", interrupted)
        with pytest.raises(InterruptedRunError):
            run()
    assert len((tmp_path / "study" / "trials.jsonl").read_text().splitlines()) == 12
    assert run()[1] == unbroken


def test_filmstrips_are_kept_once_for_each_kind(run, tmp_path):
    run()
    index = json.loads((tmp_path / "study" / "media" / "index.json").read_text())
    kinds = [(e["arm"], e["failure"], e["camera"]) for e in index]
    assert len(set(kinds)) == len(kinds) == 4
    assert all((tmp_path / "study" / "media" / e["file"]).is_file() for e in index)


def kinds(charges):
    return [(c.kind, c.unit) for c in charges]


def test_trials_in_simulation_take_a_machine_and_nobodys_time():
    job = dataclasses.replace(jobs()[0], role="sim")
    with Meter("evaluate", job.arm) as meter:
        tried = play(job)
    tried = dataclasses.replace(tried, computed=meter.charge())
    assert kinds(trial_charges(job, tried)) == [("evaluate", "s")]


def test_collisions_in_simulation_are_avoided_and_on_a_target_incidents():
    job, tried = jobs()[0], play(jobs()[0])
    hit = [dataclasses.replace(t, collisions=2) for t in tried.trials]
    tried = dataclasses.replace(tried, trials=tuple(hit))
    in_simulation = trial_charges(dataclasses.replace(job, role="sim"), tried)
    assert [(c.kind, c.quantity) for c in in_simulation] == [("avoided", 8)]
    assert {c.kind: c.quantity for c in trial_charges(job, tried)}["incident"] == 8
