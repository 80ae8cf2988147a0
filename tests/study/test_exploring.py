"""An exploration from end to end over a fake world: found, resumed, refused."""

import json
import shutil
import subprocess
import sys
import time

import jsonschema
import pytest
import torch
from tests.study.fake_world import Breaking, Still

from simreal.compute import executor
from simreal.compute.executor import make_executor
from simreal.core.errors import BadDataError, InterruptedRunError, UsageError
from simreal.core.files import read_jsonl
from simreal.policies.checkpoint import save_checkpoint
from simreal.policies.network import CompactNetwork, NetworkShape
from simreal.study import explore_job, exploring
from simreal.study.exploring import Asked, Exploring
from simreal.study.ledger import read_charges
from simreal.verdicts.schemas import schema
from simreal.worlds.randomize import profile
from simreal.worlds.so101_rig import SO101
from simreal.worlds.tasks import TASKS
from simreal.worlds.tasks import task as find_task

PROFILE = """
[axes.exposure]
operation = "add"
low = -1.0
high = 1.0
[axes.light_intensity]
operation = "scale"
low = 0.5
high = 1.5
[axes.object_mass]
operation = "scale"
low = 0.5
high = 1.5
[axes.light_count]
distribution = "integers"
low = 1
high = 3
"""


def dark(values, reset):
    return (0.8, "never reached") if values["exposure"][0] < -0.5 else (0.05, "slipped")


def even(values, reset):
    return 0.3, "missed"


def aside(values, reset):
    return (0.8, "missed") if reset["object_y_m"] > 0.05 else (0.05, "slipped")


@pytest.fixture
def explored(tmp_path, checkpoint, monkeypatch):
    """Explores with the fake world; returns (map, folder, world)."""
    (tmp_path / "mine.toml").write_text(PROFILE)
    monkeypatch.setattr(explore_job, "policy_of", lambda checkpoint: Still())

    def go(rate, out="out", trials=800, told=lambda n: None, **asked):
        world = Breaking(rate)

        def stage(config):
            world.stage = world.stage or explore_job._Stage(config)
            return world.stage, world

        monkeypatch.setattr(explore_job, "_stage", stage)
        wanted = Asked(
            checkpoint, "lift", tmp_path / out, str(tmp_path / "mine.toml"), trials, **asked
        )
        one = Exploring(wanted)
        with make_executor("inline") as pool:
            one.play(pool, told)
        return one.conclude(), tmp_path / out, world

    return go


def test_a_planted_region_is_found_and_its_files_written(explored):
    found, out, world = explored(dark)
    jsonschema.validate(found, schema("explore"))
    assert json.loads((out / "map.json").read_text()) == found
    standing = [r for r in found["regions"] if r["state"] == "stands out"]
    assert standing[0]["text"].startswith("exposure below -0.5")
    assert standing[0]["kinds"]["never reached"] > standing[0]["kinds"].get("slipped", 0)
    assert standing[0]["inside"]["rate"] > 0.6 > 0.2 > standing[0]["outside"]["rate"]
    assert found["next_profile"] == "explored.toml"
    for name in ("explore.html", "explored.toml", standing[0]["profile"]):
        assert (out / name).is_file()
    assert all((out / "media" / name).is_file() for name in standing[0]["pictures"])
    lines = list(read_jsonl(out / "explore.jsonl"))
    assert [line["index"] for line in lines] == list(range(len(lines)))
    assert world.played == len(lines) == sum(found["trials"].values())
    assert len(lines) <= 800
    assert len({c.work for c in read_charges(out / "ledger.jsonl")}) >= 10


def test_no_region_stands_out_of_noise(explored):
    found, out, _ = explored(even)
    assert [r for r in found["regions"] if r["state"] == "stands out"] == []
    assert found["next_profile"] is None
    assert "No region stands out" in (out / "explore.html").read_text()


def test_a_region_of_initial_values_has_a_profile_with_starts(explored):
    found, out, _ = explored(aside)
    first = found["regions"][0]
    assert (first["state"], first["profile"]) == ("stands out", "region-1.toml")
    assert first["text"].startswith("object_y_m above")
    (starts,) = profile(str(out / "region-1.toml"), SO101).starts
    assert starts.weight == 1.0
    assert [(n, low) for n, low, _ in starts.bounds] == [("object_y_m", first["bounds"][0]["low"])]


def test_a_policy_that_never_fails_has_an_empty_map(explored):
    found, _, _ = explored(lambda values, reset: (0.0, "missed"), trials=400)
    assert found["regions"] == []
    assert found["failures"]["k"] == 0


