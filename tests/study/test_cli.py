"""The command line in this process: bad input is one sentence and an exit code, JSON is one object.

Success paths that compute for long are tested where they are cheap; see also test_single.py.
"""

import json

import pytest
from tests.demos.store_kit import make_episode, small_spec

from simreal.demos.store import create
from simreal.robots.twinfile import TwinFile, read_twin, write_twin
from simreal.study.spec import study_text


def refused(result, code, *words):
    """One sentence on standard error, nothing on standard output, no traceback."""
    assert result[0] == code, result
    assert result[1] == ""
    lines = [line for line in result[2].splitlines() if line]
    assert len(lines) == 1, result[2]
    assert lines[0].startswith("simreal: ")
    for word in words:
        assert word in lines[0], lines[0]


COLLECT = ("collect", "lift", "--out", "data", "--episodes", "2", "--size", "16")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("collect", "lit", "--out", "d", "--episodes", "2"), ("task 'lit'", "lift, push")),
        ((*COLLECT, "--randomize", "ful"), ("profile", "'ful'", "Did you mean 'full'")),
        ((*COLLECT[:-1], "8"), ("Camera size 8 px", "16 to 512")),
        ((*COLLECT, "--episodes", "0"), ("--episodes 0", "at least 1")),
        ((*COLLECT, "--seed", "-1"), ("Seed -1", "0 or more")),
        (("randomize", "show", "full", "--out", "a.png", "--seed", "-1"), ("Seed -1", "0 or more")),
        ((*COLLECT, "--backgrounds", "nowhere"), ("nowhere is not a folder",)),
        ((*COLLECT, "--appearances", "0"), ("appearances",)),
        ((*COLLECT, "--on", "twin:a.toml"), ("--from operator on twin:a.toml",)),
        ((*COLLECT, "--from", "operator", "--randomize", "full"), ("are for --from expert",)),
        ((*COLLECT, "--workers", "0"), ("workers must be 1 or more",)),
        ((*COLLECT, "--from", "operator", "--on", "twn:a"), ("target 'twn:a'", "twin:FILE")),
        ((*COLLECT, "--from", "operator", "--on", "twin:a.toml"), ("No twin file a.toml",)),
        ((*COLLECT, "--from", "operator", "--on", "robot:a.toml"), ("No robot file a.toml",)),
        (("randomize", "show", "ful"), ("'ful'", "full")),
        (
            ("randomize", "show", "full", "--seed", "0", "--shadows"),
            ("--shadows, --seed: only with --out",),
        ),
        (("randomize", "show", "full", "--out", "a.png", "--grid", "0x5"), ("--grid 0x5", "5x5")),
        (
            ("randomize", "show", "full", "--out", "a.png", "--task", "lit"),
            ("task 'lit'", "lift, push"),
        ),
        (("randomize", "show", "full", "--out", "a.png", "--size", "900"), ("Camera size 900",)),
        (("train", "--data", "nowhere", "--out", "run"), ("nowhere is not a folder",)),
        (("train", "--data", "nowhere:0", "--out", "run"), ("weight must be a positive",)),
        (("train", "--data", "nowhere:nan", "--out", "run"), ("weight must be a positive",)),
        (("evaluate", "nowhere", "--on", "sim", "--out", "t.jsonl"), ("no checkpoint folder",)),
        (("study", "demmo"), ("study", "'demmo'", "Did you mean 'demo'")),
        (("study", "demo", "--seed", "-1", "--dry-run"), ("Seeds must be 0 or more",)),
        (("advise", "out", "--target", "85"), ("--target 85", "between 0 and 1")),
        (("compare", "a.csv", "b.csv"), ("No trials file a.csv",)),
        (("gap", "a.csv", "b.csv", "--json"), ("No trials file a.csv",)),
        (("schema", "sumary"), ("'sumary'", "summary")),
        (("twin", "new", "--seed", "-3"), ("Twin seed -3",)),
        (("twin", "new", "--seed", "3", "--task", "lit"), ("task 'lit'", "lift, push")),
    ],
    ids=lambda value: " ".join(map(str, value)),
)
def test_a_wrong_request_is_one_sentence_and_exit_code_2(run, tmp_path, arguments, words):
    refused(run(*arguments), 2, *words)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("report", "empty"),
        ("cost", "empty", "--json"),
        ("advise", "empty"),
    ],
    ids=" ".join,
)
def test_a_folder_that_is_no_study_is_exit_code_1(run, tmp_path, arguments):
    (tmp_path / "empty").mkdir()
    refused(run(*arguments), 1, "plan.json is missing")


