"""Our checkpoints in LeRobot's hands, and LeRobot's in ours."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from tests.policies.blobs import (
    CAMERAS,
    JOINTS,
    Frames,
    make_frames,
    make_part,
    make_stage,
    quick_config,
)

from simreal.core.errors import BadDataError, UsageError
from simreal.core.seeds import generator
from simreal.core.types import Observation
from simreal.policies.batches import Part
from simreal.policies.checkpoint import load_checkpoint
from simreal.policies.preprocess import fit_statistics
from simreal.policies.runner import CompactRunner
from simreal.policies.train import train

pytestmark = pytest.mark.lerobot


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compact") / "run"
    stages = [make_stage([make_part(10)], 20)]
    return train(stages, quick_config(), folder, joint_names=JOINTS).checkpoint


@pytest.fixture(scope="module")
def policy(checkpoint):
    from simreal.policies.compact import SimrealCompactPolicy

    return SimrealCompactPolicy.from_pretrained(checkpoint)


def observations(count: int, worlds: int = 1) -> list[Observation]:
    frames = make_frames(count * worlds, seed=3)
    starts = np.flatnonzero(np.r_[True, np.diff(frames.episode) > 0]).reshape(count, worlds)
    return [
        Observation(frames.joint_pos[rows], {c: frames.images[c][rows] for c in CAMERAS}, 0.0)
        for rows in starts
    ]


def as_batch(seen: Observation) -> dict[str, torch.Tensor]:
    """What LeRobot's tools hand to a policy: floats in [0, 1], channels first."""
    images = {
        f"observation.images.{c}": torch.from_numpy(i).permute(0, 3, 1, 2).contiguous().float()
        / 255
        for c, i in seen.images.items()
    }
    felt = {} if seen.wrench is None else {"observation.wrench": seen.wrench.reshape(-1, 150)}
    wrench = {key: torch.from_numpy(value) for key, value in felt.items()}
    return {"observation.state": torch.from_numpy(seen.joint_pos), **images, **wrench}


@pytest.mark.parametrize("worlds", [1, 3])
def test_from_pretrained_acts_bit_for_bit_like_the_runner(checkpoint, policy, worlds):
    runner = CompactRunner.load(checkpoint)
    runner.reset(worlds)
    policy.reset()
    for seen in observations(9, worlds):
        ours, theirs = runner.act(seen), policy.select_action(as_batch(seen))
        assert np.array_equal(ours, theirs.numpy())


def test_both_wobble_alike_from_the_start_of_an_episode(checkpoint, policy):
    runner = CompactRunner.load(checkpoint)
    runner.dither = policy.config.dither = 0.5
    plain = CompactRunner.load(checkpoint)
    for _ in range(2):
        runner.reset(1)
        plain.reset(1)
        policy.reset()
        for seen in observations(9):
            ours = runner.act(seen)
            assert np.array_equal(ours, policy.select_action(as_batch(seen)).numpy())
            assert not np.array_equal(ours, plain.act(seen))
    policy.config.dither = 0.0


def test_the_way_from_a_robot_through_lerobots_processors_gives_the_same_bits(checkpoint):
    from lerobot.configs import PreTrainedConfig
    from lerobot.policies.factory import get_policy_class, make_pre_post_processors
    from lerobot.policies.utils import prepare_observation_for_inference

    import simreal.policies.compact  # noqa: F401  (registers the type)

    config = PreTrainedConfig.from_pretrained(checkpoint)
    policy = get_policy_class(config.type).from_pretrained(checkpoint, config=config)
    overrides = {"device_processor": {"device": "cpu"}, "rename_observations_processor": {}}
    before, after = make_pre_post_processors(
        config, pretrained_path=str(checkpoint), preprocessor_overrides=overrides
    )
    runner = CompactRunner.load(checkpoint)
    runner.reset(1)
    for seen in observations(5):
        raw = {"observation.state": seen.joint_pos[0]}
        raw |= {f"observation.images.{c}": image[0] for c, image in seen.images.items()}
        batch = prepare_observation_for_inference(raw, torch.device("cpu"), "reach", "so101")
        action = after(policy.select_action(before(batch)))
        assert np.array_equal(action.numpy(), runner.act(seen))


