"""The force/torque window in a policy: what it adds, what is refused without it."""

import dataclasses
import json
import shutil

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from tests.contract.policy_kit import check_policy
from tests.policies.blobs import (
    CAMERAS,
    JOINTS,
    Frames,
    make_frames,
    make_part,
    make_stage,
    quick_config,
)

from simreal.core.errors import BadDataError, InterruptedRunError, UsageError
from simreal.core.seeds import generator
from simreal.core.types import Observation, TargetSpec
from simreal.policies.augment import Augmentation
from simreal.policies.batches import Batcher, Part
from simreal.policies.checkpoint import load_checkpoint
from simreal.policies.network import CompactNetwork, NetworkShape, slow_band
from simreal.policies.preprocess import WRENCH_FLOOR, WrenchNormalizer
from simreal.policies.runner import CompactRunner
from simreal.policies.train import train

SIZE = dict.fromkeys(CAMERAS, (32, 32))


def felt_frames(episodes: int, seed: int = 0, hz: float = 0.0) -> Frames:
    """Demonstrations whose wrist roll moves by the force along z: its mean, or its tone at `hz`."""
    frames = make_frames(episodes, seed)
    draw = generator(seed, "felt")
    force = draw.uniform(-8, 8, len(frames.joint_pos)).astype(np.float32)
    time_s = np.arange(25) / 500
    wave = np.sin(2 * np.pi * hz * time_s) if hz else np.ones(25)
    wrench = np.zeros((len(force), 25, 6), np.float32)
    wrench[:, :, 2] = force[:, None] * wave
    wrench[:, :, :3] += 0.2 * draw.standard_normal((len(force), 25, 3))
    actions = frames.actions.copy()
    actions[:, 4] = frames.joint_pos[:, 4] + force
    return dataclasses.replace(frames, actions=actions, wrench=wrench)