@pytest.mark.parametrize("after", [60, 390, 700])
def test_an_interrupted_exploration_goes_on_where_it_was(explored, after):
    whole, out, _ = explored(dark, "whole", trials=800)

    def stop(n):
        stop.done += n
        if stop.done > after:
            raise InterruptedRunError("stopped")

    stop.done = 0
    with pytest.raises(InterruptedRunError):
        explored(dark, "cut", told=stop)
    cut = out.parent / "cut"
    with (cut / "explore.jsonl").open("a") as file:
        file.write('{"torn": ')
    before = len(list(read_jsonl(cut / "explore.jsonl")))
    found, _, world = explored(dark, "cut", resume=True)
    assert found == whole
    assert world.played == 800 - before or world.played == sum(whole["trials"].values()) - before
    for name in ("explore.jsonl", "search.jsonl", "candidates.json", "explored.toml"):
        assert (cut / name).read_text() == (out / name).read_text()


def test_lines_that_a_kill_let_through_in_part_are_not_written_twice(explored):
    whole, out, _ = explored(dark, "whole")
    shutil.copytree(out, out.parent / "cut")
    path = out.parent / "cut" / "explore.jsonl"
    kept = path.read_text().splitlines(keepends=True)[:70]
    path.write_text("".join(kept))
    for name in ("search.jsonl", "candidates.json", "map.json"):
        (path.parent / name).unlink()
    found, _, _ = explored(dark, "cut", resume=True)
    assert found == whole
    assert path.read_text() == (out / "explore.jsonl").read_text()


def test_another_seed_is_another_exploration(explored):
    _, one, _ = explored(dark, "one", trials=400)
    _, two, _ = explored(dark, "two", trials=400, seed=1)
    a, b = (list(read_jsonl(f / "explore.jsonl")) for f in (one, two))
    assert all(x["values"] != y["values"] for x, y in zip(a, b, strict=False))


def spoilt(**changes):
    return lambda line: json.dumps({**json.loads(line), **changes})


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("explore.jsonl", lambda line: '{"index": 1}', "line 6, is no trial of an exploration"),
        ("explore.jsonl", spoilt(values={"nope": [1.0]}), "line 6, is no trial"),
        ("explore.jsonl", spoilt(reset={"object_y_m": float("nan")}), "line 6, is no trial"),
        ("explore.jsonl", spoilt(plan_sha="0"), "line 6: a trial of another exploration"),
        ("explore.jsonl", lambda line: f"{line}\n{line}", "line 7: the trial 5 stands there twice"),
        ("search.jsonl", lambda line: '{"round": 0}', "line 1, is no round of a search"),
        ("candidates.json", lambda line: "{}", "holds no regions"),
        (
            "candidates.json",
            lambda line: (
                '{"regions": [[{"factor": "nope", "low": 0.1, "high": null, "text": ""}]]}'
            ),
            "bounds 'nope', which is not searched",
        ),
        ("plan.json", lambda line: "[]", "is no plan of an exploration"),
    ],
)
def test_spoilt_records_are_named(explored, tmp_path, name, change, says):
    explored(dark, trials=400)
    path = tmp_path / "out" / name
    if name == "explore.jsonl":
        lines = path.read_text().splitlines()
        path.write_text("\n".join([*lines[:5], change(lines[5]), *lines[6:], ""]))
    else:
        path.write_text(change("") + "\n")
    with pytest.raises(BadDataError, match=says):
        explored(dark, trials=400, resume=True)


def test_two_processes_do_not_explore_into_one_folder(explored, tmp_path):
    explored(dark, trials=400)
    lines = (tmp_path / "out" / "explore.jsonl").read_text()
    take = (
        "import sys; from pathlib import Path; from simreal.demos.journal import Lock; "
        "lock = Lock(Path(sys.argv[1]), 'it'); print('held', flush=True); sys.stdin.read()"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", take, str(tmp_path / "out" / exploring.LOCK)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with other:
        assert other.stdout.readline() == "held\n"
        with pytest.raises(UsageError, match="is being written by another process"):
            explored(dark, trials=400, resume=True)
        other.stdin.close()
    assert (tmp_path / "out" / "explore.jsonl").read_text() == lines
    explored(dark, trials=400, resume=True)


def test_a_wrong_request_leaves_no_folder(run, checkpoint, tmp_path):
    for wrong, says in ((("--seed", "-1"), "Seed -1"), (("--workers", "0"), "workers must be 1")):
        code, _, err = run("explore", checkpoint, "--task", "lift", "--out", "where", *wrong)
        assert (code, says in err) == (2, True), err
        assert not (tmp_path / "where").exists()


def test_a_folder_is_begun_once(explored, tmp_path):
    explored(dark, trials=400)
    with pytest.raises(UsageError, match="--resume"):
        explored(dark, trials=400)
    with pytest.raises(UsageError, match=r"another exploration \(trials differ"):
        explored(dark, trials=500, resume=True)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match="not empty"):
        explored(dark, "mine", trials=400)
    with pytest.raises(UsageError, match="is a file"):
        explored(dark, "mine.toml", trials=400)