def test_config_and_processors_are_what_lerobot_writes(checkpoint, policy, tmp_path):
    from simreal.policies.compact import make_simreal_compact_pre_post_processors

    policy.save_pretrained(tmp_path)
    for pipeline in make_simreal_compact_pre_post_processors(policy.config):
        pipeline.save_pretrained(tmp_path)
    for name in ("config.json", "policy_preprocessor.json", "policy_postprocessor.json"):
        assert json.loads((tmp_path / name).read_text()) == json.loads(
            (checkpoint / name).read_text()
        ), name
    ours, theirs = load_checkpoint(checkpoint)[0], load_checkpoint(tmp_path)[0]
    for (name, a), (_, b) in zip(
        ours.state_dict().items(), theirs.state_dict().items(), strict=True
    ):
        assert torch.equal(a, b), name


def test_bad_statistics_are_refused_by_from_pretrained(checkpoint, tmp_path):
    from simreal.policies.compact import SimrealCompactPolicy

    (tmp_path / "config.json").write_bytes((checkpoint / "config.json").read_bytes())
    tensors = load_file(checkpoint / "model.safetensors")
    del tensors["network.normalizer.target_scale"]
    save_file(tensors, tmp_path / "model.safetensors")
    with pytest.raises(BadDataError, match=r"lacks .*network\.normalizer\.target_scale"):
        SimrealCompactPolicy.from_pretrained(tmp_path)


def write_dataset(frames: Frames, root):
    from lerobot.datasets import LeRobotDataset

    names = [f"{joint}.pos" for joint in JOINTS]
    vector = {"dtype": "float32", "shape": (6,), "names": names}
    side = frames.images["scene"].shape[1]
    picture = {"dtype": "image", "shape": (side, side, 3), "names": ["height", "width", "channels"]}
    features = {"observation.state": vector, "action": vector}
    features |= {f"observation.images.{camera}": picture for camera in CAMERAS}
    if frames.wrench is not None:
        flat = {"dtype": "float32", "shape": (150,), "names": [str(i) for i in range(150)]}
        features["observation.wrench"] = flat
    dataset = LeRobotDataset.create("tests/blobs", 20, features, root=root, use_videos=False)
    for row, episode in enumerate(frames.episode):
        frame = {"observation.state": frames.joint_pos[row], "action": frames.actions[row]}
        frame |= {f"observation.images.{c}": frames.images[c][row] for c in CAMERAS}
        if frames.wrench is not None:
            frame["observation.wrench"] = frames.wrench[row].reshape(-1)
        dataset.add_frame(frame | {"task": "reach"})
        if row + 1 == len(frames.episode) or frames.episode[row + 1] != episode:
            dataset.save_episode()
    dataset.finalize()
    return LeRobotDataset("tests/blobs", root=root)


def test_lerobot_makes_trains_and_saves_one(tmp_path):
    from lerobot.policies.factory import make_policy, make_pre_post_processors

    from simreal.policies.compact import SimrealCompactConfig

    frames = make_frames(3)
    dataset = write_dataset(frames, tmp_path / "data")
    config = SimrealCompactConfig(device="cpu", push_to_hub=False)
    policy = make_policy(config, ds_meta=dataset.meta)
    part = Part(frames)
    fitted = fit_statistics([(part.joint_pos, part.chunks(np.arange(len(part)), 8)[0])])
    found = policy.network.normalizer.target_scale.numpy()
    assert np.allclose(found, fitted.target_scale, rtol=1e-6)
    assert policy.config.action_feature_names == [f"{joint}.pos" for joint in JOINTS]

    before, _ = make_pre_post_processors(config)
    rows = np.arange(0, 48, 3)
    chunks, valid = part.chunks(rows, 8)
    images = {c: i[rows] for c, i in frames.images.items()}
    batch = before(as_batch(Observation(part.joint_pos[rows], images, 0.0)))
    batch |= {"action": torch.from_numpy(chunks), "action_is_pad": torch.from_numpy(~valid)}
    optimizer = config.get_optimizer_preset().build(policy.get_optim_params())
    losses = []
    for _ in range(30):
        loss, told = policy.forward(batch)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(told["l1_loss"])
    assert losses[-1] < 0.5 * losses[0]
    policy.save_pretrained(tmp_path / "saved")
    runner = CompactRunner.load(tmp_path / "saved")
    assert runner.joint_names == JOINTS


