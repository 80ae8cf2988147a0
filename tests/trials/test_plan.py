import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simreal.core.errors import BadDataError, UsageError
from simreal.trials.plan import (
    SHARD,
    Cell,
    Plan,
    draw_conditions,
    load_plan,
    make_plan,
    open_plan,
)

CELLS = (Cell("simulation", "nominal", "sim"), Cell("a", "nominal", "target"))


def draw(rng: np.random.Generator) -> dict[str, float]:
    return {"x_m": float(rng.uniform()), "y_m": float(rng.uniform())}


def plan(trials=120, seed=3, **changes) -> Plan:
    parts = {
        "study": {"name": "tiny", "task": "lift"},
        "arms": [{"name": "sim-only", "n_sim": 10, "n_real": 0}, {"name": "real-only"}],
        "seeds": [0, 1],
        "cells": CELLS,
        "conditions": draw_conditions(draw, trials, seed),
        "targets": [{"name": "a", "seed": 1, "severity": "mild"}],
        "tests": {"family": [["sim-only", "real-only", "nominal"]]},
        "power": {"trials_per_cell": trials},
        "randomization": {"name": "none", "axes": {}},
    }
    return make_plan(**{**parts, **changes})


def test_a_table_is_no_study(tmp_path):
    (tmp_path / "trials.csv").write_text("condition,success\n")
    with pytest.raises(BadDataError, match=r"trials\.csv is a file; a study is a folder"):
        load_plan(tmp_path / "trials.csv" / "plan.json")


def test_a_plan_comes_back_as_it_was_hashed(tmp_path):
    made = plan()
    made.save(tmp_path / "plan.json")
    found = load_plan(tmp_path / "plan.json")
    assert found.sha == made.sha
    assert found.content == json.loads(json.dumps(made.content))
    assert found.cells == CELLS
    assert found.conditions == made.conditions
    assert found.seeds == (0, 1)


def test_equal_requests_have_equal_hashes_and_every_change_another():
    changes = [
        {"trials": 121},
        {"seed": 4},
        {"seeds": [0, 2]},
        {"cells": CELLS[:1]},
        {"study": {"name": "tiny", "task": "push"}},
        {"arms": [{"name": "sim-only", "n_sim": 11}]},
        {"targets": []},
        {"tests": {"family": []}},
        {"randomization": {"name": "full", "axes": {}}},
        {"power": {}},
    ]
    hashes = [plan(**change).sha for change in changes]
    assert plan().sha == plan().sha
    assert len({plan().sha, *hashes}) == 1 + len(changes)


@pytest.mark.parametrize(
    "edit",
    [
        lambda c: c["conditions"][7]["reset"].update(x_m=0.5),
        lambda c: c["arms"].pop(),
        lambda c: c.update(seeds=[0]),
        lambda c: c.update(sha256="0" * 64),
        lambda c: c.pop("sha256"),
        lambda c: c.update(added=1),
    ],
)
def test_a_plan_changed_after_hashing_is_refused(tmp_path, edit):
    path = tmp_path / "plan.json"
    plan().save(path)
    content = json.loads(path.read_text())
    edit(content)
    path.write_text(json.dumps(content))
    with pytest.raises(BadDataError, match="was changed after it was hashed"):
        load_plan(path)


def test_a_plan_that_is_none_is_refused(tmp_path):
    path = tmp_path / "plan.json"
    with pytest.raises(BadDataError, match="is missing; a study folder begins with its plan"):
        load_plan(path)
    path.write_text('{"schema": "simreal/plan/0"}')
    with pytest.raises(BadDataError, match="has schema 'simreal/plan/0', expected"):
        load_plan(path)
    path.write_text("{")
    with pytest.raises(BadDataError, match="not valid JSON"):
        load_plan(path)


def test_the_folder_of_another_study_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "plan.json"
    open_plan(path, plan())
    before = path.read_bytes()
    open_plan(path, plan())
    with pytest.raises(UsageError, match=r"differs in seeds\). Choose another folder with --out"):
        open_plan(path, plan(seeds=[5]))
    with pytest.raises(UsageError, match="differs in conditions, power"):
        open_plan(path, plan(trials=60))
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"arms": [{"name": "a"}, {"name": "a"}]}, "Arm names must differ; got a, a"),
        ({"cells": [CELLS[0], CELLS[0]]}, "may appear once"),
        ({"seeds": []}, "at least one training seed"),
        ({"conditions": []}, "one condition"),
    ],
)
def test_an_impossible_plan_is_refused(change, message):
    with pytest.raises(UsageError, match=message):
        plan(**change)


@given(st.integers(1, 230))
def test_shards_are_fixed_runs_of_the_plan(trials):
    """Each condition is in one shard; a longer plan leaves the full shards as they were."""
    shards = plan(trials).shards("backgrounds")
    flat = [c for shard in shards for c in shard]
    assert [c.index for c in flat] == list(range(trials))
    assert {c.suite for c in flat} == {"backgrounds"}
    assert [len(shard) for shard in shards[:-1]] == [SHARD] * (len(shards) - 1)
    longer = plan(trials + 17).shards("backgrounds")
    assert longer[: trials // SHARD] == shards[: trials // SHARD]


def test_trials_start_alike_in_every_suite():
    made = plan()
    for a, b in zip(made.shards("nominal"), made.shards("backgrounds"), strict=True):
        assert [(c.index, c.reset, c.seed) for c in a] == [(c.index, c.reset, c.seed) for c in b]


def test_conditions_depend_on_seed_and_index_alone():
    conditions = draw_conditions(draw, 40, seed=3)
    assert draw_conditions(draw, 12, seed=3) == conditions[:12]
    assert len({tuple(c.reset.values()) for c in conditions}) == 40
    assert len({c.seed for c in conditions}) == 40
    other = draw_conditions(draw, 40, seed=4)
    assert not {tuple(c.reset.values()) for c in conditions} & {
        tuple(c.reset.values()) for c in other
    }
