"""Trials that stop when they have decided: blocks, the declared plan, resuming."""

import dataclasses
import json
import shutil

import jsonschema
import pytest
from tests.contract.fake_target import FakeTarget

from simreal.core.types import Trial
from simreal.study import deciding, targets, trying
from simreal.study.deciding import arm_names
from simreal.trials.plan import load_plan
from simreal.trials.run import Tried
from simreal.verdicts.judged_schema import EVALUATE


class Table(FakeTarget):
    """A target with the cameras of the test's checkpoint that takes four conditions at once."""

    def __init__(self, argument, job):
        super().__init__(batch=4)
        cameras = {"scene": (16, 16), "wrist": (16, 16)}
        self.spec = dataclasses.replace(self.spec, kind="twin", cameras=cameras, label="stand-in")


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


class Played(list):
    """What was played, in order; the player is interrupted on the arm `stops_at`."""

    stops_at = None


@pytest.fixture
def played(monkeypatch):
    """Jobs are answered from a rule on the arm's name."""
    calls = Played()
    kinds = {**targets.factories(), "table": Table}
    monkeypatch.setattr(targets, "factories", lambda: kinds)
    monkeypatch.setattr(deciding, "pool_of", lambda workers: deciding.make_executor("inline"))

    def job(job):
        calls.append((job.arm, tuple(c.index for c in job.conditions)))
        if job.arm == calls.stops_at:
            raise KeyboardInterrupt
        trials = [
            Trial(
                job.plan_sha,
                job.arm,
                job.seed,
                job.name,
                c.suite,
                c.index,
                success=job.arm == "good" or c.index % 5 == 0,
                score={"good": 1.0, "poor": 0.25}.get(job.arm, 1.0 if c.index % 5 == 0 else 0.5),
                failure=None,
                steps=3,
                seconds=0.15,
                collisions=0,
                peak_force=None,
                overruns=0,
            )
            for c in job.conditions
        ]
        return Tried(tuple(trials), {})

    monkeypatch.setattr(trying, "trial_job", job)
    return calls


@pytest.fixture
def runs(checkpoint, tmp_path):
    """Two checkpoints, of the runs `good` and `poor`, with other weights."""
    for name in ("good", "poor"):
        shutil.copytree(checkpoint, tmp_path / name / "checkpoint")
    weights = tmp_path / "poor" / "checkpoint" / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(bytes(content))
    return "good/checkpoint", "poor/checkpoint"


ON = ("--on", "table:x", "--out", "t.jsonl", "--until-decided")


def test_two_checkpoints_are_tried_in_blocks_until_one_is_ahead(run, runs, played, tmp_path):
    good, poor = runs
    command = ("evaluate", good, *ON, "--max-trials", "60", "--against", poor)
    code, out, err = run(*command, "--json")
    assert code == 0, err
    found = json.loads(out)
    jsonschema.validate(found, EVALUATE)
    assert (found["state"], found["trials"], found["saved"]) == ("better", 20, 100)
    assert [(a["arm"], a["k"], a["n"]) for a in found["arms"]] == [
        ("good", 10, 10),
        ("poor", 2, 10),
    ]
    # Blocks of ten conditions in shards of four, the same for both, who begins in turn.
    assert played == [
        ("good", (0, 1, 2, 3)),
        ("poor", (0, 1, 2, 3)),
        ("poor", (4, 5, 6, 7)),
        ("good", (4, 5, 6, 7)),
        ("good", (8, 9)),
        ("poor", (8, 9)),
    ]
    plan = load_plan(tmp_path / "t.plan.json")
    assert {line["plan_sha"] for line in lines(tmp_path / "t.jsonl")} == {plan.sha}
    assert found["plan_sha"] == plan.sha
    declared = plan.content["tests"]["sequential"]
    assert (declared["max_trials"], declared["block"], declared["by"]) == (60, 10, "success")
    assert plan.content["shard"] == 10
    played.clear()
    assert run(*command, "--json")[1] == out
    assert played == []


def test_it_says_what_was_found_and_saved(run, runs, played):
    good, poor = runs
    text = run("evaluate", good, *ON, "--max-trials", "60", "--against", poor)[1]
    said = text.splitlines()
    assert said[0].startswith("good did better than poor: +80.0 points (")
    assert said[1:4] == [
        "good: 10/10 = 100 % (58 to 100), mean stage score 1.00.",
        "poor: 2/10 = 20 % (1 to 65), mean stage score 0.25.",
        "On table:x, stand-in.",
    ]
    assert "Stopped after 10 of 60 conditions" in said[4]
    assert said[4].endswith("100 trials saved.")
    assert said[-1] == "Declared beforehand in t.plan.json."


