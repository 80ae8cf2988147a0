import json
import multiprocessing
import os
import signal
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.policies.blobs import (
    JOINTS,
    Frames,
    closed_loop_errors,
    make_frames,
    make_part,
    make_stage,
    quick_config,
    train_two_stages,
    two_stages,
)

from simreal.core.errors import BadDataError, InterruptedRunError, UsageError
from simreal.policies.augment import Augmentation
from simreal.policies.batches import Batcher, Part
from simreal.policies.checkpoint import load_checkpoint, read_facts, read_tensors, save_checkpoint
from simreal.policies.learner import Learner, learning_rate
from simreal.policies.network import CompactNetwork, NetworkShape
from simreal.policies.recipe import Progress
from simreal.policies.runner import CompactRunner
from simreal.policies.train import train


def log_of(folder: Path) -> list[dict]:
    """The log without the fields that measure time."""
    lines = [json.loads(line) for line in (folder / "train_log.jsonl").read_text().splitlines()]
    timed = ("steps_per_s", "data_share")
    return [{k: v for k, v in line.items() if k not in timed} for line in lines]


def weights_of(folder: Path) -> bytes:
    return (folder / "checkpoint" / "model.safetensors").read_bytes()


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("unbroken") / "run"
    train(two_stages(), quick_config(), folder, joint_names=JOINTS)
    return folder


def constant_loss(part: Part, network: CompactNetwork) -> float:
    """Standardized L1 of the best constant, within episodes."""
    chunks, valid = part.chunks(np.arange(len(part)), 8)
    targets = torch.from_numpy(chunks)[torch.from_numpy(valid)]
    poses = torch.from_numpy(np.repeat(part.joint_pos[:, None], 8, axis=1)[valid])
    z = network.normalizer.target(targets[:, None], poses)[:, 0, network.normalizer.action_free > 0]
    return float((z - z.median(dim=0).values).abs().mean())


def test_it_learns(tmp_path):
    """Held-out loss beats the best constant; the closed loop reaches what the picture asks."""
    part, held_out = make_part(370), make_part(30, 1, "held out")
    still = Augmentation(shift_px=0)
    config = quick_config(augmentation=still)
    stages = [make_stage([part], 400, held_out=[held_out])]
    result = train(stages, config, tmp_path / "run", joint_names=JOINTS)
    network, _ = load_checkpoint(result.checkpoint)
    assert result.held_out is not None
    assert result.held_out < 0.4 * constant_loss(held_out, network)
    before, after = closed_loop_errors(CompactRunner.load(result.checkpoint), 50)
    assert after < 0.25 * before


def test_a_run_leaves_its_log_and_facts(unbroken):
    lines = log_of(unbroken)
    assert [line["step"] for line in lines] == [10, 20, 25, 35, 45, 50]
    assert [line["stage"] for line in lines] == [0, 0, 0, 1, 1, 1]
    assert lines[2]["held_out"] == {}  # stage 0 holds nothing out
    assert set(lines[5]["held_out"]) == {"real, held out"}
    facts = read_facts(unbroken / "checkpoint")
    assert facts["weights"] == "ema"
    assert facts["steps"] == 50
    assert facts["held_out"] == lines[5]["held_out"]["real, held out"]
    assert sorted(path.name for path in unbroken.iterdir()) == [
        "checkpoint",
        "run.json",
        "train_log.jsonl",
    ]


@pytest.mark.parametrize("after", [7, 25, 26, 49])
def test_interrupted_and_resumed_equals_unbroken(unbroken, tmp_path, after):
    def stop(told: Progress) -> None:
        if told.step == after:
            raise KeyboardInterrupt

    folder = tmp_path / "run"
    with pytest.raises(InterruptedRunError, match=f"after step {after} of 50"):
        train(two_stages(), quick_config(), folder, joint_names=JOINTS, progress=stop)
    assert not (folder / "checkpoint").exists()
    train(two_stages(), quick_config(), folder, joint_names=JOINTS, resume=True)
    assert weights_of(folder) == weights_of(unbroken)
    assert log_of(folder) == log_of(unbroken)


