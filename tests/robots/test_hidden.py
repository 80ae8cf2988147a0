import dataclasses
import json
import math

import numpy as np
import pytest

from simreal.core.errors import UsageError
from simreal.robots.hidden import TwinParameters, draw
from simreal.robots.hidden_looks import CLUTTER, LIGHTS
from simreal.robots.ranges import COUNTS, RANGES, SEVERITIES
from simreal.robots.servo import REAL_ARM
from simreal.worlds.scene import CLUTTER as SCENE_CLUTTER
from simreal.worlds.scene import LIGHTS as SCENE_LIGHTS
from simreal.worlds.so101_rig import SO101
from simreal.worlds.variation import OPERATIONS

SEEDS = range(60)


def flatten(value):
    if isinstance(value, dict):
        return [x for v in value.values() for x in flatten(v)]
    if isinstance(value, list | tuple):
        return [x for v in value for x in flatten(v)]
    return [value]


def test_a_twin_is_its_seed_and_severity():
    assert draw(3, "moderate") == draw(3, "moderate")
    assert draw(3, "moderate") != draw(4, "moderate")
    assert draw(3, "moderate") != draw(3, "harsh")


def test_parameters_are_json():
    for severity in SEVERITIES:
        text = json.dumps(draw(5, severity).to_json(), allow_nan=False)
        assert json.loads(text)["servo"]["jitter_s"] == draw(5, severity).servo.jitter_s


def test_an_unknown_severity_is_refused():
    with pytest.raises(UsageError, match=r"severity 'mid'; allowed: harsh, mild, moderate"):
        draw(0, "mid")


@pytest.mark.parametrize("severity", SEVERITIES)
def test_every_draw_is_finite_and_inside_its_range(severity):
    for seed in SEEDS:
        twin = draw(seed, severity)
        assert all(math.isfinite(x) for x in flatten(twin.to_json()) if isinstance(x, float))
        for name, span in RANGES.items():
            if hasattr(twin, name) and "camera" not in name:
                low, high = span.at(severity)
                values = np.atleast_1d(getattr(twin, name))
                assert ((values >= low - 1e-12) & (values <= high + 1e-12)).all(), name
        for name, spans in COUNTS.items():
            if hasattr(twin, name):
                low, high = spans[severity]
                assert low <= getattr(twin, name) <= high, name
        for name in ("scene_camera_shift_m", "wrist_camera_turn_deg"):
            low, high = RANGES[name].at(severity)
            assert low <= np.linalg.norm(getattr(twin, name)) <= high + 1e-12


def test_severity_sets_the_spread():
    """Mild reaches about half as far as moderate, harsh about twice."""

    def spread(severity):
        twins = [draw(seed, severity) for seed in SEEDS]
        return {
            "offset": np.std([t.joint_offset_deg for t in twins]),
            "camera": np.mean([np.linalg.norm(t.scene_camera_shift_m) for t in twins]),
            "mass": np.std([math.log(t.object_mass_ratio) for t in twins]),
            "lens": np.std([t.scene_camera.k1 for t in twins]),
            "bias": np.std([np.subtract(t.servo.bias_rad, REAL_ARM.bias_rad) for t in twins]),
        }

    mild, moderate, harsh = (spread(s) for s in ("mild", "moderate", "harsh"))
    for name in moderate:
        assert 0.35 < mild[name] / moderate[name] < 0.7, name
        assert 1.5 < harsh[name] / moderate[name] < 2.7, name


def test_all_of_a_twin_varies_with_its_seed():
    """No field is forgotten by the draw (object texture: harsh only; Stribeck speed is assumed)."""
    twins = [flatten(draw(seed, "harsh").to_json()) for seed in range(12)]
    labels = flatten(labelled(draw(0, "harsh").to_json()))
    constant = {name for name, *values in zip(labels, *twins, strict=True) if len(set(values)) == 1}
    assert constant == {"severity", "stribeck_rad_s", "subsampling"}


def labelled(value, name=""):
    if isinstance(value, dict):
        return [labelled(v, k) for k, v in value.items()]
    if isinstance(value, list | tuple):
        return [labelled(v, name) for v in value]
    return name


def test_quantities_are_independent():
    """The same seed does not move two quantities together."""
    twins = [draw(seed, "moderate") for seed in range(200)]
    friction = [t.object_friction for t in twins]
    for other in (
        [t.table_friction for t in twins],
        [t.scene_camera.k1 for t in twins],
        [t.servo.latency_s for t in twins],
    ):
        assert abs(np.corrcoef(friction, other)[0, 1]) < 0.25
    pairs = [(t.scene_camera.k1, t.wrist_camera.k1) for t in twins]
    assert abs(np.corrcoef(*zip(*pairs, strict=True))[0, 1]) < 0.25


def test_the_world_part_speaks_the_words_of_profiles():
    """Every axis exists, has as many values as its term takes, and an operation that exists."""
    parts = draw(8, "moderate").world()
    assert len({axis for axis, _, _ in parts}) == len(parts)
    for axis, operation, values in parts:
        assert axis in SO101.terms, axis
        assert operation in OPERATIONS
        assert len(values) == SO101.terms[axis].size, axis
        assert all(isinstance(v, float) for v in values), axis
    assert LIGHTS == SCENE_LIGHTS
    assert CLUTTER == SCENE_CLUTTER


def test_the_world_part_says_all_but_servo_and_cameras():
    twin = draw(8, "moderate")
    told = sorted(v for _, _, values in twin.world() for v in values)
    rest = {k: v for k, v in twin.to_json().items() if k not in ("servo", "severity", "seed")}
    known = sorted(
        float(v) for k, v in rest.items() if not k.endswith("_camera") for v in flatten(v)
    )
    assert told == known


def test_ranges_grow_with_severity_and_keep_their_limits():
    for name, span in RANGES.items():
        mild, moderate, harsh = (span.at(s) for s in ("mild", "moderate", "harsh"))
        assert moderate == pytest.approx((span.low, span.high)), name
        assert span.low <= mild[0] + 1e-12 or span.low > span.centre, name
        assert mild[1] - mild[0] < moderate[1] - moderate[0] <= harsh[1] - harsh[0], name
        for low, high in (mild, moderate, harsh):
            assert span.limit[0] <= low <= high <= span.limit[1], name
            assert not span.log or low > 0, name
        assert span.unit, name
        assert span.source, name


def test_twin_parameters_name_their_units_or_are_plain():
    plain = {
        "seed", "severity", "object_friction", "table_friction", "finger_friction", "light_count",
        "light_intensity", "light_colour", "light_ambient", "table_texture", "background_texture",
        "object_texture", "texture_repeat", "object_colour", "robot_colour", "clutter_count",
        "clutter_place", "clutter_size", "clutter_colour", "servo", "scene_camera", "wrist_camera",
    }  # fmt: skip
    suffixes = ("_ratio", "_m", "_deg", "_steps")
    for field in dataclasses.fields(TwinParameters):
        assert field.name in plain or field.name.endswith(suffixes), field.name