@pytest.mark.parametrize(
    ("options", "says", "code"),
    [
        (["--task", "lfit"], "Unknown task 'lfit'", 2),
        (["--task", "insert"], "The policy moves the joints", 1),
        (["--task", "lift", "--profile", "none"], "randomizes nothing", 2),
        (["--task", "lift", "--profile", "fulll"], "Did you mean 'full'", 2),
        (["--task", "lift", "--trials", "50"], "--trials 50; give 400", 2),
    ],
)
def test_a_bad_request_ends_with_one_sentence(run, checkpoint, options, says, code):
    found, out, err = run("explore", checkpoint, "--out", "x", *options)
    assert found == code
    assert says in err
    assert err.count("\n") == 1
    assert out == ""


def test_a_checkpoint_that_is_none_is_named(run, tmp_path):
    code, _, err = run("explore", tmp_path / "nothing", "--task", "lift")
    assert code in (1, 2)
    assert "nothing" in err
    assert err.count("\n") == 1


def test_the_command_prints_text_of_80_columns_or_one_object(
    run, explored, checkpoint, tmp_path, monkeypatch
):
    explored(dark, "once")
    monkeypatch.setattr(executor, "make_executor", lambda kind, workers: make_executor("inline"))
    options = ("--task", "lift", "--profile", tmp_path / "mine.toml", "--trials", 800)
    code, out, _ = run("explore", checkpoint, *options, "--out", "once", "--resume")
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80
    assert "stand" in out.splitlines()[0]
    code, out, _ = run("explore", checkpoint, *options, "--out", "once", "--resume", "--json")
    assert code == 0
    assert len(out.splitlines()) == 1
    jsonschema.validate(json.loads(out), schema("explore"))


@pytest.mark.slow
def test_neither_workers_nor_a_kill_change_what_is_found(run, checkpoint, tmp_path):
    """The real world: with one worker; with two, killed in the middle and gone on with."""
    (tmp_path / "mine.toml").write_text(PROFILE)
    options = ("--task", "lift", "--profile", "mine.toml", "--trials", "400")
    code, out, err = run("explore", checkpoint, *options, "--out", "one", "--workers", 1, "--json")
    assert code == 0, err
    jsonschema.validate(json.loads(out), schema("explore"))
    words = ["explore", str(checkpoint), *options, "--out", "two", "--workers", "2"]
    process = subprocess.Popen([sys.executable, "-m", "simreal.cli", *words], cwd=tmp_path)
    while len(list(read_jsonl(tmp_path / "two" / "explore.jsonl"))) < 100:
        assert process.poll() is None
        time.sleep(0.2)
    process.kill()
    process.wait()
    assert run(*words, "--resume")[0] == 0
    for name in ("explore.jsonl", "map.json", "explore.html"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("task", sorted(TASKS))
def test_every_task_can_be_explored(run, task, tmp_path):
    """Real physics, all axes of the full profile, a policy that was never trained."""
    robot = find_task(task).robot
    cameras = {"scene": (16, 16), "wrist": (16, 16)}
    felt = "full" if robot.wrench else "none"
    network = CompactNetwork(NetworkShape(robot.channels, cameras, wrench=felt), seed=0)
    with torch.no_grad():
        for name, value in network.named_buffers():
            value.fill_({"mean": 0.0, "value": 0.0, "scale": 5.0}.get(name.rpartition("_")[2], 1.0))
    save_checkpoint(tmp_path / "checkpoint", network, 4, {"steps": 0})
    code, out, err = run(
        "explore", "checkpoint", "--task", task, "--trials", 400, "--out", "out", "--json"
    )
    assert code == 0, err
    found = json.loads(out)
    assert set(found["kinds"]) <= {*find_task(task).kinds, "diverged", "unsafe stop", "collided"}
    assert found["trials"]["coverage"] > 0


def test_the_default_of_the_command_is_the_study_s(run):
    import inspect

    from simreal.verbs.exploring import explore

    assert inspect.signature(explore).parameters["trials"].default == exploring.TRIALS
