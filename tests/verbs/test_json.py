"""Every `--json` prints one object that keeps its documented schema, and none is undocumented."""

import inspect
import json
import re
from dataclasses import asdict

import jsonschema
import pytest
from tests.architecture.tree import ROOT

from simreal import cli
from simreal.core.files import append_jsonl
from simreal.core.types import Charge, Trial
from simreal.study import single
from simreal.trials.plan import SCHEMA, Plan
from simreal.verdicts.rates import Rate
from simreal.verdicts.schemas import SCHEMAS, schema

PAGE = (ROOT / "docs" / "json.md").read_text()
#: (command as documented, name of its schema).
ROWS = re.findall(r"^\| `simreal ([^`]+?) --json`[^|]*\| `(\w+)` \|", PAGE, re.M)
RATES = {"p": 54, "q": 36, "r": 42, "s": 12}


def verbs():
    """Every command with the option --json."""
    every = dict(cli.VERBS)
    every |= {f"{group} {name}": v for group, of in cli.GROUPS.items() for name, v in of.items()}
    return {n for n, verb in every.items() if "json_output" in inspect.signature(verb).parameters}


def test_every_json_is_documented_with_a_schema():
    documented = {name for command, _ in ROWS for name in verbs() if command.startswith(name)}
    assert documented == verbs()
    assert {name for _, name in ROWS} <= set(SCHEMAS)
    assert all(f"`{name}`" in PAGE for name in SCHEMAS)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A study's raw records: three arms in simulation and on a twin, and a ledger."""
    folder = tmp_path_factory.mktemp("json") / "study"
    arms = [("sim-only", 600, 0), ("real-only", 0, 50), ("hybrid", 600, 20)]
    plan = Plan(
        {
            "schema": SCHEMA,
            "study": {"name": "demo", "task": "lift", "margin": 0.05, "goal": 0.8},
            "arms": [{"name": n, "n_sim": sim, "n_real": real} for n, sim, real in arms],
            "seeds": [0],
            "targets": [{"name": "twin-7"}],
        }
    )
    plan.save(folder / "plan.json")
    trials = [
        Trial(plan.sha, arm, 0, target, "nominal", i, i < k, 1.0, None, 90, 4.5, 0, None, 0)
        for arm, successes in zip(
            [n for n, *_ in arms], ((98, 84), (70, 80), (97, 95)), strict=True
        )
        for target, k in zip(("simulation", "twin-7"), successes, strict=True)
        for i in range(100)
    ]
    append_jsonl(folder / "trials.jsonl", [asdict(trial) for trial in trials])
    used = [
        ("twin clock", "shared", "demonstration", 900.0),
        ("twin clock", "shared", "reset", 900),
    ]
    used += [("process clock", arm, "train", 130.0) for arm, *_ in arms]
    charges = [Charge("2026-01-15T09:30:00Z", *one, "s") for one in used]
    append_jsonl(folder / "ledger.jsonl", [asdict(charge) for charge in charges])
    return folder


@pytest.fixture
def printed(capsys, tmp_path, monkeypatch, study):
    """Runs a documented command with the words of the documentation replaced; its object."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(single, "evaluate_one", lambda *_, **__: Rate.of(2, 3))
    for name, shift in (("A", 0), ("B", 20), ("SIM", 0), ("REAL", 9), ("TABLE", 5)):
        rows = [f"{i},{int(i < k - shift)},{arm}" for arm, k in RATES.items() for i in range(60)]
        one_arm = name in ("A", "B")
        text = "\n".join(["condition,success,arm", *rows[: 60 if one_arm else None]])
        (tmp_path / f"{name}.csv").write_text(text + "\n")

    def go(command):
        words = {"STUDY": str(study), "RATE": "0.85", "CHECKPOINT": "c"}
        words |= {name: f"{name}.csv" for name in ("A", "B", "SIM", "REAL", "TABLE")}
        words |= {"SIM": "A.csv", "REAL": "B.csv"} if command.startswith("gap") else {}
        arguments = [words.get(word, word) for word in command.split()]
        if arguments[0] == "evaluate":
            arguments += ["--on", "sim", "--out", "t.jsonl"]
        cli.main([*arguments, "--json"])
        out = capsys.readouterr().out
        assert len(out.strip().splitlines()) == 1
        return json.loads(out)

    return go


#: What plays hundreds of trials is run by its own tests.
QUICK = [row for row in ROWS if "--explain" not in row[0] and row[1] != "explore"]


@pytest.mark.parametrize(("command", "name"), QUICK, ids=[command for command, _ in QUICK])
def test_what_is_printed_keeps_the_schema(printed, command, name):
    jsonschema.validate(printed(command), schema(name), cls=jsonschema.Draft202012Validator)