def test_a_single_checkpoint_against_a_rate(run, runs, played):
    good, poor = runs
    reached = run("evaluate", good, *ON, "--max-trials", "90", "--at-least", "0.8")[1]
    assert reached.startswith("good: success is above 80 %: 100 % (")
    assert "Stopped after 30 of 90 conditions" in reached
    other = ("--on", "table:x", "--out", "u.jsonl", "--until-decided", "--max-trials", "20")
    missed = run("evaluate", poor, *other, "--at-least", "0.8", "--block", "5")[1]
    assert missed.startswith("poor: success is below 80 %")


def test_by_score_and_what_cannot_be_decided(run, runs, played):
    good, poor = runs
    out = run(
        "evaluate", good, *ON, "--max-trials", "30", "--against", poor, "--by", "score", "--json"
    )[1]
    found = json.loads(out)
    assert (found["by"], found["state"]) == ("score", "better")
    text = run(
        "evaluate",
        good,
        "--on",
        "table:x",
        "--out",
        "v.jsonl",
        "--until-decided",
        "--max-trials",
        "12",
        "--at-least",
        "0.95",
    )[1]
    assert "cannot be told by these trials" in text
    assert "All 12 conditions were tried; none was saved." in text


def test_an_interrupted_one_goes_on_where_it_was(run, runs, played, tmp_path):
    good, poor = runs
    command = ("evaluate", good, *ON, "--max-trials", "60", "--against", poor)
    played.stops_at = "poor"
    code, _, _ = run(*command)
    assert code == 3
    some = lines(tmp_path / "t.jsonl")
    assert [t["arm"] for t in some] == ["good"] * 4
    played.stops_at = None
    assert run(*command)[0] == 0
    found = lines(tmp_path / "t.jsonl")
    assert found[:4] == some
    assert len(found) == 20
    assert played.count(("good", (0, 1, 2, 3))) == 1


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--max-trials", "20"), "needs --against CHECKPOINT or --at-least RATE"),
        (("--at-least", "0.8"), "--until-decided goes with --max-trials N"),
        (("--max-trials", "20", "--trials", "5", "--at-least", "0.8"), "(not --trials)"),
        (("--max-trials", "0", "--at-least", "0.8"), "--max-trials 0; ask for at least 1"),
        (("--max-trials", "9", "--at-least", "0.8", "--block", "0"), "--block 0"),
        (("--max-trials", "9", "--at-least", "80"), "a fraction such as 0.85, not 80"),
        (("--max-trials", "9", "--against", "good/checkpoint"), "is compared with itself"),
        (("--max-trials", "9", "--against", "nowhere"), "no checkpoint folder"),
    ],
)
def test_a_wrong_request_is_one_sentence(run, runs, played, tmp_path, more, words):
    code, out, err = run("evaluate", runs[0], *ON, *more)
    assert (code, out) == (2, "")
    assert words in err
    assert len(err.splitlines()) == 1
    assert not list(tmp_path.glob("t.*"))


def test_questions_need_until_decided(run, runs):
    code, _, err = run(
        "evaluate", runs[0], "--on", "sim", "--out", "t.jsonl", "--at-least", "0.8", "--block", "3"
    )
    assert code == 2
    assert "--at-least and --block: only with --until-decided" in err


def test_what_was_declared_is_not_changed_afterwards(run, runs, played, tmp_path):
    command = ("evaluate", runs[0], *ON, "--at-least", "0.8")
    assert run(*command, "--max-trials", "40")[0] == 0
    for changed in (
        ("--max-trials", "41"),
        ("--max-trials", "40", "--by", "score"),
        ("--max-trials", "40", "--seed", "1"),
        ("--max-trials", "40", "--block", "5"),
    ):
        code, _, err = run(*command, *changed)
        assert code == 2
        assert "t.plan.json declares another evaluation" in err
    (tmp_path / "t.plan.json").unlink()
    code, _, err = run(*command, "--max-trials", "40")
    assert code == 2
    assert "holds trials that no plan" in err


def test_a_trial_of_another_plan_is_refused(run, runs, played, tmp_path):
    command = ("evaluate", runs[0], *ON, "--at-least", "0.8", "--max-trials", "40")
    assert run(*command)[0] == 0
    path = tmp_path / "t.jsonl"
    path.write_text(path.read_text().replace('"plan_sha": "', '"plan_sha": "0'))
    code, _, err = run(*command)
    assert code == 1
    assert "a trial of another plan" in err


def test_arms_are_named_by_what_tells_them_apart(tmp_path):
    first, second = tmp_path / "a" / "0" / "checkpoint", tmp_path / "b" / "0" / "checkpoint"
    assert arm_names([first]) == ("0",)
    study = tmp_path / "runs" / "sim-only" / "any" / "0" / "checkpoint"
    assert arm_names([study]) == ("sim-only/any/0",)
    assert arm_names([first, second]) == ("a/0", "b/0")