def test_unknown_options_and_choices_are_exit_code_2(run):
    for arguments in (
        ("collect", "lift", "--out", "d", "--episodes", "x"),
        ("twin", "new", "--seed", "1", "--severity", "hard"),
        ("demo", "--nonsense"),
        ("nonsense",),
    ):
        code, out, _ = run(*arguments)
        assert (code, out) == (2, ""), arguments


@pytest.mark.parametrize(
    ("axis", "words"),
    [
        ("[axes.object_mas]\noperation = 'scale'\n", ("axis 'object_mas'", "'object_mass'")),
        (
            "[axes.object_mass]\noperation = 'scale'\ndistribution = 'uniform'\n"
            "low = 2.0\nhigh = 1.0\n",
            ("object_mass", "2"),
        ),
        (
            "[axes.object_mass]\noperation = 'scale'\ndistribution = 'uniform'\n"
            "low = nan\nhigh = 1.0\n",
            ("object_mass", "nan"),
        ),
        (
            "[axes.object_mass]\noperation = 'grow'\ndistribution = 'uniform'\n"
            "low = 0.5\nhigh = 1.0\n",
            ("'grow'", "scale"),
        ),
        ("[axis.object_mass]\n", ("entry of a profile 'axis'", "axes")),
        ("[axes\n", ("not valid TOML",)),
    ],
)
def test_a_bad_profile_file_is_refused(run, tmp_path, axis, words):
    (tmp_path / "mine.toml").write_text(axis)
    refused(run("randomize", "show", "mine.toml"), 2, *words)


def test_a_study_that_cannot_be_is_refused_before_its_folder_is_made(run, tmp_path):
    (tmp_path / "mine.toml").write_text(study_text("demo").replace('"full"', '"ful"'))
    refused(run("study", "mine.toml", "--out", "out"), 2, "'ful'", "full")
    (tmp_path / "mine.toml").write_text(study_text("demo").replace("trials = 100", "trials = 1"))
    refused(run("study", "mine.toml", "--out", "out"), 2, "trials = 1", "5 to 10000")
    assert not (tmp_path / "out").exists()


def test_the_folder_of_another_study_is_refused(run, tmp_path, monkeypatch):
    from simreal.study import run as module

    monkeypatch.setattr(module, "run_study", lambda study, pool: pytest.fail("must not run"))
    from simreal.study.run import Study
    from simreal.study.spec import load_study

    Study(load_study("demo"), tmp_path / "out").open(study_text("demo"))
    refused(run("study", "demo", "--out", "out"), 2, "already holds a study", "--resume")
    again = ("study", "demo", "--out", "out", "--resume", "--seed", "4")
    refused(run(*again), 2, "holds another study", "seeds", "--out")


def test_a_dry_run_prints_the_plan_as_one_object_and_writes_nothing(run, tmp_path):
    code, out, _ = run("study", "demo", "--dry-run", "--seed", "4")
    plan = json.loads(out)
    assert code == 0
    assert plan["seeds"] == [4]
    assert len(plan["sha256"]) == 64
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def trials(tmp_path):
    """Two lists of trials as a spreadsheet would save them."""
    for name, period in (("a.csv", 2), ("b.csv", 3)):
        rows = "".join(f"{i},{int(i % period == 0)}\n" for i in range(60))
        (tmp_path / name).write_text(f"condition,success\n{rows}")


@pytest.mark.parametrize(
    ("verb", "keys"), [("compare", {"a", "b", "state"}), ("gap", {"sim", "real", "points"})]
)
def test_json_is_one_object_and_nothing_else(run, trials, verb, keys):
    code, out, err = run(verb, "a.csv", "b.csv", "--json")
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert keys <= set(found)
    code, out, _ = run(verb, "a.csv", "b.csv")
    assert code == 0
    assert "30" in out
    assert "20" in out


def test_examples_of_schemas_are_json(run):
    for name in ("trials", "ledger", "summary"):
        assert isinstance(json.loads(run("schema", name)[1]), dict)
        assert isinstance(json.loads(run("schema", name, "--example")[1]), dict)


def test_a_twin_is_written_once(run, tmp_path):
    code, out, _ = run("twin", "new", "--seed", "4", "--task", "push", "--form", "mesh")
    assert (code, out) == (0, "twin-4.toml\n")
    assert read_twin(tmp_path / "twin-4.toml") == TwinFile(4, "moderate", "push", "mesh")
    refused(run("twin", "new", "--seed", "4"), 2, "twin-4.toml exists", "--out")


def test_bounds_on_initial_values_are_printed_and_checked(run, tmp_path):
    (tmp_path / "mine.toml").write_text("[[starts]]\nweight = 0.5\nhole_y_m = { low = 0.02 }\n")
    code, out, _ = run("randomize", "show", "mine.toml", "--task", "insert")
    assert code == 0
    assert "Starts: hole_y_m in [0.02, inf] in 50 % of the draws." in out
    refused(run("randomize", "show", "mine.toml"), 2, "task lift 'hole_y_m'")


