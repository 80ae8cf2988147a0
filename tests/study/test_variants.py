"""Variants: none of a profile is the nominal simulation, all of a twin's profile is the twin."""

import dataclasses

import numpy as np
import pytest

from simreal.core.errors import UsageError
from simreal.core.seeds import generator
from simreal.core.types import Condition
from simreal.robots.twin import TwinJob, build_world
from simreal.robots.twinfile import TwinFile
from simreal.study.profile import FACTORS, Setting, TargetProfile
from simreal.study.profilefile import profile_from
from simreal.study.variants import Stage, described_settings, described_world, profile_of
from simreal.worlds.simulated import SimConfig, simulated_world
from simreal.worlds.tasks import task as find_task

STAGE = Stage("lift", size_px=32, batch=4)
TWIN = TwinFile(11, "harsh")


def conditions(n=4, task="lift"):
    draw = find_task(task).draw
    return [Condition(i, "nominal", draw(generator(8, "variants", i)), 70 + i) for i in range(n)]


def play(world, task="lift", steps=25):
    """Joints, pictures and outcome of a motion that answers what is measured."""
    world.reset(conditions(task=task))
    joints, pictures = [], []
    for step in range(steps):
        seen = world.observe(images=step % 6 == 0)
        joints.append(seen.joint_pos)
        pictures += [np.concatenate(list(seen.images.values()))] if seen.images else []
        move = np.array([3, 4, -2, -4, 2, -6]) * np.cos(step / 4)
        world.act(seen.joint_pos + move.astype(np.float32))
    outcome = dataclasses.asdict(world.outcome())
    world.close()
    return np.array(joints), np.array(pictures), outcome


def equal(a, b) -> bool:
    outcomes = all(np.array_equal(a[2][k], b[2][k]) for k in a[2])
    return np.array_equal(a[0], b[0]) and np.array_equal(a[1], b[1]) and outcomes


@pytest.mark.parametrize("task", ["lift", "push"])
def test_no_factor_is_the_nominal_simulation_trial_by_trial(task):
    twin = profile_of(dataclasses.replace(TWIN, task=task), "t")
    stage = dataclasses.replace(STAGE, task=task)
    nominal = simulated_world(SimConfig(task, size_px=32, batch=4))
    assert equal(play(described_world(twin.only(()), stage), task), play(nominal, task))


def test_all_factors_of_a_twins_profile_are_the_twin_trial_by_trial():
    twin = build_world(TwinJob(TWIN, "primitive", 32, False, 4, "cpu"))
    assert equal(play(described_world(profile_of(TWIN, "t"), STAGE)), play(twin))


def test_each_factor_changes_what_it_is_about():
    """Visual: pictures alone. Sensing: what is measured at rest. The others: what follows."""
    profile = profile_of(TWIN, "t")
    nominal = play(described_world(profile.only(()), STAGE))
    played = {f: play(described_world(profile.only([f]), STAGE)) for f in FACTORS}
    assert np.array_equal(played["visual"][0], nominal[0])
    assert not np.array_equal(played["visual"][1][0], nominal[1][0])
    assert not np.array_equal(played["dynamics"][1][0], nominal[1][0])  # the table's height
    assert np.array_equal(played["dynamics"][0][0], nominal[0][0])
    assert not np.array_equal(played["sensing"][0][0], nominal[0][0])
    assert np.array_equal(played["actuation"][0][0], nominal[0][0])
    assert not np.array_equal(played["actuation"][0][-1], nominal[0][-1])


def test_a_variant_says_what_it_is():
    world = described_world(profile_of(TWIN, "t").only(["visual", "actuation"]), STAGE)
    assert (world.spec.kind, world.spec.name) == ("sim", "simulation (visual+actuation)")
    with pytest.raises(UsageError, match="no suite 'backgrounds'"):
        world.reset([dataclasses.replace(conditions(1)[0], suite="backgrounds")])


def test_a_simulation_that_cannot_be_is_refused():
    light = TargetProfile("p", axes=(Setting("object_mass", "add", (-1.0,)),))
    with pytest.raises(UsageError, match=r"'p' cannot be played: physics\.body_mass below zero"):
        described_settings(light, STAGE)
    wide = TargetProfile("p", axes=(Setting("object_size", "scale", (4.0,)),))
    with pytest.raises(UsageError, match="cannot be played: object 100 mm wide, limit 42 mm"):
        described_settings(wide, STAGE)
    with pytest.raises(UsageError, match="is for the task 'push'; this is 'lift'"):
        described_settings(TargetProfile("p", task="push"), STAGE)


@pytest.mark.parametrize("task", ["insert", "insert_square"])
def test_a_gap_of_an_insertion_is_not_explained_yet(task):
    """Neither the profile of its twin nor one by hand: profiles know the axes of an SO-101."""
    words = f"SO-101 so far; the task '{task}' is done by ur5e, so choose a study of lift or push"
    with pytest.raises(UsageError, match=words):
        profile_of(TwinFile(501, task=task), "t")
    with pytest.raises(UsageError, match=words):
        described_settings(TargetProfile("p"), Stage(task))


def test_a_servo_by_hand_acts():
    """A command that arrives 0.2 s late: the arm starts four control steps later."""
    late = profile_from({"actuation": {"servo": {"latency_s": 0.2}}}, "late")
    moved = play(described_world(late, STAGE), steps=12)[0]
    nominal = play(described_world(late.only(()), STAGE), steps=12)[0]
    assert np.abs(nominal[4] - nominal[0])[:, 0].max() > 0.5  # the pan carries no weight
    assert np.abs(moved[4] - moved[0])[:, 0].max() < 0.01
    assert np.abs(moved[-1] - moved[0])[:, 0].max() > 0.5