def test_killed_and_resumed_equals_unbroken(unbroken, tmp_path):
    """Three kills at arbitrary instants, the last resume in this process."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["simreal.policies.train"])
    folder = tmp_path / "run"
    state = folder / "state.safetensors"
    for delay in (0.05, 0.13, 0.21):
        before = state.stat().st_mtime_ns if state.exists() else 0
        child = context.Process(target=train_two_stages, args=(str(folder),))
        child.start()
        while child.is_alive() and not (state.exists() and state.stat().st_mtime_ns > before):
            time.sleep(0.01)
        time.sleep(delay)
        os.kill(child.pid, signal.SIGKILL)
        child.join()
        assert child.exitcode == -signal.SIGKILL
        assert state.exists()
    train(two_stages(), quick_config(), folder, joint_names=JOINTS, resume=True)
    assert weights_of(folder) == weights_of(unbroken)
    assert log_of(folder) == log_of(unbroken)


def test_sigint_saves_and_stops(tmp_path):
    before = signal.getsignal(signal.SIGINT)

    def press(told: Progress) -> None:
        if told.step == 5:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(InterruptedRunError, match=r"after step [56] of 50"):
        train(two_stages(), quick_config(), tmp_path / "run", joint_names=JOINTS, progress=press)
    assert (tmp_path / "run" / "state.safetensors").exists()
    assert signal.getsignal(signal.SIGINT) is before


def test_killed_before_the_first_state_starts_over(unbroken, tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "run.json").write_bytes((unbroken / "run.json").read_bytes())
    (folder / "train_log.jsonl").write_text('{"step": 10, "loss": 99.0}\n{"step": 2')
    train(two_stages(), quick_config(), folder, joint_names=JOINTS, resume=True)
    assert weights_of(folder) == weights_of(unbroken)
    assert log_of(folder) == log_of(unbroken)


def test_a_finished_run_is_not_done_again(unbroken):
    written = (unbroken / "checkpoint" / "model.safetensors").stat().st_mtime_ns
    result = train(two_stages(), quick_config(), unbroken, joint_names=JOINTS, resume=True)
    assert result.steps == 50
    assert (unbroken / "checkpoint" / "model.safetensors").stat().st_mtime_ns == written


def test_a_run_is_never_resumed_as_another(unbroken):
    with pytest.raises(UsageError, match=r"config\.seed: 0 -> 1"):
        train(two_stages(), quick_config(seed=1), unbroken, joint_names=JOINTS, resume=True)
    other = [replace(two_stages()[0], peak_lr=2e-3), two_stages()[1]]
    with pytest.raises(UsageError, match=r"stages\[0\]\.peak_lr: 0\.001 -> 0\.002"):
        train(other, quick_config(), unbroken, joint_names=JOINTS, resume=True)
    fewer = [make_stage([make_part(11, 1, "sim")], 25, size=16), two_stages()[1]]
    with pytest.raises(UsageError, match=r"stages\[0\]\.parts"):
        train(fewer, quick_config(), unbroken, joint_names=JOINTS, resume=True)


def test_data_may_have_moved_before_a_resume(unbroken):
    """A part's name is often its folder; what counts is what is in it."""
    first, second = make_part(12, 1, "elsewhere/sim"), make_part(3, 2, "elsewhere/real")
    stages = [
        make_stage([first], 25, size=16),
        make_stage([first, second], 25, (0.75, 0.25), 16, peak_lr=5e-4),
    ]
    assert train(stages, quick_config(), unbroken, joint_names=JOINTS, resume=True).steps == 50


def test_folders_in_use_are_refused(unbroken, tmp_path):
    with pytest.raises(UsageError, match="already holds a run"):
        train(two_stages(), quick_config(), unbroken, joint_names=JOINTS)
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match="not empty"):
        train(two_stages(), quick_config(), tmp_path, joint_names=JOINTS)


def test_a_broken_state_is_refused(unbroken, tmp_path):
    (tmp_path / "run.json").write_bytes((unbroken / "run.json").read_bytes())
    (tmp_path / "state.safetensors").write_bytes(b"nonsense")
    with pytest.raises(BadDataError, match=r"state\.safetensors is no training state"):
        train(two_stages(), quick_config(), tmp_path, joint_names=JOINTS, resume=True)


