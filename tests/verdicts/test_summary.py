import copy
import json

import jsonschema
import pytest
from tests.verdicts.studies import ARMS, cells, ledger, rows, study

from simreal.core.errors import UsageError
from simreal.core.types import Charge, TargetSpec, Trial
from simreal.verdicts.advise import Request, advise
from simreal.verdicts.claims import all_claims
from simreal.verdicts.evidence import DeclaredTest
from simreal.verdicts.examples import example
from simreal.verdicts.schemas import SCHEMAS, schema
from simreal.verdicts.summary import (
    StudyFacts,
    TargetFacts,
    summarise,
    verdicts,
)


def check(name, content):
    jsonschema.validate(content, schema(name), cls=jsonschema.Draft202012Validator)


@pytest.mark.parametrize("name", sorted(SCHEMAS))
def test_schemas_are_schemas_and_examples_keep_them(name):
    jsonschema.Draft202012Validator.check_schema(schema(name))
    check(name, example(name))
    json.dumps(example(name), allow_nan=False)


def broken(content):
    """Copies of a JSON object with one top-level field missing, added, or of a wrong type."""
    for field in content:
        yield {k: v for k, v in content.items() if k != field}
        yield {**content, field: object}
    yield {**content, "surprise": 1}


@pytest.mark.parametrize("name", sorted(SCHEMAS))
def test_schemas_refuse_what_is_not_whole(name):
    for content in broken(example(name)):
        with pytest.raises(jsonschema.ValidationError):
            check(name, content)


def test_an_unknown_schema_is_refused():
    with pytest.raises(UsageError, match="Did you mean 'summary'"):
        schema("sumary")
    with pytest.raises(UsageError, match="Unknown schema 'x'; allowed: advice, clock, compare"):
        example("x")


def test_the_schemas_name_the_fields_of_the_records():
    assert set(SCHEMAS["trials"]["properties"]) == set(Trial.__dataclass_fields__)
    assert set(SCHEMAS["ledger"]["properties"]) == set(Charge.__dataclass_fields__)


TOP = {
    "schema",
    "study",
    "form",
    "targets",
    "arms",
    "claims",
    "verdicts",
    "advice",
    "recipes",
    "ranking",
    "acceptance",
    "goals",
    "by_suite",
    "force",
    "operator",
    "curves",
    "economics",
    "time",
    "explanation",
    "goal",
    "versions",
    "wall_s",
}


def facts(*names, tests=None):
    targets = tuple(
        TargetFacts("twin", name, 7, "moderate", "stand-in (simulated)") for name in names
    )
    return StudyFacts("demo", "primitive", targets, {"simreal": "0.1.0"}, 600.0, tests)


def summary(trials, *names, charges=(), tests=None):
    evidence = study(trials, charges=charges, targets=names)
    content = summarise(facts(*names, tests=tests), evidence, advise(evidence, Request(0.8)))
    check("summary", content)
    return content


WHOLE = [
    *cells(target="sim", sim_only=95, real_only=60, hybrid=96),
    *cells(sim_only=80, real_only=82, hybrid=95),
    *cells(suite="backgrounds", sim_only=62, real_only=11, hybrid=70),
]


def test_a_summary_has_the_documented_fields():
    content = summary(WHOLE, "twin", charges=ledger())
    assert set(content) == TOP
    assert [arm["name"] for arm in content["arms"]] == [arm.name for arm in ARMS]
    hybrid = content["arms"][2]
    assert hybrid["target"] == [
        {"name": "twin", "k": 95, "n": 100, "rate": 0.95, "ci": hybrid["target"][0]["ci"]}
    ]
    assert hybrid["over_targets"] is None
    assert hybrid["gap"]["points"] == pytest.approx(0.01)
    assert hybrid["suites"]["backgrounds"]["k"] == 70
    assert set(hybrid["cost"]) == {
        "total",
        "currency",
        "robot_h",
        "operator_h",
        "engineering_h",
        "compute_h",
    }
    assert [claim["id"] for claim in content["claims"]] == [c.id for c in all_claims()]


def test_a_study_without_any_trial_is_still_a_summary():
    content = summary([], "twin")
    assert content["advice"]["state"] == "not enough evidence"
    assert {claim["state"] for claim in content["claims"]} == {"not tested here"}
    assert content["arms"][0]["sim"] is None
    assert content["arms"][0]["gap"] is None
    assert content["arms"][0]["cost"] is None


def test_several_targets_are_summed_up_over_targets():
    trials = [
        *rows("hybrid", "sim", 96, 100),
        *(r for t, k in (("a", 90), ("b", 80), ("c", 85)) for r in rows("hybrid", t, k, 100)),
    ]
    arm = summary(trials, "a", "b", "c")["arms"][2]
    assert [t["name"] for t in arm["target"]] == ["a", "b", "c"]
    assert arm["over_targets"]["mean"] == pytest.approx(0.85)
    assert arm["over_targets"]["ci"] == pytest.approx([0.85 - 0.1242, 0.85 + 0.1242], abs=1e-4)
    assert arm["over_targets"]["n_targets"] == 3
    assert arm["gap"]["points"] == pytest.approx(0.11)
    assert "over 3 targets" in arm["gap"]["method"]


def test_verdicts_are_a_family():
    content = summary(WHOLE, "twin")["verdicts"]
    assert len(content) == 3
    assert all("Holm over 3" in v["method"] for v in content)
    by_claim = {v["claim"]: v for v in content}
    assert by_claim["real-only against hybrid, nominal"]["state"] == "worse"
    assert by_claim["sim-only against real-only, nominal"]["state"] == "cannot tell"


def test_declared_tests_take_the_place_of_every_pair():
    tests = (
        DeclaredTest("sim-only", "real-only", "backgrounds"),
        DeclaredTest("hybrid", "sim-only"),
    )
    content = summary(WHOLE, "twin", tests=tests)["verdicts"]
    assert [v["state"] for v in content] == ["better", "better"]
    assert content[0]["claim"] == "sim-only against real-only, backgrounds"


def test_a_declared_test_without_trials_says_so():
    (verdict,) = verdicts(study([]), [DeclaredTest("hybrid", "sim-only")])
    assert verdict.state == "cannot tell"
    assert "no trials" in verdict.method
    with pytest.raises(UsageError, match="Unknown arm 'hybrd'"):
        verdicts(study([]), [DeclaredTest("hybrd", "sim-only")])


def test_facts_of_other_targets_are_refused():
    evidence = study(WHOLE)
    with pytest.raises(UsageError, match="other"):
        summarise(facts("other"), evidence, advise(evidence))


def test_target_facts_come_from_the_targets_own_description():
    spec = TargetSpec("twin-7", "twin", "stand-in (simulated)", 4, (), {}, 20.0, "lift", 7, "mild")
    assert TargetFacts.of(spec) == TargetFacts("twin", "twin-7", 7, "mild", "stand-in (simulated)")


def test_a_summary_is_made_from_its_records_alone():
    assert summary(WHOLE, "twin") == summary(copy.deepcopy(WHOLE), "twin")
