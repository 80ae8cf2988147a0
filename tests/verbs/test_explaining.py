"""`gap`, `gap --explain` and `twin profile` as a user meets them: bad input, output, JSON."""

import json

import jsonschema
import pytest

from simreal.core.files import write_json
from simreal.robots.twinfile import TwinFile, write_twin
from simreal.study.profilefile import read_profile
from simreal.study.run import Study
from simreal.study.spec import load_study, study_from_json
from simreal.verdicts.schemas import schema

CSV = "condition,success\n" + "".join(f"{i},{int(i % 3 > 0)}\n" for i in range(30))


def refused(result, code, *words):
    assert (result[0], result[1]) == (code, ""), result
    lines = [line for line in result[2].splitlines() if line]
    assert len(lines) == 1, result[2]
    assert all(word in lines[0] for word in words), lines[0]


@pytest.fixture
def study(tmp_path, checkpoint):
    """A study with one arm of an untrained checkpoint and pictures of 16 pixels."""
    spec = load_study("demo").to_json() | {"trials": 5, "size_px": 16}
    made = Study(study_from_json(spec), tmp_path / "study")
    made.open("")
    there = made.out / "runs" / "sim-only" / "any" / "0" / "checkpoint"
    there.parent.mkdir(parents=True)
    there.symlink_to(checkpoint)
    (tmp_path / "bench.toml").write_text("[visual]\nexposure = { add = 1 }\n")
    return made.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), ("Give the trials in simulation and on the robot, or --explain STUDY",)),
        (("a.csv",), ("Give the trials",)),
        (("a.csv", "b.csv", "--profile", "p"), ("--profile: only with --explain",)),
        (("a.csv", "b.csv", "--seed", "1", "--workers", "1"), ("--seed, --workers: only",)),
        (("a.csv", "b.csv", "--conditions", "9"), ("--conditions: only with --explain",)),
        (("--explain", "study", "--profile", "twin", "--margin", "0.1"), ("--margin is for two",)),
        (("a.csv", "b.csv", "--explain", "study"), ("either two tables", "not both")),
        (("--explain", "study"), ("needs --profile FILE", "--profile twin", "hidden")),
        (("--explain", "study", "--profile", "x.toml"), ("No target profile x.toml", "by hand")),
        (("--explain", "study", "--profile", "bench.toml", "--conditions", "2"), ("5 to 10000",)),
        (("--explain", "study", "--profile", "bench.toml", "--arm", "x"), ("arm", "sim-only")),
        (("--explain", "study", "--profile", "bench.toml", "--workers", "0"), ("workers must",)),
    ],
    ids=" ".join,
)
def test_a_wrong_request_is_one_sentence_and_exit_code_2(run, study, arguments, words):
    for name in ("a.csv", "b.csv"):
        (study.parent / name).write_text(CSV)
    refused(run("gap", *arguments), 2, *words)


def test_what_is_no_study_or_not_trained_is_exit_code_1(run, study):
    (study.parent / "empty").mkdir()
    refused(run("gap", "--explain", "empty", "--profile", "twin"), 1, "plan.json is missing")
    arm = ("--arm", "hybrid")
    refused(run("gap", "--explain", "study", "--profile", "twin", *arm), 1, "not trained yet")


def test_an_explanation_from_end_to_end(run, study):
    """Untrained, it fails everywhere: there is no loss, and the records are all there."""
    asked = ("gap", "--explain", "study", "--profile", "bench.toml", "--conditions", 5)
    code, out, err = run(*asked, "--workers", 1, "--json")
    assert code == 0, err
    found = json.loads(out)
    jsonschema.validate(found, schema("explanation"))
    assert "Simulator variants" in err
    assert found == json.loads((study / "explain.json").read_text())
    assert len((study / "explain" / "trials.jsonl").read_text().splitlines()) == 2 * 5
    code, out, err = run(*asked, "--workers", 1)
    assert code == 0, err
    lines = out.splitlines()
    assert lines[0].startswith("There is no loss to share out: simulation 0/5")
    assert max(map(len, lines)) <= 80
    assert "no causal claim about the robot" in " ".join(out.split())
    assert "stand-in (simulated)" in out
    assert lines[-1] == "Written to study/explain.json."


def test_a_gap_between_two_tables(run, tmp_path):
    (tmp_path / "a.csv").write_text(CSV.replace(",0", ",1"))
    (tmp_path / "b.csv").write_text(CSV)
    code, out, _ = run("gap", "a.csv", "b.csv", "--json")
    jsonschema.validate(json.loads(out), schema("gap"))
    code, out, _ = run("gap", "a.csv", "b.csv")
    assert code == 0
    assert "+33.3 points" in out.splitlines()[0]
    rows = [f"{arm},{i},1,{on}" for arm in "xy" for on in ("sim", "twin-a") for i in range(9)]
    (tmp_path / "c.csv").write_text("\n".join(["arm,condition,success,target", *rows]) + "\n")
    refused(run("gap", "c.csv", "c.csv", "--arm", "z"), 2, "arm in c.csv", "allowed: x, y")
    pooled = run("gap", "c.csv", "c.csv")[1]
    assert pooled.count("c.csv: the arms x, y are pooled; choose with --arm.") == 1
    code, out, err = run("gap", "c.csv", "c.csv", "--arm", "x", "--target", "twin-a")
    assert code == 0, err
    assert "Simulation: 9/9 = 100 % (70 to 100); target: 9/9 = 100 % (70 to 100)." in out


def test_the_profile_of_a_twin_says_that_it_reveals(run, tmp_path):
    write_twin(tmp_path / "t.toml", TwinFile(4))
    code, out, _ = run("twin", "profile", "t.toml")
    assert code == 0
    assert "t-profile.toml: this reveals the hidden parameters of twin 4 (moderate)." in out
    profile = read_profile(tmp_path / "t-profile.toml")
    assert (profile.name, profile.source, profile.task) == ("t", "known target", "lift")
    refused(run("twin", "profile", "t.toml"), 2, "t-profile.toml exists; choose another")
    refused(run("twin", "profile", "u.toml"), 2, "No twin file u.toml")
    assert run("twin", "profile", "t.toml", "--out", "p.toml")[0] == 0
    write_json(tmp_path / "p.toml", {})
    refused(run("gap", "--explain", "x", "--profile", "p.toml"), 1, "plan.json is missing")
