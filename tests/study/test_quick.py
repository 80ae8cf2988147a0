"""The quick form of a study: what stays of it."""

from simreal.study.quick import quickened

PART = {"source": "sim", "weight": 1.0, "episodes": 10}
ARM = {"stages": [{"steps": 20, "peak_lr": 1e-3, "parts": [PART]}]}
STUDY = {
    "name": "mine",
    "task": "insert",
    "suites": ["nominal", "wide", "tight"],
    "simulation": {"profile": "full", "episodes": 10, "seed": 1},
    "targets": [{"name": "a"}],
    "arms": [{"name": "one", **ARM}, {"name": "two", "suites": ["nominal", "wide"], **ARM}],
}


def suites(quick):
    return [arm.get("suites") for arm in quickened(STUDY, quick)["arms"]]


def test_an_arm_keeps_those_of_its_own_suites_that_stay():
    assert suites({"suites": ["nominal"]}) == [None, ["nominal"]]
    assert suites({"suites": ["nominal", "tight"]}) == [None, ["nominal"]]
    assert suites({"trials": 5}) == [None, ["nominal", "wide"]]
