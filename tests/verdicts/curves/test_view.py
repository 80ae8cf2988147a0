import itertools

import jsonschema
import pytest
from tests.verdicts import studies

from simreal.verdicts.cost import Arm
from simreal.verdicts.curves import CellCounts, cells_of, curves_of, posterior
from simreal.verdicts.curves.schema import CURVES
from simreal.verdicts.curves.view import grid

TRIALS = studies.cells(sim_only=40, real_only=70, hybrid=60)


def test_a_study_gives_cells_lines_and_a_saving():
    found = curves_of(studies.study(TRIALS), 0.7)
    assert found is not None
    jsonschema.validate(found, CURVES)
    assert found["target"] == "twin"
    assert found["cells"][2] == {"arm": "hybrid", "n_real": 20, "n_sim": 600, "k": 60, "n": 100}
    assert [(line["n_sim"], line["measured_to"]) for line in found["lines"]] == [(0, 50), (600, 20)]
    for line in found["lines"]:
        assert line["n_real"][-1] == 200
        triples = list(zip(line["p10"], line["p50"], line["p90"], strict=True))
        assert all(0 <= a <= b <= c <= 1 for a, b, c in triples)
        assert line["p50"] == sorted(line["p50"])
    assert found["saving"]["n_sim"] == 600
    assert found["non_monotone"] == []


def test_few_effective_draws_are_noted(monkeypatch):
    assert "note" not in curves_of(studies.study(TRIALS))
    monkeypatch.setattr(posterior, "ENOUGH", 1e9)
    found = curves_of(studies.study(TRIALS))
    assert "effective draws" in found["note"]
    jsonschema.validate(found, CURVES)


def test_there_is_no_saving_without_a_goal_or_without_simulation():
    assert curves_of(studies.study(TRIALS))["saving"] is None
    arms = tuple(Arm(name, 0, n) for name, n in (("a", 5), ("b", 20), ("c", 50)))
    found = curves_of(studies.study(studies.cells(a=20, b=50, c=40), arms), 0.7)
    assert found["saving"] is None
    assert [line["n_sim"] for line in found["lines"]] == [0]
    assert "50/100 at 20 real to 40/100 at 50" in found["non_monotone"][0]


def test_few_cells_make_no_curve():
    assert curves_of(studies.study(studies.cells(sim_only=40, real_only=70)), 0.7) is None
    assert curves_of(studies.study([]), 0.7) is None


def test_seeds_and_targets_are_cells_of_their_own():
    trials = [
        *studies.rows("hybrid", "one", 5, 10, seed=0),
        *studies.rows("hybrid", "one", 6, 10, seed=1),
        *studies.rows("hybrid", "two", 7, 10, seed=0),
        *studies.rows("hybrid", "one", 1, 10, suite="backgrounds"),
        *studies.rows("hybrid", "sim", 9, 10),
    ]
    study = studies.study(trials, targets=("one", "two"))
    assert cells_of(study) == tuple(CellCounts(20, 600, k, 10, "hybrid") for k in (5, 6, 7))


def test_several_targets_are_named():
    trials = TRIALS + studies.cells(sim_only=30, real_only=75, hybrid=65, target="other")
    found = curves_of(studies.study(trials, targets=("twin", "other", "untried")), 0.7)
    assert found["target"] == "twin + other"
    assert found["cells"][0]["n"] == 200


def test_repeats_of_a_condition_count_once():
    trials = studies.rows("hybrid", "twin", 4, 10) * 3
    assert cells_of(studies.study(trials)) == (CellCounts(20, 600, 4, 10, "hybrid"),)


@pytest.mark.parametrize("largest", [0, 1, 7, 5000])
def test_the_grid_ends_at_four_times_the_largest_measured(largest):
    points = grid(largest)
    assert points[0] == 0
    assert points[-1] == 4 * max(largest, 1)
    assert all(a < b for a, b in itertools.pairwise(points))
