"""The twin's server and its client. Starting a server takes seconds, so most tests share one."""

import dataclasses
import pickle

import numpy as np
import pytest
from tests.contract.target_kit import check_target

from simreal.core.errors import SimrealError, UsageError
from simreal.core.seeds import generator
from simreal.core.types import Condition
from simreal.robots.hidden import draw
from simreal.robots.safety import SafeTarget
from simreal.robots.twin import (
    OWN_TEXTURES,
    UNSEEN_TEXTURES,
    TwinJob,
    TwinTarget,
    hidden_settings,
    open_twin,
    textures,
)
from simreal.robots.twinfile import TwinFile, write_twin
from simreal.worlds.scene import TRAINING_SHAPES, UNSEEN_SHAPES, build
from simreal.worlds.simulated import TEXTURES
from simreal.worlds.so101_rig import SO101
from simreal.worlds.tasks import task as find_task
from simreal.worlds.textures import bank

SEED, SEVERITY = 23, "moderate"
HIDDEN = draw(SEED, SEVERITY)
JOB = TwinJob(TwinFile(SEED, SEVERITY), "primitive", 24, False, 3, "cpu")
LIFT = find_task("lift")


def conditions(n, suite="nominal"):
    return [
        Condition(i, suite, LIFT.draw(generator(5, "twin test", i)), seed=40 + i) for i in range(n)
    ]


@pytest.fixture(scope="module")
def twin():
    """One server for all tests that only reset and play."""
    target = TwinTarget(JOB)
    yield target
    target.close()


def play(target, suite="nominal", steps=8):
    """Joints, pictures and the outcome of three episodes with a given motion."""
    target.reset(conditions(3, suite))
    joints, pictures = [], []
    for step in range(steps):
        seen = target.observe(images=step % 4 == 0)
        joints.append(seen.joint_pos)
        pictures += [seen.images] if seen.images else []
        target.act(seen.joint_pos + np.float32(4 * np.sin(step)))
    return np.array(joints), pictures, target.outcome()


def test_a_twin_keeps_the_contract_and_two_of_one_seed_are_equal():
    """The kit plays equal conditions in two servers and wants them equal bit for bit."""
    check_target(lambda: TwinTarget(JOB), conditions(2))


def test_it_says_what_it_is_and_nothing_of_its_parameters(twin):
    spec = twin.spec
    assert (spec.kind, spec.label, spec.batch) == ("twin", "stand-in (simulated)", 3)
    assert (spec.seed, spec.severity, spec.task) == (SEED, SEVERITY, "lift")
    assert spec.cameras == {"scene": (24, 24), "wrist": (24, 24)}
    words = str(dataclasses.asdict(spec)) + str(vars(twin))
    assert not [name for name in dataclasses.asdict(HIDDEN) if name in words and len(name) > 8]


def reachable(thing, seen):
    """Everything that the attributes and items of an object lead to."""
    if id(thing) in seen or isinstance(thing, type):
        return
    seen[id(thing)] = thing
    inside = list(getattr(thing, "__dict__", {}).values())
    if isinstance(thing, dict):
        inside += [*thing.keys(), *thing.values()]
    elif isinstance(thing, list | tuple | set | frozenset):
        inside += list(thing)
    for part in inside:
        reachable(part, seen)


def drawn_numbers(value):
    """The floats of a draw that no one could have by chance."""
    if isinstance(value, dict):
        return {x for part in value.values() for x in drawn_numbers(part)}
    if isinstance(value, tuple):
        return {x for part in value for x in drawn_numbers(part)}
    return {value} if isinstance(value, float) and value not in (0.0, 1.0) else set()


def test_no_hidden_parameter_can_be_reached_from_the_client(twin):
    play(twin, steps=2)
    seen = {}
    reachable(twin, seen)
    kinds = {type(thing).__module__ for thing in seen.values()}
    assert not [kind for kind in kinds if kind.startswith("simreal.worlds")]
    assert not [kind for kind in kinds if kind.startswith("simreal.robots.hidden")]
    hidden = drawn_numbers(dataclasses.asdict(HIDDEN))
    assert len(hidden) > 50
    assert not hidden & {thing for thing in seen.values() if isinstance(thing, float)}
    with pytest.raises((TypeError, RuntimeError)):
        pickle.dumps(twin)


def test_unseen_backgrounds_change_pictures_and_nothing_else(twin):
    joints, pictures, outcome = play(twin)
    other_joints, other_pictures, other_outcome = play(twin, "backgrounds")
    assert np.array_equal(joints, other_joints)
    for field in dataclasses.fields(outcome):
        a, b = getattr(outcome, field.name), getattr(other_outcome, field.name)
        assert np.array_equal(a, b), field.name
    for world in range(3):
        before, after = (p[0]["scene"][world].astype(int) for p in (pictures, other_pictures))
        assert (np.abs(before - after).max(axis=-1) > 8).mean() > 0.2
    again = play(twin, "backgrounds")[1]
    for a, b in zip(other_pictures, again, strict=True):
        assert all(np.array_equal(a[camera], b[camera]) for camera in a)