def test_what_is_logged_never_changes_the_weights(unbroken, tmp_path):
    chatty = quick_config(held_out_every=3, log_every=1, save_every_s=0.3, keep_raw=True)
    folder = tmp_path / "run"
    train(two_stages(), chatty, folder, joint_names=JOINTS)
    assert weights_of(folder) == weights_of(unbroken)
    assert read_facts(folder / "checkpoint_raw")["weights"] == "raw"
    raw = read_tensors(folder / "checkpoint_raw" / "model.safetensors")
    averaged = read_tensors(folder / "checkpoint" / "model.safetensors")
    assert not torch.equal(raw["network.mlp1.weight"], averaged["network.mlp1.weight"])


def test_progress_counts_and_measures_speed(tmp_path):
    told: list[Progress] = []
    stages = [make_stage([make_part(6)], 30, size=16)]
    train(stages, quick_config(), tmp_path / "run", joint_names=JOINTS, progress=told.append)
    assert [p.step for p in told] == list(range(1, 31))
    assert all(p.total == 30 for p in told)
    assert all(p.steps_per_s > 0 for p in told)


def test_held_out_episodes_decide_nothing(tmp_path):
    """Neither the statistics nor the weights know them: C063's outlier episode is in this part."""
    far = make_frames(1, seed=5)
    far = Frames(far.joint_pos + 1000, far.actions + 1000, far.images, far.episode)
    saved = []
    for name, held_out in (("without", []), ("with", [Part(far, "outlier")])):
        stages = [make_stage([make_part(4)], 5, size=8, held_out=held_out)]
        result = train(stages, quick_config(), tmp_path / name, joint_names=JOINTS)
        saved.append(weights_of(tmp_path / name))
    assert saved[0] == saved[1]
    assert result.held_out is not None


def test_held_out_parts_must_fit_too(tmp_path):
    frames = make_frames(1)
    lone = Frames(frames.joint_pos, frames.actions, {"top": frames.images["scene"]}, frames.episode)
    stages = [make_stage([make_part(2)], 2, held_out=[Part(lone, "lone")])]
    with pytest.raises(BadDataError, match="lone has 6 joints and cameras"):
        train(stages, quick_config(), tmp_path / "run", joint_names=JOINTS)


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_a_spike_and_constant_joints_leave_the_loss_finite(tmp_path, precision):
    frames = make_frames(8)
    frames.actions[44, 0] = 1e6
    frames.joint_pos[:, 3] = frames.actions[:, 3] = -30 + 1e-4 * np.sin(np.arange(128))
    stages = [make_stage([Part(frames)], 40)]
    config = quick_config(precision=precision)
    result = train(stages, config, tmp_path / "run", joint_names=JOINTS)
    assert 0 < result.loss < 3
    assert result.precision == precision


def test_base_is_continued_with_its_statistics(unbroken, tmp_path):
    base = unbroken / "checkpoint"
    far = make_frames(4, seed=9)
    far = Frames(far.joint_pos * 0.1, far.actions * 0.1, far.images, far.episode)
    stages = [make_stage([Part(far)], 3, size=8, peak_lr=1e-6)]
    out = tmp_path / "run"
    result = train(stages, quick_config(), out, joint_names=JOINTS, base=base)
    before, after = load_checkpoint(base)[0], load_checkpoint(result.checkpoint)[0]
    for a, b in zip(before.buffers(), after.buffers(), strict=True):
        assert torch.equal(a, b)
    gaps = [
        (a - b).abs().max() for a, b in zip(before.parameters(), after.parameters(), strict=True)
    ]
    assert 0 < max(gaps) < 1e-4
    assert read_facts(result.checkpoint)["base"] == str(base)


