"""Kinds of failure: every task's failures have one, in one place."""

from simreal.robots.safety import UNSAFE_STOP
from simreal.verdicts.records import TrialRow
from simreal.verdicts.taxonomy import KINDS, failures, kind
from simreal.worlds.tasks import TASKS


def test_every_failure_a_trial_can_have_has_a_kind():
    named = {f for task in TASKS.values() for f in task.failures.values()}
    for failure in (*named, "collided", "diverged", UNSAFE_STOP):
        assert kind(failure) in set(KINDS) - {"other"}, failure


def test_kinds_stand_for_themselves_and_the_unknown_is_other():
    for name in KINDS:
        assert kind(name) == name
    assert kind(" Slipped ") == "slipped"
    assert kind("exploded") == kind(None) == "other"


def test_failed_trials_are_counted_by_kind_in_a_fixed_order():
    rows = [
        TrialRow("0", True, failure=None),
        TrialRow("1", False, failure="timed out"),
        TrialRow("2", False, failure="never reached"),
        TrialRow("3", False, failure="missed"),
        TrialRow("4", None, failure="missed"),
        TrialRow("5", False),
    ]
    assert failures(rows) == {"missed": 2, "timed out": 1, "other": 1}
    assert list(failures(rows)) == ["missed", "timed out", "other"]
    assert failures([]) == {}
