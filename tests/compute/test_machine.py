import pytest
from hypothesis import given
from hypothesis import strategies as st

from simreal.compute import machine
from simreal.core.errors import UsageError

GB = 10**9


def test_eight_workers_on_two_cores_with_24_gb_become_two_with_a_message():
    plan = machine.workers(8, 3 * GB, available=24 * GB, usable_cores=2)
    assert plan.count == 2
    assert plan.message == "8 workers wanted, 2 started: this machine offers 2 cores."


def test_memory_lowers_the_number_with_a_message():
    plan = machine.workers(8, 9 * GB, available=24 * GB, usable_cores=16)
    assert plan.count == 2
    assert plan.message == (
        "8 workers wanted, 2 started: one needs about 9.0 GB and 24.0 GB are free."
    )


def test_one_worker_is_always_tried_and_told_that_it_may_not_fit():
    plan = machine.workers(None, 9 * GB, available=GB, usable_cores=4)
    assert plan.count == 1
    assert "Memory is short" in plan.message


def test_what_fits_starts_without_a_message():
    assert machine.workers(3, GB, available=24 * GB, usable_cores=4) == machine.Workers(3)
    assert machine.workers(None, GB, available=24 * GB, usable_cores=4) == machine.Workers(4)


@pytest.mark.parametrize("requested", [0, -2])
def test_no_workers_at_all_is_refused(requested):
    with pytest.raises(UsageError, match="1 or more"):
        machine.workers(requested, GB)


@given(
    requested=st.none() | st.integers(1, 200),
    need=st.integers(1, 10**11),
    available=st.integers(0, 10**12),
    cores=st.integers(1, 128),
)
def test_never_more_than_wanted_cores_or_memory(requested, need, available, cores):
    plan = machine.workers(requested, need, available=available, usable_cores=cores)
    assert 1 <= plan.count <= min(requested or cores, cores)
    assert plan.count == 1 or plan.count * need <= available
    if plan.count < (requested or cores):
        assert plan.message
    more = machine.workers(requested, need, available=available + need, usable_cores=cores)
    assert more.count >= plan.count


def test_this_machine_has_cores_and_memory():
    assert machine.cores() >= 1
    assert 10**7 < machine.available_bytes() < 1 << 50


def test_a_container_limit_is_read(tmp_path):
    assert machine._container_bytes(tmp_path) == 1 << 62
    (tmp_path / "memory.max").write_text("max\n")
    (tmp_path / "memory.current").write_text("300\n")
    assert machine._container_bytes(tmp_path) == 1 << 62
    (tmp_path / "memory.max").write_text("1000\n")
    assert machine._container_bytes(tmp_path) == 700
