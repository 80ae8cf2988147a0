"""The twin of an insertion, through its server and from inside."""

import dataclasses

import numpy as np
import pytest
from tests.contract.target_kit import check_target

from simreal.core.errors import UsageError
from simreal.core.seeds import generator
from simreal.core.types import Condition
from simreal.robots.hidden_peg import draw_peg
from simreal.robots.peg_effects import (
    ArmParameters,
    ContactParameters,
    FixtureParameters,
    PegEffects,
)
from simreal.robots.twin import (
    TwinJob,
    TwinTarget,
    build_world,
    hidden_of,
    hidden_settings,
    reveal,
    suites_of,
)
from simreal.robots.twinfile import TwinFile
from simreal.robots.wrench_effects import SensorEffects, SensorParameters
from simreal.worlds.peg_drive import PegDrive
from simreal.worlds.tasks import task as find_task
from simreal.worlds.world import Extras, World

TWIN = TwinFile(501, "moderate", "insert")
HIDDEN = draw_peg(501, "moderate")
JOB = TwinJob(TWIN, "primitive", 24, False, 4, "cpu")
INSERT = find_task("insert")


def condition(i, suite="nominal"):
    """A hole somewhere, and the peg straight above it, so that pushing down finds it."""
    reset = INSERT.draw(generator(5, "insertion twin", i))
    straight = dict.fromkeys((n for n in reset if n.startswith(("start_r", "grasp"))), 0.0)
    reset = {**reset, **straight, "start_x_m": 0.0, "start_y_m": 0.0, "start_z_m": 0.004}
    return Condition(i, suite, reset, seed=40 + i)


def push(target, conditions, steps=24, down_mm=1.0):
    """Joints and force windows of pushing down; the commands come from the start alone."""
    target.reset(conditions)
    seen = target.observe(images=False)
    goal, joints, forces = seen.joint_pos.copy(), [], []
    for _ in range(steps):
        goal[:, 2] -= down_mm
        target.act(goal)
        seen = target.observe(images=False)
        joints.append(seen.joint_pos)
        forces.append(seen.wrench)
    return np.array(joints), np.array(forces)


@pytest.fixture(scope="module")
def world():
    """The server's own world, in this process."""
    return build_world(JOB)


def test_a_twin_of_an_insertion_keeps_the_contract():
    """Among it: two servers of one seed are equal bit for bit, wrench included."""
    check_target(lambda: TwinTarget(JOB), [condition(i) for i in range(2)])


def test_a_second_episode_equals_a_fresh_one(world):
    """What the effects write into the model while they play is undone at reset."""
    first = push(world, [condition(i) for i in range(3)])
    push(world, [condition(i) for i in range(7, 10)])
    again = push(world, [condition(i) for i in range(3)])
    fresh = push(build_world(JOB), [condition(i) for i in range(3)])
    for a, b, c in zip(first, again, fresh, strict=True):
        assert np.array_equal(a, b)
        assert np.array_equal(a, c)


def test_an_episode_does_not_depend_on_its_batch(world):
    together = push(world, [condition(i) for i in range(4)])
    alone = push(world, [condition(2)])
    for a, b in zip(together, alone, strict=True):
        assert np.array_equal(a[:, 2:3], b)


def variant(world, **changes):
    """The world with some of the twin's hidden parts replaced."""
    hidden = dataclasses.replace(HIDDEN, **changes)
    laws = PegEffects(hidden.contact, hidden.fixture, hidden.arm, hidden.seed)
    extras = Extras(drive=PegDrive(laws), feel=SensorEffects(hidden.sensor))
    prepare = lambda c: hidden_settings(world.scene, hidden, c)  # noqa: E731
    return World(INSERT, world.scene, world.spec, prepare, extras=extras)


OFF = {
    "stribeck": {"contact": dataclasses.replace(HIDDEN.contact, stribeck_ratio=1.0)},
    "out": {"contact": dataclasses.replace(HIDDEN.contact, out_ratio=1.0)},
    "lay": {"contact": dataclasses.replace(HIDDEN.contact, lay_ratio=1.0)},
    "marks": {"contact": dataclasses.replace(HIDDEN.contact, mark_depth=0.0)},
    "fixture": {"fixture": FixtureParameters()},
    "joint stiction": {"arm": dataclasses.replace(HIDDEN.arm, stiction_ratio=(1.0,) * 6)},
    "tool play": {"arm": dataclasses.replace(HIDDEN.arm, play=(0.0, 0.0))},
    "speed limit": {"arm": dataclasses.replace(HIDDEN.arm, max_speed=(10.0, 10.0))},
    "lateness": {"arm": dataclasses.replace(HIDDEN.arm, latency_s=0.0, jitter_s=0.0)},
    "gain": {"sensor": dataclasses.replace(HIDDEN.sensor, gain=(1.0,) * 6)},
    "crosstalk": {"sensor": dataclasses.replace(HIDDEN.sensor, crosstalk=(0.0,) * 30)},
    "hysteresis": {"sensor": dataclasses.replace(HIDDEN.sensor, hysteresis_n=0.0)},
    "resonance": {"sensor": dataclasses.replace(HIDDEN.sensor, resonance_share=0.0)},
    "filter": {"sensor": dataclasses.replace(HIDDEN.sensor, cutoff_hz=0.0)},
    "quantum": {"sensor": dataclasses.replace(HIDDEN.sensor, quantum_n=0.0)},
    "hole tilt": {"hole_tilt_rad": (0.0, 0.0)},
    "chamfer": {"chamfer_m": 0.0},
    "peg tolerance": {"peg_tolerance_m": 0.0},
}


