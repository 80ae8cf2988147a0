"""The draw of an insertion's twin."""

import dataclasses
import json
import math

import numpy as np
import pytest
from tests.robots.test_hidden import flatten, labelled

from simreal.core.errors import UsageError
from simreal.robots.hidden_peg import PegTwinParameters, draw_peg
from simreal.robots.ranges import SEVERITIES
from simreal.robots.ranges_peg import PEG_COUNTS, PEG_RANGES
from simreal.worlds.tasks import task as find_task
from simreal.worlds.tasks.insert import CLEARANCES_M
from simreal.worlds.variation import OPERATIONS

UR5E = find_task("insert").robot
#: Ranges under other names inside the parts that no profile has.
INSIDE = {
    "joint_stiction_ratio": "arm.stiction_ratio", "joint_stribeck_rad_s": "arm.stribeck_rad_s",
    "command_latency_s": "arm.latency_s", "command_jitter_s": "arm.jitter_s",
    "fixture_play_m": "fixture.play_m", "fixture_soft_share": "fixture.soft_share",
    "wrench_gain": "sensor.gain", "wrench_cutoff_hz": "sensor.cutoff_hz",
}  # fmt: skip
PAIRS = {
    "tool_play_m": ("play", 0), "tool_play_rad": ("play", 1),
    "max_speed_m_s": ("max_speed", 0), "max_turn_rad_s": ("max_speed", 1),
}  # fmt: skip


def test_a_twin_is_its_seed_and_severity_and_json():
    assert draw_peg(3, "moderate") == draw_peg(3, "moderate")
    assert draw_peg(3, "moderate") != draw_peg(3, "harsh")
    text = json.dumps(draw_peg(5, "harsh").to_json(), allow_nan=False)
    assert json.loads(text)["sensor"]["quantum_n"] == draw_peg(5, "harsh").sensor.quantum_n
    with pytest.raises(UsageError, match=r"severity 'mid'; allowed: harsh, mild, moderate"):
        draw_peg(0, "mid")


def value_of(twin, name):
    if name in PAIRS:
        field, part = PAIRS[name]
        return getattr(twin.arm, field)[part]
    where, _, field = INSIDE.get(name, name).rpartition(".")
    if where:
        return getattr(getattr(twin, where), field)
    parts = (twin, twin.contact, twin.sensor)
    return next(getattr(p, field) for p in parts if hasattr(p, field))


@pytest.mark.parametrize("severity", SEVERITIES)
def test_every_range_is_drawn_and_kept(severity):
    for seed in range(40):
        twin = draw_peg(seed, severity)
        assert all(math.isfinite(x) for x in flatten(twin.to_json()) if isinstance(x, float))
        for name, span in PEG_RANGES.items():
            low, high = span.at(severity)
            values = np.atleast_1d(value_of(twin, name))
            assert ((values >= low - 1e-12) & (values <= high + 1e-12)).all(), name
        for name, spans in PEG_COUNTS.items():
            low, high = spans[severity]
            assert low <= getattr(twin, name) <= high, name


def test_all_of_a_twin_varies_with_its_seed():
    twins = [flatten(draw_peg(seed, "harsh").to_json()) for seed in range(12)]
    labels = flatten(labelled(draw_peg(0, "harsh").to_json()))
    constant = {name for name, *values in zip(labels, *twins, strict=True) if len(set(values)) == 1}
    assert constant == {"severity", "subsampling"}


def test_the_world_part_speaks_the_words_of_profiles():
    parts = draw_peg(8, "moderate").world()
    assert len({axis for axis, _, _ in parts}) == len(parts)
    for axis, operation, values in parts:
        assert axis in UR5E.terms, axis
        assert operation in OPERATIONS
        assert len(values) == UR5E.terms[axis].size, axis
        assert all(isinstance(v, float) for v in values), axis


def test_what_profiles_could_say_and_twins_leave_out_is_in_their_effects():
    """Lateness and the sensor's filter are the drive's and the sensor's own."""
    said = {axis for axis, _, _ in draw_peg(8, "moderate").world()}
    plain = {"exposure", "colour_cast", "image_noise", "light_shadow", "background_colour"}
    left = set(UR5E.terms) - said - plain - {"table_colour"}
    assert left == {"action_latency", "wrench_cutoff"}


def test_no_tolerance_makes_a_hole_that_the_solver_cannot_hold():
    """Harsh twins too, at the tightest clearance that is tried."""
    for seed in range(300):
        twin = draw_peg(seed, "harsh")
        assert min(CLEARANCES_M) + twin.hole_tolerance_m - twin.peg_tolerance_m > 0.00005


def test_ranges_grow_with_severity_and_keep_their_limits():
    for name, span in PEG_RANGES.items():
        mild, moderate, harsh = (span.at(s) for s in ("mild", "moderate", "harsh"))
        assert moderate == pytest.approx((span.low, span.high)), name
        spread = [math.log(b / a) if span.log else b - a for a, b in (mild, moderate, harsh)]
        assert spread[0] < spread[1] <= spread[2], name
        for low, high in (mild, moderate, harsh):
            assert span.limit[0] <= low <= high <= span.limit[1], name
            assert not span.log or low > 0, name
        assert span.unit, name
        assert span.source, name


def test_parameters_name_their_units_or_are_plain():
    plain = {"hole_friction", "hole_colour", "contact", "fixture", "arm", "sensor"}
    suffixes = ("_ratio", "_m", "_rad", "_mm", "_deg", "_n", "_n_s")
    for field in dataclasses.fields(PegTwinParameters):
        if field.name in PegTwinParameters.__annotations__:
            assert field.name in plain or field.name.endswith(suffixes), field.name
