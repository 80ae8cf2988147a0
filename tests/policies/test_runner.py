import numpy as np
import pytest
import torch
from tests.contract.policy_kit import check_policy
from tests.policies.blobs import JOINTS

from simreal.core.errors import BadDataError, UsageError
from simreal.core.types import Observation, TargetSpec
from simreal.policies.checkpoint import save_checkpoint
from simreal.policies.network import CompactNetwork, NetworkShape
from simreal.policies.runner import CompactRunner

CAMERAS = {"scene": (32, 32), "wrist": (32, 48)}


def network(chunk=8, joints=JOINTS, cameras=CAMERAS, seed=0) -> CompactNetwork:
    made = CompactNetwork(NetworkShape(joints, cameras, chunk), seed)
    with torch.no_grad():
        made.head.weight.mul_(50)  # a fresh head is nearly silent
        for name, value in made.normalizer.named_buffers():
            value.fill_({"mean": 0.0, "value": 0.0, "scale": 20.0}.get(name.split("_")[1], 1.0))
    return made


def counting(chunk: int) -> CompactNetwork:
    """Whatever it sees, action k of a chunk is the measured pose plus k."""
    made = network(chunk, ("a", "b"), {})
    with torch.no_grad():
        made.head.weight.zero_()
        made.head.bias.copy_(torch.arange(chunk).repeat_interleave(2) / 20)
    return made


def look(n=1, joints=2, images=None) -> Observation:
    return Observation(np.zeros((n, joints), np.float32), images or {}, 0.0)


def test_it_keeps_the_contract():
    check_policy(lambda: CompactRunner(network(), 4), JOINTS, CAMERAS)


def test_it_keeps_the_contract_when_it_executes_everything_or_one():
    for execute in (1, 8):
        check_policy(lambda e=execute: CompactRunner(network(), e), JOINTS, CAMERAS)


def test_chunks_are_executed_in_order_and_only_so_far(tmp_path):
    save_checkpoint(tmp_path / "c", counting(16), 16, {})
    runner = CompactRunner.load(tmp_path / "c", execute=8)
    assert runner.chunk == 16  # as the checkpoint says
    runner.reset(1)
    looks, actions = [], []
    for _ in range(20):
        looks.append(runner.looks())
        actions.append(float(runner.act(look())[0, 1]))
    assert actions == pytest.approx([*range(8), *range(8), *range(4)], abs=1e-4)
    assert looks == [step % 8 == 0 for step in range(20)]


def test_the_checkpoint_says_how_many_to_execute(tmp_path):
    save_checkpoint(tmp_path / "c", counting(6), 3, {})
    assert CompactRunner.load(tmp_path / "c").execute == 3


@pytest.mark.parametrize("execute", [0, 9])
def test_more_than_the_chunk_is_refused(execute):
    with pytest.raises(UsageError, match=rf"Cannot execute {execute} .* predicts 8 .*1 to 8"):
        CompactRunner(network(), execute)


def test_targets_are_relative_to_the_pose_measured_at_the_look():
    runner = CompactRunner(counting(4), 4)
    runner.reset(1)
    poses = [10.0, 500.0, 500.0, 500.0, 20.0]
    got = [
        float(runner.act(Observation(np.full((1, 2), p, np.float32), {}, 0.0))[0, 0]) for p in poses
    ]
    assert got == pytest.approx([10, 11, 12, 13, 20], abs=1e-4)


def test_observations_that_do_not_fit_are_refused():
    runner = CompactRunner(network(), 4)
    pictures = {name: np.zeros((1, *size, 3), np.uint8) for name, size in CAMERAS.items()}
    with pytest.raises(ValueError, match="reset for"):
        runner.act(look(1, 6, pictures))
    runner.reset(1)
    with pytest.raises(ValueError, match=r"\(1, 6\), got \(2, 6\)"):
        runner.act(look(2, 6, pictures))
    with pytest.raises(BadDataError, match=r"needs the cameras scene, wrist; .* has scene"):
        runner.act(look(1, 6, {"scene": pictures["scene"]}))
    floats = pictures | {"scene": pictures["scene"].astype(np.float32)}
    with pytest.raises(BadDataError, match="'scene' must be uint8, got float32"):
        runner.act(look(1, 6, floats))
    bad = look(1, 6, pictures)
    bad.joint_pos[0, 2] = np.nan
    with pytest.raises(ValueError, match="world 0 is not finite"):
        runner.act(bad)
    with pytest.raises(ValueError, match="at least one world"):
        runner.reset(0)


def spec(joints=JOINTS, cameras=CAMERAS) -> TargetSpec:
    return TargetSpec("table", "sim", "", 4, joints, cameras, 20.0, "lift")


def test_targets_are_bound_by_name():
    runner = CompactRunner(network(), 4)
    runner.check_target(spec())
    runner.check_target(spec(cameras={"top": (16, 16), **CAMERAS}))  # more cameras are fine
    with pytest.raises(BadDataError, match=r"moves the joints shoulder_pan.*'table' has gripper"):
        runner.check_target(spec(joints=JOINTS[::-1]))
    with pytest.raises(BadDataError, match="reads the cameras"):
        runner.check_target(spec(cameras={"scene": (32, 32)}))
    with pytest.raises(BadDataError, match="reads the cameras"):
        runner.check_target(spec(cameras={"scene": (32, 32), "wrist": (32, 32)}))


def test_unset_statistics_never_reach_a_robot():
    with pytest.raises(BadDataError, match="not finite"):
        CompactRunner(CompactNetwork(NetworkShape(JOINTS, CAMERAS)), 4)


@pytest.mark.skipif(torch.cuda.is_available(), reason="a CUDA device is there")
def test_a_device_that_is_not_there_is_an_error():
    with pytest.raises(UsageError, match="no CUDA device"):
        CompactRunner(network(), 4, "cuda")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_it_keeps_the_contract_on_cuda():
    check_policy(lambda: CompactRunner(network(), 4, "cuda"), JOINTS, CAMERAS)
