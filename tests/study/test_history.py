"""Hours proposed from the history of files: sessions, git, times of change, booked once."""

import os
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simreal.core.errors import UsageError
from simreal.study.clock import Clock
from simreal.study.history import accept, propose, sessions
from simreal.study.ledger import Ledger

HOUR = 3600
START = 1_770_000_000


def commit(folder, at, author="ann"):
    (folder / "task.py").write_text(f"# {at} {author}\n")
    env = {
        **os.environ,
        "GIT_AUTHOR_DATE": f"{at} +0000",
        "GIT_COMMITTER_DATE": f"{at} +0000",
        "GIT_CONFIG_GLOBAL": os.devnull,
    }
    who = ["-c", f"user.name={author}", "-c", f"user.email={author}@example.org"]
    for command in (["add", "."], [*who, "commit", "-q", "-m", "x"]):
        subprocess.run(["git", "-C", folder, *command], check=True, env=env)


@pytest.fixture
def repository(tmp_path):
    folder = tmp_path / "repository"
    (folder / "tasks").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", folder], check=True)
    return folder / "tasks"


def hours(proposal):
    return [round(s.hours(proposal.lead_in_h), 3) for s in proposal.stretches]


def test_commits_close_together_are_one_session(repository, tmp_path):
    for at in (0, 1, 2.5, 9, 9.25):
        commit(repository, START + int(at * HOUR))
    found = propose(repository, Clock(tmp_path))
    assert hours(found) == [3.0, 0.75]
    assert [s.saves for s in found.stretches] == [3, 2]
    assert found.origin == "git"
    assert hours(propose(repository / "task.py", Clock(tmp_path))) == [3.0, 0.75]
    assert hours(propose(repository, Clock(tmp_path), gap_h=24, lead_in_h=0)) == [9.25]


def test_two_people_at_once_are_two_sessions(repository, tmp_path):
    for at, author in ((0, "ann"), (0.5, "bob"), (1, "ann")):
        commit(repository, START + int(at * HOUR), author)
    assert hours(propose(repository, Clock(tmp_path))) == [1.5, 0.5]


def test_without_git_times_of_change_count(tmp_path):
    task = tmp_path / "task"
    (task / "__pycache__").mkdir(parents=True)
    for number, name in enumerate(("a.py", "b.py", "__pycache__/a.pyc")):
        (task / name).write_text("")
        os.utime(task / name, (START + number * HOUR,) * 2)
    found = propose(task, Clock(tmp_path))
    assert hours(found) == [1.5]
    assert "lower bound" in found.origin


def test_nothing_is_written_until_it_is_accepted_and_then_once(repository, tmp_path):
    clock = Clock(tmp_path)
    commit(repository, START)
    found = propose(repository, clock)
    assert not (tmp_path / "ledger.jsonl").exists()
    for _ in range(2):
        accept(found, repository, clock, "2026-03-02T09:00:00+00:00")
    again = propose(repository, clock)
    assert (again.stretches, again.left_out) == ((), 1)
    commit(repository, START + 5 * HOUR)
    accept(propose(repository, clock), repository, clock, "2026-03-02T18:00:00+00:00")
    charges = Ledger(tmp_path / "ledger.jsonl").read()
    assert [(c.kind, c.quantity, c.source) for c in charges] == [
        ("engineering", 0.5, "file history")
    ] * 2
    assert "ann" not in "".join(c.note for c in charges)


def test_sessions_under_the_clock_are_left_out(repository, tmp_path):
    clock = Clock(tmp_path)
    commit(repository, START)
    commit(repository, START + 10 * HOUR)
    clock.start("engineering", "x", now="2026-02-02T02:00:00+00:00")
    clock.stop("engineering", now="2026-02-02T03:00:00+00:00")
    found = propose(repository, clock)
    assert (len(found.stretches), found.left_out) == (1, 1)


def test_a_wrong_request_is_refused(tmp_path):
    with pytest.raises(UsageError, match="No file or folder"):
        propose(tmp_path / "nowhere", Clock(tmp_path))
    with pytest.raises(UsageError, match="--gap-hours 0"):
        propose(tmp_path, Clock(tmp_path), gap_h=0)
    assert propose(tmp_path, Clock(tmp_path)).stretches == ()


TIMES = st.lists(st.integers(0, 10**6), max_size=30)


@given(TIMES, st.floats(0.1, 10), st.floats(0, 5))
def test_a_longer_gap_makes_fewer_sessions_and_more_hours_within(times, gap, more):
    short, long = sessions("a", times, gap), sessions("a", times, gap + more)
    assert sum(s.saves for s in short) == sum(s.saves for s in long) == len(times)
    assert len(long) <= len(short)
    assert sum(s.hours(0) for s in short) <= sum(s.hours(0) for s in long) + 1e-9
