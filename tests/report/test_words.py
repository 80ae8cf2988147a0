"""The words that compare: only from the state of a declared test, and nowhere but in words.py."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import simreal.report
from simreal.core.errors import UsageError
from simreal.core.files import read_json
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
def study(demo_study: Path) -> Study:
    return study_of(read_json(demo_study / "summary.json"))


@pytest.fixture(scope="module")
def planned(full_study: Path) -> Study:
    """A study whose advice is a road that was played forward on the curves."""
    return study_of(read_json(full_study / "summary.json"))


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


def test_roads_are_said_to_miss_the_goal_only_where_they_were_looked_down(study: Study) -> None:
    seen = _advised(study, "no strategy reaches it")
    assert seen.summary["advice"]["roads"]
    assert words.headline(seen).startswith("No road")
    plain = {**seen.summary, "advice": {**seen.summary["advice"], "roads": []}}
    assert words.headline(replace(seen, summary=plain)).startswith("None of the arms")


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


def test_a_road_says_how_likely_it_is_and_what_it_will_cost(planned: Study) -> None:
    big, small = words.how_sure(planned)
    assert big == "91 % likely"
    assert small.startswith(
        "to pass a test of 85 %, by the fitted curves. Measured so far: 87/100, 87"
    )
    assert "stand-in (simulated)" in small
    big, small = words.price(planned, (3000.0, 24000.0))
    assert big == "about $74.00"
    assert "In nine of ten cases at most $141." in small
    assert "Building the simulation is not in it: $3,000 to $24,000" in small
    assert small.endswith("Spent so far: $15.44.")


def test_an_advice_of_a_measured_arm_does_not_borrow_the_road_of_its_name(planned: Study) -> None:
    advice = {**planned.summary["advice"], "road": None}
    changed = replace(planned, summary={**planned.summary, "advice": advice})
    assert words.how_sure(changed)[0] == "87/100"
    assert words.price(changed)[0] == "$15.44"


@pytest.mark.parametrize("state", STATES)
def test_recipes_compare_by_their_state_alone(state: str) -> None:
    said, numbers = words.recipe(verdict(state))
    assert said.startswith("The recipe a ")
    assert "the recipe b" in said
    assert set(COMPARATIVE.findall(said)) == {state} & {"better", "worse"}
    assert numbers.startswith("+10.0 points (+2.0 to +20.0)")


def test_a_recipe_that_was_not_tested_says_why() -> None:
    entry = verdict("not tested", estimate=None, ci=None, p=None, method="not tested: one seed")
    assert words.recipe(entry) == ("a against b, nominal: not tested.", "one seed")


SAVING = {"goal": 0.85, "n_sim": 600, "reach_real": 0.4, "reach_hybrid": None}


def test_a_saving_is_said_with_its_band_or_not_at_all() -> None:
    found = {**SAVING, "state": "estimated", "p10": -0.1, "p50": 0.5, "p90": 0.8}
    assert words.saving(found) == (
        "To reach 85 % with 600 simulated demonstrations takes an estimated 50 % fewer real ones "
        "than without simulation (80 % band −10 to 80 %); of the drawn curves reach it: real data "
        "alone in 40 %."
    )
    quantiles = {"p10": None, "p50": None, "p90": None}
    assert "cannot be estimated: of the drawn curves" in words.saving(
        {**SAVING, "state": "not estimable", **quantiles}
    )
    assert "no finite quantiles" in words.saving({**SAVING, "state": "estimated", **quantiles})
    assert words.saving(None) == ""
    with pytest.raises(UsageError, match="allowed: estimated"):
        words.saving({**SAVING, "state": "huge"})


@pytest.mark.parametrize(
    ("saving", "at", "text"),
    [
        (None, None, "no figure: the set-up cost is an assumption"),
        ([-9.5, -0.5], None, "none, it costs more"),
        ([-9.5, -0.5], 1200, "at 1,200 a variant: none, it costs more"),
        ([-0.2, 0.7], None, "−20 to 70 %"),
        ([0.9978, 0.9995], 100, "at 100 a variant: >99 %"),
        ([0.42, 0.996], None, "42 to >99 %"),
        ([1.0, 1.0], None, "100 %"),
    ],
)
def test_a_saving_at_break_even(saving: list[float] | None, at: int | None, text: str) -> None:
    assert words.saved(saving, at) == text


def test_a_measurement_is_worth_its_cost_or_not() -> None:
    assert words.worth(6.2, 3.75) == "worth more than it costs"
    assert words.worth(3.75, 3.75) == words.worth(0.0, 1.0) == "not worth its cost"
    assert words.worth(None, 1.0) == "not estimated"


def test_one_road_may_be_both(planned: Study) -> None:
    assert words.pace({"fastest": "a", "cheapest": "a"}).startswith("a is expected to be both")
    assert words.pace({"fastest": None, "cheapest": "a"}) == words.pace({}) == ""


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
