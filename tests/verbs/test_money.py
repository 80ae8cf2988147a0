"""cost, days and clock as a user calls them: text, JSON by its schema, bad input."""

import json
from dataclasses import asdict
from datetime import UTC, datetime, timedelta

import jsonschema
import pytest

from simreal import cli
from simreal.core.files import append_jsonl
from simreal.core.types import Charge, Trial
from simreal.trials.plan import SCHEMA, Plan
from simreal.verdicts.cost.schema import CLOCK, COST_REPORT, DAYS

ARMS = ({"name": "sim-only", "n_sim": 600, "n_real": 0},)
ARMS += ({"name": "real-only", "n_sim": 0, "n_real": 50},)
ARMS += ({"name": "hybrid", "n_sim": 600, "n_real": 20},)
SUCCESSES = {"sim-only": (98, 84), "real-only": (10, 80), "hybrid": (97, 95)}
#: As studies wrote them before evaluation, collisions and simulated demonstrations were counted.
OLD_LEDGER = (
    ("twin clock", "shared", "demonstration", 900.0, "s"),
    ("twin clock", "shared", "reset", 1500.0, "s"),
    ("twin clock", "shared", "demonstration", 50.0, "count"),
    ("process clock", "shared", "simulate", 95.0, "s"),
    ("process clock", "shared", "render", 160.0, "s"),
    ("process clock", "sim-only+hybrid", "train", 130.0, "s"),
    ("process clock", "real-only", "train", 130.0, "s"),
    ("twin clock", "hybrid", "trial", 400.0, "s"),
)


def trials(sha):
    for arm, counts in SUCCESSES.items():
        for target, k in zip(("simulation", "a"), counts, strict=True):
            for i in range(100):
                failure = None if i < k else "missed"
                trial = Trial(
                    sha, arm, 0, target, "nominal", i, i < k, 1.0, failure, 90, 4.5, 1, 2, 0
                )
                yield asdict(trial)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("studies") / "demo"
    plan = Plan(
        {
            "schema": SCHEMA,
            "study": {"name": "demo", "task": "lift", "margin": 0.05, "goal": 0.8},
            "arms": ARMS,
            "seeds": [0],
            "targets": [{"name": "a"}],
        }
    )
    plan.save(folder / "plan.json")
    append_jsonl(folder / "trials.jsonl", trials(plan.sha))
    charges = [asdict(Charge("2026-01-15T09:30:00Z", *charge)) for charge in OLD_LEDGER]
    append_jsonl(folder / "ledger.jsonl", charges)
    return folder


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def go(*arguments):
        code = 0
        try:
            cli.main([str(argument) for argument in arguments])
        except SystemExit as end:
            code = end.code or 0
        out, err = capsys.readouterr()
        return code, out, err

    return go


def test_cost_in_words_fits_80_columns_and_says_what_it_rests_on(run, study):
    code, out, _ = run("cost", study)
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80
    text = " ".join(out.split())
    assert "stand-in (simulated)" in text
    assert "building the simulation, unknown: $3,000 to $24,000" in text
    assert "divided by its success on the target in points" in text
    assert "Bands, no headline" in text
    assert "priced at nothing until you give a price" in text
    assert not {"cheaper", "better", "saves 8"} & set(text.split())


def test_cost_as_json(run, study):
    _, out, _ = run("cost", study, "--json", "--variants", "3", "--not-built", "--rate", "0.8")
    found = json.loads(out)
    jsonschema.validate(found, COST_REPORT)
    assert [(e["variants"], e["built"]) for e in found["break_even"]] == [(3, False)]
    assert {p["rate"] for road in found["reach"] for p in road["points"]} == {0.8}


def test_an_old_ledger_still_prices(run, study):
    """Without counts of simulated demonstrations, evaluation and collisions."""
    found = json.loads(run("cost", study, "--json")[1])
    assert all(entry["total"] > 0 for entry in found["per_arm"])
    by_name = {entry["arm"]: entry["per_demonstration"] for entry in found["per_arm"]}
    assert by_name["hybrid"]["sim"] > 0


def test_prices_of_ones_own(run, study, tmp_path):
    (tmp_path / "mine.toml").write_text(
        'currency = "EUR"\nincident = 100\nsetup_hours = 10\nengineering = 80\n'
        "[calendar]\nrobots = 3\n"
    )
    found = json.loads(run("cost", study, "--prices", "mine.toml", "--json")[1])
    assert found["currency"] == "EUR"
    assert found["headline"]
    assert found["setup"] is None
    days = json.loads(run("days", study, "--prices", "mine.toml", "--json")[1])
    assert days["cases"][0]["inputs"]["robots"] == 3


