"""The clock: what is clocked is booked once, and no start or stop is lost to a kill."""

import json

import pytest

from simreal.core.errors import BadDataError, UsageError
from simreal.study.clock import Clock, clock_state
from simreal.study.ledger import Ledger

NINE, NOON, ONE = (f"2026-03-02T{hour}:00:00+00:00" for hour in ("09", "12", "13"))


@pytest.fixture
def clock(tmp_path):
    return Clock(tmp_path)


def booked(folder):
    return [(c.kind, c.quantity, c.unit, c.source) for c in Ledger(folder / "ledger.jsonl").read()]


def test_hours_between_start_and_stop_are_booked(clock, tmp_path):
    clock.start("engineering", "the scene", now=NINE)
    assert clock.running("engineering").what == "the scene"
    session, hours = clock.stop("engineering", now=NOON)
    assert (session.stopped, hours) == (NOON, 3)
    assert booked(tmp_path) == [("engineering", 3, "h", "clock")]
    assert clock.running("engineering") is None


def test_engineering_and_validation_run_side_by_side(clock, tmp_path):
    clock.start("engineering", "x", now=NINE)
    clock.start("validation", "y", robot=True, now=NINE)
    clock.stop("validation", now=NOON)
    clock.stop("engineering", now=ONE)
    assert booked(tmp_path) == [
        ("validation", 3, "h", "clock"),
        ("validation_trial", 3, "h", "clock"),
        ("engineering", 4, "h", "clock"),
    ]


def test_starting_or_stopping_twice_is_a_clear_message(clock):
    with pytest.raises(UsageError, match="does not run; start it"):
        clock.stop("engineering")
    clock.start("engineering", "the scene", now=NINE)
    with pytest.raises(UsageError, match=r"runs already, since 2026.*the scene.*clock stop"):
        clock.start("engineering", "more", now=NOON)
    clock.stop("engineering", now=NOON)
    with pytest.raises(UsageError, match="does not run"):
        clock.stop("engineering", now=ONE)


def test_a_forgotten_clock_books_what_is_said(clock, tmp_path):
    clock.start("engineering", "x", now=NINE)
    with pytest.raises(UsageError, match=r"--hours 5; give 0 to 3\.00"):
        clock.stop("engineering", hours=5, now=NOON)
    clock.stop("engineering", hours=1.5, now=NOON)
    assert booked(tmp_path) == [("engineering", 1.5, "h", "clock")]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("engineering", "  "), "--what is empty"),
        (("engineering", "x", True), "--robot is for validation"),
    ],
)
def test_a_start_that_means_nothing_is_refused(clock, arguments, message):
    with pytest.raises(UsageError, match=message):
        clock.start(*arguments)


def test_a_start_in_the_future_is_not_booked(clock, tmp_path):
    clock.start("engineering", "x", now=NOON)
    with pytest.raises(UsageError, match="yet to come"):
        clock.stop("engineering", now=NINE)
    assert booked(tmp_path) == []


def test_a_kill_at_any_byte_loses_no_start_and_books_no_hour_twice(clock, tmp_path):
    files = (tmp_path / "clock.jsonl", tmp_path / "ledger.jsonl")
    clock.start("engineering", "x", now=NINE)
    started = files[0].read_bytes()
    clock.stop("engineering", now=NOON)
    whole = [path.read_bytes() for path in files]
    for cut in range(0, len(whole[1]) + 1, 9):  # killed while the hours were written
        files[0].write_bytes(started)
        files[1].write_bytes(whole[1][:cut])
        Clock(tmp_path).stop("engineering", now=NOON)
        assert [path.read_bytes() for path in files] == whole
    for cut in range(len(started), len(whole[0]), 9):  # killed while the stop was written
        files[0].write_bytes(whole[0][:cut])
        Clock(tmp_path).stop("engineering", now=NOON)
        assert [path.read_bytes() for path in files] == whole


def test_state_is_one_object(clock, tmp_path):
    assert clock_state(tmp_path) == {"running": [], "booked": []}
    clock.start("engineering", "x", now=NINE)
    clock.stop("engineering", now=NOON)
    clock.start("engineering", "y", now=ONE)
    found = clock_state(tmp_path)
    assert found["booked"] == [{"kind": "engineering", "source": "clock", "hours": 3}]
    assert [(r["what"], r["since"]) for r in found["running"]] == [("y", ONE)]


def test_a_broken_clock_file_names_its_line(clock, tmp_path):
    for line in (
        {"event": "start"},
        {"event": "pause", "kind": "engineering", "when": NINE, "started": NINE},
        {"event": "start", "kind": "engineering", "when": 7, "what": "x"},
        {"event": ["start"]},
    ):
        (tmp_path / "clock.jsonl").write_text(json.dumps(line) + "\n")
        with pytest.raises(BadDataError, match="line 1: expected a start or a stop"):
            clock.sessions()
    (tmp_path / "clock.jsonl").unlink()
    clock.start("engineering", "x", now="yesterday")
    with pytest.raises(BadDataError, match="'yesterday' is no time"):
        clock.stop("engineering")


def test_a_file_is_no_study(tmp_path):
    (tmp_path / "x").write_text("")
    with pytest.raises(UsageError, match="is a file"):
        Clock(tmp_path / "x")


def test_two_sessions_of_one_second_are_both_booked(clock, tmp_path):
    """The second one was once said to be booked, and was not."""
    for hours in (0, 2, 1):
        clock.start("engineering", "x", now=NINE)
        clock.stop("engineering", hours, now=NOON)
    assert [c[1] for c in booked(tmp_path)] == [0, 2, 1]
    assert [s.stopped for s in clock.sessions()] == [NOON] * 3


def test_a_clock_of_the_future_can_be_dropped(clock, tmp_path):
    clock.start("engineering", "x", now=NOON)
    with pytest.raises(UsageError, match="--hours 0 drops it"):
        clock.stop("engineering", now=NINE)
    assert clock.stop("engineering", 0, now=NINE)[1] == 0
    assert clock.running("engineering") is None


def test_what_it_is_for_is_one_line(clock):
    assert clock.start("engineering", " the\n scene ", now=NINE).what == "the scene"