def felt_frames(episodes: int) -> Frames:
    frames = make_frames(episodes)
    draw = generator(0, "felt")
    wrench = draw.normal(0, 5, (len(frames.joint_pos), 25, 6)).astype(np.float32)
    return replace(frames, wrench=wrench)


def test_lerobot_trains_and_runs_one_that_reads_the_window(tmp_path):
    from lerobot.policies.factory import make_policy, make_pre_post_processors

    from simreal.policies.compact import SimrealCompactConfig, SimrealCompactPolicy

    frames = felt_frames(2)
    dataset = write_dataset(frames, tmp_path / "data")
    config = SimrealCompactConfig(device="cpu", push_to_hub=False, wrench="full")
    policy = make_policy(config, ds_meta=dataset.meta)
    scale = policy.network.wrench.normalizer.wrench_scale.numpy()
    rows = np.abs(frames.wrench.reshape(-1, 6))
    assert np.allclose(scale, np.quantile(rows, 0.98, axis=0), rtol=1e-5)
    before, _ = make_pre_post_processors(config)
    part = Part(frames)
    chosen = np.arange(0, 32, 3)
    images = {c: i[chosen] for c, i in frames.images.items()}
    seen = Observation(part.joint_pos[chosen], images, 0.0, part.wrench[chosen])
    chunks, valid = part.chunks(chosen, 8)
    batch = before(as_batch(seen))
    batch |= {"action": torch.from_numpy(chunks), "action_is_pad": torch.from_numpy(~valid)}
    loss, _ = policy.forward(batch)
    loss.backward()
    assert float(policy.network.wrench.conv1.weight.grad.abs().sum()) > 0

    policy.save_pretrained(tmp_path / "saved")
    runner = CompactRunner.load(tmp_path / "saved")
    runner.reset(len(chosen))
    again = SimrealCompactPolicy.from_pretrained(tmp_path / "saved")
    assert np.array_equal(runner.act(seen), again.select_action(before(as_batch(seen))).numpy())


def test_a_config_that_reads_a_window_needs_the_feature(policy):
    with pytest.raises(UsageError, match=r"wrench full needs .*observation\.wrench .* got none"):
        replace(policy.config, wrench="full").network_shape()


def test_an_unfitted_policy_computes_nothing(policy):
    from simreal.policies.compact import SimrealCompactPolicy

    fresh = SimrealCompactPolicy(policy.config)
    batch = as_batch(observations(1)[0])
    with pytest.raises(BadDataError, match="not finite"):
        fresh.select_action(batch)
    with pytest.raises(BadDataError, match="not finite"):
        fresh.forward(batch | {"action": torch.zeros(1, 8, 6)})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"action_feature_names": None}, "one name for each of 6 actions"),
        ({"n_action_steps": 9}, "Cannot execute 9 .* predicts 8"),
        ({"channels": (1, 2)}, "3 channels"),
        ({"output_features": {}}, "needs the features observation.state and action"),
    ],
)
def test_configs_that_cannot_be_built_are_refused(policy, change, said):
    with pytest.raises(UsageError, match=said):
        replace(policy.config, **change).network_shape()