def down_and_up(target, conditions):
    """Pushed in fast, held, and pulled out again: every effect has its moment."""
    target.reset(conditions)
    goal, joints, forces = target.observe(images=False).joint_pos.copy(), [], []
    for step in range(36):
        goal[:, 2] += -2.0 if step < 9 else (0.0 if step < 15 else 20.0 if step == 24 else 1.0)
        target.act(goal)
        seen = target.observe(images=False)
        joints.append(seen.joint_pos)
        forces.append(seen.wrench)
    return np.array(joints), np.array(forces)


def test_each_effect_changes_what_is_felt(world):
    cases = [condition(i, "tight") for i in range(4)]
    as_is = down_and_up(variant(world), cases)
    for name, changes in OFF.items():
        other = down_and_up(variant(world, **changes), cases)
        assert np.abs(as_is[1] - other[1]).max() > 1e-3, name


def test_without_effects_a_world_is_the_plain_one(world):
    """Laws that change nothing leave the physics bit for bit as it was."""
    cases = [condition(i) for i in range(2)]
    laws = PegEffects(ContactParameters(), FixtureParameters(), ArmParameters(), 1)
    prepare = lambda c: hidden_settings(world.scene, HIDDEN, c)  # noqa: E731
    bare = World(INSERT, world.scene, world.spec, prepare)
    extras = Extras(drive=PegDrive(laws), feel=SensorEffects(SensorParameters()))
    driven = World(INSERT, world.scene, world.spec, prepare, extras=extras)
    for a, b in zip(push(bare, cases), push(driven, cases), strict=True):
        assert np.array_equal(a, b)


def test_suites_set_the_clearance_and_backgrounds_only_the_looks(world):
    bores = {}
    for suite in suites_of("insert"):
        world.reset([condition(0, suite)])
        bores[suite] = round(float(world.state().bore[0]) - 0.008, 6)
    shift = HIDDEN.hole_tolerance_m - HIDDEN.peg_tolerance_m
    for suite, clearance in (("nominal", 0.0002), ("wide", 0.0005), ("tight", 0.0001)):
        assert bores[suite] == pytest.approx(clearance + shift, abs=2e-6)
    given = condition(0).reset["clearance_m"]
    assert bores["backgrounds"] == pytest.approx(given + shift, abs=2e-6)
    looks = []
    for suite in ("nominal", "backgrounds"):
        world.reset([condition(0, suite)])
        looks.append(world.observe().images["scene"][0].astype(int))
    assert (np.abs(looks[0] - looks[1]).max(axis=-1) > 8).mean() > 0.1


def test_an_unknown_suite_is_refused():
    target = TwinTarget(JOB)
    with pytest.raises(UsageError, match="'night'; it has nominal, wide, tight, backgrounds"):
        target.reset([condition(0, "night")])
    target.close()


def test_the_robot_decides_what_is_hidden():
    assert hidden_of(TWIN) == HIDDEN
    assert reveal(TWIN)["contact"]["mark_pitch_m"] == HIDDEN.contact.mark_pitch_m
    assert "servo" in reveal(TwinFile(501, "moderate", "lift"))


def above_20_hz(world, slide_mm, **changes):
    """RMS force (N) above 20 Hz while the peg presses on the plate and slides beside the hole."""
    quiet = {"wrench_noise_n": 0.0, "pose_noise_mm_deg": 0.0, **changes}
    other = variant(world, **quiet)
    start = condition(0)
    beside = {**start.reset, "start_x_m": 0.012, "start_z_m": 0.002}
    other.reset([dataclasses.replace(start, reset=beside)])
    goal, forces = other.observe(images=False).joint_pos.copy(), []
    for step in range(60):
        goal[:, 2] -= 0.4 if step < 20 else 0.0
        goal[:, 0] += slide_mm if step >= 30 else 0.0
        other.act(goal)
        forces.append(other.observe(images=False).wrench[0, :, :3])
    felt = np.concatenate(forces[35:])
    power = np.abs(np.fft.rfft(felt - felt.mean(axis=0), axis=0)) ** 2
    fast = np.fft.rfftfreq(len(felt), 1 / 500) > 20
    assert felt[:, 2].mean() > 4, "it presses"
    return np.sqrt(power[fast].sum() / (len(felt) ** 2 / 2))


def test_what_lies_above_20_hz_tells_sliding_from_rest(world):
    """No tone: at rest under the same force there is nothing; the plain simulation has little."""
    rest, slow, fast = (above_20_hz(world, mm) for mm in (0.0, 0.1, 0.6))
    assert rest < 0.03
    assert rest * 3 < slow < fast
    plain = {
        "contact": ContactParameters(),
        "fixture": FixtureParameters(),
        "arm": ArmParameters(),
        "sensor": SensorParameters(),
    }
    assert fast > 5 * above_20_hz(world, 0.6, **plain)
    smooth = dataclasses.replace(HIDDEN.sensor, resonance_share=0.0)
    assert fast > above_20_hz(world, 0.6, sensor=smooth)