def test_days_of_a_study(run, study):
    code, out, _ = run("days", study, "--deadline", "10", "--robots", "1,2")
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80
    assert out.count("% in time") == 6
    assert "Minutes on the robot are stand-in (simulated)." in out
    found = json.loads(run("days", study, "--target", "0.7", "--json")[1])
    jsonschema.validate(found, DAYS)
    assert found["cases"][0]["inputs"]["goal"] == 0.7


def test_days_of_ten_thousand_demonstrations(run):
    asked = ("days", "--demonstrations", "10000", "--robots", "1,4", "--shifts", "1,2")
    found = json.loads(run(*asked, "--json")[1])
    jsonschema.validate(found, DAYS)
    took = [case["roads"][0]["days"]["p50"] for case in found["cases"]]
    assert took == pytest.approx([took[0], took[0] / 2, took[0] / 4, took[0] / 8])
    assert "says nothing of what they are worth" in " ".join(run(*asked)[1].split())


def test_a_deadline_may_be_a_date(run):
    date = (datetime.now(UTC) + timedelta(days=40)).date().isoformat()
    found = json.loads(run("days", "--demonstrations", "50", "--deadline", date, "--json")[1])
    assert found["cases"][0]["inputs"]["deadline_days"] in (39, 40)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("cost", "STUDY", "--variants", "0"), "--variants 0; give whole numbers"),
        (("cost", "STUDY", "--variants", "1,x"), "--variants 1,x; give whole numbers"),
        (("cost", "STUDY", "--built", "--not-built"), "not both"),
        (("cost", "STUDY", "--rate", "85"), "--rate 85; give a fraction"),
        (("cost", "STUDY", "--prices", "none.toml"), "No price file none.toml"),
        (("days",), "Give a study's folder, or --demonstrations"),
        (("days", "STUDY", "--demonstrations", "5"), "leave one out"),
        (("days", "--demonstrations", "0"), "ask for at least 1"),
        (("days", "--demonstrations", "5", "--target", "0.5"), "--target needs a study"),
        (
            ("days", "--demonstrations", "5", "--trials", "9", "--gpus", "0"),
            "--trials, --gpus: only with a study",
        ),
        (("days", "--demonstrations", "5", "--deadline", "soon"), "--deadline soon; give a date"),
        (("days", "--demonstrations", "5", "--deadline", "2020-01-01"), "has passed"),
        (("days", "--demonstrations", "5", "--shifts", "4"), "more than 0 h and at most 24 h"),
        (("days", "--demonstrations", "5", "--operators", "0"), "operators = 0"),
        (("clock", "stop", "engineering"), "does not run"),
        (("clock", "start", "engineering", "--what", ""), "--what is empty"),
        (("clock", "propose", "--task", "nowhere"), "No file or folder nowhere"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_wrong_request_is_one_sentence_and_exit_code_2(run, study, arguments, words):
    code, out, err = run(*(study if a == "STUDY" else a for a in arguments))
    assert (code, out) == (2, "")
    assert err.startswith("simreal: ")
    assert len(err.splitlines()) == 1
    assert words in err


def test_the_clock_from_start_to_ledger(run, tmp_path):
    assert run("clock", "start", "engineering", "--what", "scene", "--study", "s")[0] == 0
    found = json.loads(run("clock", "show", "--study", "s", "--json")[1])
    jsonschema.validate(found, CLOCK)
    assert found["running"][0]["what"] == "scene"
    assert "Booked 0.00 h of engineering" in run("clock", "stop", "engineering", "--study", "s")[1]
    assert "Booked: 0.00 h of engineering (clock)" in run("clock", "show", "--study", "s")[1]
    assert (tmp_path / "s" / "ledger.jsonl").exists()


def test_a_proposal_waits_to_be_accepted(run, tmp_path):
    (tmp_path / "task").mkdir()
    (tmp_path / "task" / "lift.py").write_text("")
    out = run("clock", "propose", "--task", "task")[1]
    assert "0.50 h in 1 session, by times of last change (a lower bound)" in out
    assert "Nothing is booked" in out
    assert not (tmp_path / "ledger.jsonl").exists()
    assert all(len(line) <= 80 for line in out.splitlines())
    run("clock", "propose", "--task", "task", "--accept")
    assert "nothing to book" in run("clock", "propose", "--task", "task", "--accept")[1]
    assert json.loads((tmp_path / "ledger.jsonl").read_text())["source"] == "file history"
