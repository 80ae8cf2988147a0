"""The words that compare: only from the state of a declared test, and nowhere but in words.py."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.report import synthetic

import simreal.report
from simreal.core.errors import UsageError
from simreal.report import words
from simreal.report.records import Study, study_of
from simreal.verdicts.advise import ADVICE_STATES
from simreal.verdicts.claims import CLAIM_STATES
from simreal.verdicts.compare import STATES, compare

COMPARATIVE = re.compile(
    r"\b(better|worse|best|worst|superior|inferior|beats?|beaten|outperforms?|wins?|won|"
    r"improve\w*|stronger|weaker|cheaper|faster|safer|higher|lower|more robust|ahead|behind|"
    r"exceeds?|outdoes)\b",
    re.IGNORECASE,
)
REPORT = Path(simreal.report.__file__).parent


def verdict(state: str, **more: Any) -> dict[str, Any]:
    base = {"claim": "a against b, nominal", "state": state, "estimate": 0.1, "ci": [0.02, 0.2]}
    return {**base, "p": 0.01, "method": "paired: Tango score interval", **more}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return study_of(synthetic.demo(tmp_path_factory.mktemp("words")))


@pytest.mark.parametrize("state", STATES)
def test_better_and_worse_come_from_their_states_alone(state: str) -> None:
    said = [
        words.comparison("a", "b", verdict(state), "the target"),
        words.declared(verdict(state))[0],
        words.declared(verdict(state, claim="something else"))[0],
        words.comparison("a", "b", verdict(state.replace(" ", "_"))),
    ]
    for text in said:
        found = {word.lower() for word in COMPARATIVE.findall(text)}
        assert found == {state} & {"better", "worse"}, text


def test_the_estimate_does_not_speak_for_itself() -> None:
    """A large difference with a state of "cannot tell" stays undecided."""
    text = words.comparison("a", "b", verdict("cannot tell", estimate=0.9, ci=[0.8, 1.0], p=0.0))
    assert "cannot be told apart" in text
    assert not COMPARATIVE.search(text)


def test_a_test_without_trials_was_no_comparison() -> None:
    text, why = words.declared(verdict("cannot tell", estimate=None, p=None, method="no trials"))
    assert text == "a and b were not compared on the target."
    assert why == "no trials"


def test_verdict_objects_read_like_their_json() -> None:
    found = compare({i: i < 17 for i in range(20)}, {i: i < 5 for i in range(20)})
    assert words.comparison("a", "b", found).startswith("a did better than b: +60.0 points (")


@pytest.mark.parametrize("state", ["best", "supported", "", None])
def test_unknown_states_are_refused(state: Any) -> None:
    with pytest.raises(UsageError, match="allowed: better"):
        words.comparison("a", "b", verdict(state))
    with pytest.raises(UsageError, match="Unknown state of a claim"):
        words.claim("better")


@pytest.mark.parametrize("state", CLAIM_STATES)
def test_every_claim_state_has_a_mark_of_its_own(state: str) -> None:
    mark, text = words.claim(state)
    assert text == state
    assert [words.claim(s)[0] for s in CLAIM_STATES].count(mark) == 1


def _advised(study: Study, state: str) -> Study:
    strategy = "real-only" if state in ("advice", "do not build a simulator") else None
    advice = {**study.summary["advice"], "state": state, "strategy": strategy}
    return replace(study, summary={**study.summary, "advice": advice})


@pytest.mark.parametrize("state", ADVICE_STATES)
def test_the_card_answers_for_every_state_of_the_advice(study: Study, state: str) -> None:
    changed = _advised(study, state)
    headlines = {words.headline(_advised(study, s)) for s in ADVICE_STATES}
    assert len(headlines) == len(ADVICE_STATES)
    for big, small in (words.how_sure(changed), words.next_step(changed), words.price(changed)):
        assert big
        assert small
    said = [words.headline(changed), *words.how_sure(changed), *words.next_step(changed)]
    assert not COMPARATIVE.search(" ".join(said))


def test_how_sure_carries_counts_and_label(study: Study) -> None:
    big, small = words.how_sure(study)
    assert big == "93/100"
    assert "stand-in (simulated)" in small
    assert "this checkpoint, not the recipe" in small


def test_next_step_counts_what_is_added(study: Study) -> None:
    step = {"arm": "hybrid", "n_real": 40, "n_sim": 600, "trials": 50, "why": "Next: try."}
    advice = {**study.summary["advice"], "next": step}
    changed = replace(study, summary={**study.summary, "advice": advice})
    assert words.next_step(changed) == ("20 more real demonstrations, 50 more trials", "Try.")


def test_the_set_up_cost_is_named_an_assumption(study: Study) -> None:
    big, small = words.price(study, (3000.0, 24000.0))
    assert big == "$16.47"
    assert "$3,000 to $24,000, an assumption" in small


def test_one_seed_speaks_of_checkpoints_two_of_recipes(study: Study) -> None:
    assert words.scope(study.arms).startswith("Checkpoints, not recipes")
    assert words.scope([replace(a, seeds=(0, 1)) for a in study.arms]).startswith("Recipes")


@pytest.mark.parametrize(
    ("ci", "text"),
    [
        ([0.01, 0.2], "The gap is above zero."),
        ([-0.2, -0.01], "The gap is below zero."),
        ([-0.1, 0.1], "The gap cannot be told from zero by these trials."),
    ],
)
def test_a_gap_is_read_against_zero(study: Study, ci: list[float], text: str) -> None:
    gap = {"points": sum(ci) / 2, "ci": ci, "method": "m"}
    assert words.transfer(replace(study.arms[0], gap=gap)) == text


def _strings(path: Path) -> list[str]:
    """The text of a template, or the string constants of a module without its docstrings."""
    if path.suffix == ".html":
        return [path.read_text()]
    tree = ast.parse(path.read_text())
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    docs = {ast.get_docstring(n, clean=False) for n in ast.walk(tree) if isinstance(n, documented)}
    found = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant)]
    return [text for text in found if isinstance(text, str) and text not in docs]


SPEAKING = [
    path
    for path in sorted([*REPORT.rglob("*.py"), *REPORT.glob("templates/*.html")])
    if path != REPORT / "words" / "compared.py"
]


@pytest.mark.parametrize("path", SPEAKING, ids=lambda path: str(path.relative_to(REPORT)))
def test_no_other_file_of_the_report_compares(path: Path) -> None:
    found = [word for text in _strings(path) for word in COMPARATIVE.findall(text)]
    assert not found


def test_the_search_would_find_a_comparison(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text('"""A better module."""\nTEXT = "hybrid is Better"\n')
    (tmp_path / "a.html").write_text("<p>the best arm</p>")
    assert COMPARATIVE.findall(" ".join(_strings(tmp_path / "a.py"))) == ["Better"]
    assert COMPARATIVE.findall(_strings(tmp_path / "a.html")[0]) == ["best"]
