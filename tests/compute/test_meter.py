from datetime import UTC, datetime, timedelta

import pytest

from simreal.compute.meter import Meter, utc_now


def ticking(*values):
    moments = iter(values)
    return lambda: next(moments)


def test_wall_seconds_are_charged():
    meter = Meter(
        "train",
        "hybrid",
        "1,500 steps",
        clock=ticking(100.0, 107.5),
        now=lambda: "2025-01-31T12:00:00+00:00",
    )
    with meter:
        pass
    charge = meter.charge()
    assert (charge.kind, charge.arm, charge.source) == ("train", "hybrid", "process clock")
    assert (charge.quantity, charge.unit) == (7.5, "s")
    assert charge.when == "2025-01-31T12:00:00+00:00"
    assert charge.note == "1,500 steps"


def test_blocks_add_up_and_a_failed_block_counts():
    meter = Meter("render", "shared", clock=ticking(0.0, 2.0, 10.0, 13.0))
    with meter:
        pass
    with pytest.raises(ValueError, match="broken"), meter:
        raise ValueError("broken")
    assert meter.charge().quantity == 5.0


def test_the_time_is_utc():
    moment = datetime.fromisoformat(utc_now())
    assert moment.utcoffset() == timedelta(0)
    assert abs(datetime.now(UTC) - moment) < timedelta(seconds=5)


def test_a_meter_that_measured_nothing_charges_nothing():
    with pytest.raises(ValueError, match="'train' has measured nothing"):
        Meter("train", "sim-only").charge()