def test_a_profile_is_printed(run):
    code, out, _ = run("randomize", "show", "dynamics")
    assert code == 0
    assert "object_mass" in out
    assert "axes in profile dynamics" in out


def test_a_machine_that_cannot_run_it_is_exit_code_1(run, monkeypatch):
    monkeypatch.setattr("simreal.study.doctor.available_bytes", lambda: 2**30)
    code, out, error = run("doctor")
    assert code == 1
    assert "renderer: ok" in out
    assert "4 GiB" in error


def test_interrupting_is_exit_code_3(run, monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("simreal.study.doctor.diagnose", interrupted)
    refused(run("doctor"), 3, "interrupted")


@pytest.fixture
def data(tmp_path):
    """A data set of four tiny episodes, pictures of 16 by 16 and 16 by 32 pixels."""
    spec = small_spec()
    with create(tmp_path / "data", spec) as writer:
        for number in range(4):
            writer.write(make_episode(number, spec))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--steps", "0"), ("1 step or more",)),
        (("--peak-lr", "7"), ("learning rate", "between 0 and 1")),
        (("--base", "nowhere"), ("no checkpoint folder",)),
        (("--device", "tpu"), ("tpu",)),
    ],
    ids=lambda value: " ".join(value),
)
def test_training_that_cannot_be_is_refused(run, data, arguments, words):
    refused(run("train", "--data", "data", "--out", "run", *arguments), 2, *words)


def test_a_folder_that_holds_something_is_not_trained_into(run, data, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "notes.txt").touch()
    refused(run("train", "--data", "data", "--out", "run"), 2, "run is not empty", "--resume")
    (tmp_path / "file").touch()
    refused(run("train", "--data", "data", "--out", "file"), 2, "file is a file")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--on", "sim", "--task", "lit"), ("task 'lit'", "lift, push")),
        (("--on", "sim", "--trials", "0"), ("--trials 0",)),
        (("--on", "sim:ful"), ("'ful'", "Did you mean 'full'")),
        (("--on", "moon"), ("target 'moon'", "sim", "twin:FILE", "robot:FILE")),
        (("--on", "twin:none.toml"), ("No twin file none.toml", "simreal twin new")),
        (("--on", "twin:push.toml"), ("for the task 'push'; this is 'lift'",)),
        (("--on", "twin:bad.toml"), ("bad.toml", "severity 'hard'", "harsh, mild, moderate")),
        (("--on", "robot:none.toml"), ("No robot file none.toml",)),
    ],
    ids=lambda value: " ".join(value),
)
def test_an_evaluation_that_cannot_be_is_refused(run, tmp_path, checkpoint, arguments, words):
    write_twin(tmp_path / "push.toml", TwinFile(1, task="push"))
    (tmp_path / "bad.toml").write_text("[twin]\nseed = 1\nseverity = 'hard'\n")
    refused(run("evaluate", checkpoint, "--out", "t.jsonl", *arguments), 2, *words)
    assert not (tmp_path / "t.jsonl").exists()


def test_a_broken_checkpoint_is_exit_code_1(run, tmp_path):
    (tmp_path / "empty").mkdir()
    refused(run("evaluate", "empty", "--on", "sim", "--out", "t.jsonl"), 1, "no checkpoint")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("twin", "new", "--seed", "3", "--out", "file/t.toml"), "file"),
        (("plan", "--target", "0.8", "--prices", "."), ".: Is a directory."),
    ],
)
def test_what_the_system_refuses_is_one_sentence(run, tmp_path, words, said):
    """A folder that is a file, and a file that is a folder."""
    (tmp_path / "file").write_text("")
    refused(run(*words), 1, said)


def test_a_quick_dry_run_says_so_and_what_it_would_take(run, tmp_path):
    code, out, err = run("study", "insert", "--quick", "--dry-run")
    assert code == 0
    plan = json.loads(out)
    assert (plan["study"]["name"], plan["study"]["quick"]) == ("insert-quick", True)
    assert plan["suites"]["wide"] == {"clearance_m": 0.0005}
    trials = len(plan["conditions"]) * sum(len(c.get("arms", plan["arms"])) for c in plan["cells"])
    assert f"{trials:,} trials in {len(plan['cells'])} cells" in err
    assert "3 training runs" in err
    assert list(tmp_path.iterdir()) == []


def test_a_study_without_a_quick_form_is_refused(run):
    code, _, err = run("study", "demo", "--quick", "--dry-run")
    assert code == 2
    assert err.count("\n") == 1
    assert "has no quick form" in err