def test_the_suite_exchanges_the_textures_of_table_and_background_alone():
    scene = build(LIFT, "primitive", textures(), UNSEEN_SHAPES)
    (nominal,), (unseen,) = (conditions(1, suite) for suite in ("nominal", "backgrounds"))
    a, b = (hidden_settings(scene, HIDDEN, c) for c in (nominal, unseen))
    differing = {f for f in a.edited | b.edited if not np.array_equal(a.value(f), b.value(f))}
    written = {*SO101.terms["table_texture"].writes, *SO101.terms["background_texture"].writes}
    assert differing
    assert differing <= written
    ids = [scene.look.material(name).id for name in ("table", "background")]
    for field in differing:
        rows = np.flatnonzero(np.any(a.value(field) != b.value(field), axis=-1))
        assert set(rows) <= set(ids), field
    shown = b.value("look.mat_texid")[ids].max(axis=-1)
    names = [scene.look.texture(int(i)).name for i in shown]
    assert all(name.startswith("unseen-") for name in names), names
    assert len(set(names)) == 2


def test_twins_training_and_unseen_backgrounds_share_no_texture_and_no_clutter():
    banks = {
        "train": {t.sha256 for t in bank("train", TEXTURES, seed=0)},
        "twin": {t.sha256 for t in textures()[:OWN_TEXTURES]},
        "unseen": {t.sha256 for t in textures()[OWN_TEXTURES:]},
    }
    assert [len(hashes) for hashes in banks.values()] == [TEXTURES, OWN_TEXTURES, UNSEEN_TEXTURES]
    assert len(set().union(*banks.values())) == TEXTURES + OWN_TEXTURES + UNSEEN_TEXTURES
    assert not set(TRAINING_SHAPES) & set(UNSEEN_SHAPES)


def test_a_twin_shows_no_unseen_texture_in_everyday_life():
    scene = build(LIFT, "primitive", textures(), UNSEEN_SHAPES)
    for seed in range(12):
        settings = hidden_settings(scene, draw(seed, "harsh"), conditions(1)[0])
        shown = {int(i) for i in settings.value("look.mat_texid").ravel() if i >= 0}
        names = [scene.look.texture(i).name for i in shown]
        assert not [name for name in names if name.startswith("unseen-")], names


def test_the_safety_layer_stands_between_policy_and_twin(twin):
    safe = SafeTarget(twin)
    safe.reset(conditions(2))
    measured = safe.observe(images=False).joint_pos
    leap = measured.copy()
    leap[0, 0] += 90
    leap[1, 2] = np.nan
    safe.act(leap)
    assert safe.counts.step_clamped.tolist() == [1, 0]
    assert safe.counts.held.tolist() == [0, 1]
    assert np.abs(safe.observe(images=False).joint_pos - measured).max() < 25
    with pytest.raises(ValueError, match="not finite"):
        twin.act(leap)


def test_an_unknown_suite_is_refused(twin):
    with pytest.raises(UsageError, match="no suite 'night'; it has nominal, backgrounds"):
        twin.reset(conditions(1, "night"))


def test_a_server_that_dies_is_a_clear_error():
    target = TwinTarget(JOB)
    target.reset(conditions(1))
    target._process.kill()
    for _ in range(2):
        with pytest.raises(SimrealError, match=r"server of twin 23 \(moderate\) ended \(exit code"):
            target.observe(images=False)
    target.close()
    target.close()


def opened(path, task="lift", size_px=24):
    return open_twin(str(path), task=task, size_px=size_px, shadows=False, batch=1, device="cpu")


def test_what_cannot_be_opened_is_refused_before_a_server_starts(tmp_path, monkeypatch):
    monkeypatch.setattr("simreal.robots.twin.TwinTarget", None)
    path = tmp_path / "twin.toml"
    with pytest.raises(UsageError, match="No twin file"):
        opened(path)
    write_twin(path, TwinFile(1, task="push"))
    with pytest.raises(UsageError, match="is a twin for the task 'push'; this is 'lift'"):
        opened(path)
    write_twin(path, TwinFile(1, task="juggle"))
    with pytest.raises(
        UsageError, match="Unknown task 'juggle'; allowed: insert, insert_square, lift, push"
    ):
        opened(path, task="juggle")
    write_twin(path, TwinFile(1))
    with pytest.raises(UsageError, match="Camera size 8 px; allowed: 16 to 512"):
        opened(path, size_px=8)


def test_the_file_decides_the_form(tmp_path, monkeypatch):
    monkeypatch.setattr("simreal.robots.twin.TwinTarget", lambda job: job)
    write_twin(tmp_path / "twin.toml", TwinFile(1, form="mesh"))
    assert opened(tmp_path / "twin.toml").form == "mesh"
