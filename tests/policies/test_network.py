import pytest
import torch
from tests.policies.blobs import JOINTS
from torch import nn

from simreal.core.errors import BadDataError, UsageError
from simreal.policies.network import CompactNetwork, Encoder, NetworkShape

CAMERAS = {"scene": (64, 64), "wrist": (64, 64)}


def test_size():
    network = CompactNetwork(NetworkShape(JOINTS, CAMERAS))
    assert 1_000_000 <= sum(p.numel() for p in network.parameters()) <= 1_500_000


def test_the_first_layer_is_pixel_unshuffle_and_a_3x3_stride_2_convolution():
    encoder = Encoder((32, 32), (8, 8, 8), 16)
    whole = encoder.conv1
    split = nn.Conv2d(12, 8, kernel_size=3, stride=2, padding=1)
    with torch.no_grad():  # kernel (8, 3, 6, 6) -> (8, 3*2*2, 3, 3), as PixelUnshuffle orders them
        folded = whole.weight.view(8, 3, 3, 2, 3, 2).permute(0, 1, 3, 5, 2, 4)
        split.weight.copy_(folded.reshape(8, 12, 3, 3))
        split.bias.copy_(whole.bias)
    image = torch.rand(2, 3, 32, 32)
    assert torch.allclose(whole(image), split(nn.PixelUnshuffle(2)(image)), atol=1e-5)


def test_weights_depend_on_the_seed_only():
    shape = NetworkShape(JOINTS, CAMERAS)
    torch.manual_seed(1)
    first = CompactNetwork(shape, seed=3)
    torch.manual_seed(2)
    again, other = CompactNetwork(shape, seed=3), CompactNetwork(shape, seed=4)
    for a, b in zip(first.parameters(), again.parameters(), strict=True):
        assert torch.equal(a, b)
    assert not torch.equal(first.mlp1.weight, other.mlp1.weight)


def test_a_network_without_cameras_works():
    network = CompactNetwork(NetworkShape(JOINTS, {}, chunk=3))
    assert network(torch.zeros(2, 6), {}).shape == (2, 3, 6)


def test_steps_outside_the_episode_carry_no_loss():
    network = CompactNetwork(NetworkShape(("a",), {}, chunk=2))
    for name, value in network.normalizer.named_buffers():
        value.copy_(torch.ones(1) if name.endswith(("scale", "live", "free")) else torch.zeros(1))
    pose, valid = torch.zeros(1, 1), torch.tensor([[1.0, 0.0]])
    losses = [
        network.loss(pose, {}, torch.tensor([[[1.0], [far]]]), valid).item() for far in (0.0, 9.0)
    ]
    assert losses[0] == losses[1] > 0


@pytest.mark.parametrize("side", [0, 8, 50])
def test_odd_sizes_are_refused(side):
    with pytest.raises(UsageError, match="multiples of 16"):
        NetworkShape(JOINTS, {"scene": (side, 64)})


@pytest.mark.parametrize("name", ["a.b", ""])
def test_odd_camera_names_are_refused(name):
    with pytest.raises(UsageError, match="camera"):
        NetworkShape(JOINTS, {name: (64, 64)})


def test_other_cameras_and_sizes_are_refused_by_name():
    network = CompactNetwork(NetworkShape(JOINTS, CAMERAS))
    scene = torch.zeros((1, 3, 64, 64), dtype=torch.uint8)
    with pytest.raises(BadDataError, match=r"'wrist'.*has scene, top"):
        network.actions(torch.zeros(1, 6), {"scene": scene, "top": scene})
    with pytest.raises(BadDataError, match="64x64"):
        network.actions(torch.zeros(1, 6), {"scene": scene, "wrist": scene[..., :32]})
