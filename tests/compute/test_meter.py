from datetime import UTC, datetime, timedelta

import pytest
from tests.compute import jobs

from simreal.compute.executor import Processes
from simreal.compute.meter import Meter, utc_now


def ticking(*values):
    moments = iter(values)
    return lambda: next(moments)


def test_wall_seconds_are_charged_and_cpu_seconds_noted():
    meter = Meter(
        "train",
        "hybrid",
        "1,500 steps",
        wall=ticking(100.0, 107.5),
        cpu=ticking(1.0, 6.0),
        worker_cpu_s=ticking(10.0, 12.0),
        now=lambda: "2025-01-31T12:00:00+00:00",
    )
    with meter:
        pass
    charge = meter.charge()
    assert (charge.kind, charge.arm, charge.source) == ("train", "hybrid", "process clock")
    assert (charge.quantity, charge.unit) == (7.5, "s")
    assert charge.when == "2025-01-31T12:00:00+00:00"
    assert charge.note == "1,500 steps; cpu 7.000 s"


def test_blocks_add_up_and_a_failed_block_counts():
    meter = Meter("render", "shared", wall=ticking(0.0, 2.0, 10.0, 13.0))
    with meter:
        pass
    with pytest.raises(ValueError, match="broken"), meter:
        raise ValueError("broken")
    assert meter.charge().quantity == 5.0


def test_work_of_worker_processes_is_measured():
    with (
        Processes(1) as executor,
        Meter("simulate", "sim-only", worker_cpu_s=lambda: executor.worker_cpu_s) as meter,
    ):
        list(executor.run(jobs.burn, [0.4]))
    assert meter.wall_s >= 0.4
    assert 0.4 <= meter.cpu_s < 3.0


def test_the_time_is_utc():
    moment = datetime.fromisoformat(utc_now())
    assert moment.utcoffset() == timedelta(0)
    assert abs(datetime.now(UTC) - moment) < timedelta(seconds=5)


def test_a_meter_that_measured_nothing_charges_nothing():
    with pytest.raises(ValueError, match="'train' has measured nothing"):
        Meter("train", "sim-only").charge()
