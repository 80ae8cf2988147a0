import io
import json
import sys

import pytest

from simreal.core.errors import BadDataError, InterruptedRunError, UsageError
from simreal.core.types import Condition
from simreal.robots.asking import Hook, Person, Verdict, at_terminal, enter_pressed, in_words

CONDITION = Condition(7, "backgrounds", {"object_x_m": 0.213, "object_yaw_rad": 0.5236}, seed=1)


def person(*answers):
    """A person who gives these answers; what was asked is kept."""
    given, asked = iter(answers), []

    def ask(prompt):
        asked.append(prompt)
        return next(given)

    return Person(ask, lambda: False), asked


def hook(tmp_path, body):
    """A hook that runs `body` with `question` set."""
    script = tmp_path / "hook.py"
    script.write_text(f"import json, sys\nquestion = json.load(sys.stdin)\n{body}\n")
    return Hook([sys.executable, "-S", str(script)])


def test_a_person_is_told_where_things_go():
    someone, asked = person("")
    someone.place(CONDITION)
    assert "Condition 7: object_x 213 mm, object_yaw 30 degrees." in asked[0]
    assert "backgrounds" in asked[0]
    assert in_words({}) == "as always"


@pytest.mark.parametrize(
    ("answers", "verdict"),
    [
        (("y",), Verdict(True, None)),
        (("perhaps", "", "Yes"), Verdict(True, None)),
        (("n", "2"), Verdict(False, "dropped")),
        (("no", "", "bumped the table"), Verdict(False, "bumped the table")),
        (("n", "3"), Verdict(False, "3")),
    ],
)
def test_a_person_judges(answers, verdict):
    someone, asked = person(*answers)
    assert someone.verdict(["missed", "dropped"]) == verdict
    assert len(asked) == len(answers)


def test_prompts_stay_off_standard_output_and_silence_interrupts(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.StringIO("yes\n"))
    assert at_terminal("Success?") == "yes"
    assert not enter_pressed()
    out, err = capsys.readouterr()
    assert out == ""
    assert "Success?" in err
    with pytest.raises(InterruptedRunError, match="Nobody answers"):
        at_terminal("Success?")


def test_a_hook_places_and_judges(tmp_path):
    body = f"""
with open({str(tmp_path / "asked.jsonl")!r}, "a") as file:
    file.write(json.dumps(question) + chr(10))
if question["ask"] == "verdict":
    print(json.dumps({{"success": False, "failure": question["failures"][1]}}))
"""
    asker = hook(tmp_path, body)
    asker.place(CONDITION)
    assert asker.verdict(["missed", "dropped"]) == Verdict(False, "dropped")
    assert not asker.ended()
    asked = [json.loads(line) for line in (tmp_path / "asked.jsonl").read_text().splitlines()]
    assert Condition.from_json(asked[0]["condition"]) == CONDITION
    assert asked[1] == {"ask": "verdict", "failures": ["missed", "dropped"]}


@pytest.mark.parametrize(
    "answer", ["", "yes", "[]", "{}", '{"success": 1}', '{"success": false}', '"success"']
)
def test_a_hook_that_answers_anything_else_is_refused(tmp_path, answer):
    with pytest.raises(BadDataError, match="it must print"):
        hook(tmp_path, f"print({answer!r})").verdict(["missed"])


def test_a_hook_that_fails_or_is_missing(tmp_path):
    with pytest.raises(InterruptedRunError, match="exit code 3 when asked to place"):
        hook(tmp_path, "sys.exit(3)").place(CONDITION)
    with pytest.raises(UsageError, match="cannot be run"):
        Hook([str(tmp_path / "none")]).place(CONDITION)
