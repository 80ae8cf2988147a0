"""`simreal plan` as a user runs it, and the page that shows it."""

import json
import re
import shlex

import jsonschema
import pytest
from tests.architecture.tree import ROOT

from simreal.cli import main
from simreal.verdicts.pilot.schema import PLAN

PAGE = (ROOT / "docs" / "plan.md").read_text()
EXAMPLES = re.findall(r"^```console\n\$ simreal (plan [^\n]*)\n(.*?)^```", PAGE, re.S | re.M)
NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?")


def run(capsys, *words):
    main(["plan", *words])
    return capsys.readouterr().out


def test_json_is_one_object_that_keeps_its_schema(capsys):
    found = json.loads(run(capsys, "--target", "0.9", "--minutes-per-demo", "3", "--json"))
    jsonschema.validate(found, PLAN)
    assert found["inputs"]["minutes"] == {"low": 3, "high": 3, "source": "user"}
    assert found["trials"]["shown"][0]["trials"] == 29


def test_the_lab_is_that_of_the_price_file_and_options_replace_it(capsys, tmp_path):
    (tmp_path / "p.toml").write_text(
        'currency = "EUR"\n[calendar]\nrobots = 3\nshift_hours = 6\ncan_build = false\n'
    )
    options = ("--target", "0.7", "--prices", str(tmp_path / "p.toml"), "--json")
    found = json.loads(run(capsys, *options, "--robots", "2", "--variants", "4"))
    lab = found["inputs"]["lab"]
    assert (lab["robots"], lab["shift_hours"], lab["variants"]) == (2, 6, 4)
    assert found["currency"] == "EUR"
    assert [road["road"] for road in found["roads"]] == ["real-only"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--target", "85"), "--target 85; give a fraction"),
        (("--target", "0"), "--target 0; give a fraction"),
        (("--target", "0.9", "--times", "esy"), "Did you mean 'easy'"),
        (("--target", "0.9", "--times", "easy", "--minutes-per-demo", "2"), "not both"),
        (("--target", "0.9", "--minutes-per-demo", "nan"), "above 0"),
        (("--target", "0.9", "--robots", "0"), "robots = 0"),
        (("--target", "0.9", "--shift-hours", "30"), "shift_hours = 30"),
        (("--target", "0.9", "--prices", "nowhere.toml"), "No price file"),
    ],
)
def test_wrong_options_are_one_sentence(capsys, words, message):
    with pytest.raises(SystemExit) as end:
        run(capsys, *words)
    assert end.value.code == 2
    shown = capsys.readouterr().err
    assert message in shown
    assert shown.count("\n") == 1


def words_and_numbers(text):
    numbers = [float(n.replace(",", "")) for n in NUMBER.findall(text)]
    return NUMBER.sub("#", text).split(), numbers


@pytest.mark.parametrize(("command", "shown"), EXAMPLES, ids=[c for c, _ in EXAMPLES])
def test_the_page_shows_what_the_command_prints(capsys, command, shown):
    printed = run(capsys, *shlex.split(command)[1:])
    (words, numbers), (expected, standing) = map(words_and_numbers, (printed, shown))
    assert words == expected, f"docs/plan.md is out of date; now:\n{printed}"
    for now, then in zip(numbers, standing, strict=True):
        assert now == pytest.approx(then, rel=0.05, abs=1.5), f"now:\n{printed}"


def test_the_page_has_examples():
    assert len(EXAMPLES) == 2