def test_a_base_that_does_not_fit_is_refused(unbroken, tmp_path):
    stages = [make_stage([make_part(3)], 2)]
    base, config = unbroken / "checkpoint", quick_config(chunk=4)
    with pytest.raises(UsageError, match=r"trained with chunk 8; this run has 4"):
        train(stages, config, tmp_path / "a", joint_names=JOINTS, base=base)
    with pytest.raises(UsageError, match="no checkpoint folder"):
        train(stages, quick_config(), tmp_path / "b", joint_names=JOINTS, base=tmp_path / "none")
    assert not (tmp_path / "b").exists()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"execute": 9}, "Cannot execute 9 .* predicts 8"),
        ({"precision": "fp8"}, "Unknown precision 'fp8'; allowed: auto, bf16, fp32"),
        ({"device": "tpu"}, "Unknown device 'tpu'; allowed: cpu, cuda"),
        ({"ema_decay": 1.0}, "ema_decay"),
        ({"threads": 0}, "threads"),
    ],
)
def test_bad_settings_are_refused(tmp_path, change, said):
    with pytest.raises(UsageError, match=said):
        train([make_stage([make_part(3)], 2)], quick_config(**change), tmp_path, joint_names=JOINTS)


def test_bad_stages_are_refused(tmp_path):
    stage = make_stage([make_part(3)], 2)
    with pytest.raises(UsageError, match="at least one stage"):
        train([], quick_config(), tmp_path, joint_names=JOINTS)
    with pytest.raises(UsageError, match="1 step or more"):
        train([replace(stage, steps=0)], quick_config(), tmp_path, joint_names=JOINTS)
    with pytest.raises(UsageError, match="between 0 and 1"):
        train([replace(stage, peak_lr=0.0)], quick_config(), tmp_path, joint_names=JOINTS)
    with pytest.raises(BadDataError, match="has 6 joints, the policy 5"):
        train([stage], quick_config(), tmp_path, joint_names=JOINTS[:5])
    assert not list(tmp_path.iterdir())


def test_learning_rate_warms_up_and_ends_at_zero():
    rates = [learning_rate(step, 1000, 1e-3, 50) for step in range(1001)]
    assert rates[0] == pytest.approx(2e-5)
    assert max(rates) == pytest.approx(1e-3, rel=0.01)
    assert int(np.argmax(rates)) == 49
    assert rates[1000] == pytest.approx(0, abs=1e-12)


def test_fused_adamw_and_the_average_follow_their_definitions():
    """One parameter layout for weights, gradients and moments: the fused step is the plain one."""
    part = make_part(4)
    shape = NetworkShape(JOINTS, dict.fromkeys(part.images, (32, 32)))
    stage = make_stage([part], 4)
    networks = []
    for _ in range(2):
        network = CompactNetwork(shape)
        for name, value in network.normalizer.named_buffers():
            value.fill_(0.0 if name.endswith(("mean", "value")) else 1.0)
        networks.append(network)
    fused = Learner(networks[0], "fp32", 0.01, 1.0, 0.9)
    plain = torch.optim.AdamW(networks[1].parameters(), lr=1e-3, weight_decay=0.01, foreach=False)
    average = [p.detach().clone() for p in networks[1].parameters()]
    for step in range(4):
        which, frames = stage.sampler.draw(step)
        batch = Batcher([part], 8, Augmentation()).training(which, frames, 0, "test", step)
        fused.update(batch, 1e-3)
        networks[1].loss(batch.joint_pos, batch.images, batch.actions, batch.valid).backward()
        torch.nn.utils.clip_grad_norm_(networks[1].parameters(), 1.0)
        plain.step()
        plain.zero_grad()
        decay = (1 + step) / (10 + step)
        with torch.no_grad():
            for mean, value in zip(average, networks[1].parameters(), strict=True):
                mean.mul_(decay).add_(value, alpha=1 - decay)
    for a, b in zip(networks[0].parameters(), networks[1].parameters(), strict=True):
        assert torch.allclose(a, b, atol=2e-5)
    for a, b in zip(fused.average, average, strict=True):
        assert torch.allclose(a, b, atol=2e-5)


def test_saving_over_a_checkpoint_is_refused(unbroken):
    network, _ = load_checkpoint(unbroken / "checkpoint")
    with pytest.raises(UsageError, match="exists"):
        save_checkpoint(unbroken / "checkpoint", network, 4, {})