def roll_error(checkpoint, frames: Frames) -> float:
    """Mean error of the first action's wrist roll, in units."""
    runner = CompactRunner.load(checkpoint, execute=1)
    runner.reset(len(frames.joint_pos))
    images = {name: frames.images[name] for name in CAMERAS}
    got = runner.act(Observation(frames.joint_pos, images, 0.0, frames.wrench))
    return float(np.abs(got[:, 4] - frames.actions[:, 4]).mean())


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Checkpoints by (tone, what is made of the window)."""
    folder, found = tmp_path_factory.mktemp("felt"), {}
    for hz, kind in ((0.0, "full"), (0.0, "slow"), (0.0, "none"), (60.0, "full"), (60.0, "slow")):
        out = folder / f"{hz:g}-{kind}"
        stage = make_stage([Part(felt_frames(10, hz=hz), "felt")], 250)
        train([stage], quick_config(wrench=kind), out, joint_names=JOINTS)
        found[hz, kind] = out / "checkpoint"
    return found


def test_the_window_tells_what_pictures_do_not(trained):
    test = felt_frames(4, seed=9)
    errors = {kind: roll_error(trained[0.0, kind], test) for kind in ("full", "slow", "none")}
    assert errors["none"] > 3.0  # mean of |U(-8, 8)| is 4
    assert errors["full"] < 1.5
    assert errors["slow"] < 1.5


def test_slow_does_not_hear_what_is_above_20_hz(trained):
    test = felt_frames(4, seed=9, hz=60.0)
    assert roll_error(trained[60.0, "full"], test) < 2.0
    assert roll_error(trained[60.0, "slow"], test) > 3.0


def test_full_and_slow_have_the_same_weights():
    sizes = [
        {
            k: v.shape
            for k, v in CompactNetwork(NetworkShape(JOINTS, SIZE, wrench=w)).named_parameters()
        }
        for w in ("full", "slow")
    ]
    assert sizes[0] == sizes[1]


def test_a_network_without_the_window_is_what_it_was():
    plain = CompactNetwork(NetworkShape(JOINTS, SIZE), seed=3)
    felt = CompactNetwork(NetworkShape(JOINTS, SIZE, wrench="full"), seed=3)
    assert not any("wrench" in name for name in plain.state_dict())
    assert any("wrench" in name for name in felt.state_dict())


def test_a_checkpoint_says_what_it_reads_and_comes_back(trained):
    config = json.loads((trained[0.0, "slow"] / "config.json").read_text())
    assert config["wrench"] == "slow"
    assert config["input_features"]["observation.wrench"] == {"type": "STATE", "shape": [150]}
    network, _ = load_checkpoint(trained[0.0, "slow"])
    assert network.shape.wrench == "slow"
    without = json.loads((trained[0.0, "none"] / "config.json").read_text())
    assert "observation.wrench" not in without["input_features"]


def test_a_checkpoint_from_before_there_were_windows_loads(trained, tmp_path):
    folder = tmp_path / "old"
    folder.mkdir()
    for file in trained[0.0, "none"].iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    config = json.loads((folder / "config.json").read_text())
    del config["wrench"]
    (folder / "config.json").write_text(json.dumps(config))
    assert load_checkpoint(folder)[0].shape.wrench == "none"


def test_auto_reads_the_window_where_there_is_one(tmp_path):
    for name, frames in (("with", felt_frames(3)), ("without", make_frames(3))):
        stage = make_stage([Part(frames, name)], 2)
        train([stage], quick_config(), tmp_path / name, joint_names=JOINTS)
        shape = load_checkpoint(tmp_path / name / "checkpoint")[0].shape
        assert shape.wrench == ("full" if name == "with" else "none")


def test_what_does_not_fit_is_refused_in_a_sentence(trained, tmp_path):
    plain, felt = make_part(2), Part(felt_frames(2), "felt")
    with pytest.raises(BadDataError, match=r"blobs has no force/torque windows, felt does"):
        Batcher([felt, plain], 8, quick_config().augmentation)
    bad, good = [make_stage([plain], 2)], [make_stage([felt], 2)]
    base = trained[0.0, "slow"]
    with pytest.raises(BadDataError, match=r"shall read the force/torque window \(full\), but"):
        train(bad, quick_config(wrench="full"), tmp_path / "a", joint_names=JOINTS)
    with pytest.raises(UsageError, match="Unknown use of the force/torque window 'fast'"):
        train(good, quick_config(wrench="fast"), tmp_path / "b", joint_names=JOINTS)
    with pytest.raises(UsageError, match="was trained with wrench slow; this run has full"):
        train(good, quick_config(), tmp_path / "c", joint_names=JOINTS, base=base)
    spoiled = felt_frames(2)
    spoiled.wrench[7, 3, 4] = np.inf
    with pytest.raises(BadDataError, match=r"wrench is not finite at frame 7 \(episode 0\), ty"):
        Batcher([Part(spoiled, "spoiled")], 8, quick_config().augmentation)
    for name in "abc":  # a refused run leaves its folder free
        assert not (tmp_path / name).exists()


def test_windows_that_are_not_finite_matter_to_who_reads_them_alone(tmp_path):
    spoiled = felt_frames(2)
    spoiled.wrench[7, 3, 4] = np.inf
    stage = dataclasses.replace(
        make_stage([Part(felt_frames(2), "felt")], 2), held_out=(Part(spoiled, "spoiled"),)
    )
    with pytest.raises(BadDataError, match=r"pictures alone \(wrench none\)"):
        train([stage], quick_config(), tmp_path / "a", joint_names=JOINTS)
    train([stage], quick_config(wrench="none"), tmp_path / "a", joint_names=JOINTS)
    assert load_checkpoint(tmp_path / "a/checkpoint")[0].shape.wrench == "none"


def test_a_target_without_a_sensor_and_a_broken_sensor_are_refused(trained):
    runner = CompactRunner.load(trained[0.0, "full"])
    spec = TargetSpec("blind", "sim", "simulation", 5, JOINTS, runner.cameras, 20.0, "lift")
    with pytest.raises(BadDataError, match="reads a force/torque window; the target 'blind'"):
        runner.check_target(spec)
    runner.check_target(dataclasses.replace(spec, wrench=True))
    frames = felt_frames(1)
    runner.reset(2)
    images = {name: frames.images[name][:2] for name in CAMERAS}
    broken = frames.wrench[:2].copy()
    broken[1, 5, 0] = np.nan
    with pytest.raises(ValueError, match=r"window of world 1 is not finite in fx"):
        runner.act(Observation(frames.joint_pos[:2], images, 0.0, broken))
    with pytest.raises(ValueError, match=r"windows of shape \(2, 25, 6\), got \(2, 24, 6\)"):
        runner.act(Observation(frames.joint_pos[:2], images, 0.0, frames.wrench[:2, 1:]))
    with pytest.raises(BadDataError, match="reads the force/torque window; there is none"):
        runner.act(Observation(frames.joint_pos[:2], images, 0.0))


def test_scales_have_a_floor_and_large_forces_stay_bounded():
    normalizer = WrenchNormalizer()
    quiet = 0.02 * np.array(WRENCH_FLOOR) * generator(0, "quiet").standard_normal((10, 25, 6))
    normalizer.fit([quiet.astype(np.float32)])
    assert normalizer.wrench_scale.tolist() == pytest.approx(list(WRENCH_FLOOR))
    z = normalizer(torch.tensor([[[0.0, 0.2, -0.2, 0, 0, 0], [1e4, 0, 0, 0, 0, 0]]]))
    assert z[0, 0].tolist() == pytest.approx([0, 1.0986, -1.0986, 0, 0, 0], abs=1e-4)
    assert 10 < float(z[0, 1, 0]) < 13


def test_an_axis_that_never_changed_is_not_seen():
    windows = generator(0, "felt").standard_normal((10, 25, 6)).astype(np.float32)
    windows[..., 1] = 3.0
    normalizer = WrenchNormalizer()
    normalizer.fit([windows])
    assert normalizer.wrench_live.tolist() == [1, 0, 1, 1, 1, 1]
    z = normalizer(torch.full((1, 25, 6), 20.0))
    assert (z[..., 1] == 0).all()
    assert (z[..., 0] > 0).all()


def test_what_the_slow_band_lets_through():
    time_s = np.arange(25) / 500
    hz = np.arange(0.0, 200, 0.5)
    phase = np.exp(2j * np.pi * hz[:, None] * time_s)
    parts = [torch.from_numpy(p)[..., None].expand(-1, -1, 6) for p in (phase.real, phase.imag)]
    real, imag = (slow_band(p)[:, 0, 0].numpy() for p in parts)
    gain = np.hypot(real, imag)
    assert gain[0] == pytest.approx(1.0)
    assert gain[hz % 20 == 0][1:] == pytest.approx(0.0, abs=1e-9)
    assert gain[hz >= 20].max() < 0.22
    assert gain[hz == 9.0] == pytest.approx(0.7, abs=0.01)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("wrench_scale", 0.0, "wrench_scale must be positive"),
        ("wrench_scale", float("nan"), "wrench_scale is not finite"),
        ("wrench_live", 0.5, "wrench_live must be 0 or 1"),
        ("wrench_live", None, r"missing network\.wrench\.normalizer\.wrench_live"),
    ],
)
def test_bad_scales_are_refused(trained, tmp_path, name, value, said):
    folder = tmp_path / "bad"
    shutil.copytree(trained[0.0, "full"], folder)
    tensors = load_file(folder / "model.safetensors")
    key = f"network.wrench.normalizer.{name}"
    if value is None:
        del tensors[key]
    else:
        tensors[key][2] = value
    save_file(tensors, folder / "model.safetensors")
    with pytest.raises(BadDataError, match=said):
        load_checkpoint(folder)


def test_a_network_whose_scales_were_never_fitted_is_not_run(trained):
    network, _ = load_checkpoint(trained[0.0, "full"])
    network.wrench.normalizer.wrench_scale.fill_(float("nan"))
    with pytest.raises(BadDataError, match="wrench_scale is not finite"):
        CompactRunner(network, 1)


def test_jitter_is_off_by_default_and_spares_pictures():
    part = Part(felt_frames(2), "felt")
    which, frames = np.zeros(16, int), np.arange(16)
    still, loud = (
        Batcher([part], 8, Augmentation(wrench=w)).training(which, frames, 0, "test", 0)
        for w in (0.0, 2.0)
    )
    assert torch.equal(still.wrench, torch.from_numpy(part.wrench[:16]))
    assert all(torch.equal(still.images[c], loud.images[c]) for c in CAMERAS)
    added = (loud.wrench - still.wrench).numpy() / np.array(WRENCH_FLOOR)
    bias, noise = added.mean(axis=1), added - added.mean(axis=1, keepdims=True)
    assert 1.5 < bias.std() < 2.6
    assert 1.8 < noise.std() < 2.2


def test_pictures_alone_may_be_mixed_from_data_with_and_without_windows(tmp_path):
    parts = [Part(felt_frames(2), "felt"), make_part(2)]
    mixed = make_stage(parts, 2, (0.5, 0.5))
    train([mixed], quick_config(wrench="none"), tmp_path / "a", joint_names=JOINTS)
    assert load_checkpoint(tmp_path / "a/checkpoint")[0].shape.wrench == "none"
    apart = [make_stage([part], 2) for part in parts]
    with pytest.raises(BadDataError, match="blobs has no force/torque windows, felt does"):
        train(apart, quick_config(), tmp_path / "b", joint_names=JOINTS)


def test_requests_without_a_window_read_as_they_did_before_there_were_any():
    plain = quick_config().request()
    assert "wrench" not in plain
    assert "wrench" not in plain["augmentation"]
    asked = quick_config(wrench="slow", augmentation=Augmentation(wrench=1.0)).request()
    assert (asked["wrench"], asked["augmentation"]["wrench"]) == ("slow", 1.0)


def test_a_resumed_run_feels_what_the_unbroken_one_felt(tmp_path):
    stages = [make_stage([Part(felt_frames(3), "felt")], 12)]
    config = quick_config(augmentation=Augmentation(wrench=1.0), save_every_s=0.0)

    def stop(told):
        if told.step == 5:
            raise KeyboardInterrupt

    whole = train(stages, config, tmp_path / "whole", joint_names=JOINTS)
    with pytest.raises(InterruptedRunError):
        train(stages, config, tmp_path / "cut", joint_names=JOINTS, progress=stop)
    cut = train(stages, config, tmp_path / "cut", joint_names=JOINTS, resume=True)
    files = [result.checkpoint / "model.safetensors" for result in (whole, cut)]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_it_keeps_the_promises_of_a_policy(trained):
    sizes = dict.fromkeys(CAMERAS, (32, 32))
    check_policy(lambda: CompactRunner.load(trained[0.0, "full"]), JOINTS, sizes, wrench=True)
