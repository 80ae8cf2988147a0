"""Verdicts, summary and page of a study folder whose trials and ledger were written by hand."""

import json
from dataclasses import asdict
from pathlib import Path

import jsonschema
import pytest
from tests.study.test_spec import TINY

from simreal.core.errors import BadDataError
from simreal.core.files import append_jsonl, read_json, write_json
from simreal.core.types import Charge, Trial
from simreal.study.conclude import conclude
from simreal.study.evidence import evidence_of
from simreal.study.run import Study
from simreal.study.spec import study_from_json
from simreal.trials.plan import Plan
from simreal.verdicts.examples import example
from simreal.verdicts.schemas import schema

WHEN = "2026-01-15T09:30:00Z"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Ten conditions a cell: the first arm succeeds in six of them, the second in nine."""
    study = Study(study_from_json({**TINY, "goal": 0.6}), tmp_path / "study")
    study.open(text="")
    trials = [
        Trial(
            plan_sha=study.plan.sha,
            arm=arm["name"],
            seed=seed,
            target=cell.target,
            suite=cell.suite,
            condition=condition.index,
            success=condition.index < 6 + 3 * which,
            score=0.5,
            failure=None if condition.index < 6 + 3 * which else "slipped",
            steps=40,
            seconds=2.0,
            collisions=0,
            peak_force=None,
            overruns=0,
        )
        for which, arm in enumerate(study.plan.content["arms"])
        for seed in study.plan.seeds
        for cell in study.plan.cells
        for condition in study.plan.conditions
    ]
    append_jsonl(study.out / "trials.jsonl", [asdict(trial) for trial in trials])
    charges = [
        Charge(WHEN, "twin clock", "shared", "demonstration", 3600.0, "s", "10 episodes"),
        Charge(WHEN, "process clock", "shared", "simulate", 60.0, "s"),
    ]
    append_jsonl(study.out / "ledger.jsonl", [asdict(charge) for charge in charges])
    return study.out


def summary(folder: Path) -> dict:
    return read_json(conclude(folder).parent / "summary.json")


def test_a_folder_of_records_becomes_a_summary_and_a_page(folder: Path) -> None:
    found = summary(folder)
    jsonschema.validate(found, schema("summary"))
    assert found["goal"] == 0.6
    assert [arm["target"][0]["k"] for arm in found["arms"]] == [6, 9]
    assert found["explanation"] is None
    assert read_json(folder / "verdicts.json")["verdicts"] == found["verdicts"]
    assert (folder / "report.html").stat().st_size > 10_000


def test_concluding_again_changes_nothing(folder: Path) -> None:
    once = summary(folder)
    page = (folder / "report.html").read_bytes()
    assert summary(folder) == once
    assert (folder / "report.html").read_bytes() == page


def test_prices_in_the_folder_hold_unless_others_are_given(folder: Path, tmp_path: Path) -> None:
    shipped = evidence_of(folder).prices
    (folder / "prices.toml").write_text("operator = 100\n")
    (tmp_path / "other.toml").write_text("operator = 7\n")
    assert shipped is not None
    assert shipped.operator.value != 100
    assert evidence_of(folder).prices.operator.value == 100
    assert evidence_of(folder, tmp_path / "other.toml").prices.operator.value == 7


def test_the_explanation_of_a_gap_is_taken_in(folder: Path) -> None:
    found = example("explanation")
    write_json(folder / "explain.json", found)
    assert summary(folder)["explanation"] == json.loads(json.dumps(found))


def test_a_trial_that_the_plan_does_not_know_is_refused(folder: Path) -> None:
    lines = (folder / "trials.jsonl").read_text().splitlines()
    stray = {**json.loads(lines[0]), "plan_sha": "0" * 64}
    (folder / "trials.jsonl").write_text("\n".join([*lines, json.dumps(stray), ""]))
    with pytest.raises(BadDataError, match="trial of another plan"):
        conclude(folder)


def test_a_plan_that_is_none_of_a_study_is_named(folder):
    path = folder / "plan.json"
    content = read_json(path)
    content.pop("sha256")
    content["study"].pop("margin")
    plan = Plan(content)
    plan.save(path)
    text = (folder / "trials.jsonl").read_text()
    old = json.loads(text.splitlines()[0])["plan_sha"]
    (folder / "trials.jsonl").write_text(text.replace(old, plan.sha))
    with pytest.raises(BadDataError, match=r"plan\.json is no plan of a study: 'margin'"):
        evidence_of(folder)
    path.write_text("[1]")
    with pytest.raises(BadDataError, match=r"plan\.json is not a JSON object"):
        evidence_of(folder)


def test_a_study_that_was_stopped_before_its_trials_says_how_to_go_on(folder):
    for torn in ("", '{"arm": "sim-'):
        (folder / "trials.jsonl").write_text(torn)
        with pytest.raises(BadDataError, match="holds no trials yet; go on with its study"):
            conclude(folder)
