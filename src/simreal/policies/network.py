"""The compact network: small enough to train on one CPU core, with its preprocessing inside.

Per camera PixelUnshuffle(2) and three 3x3 stride-2 convolutions, a bottleneck, proprioception, an
MLP, and a chunk of future joint targets. No normalization layers (GroupNorm halves the speed on a
CPU). Needs torch only; `compact.py` wraps it for LeRobot.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from simreal.core.errors import BadDataError, UsageError, unknown
from simreal.core.seeds import integer
from simreal.core.types import WRENCH_NAMES, WRENCH_SAMPLES
from simreal.policies.preprocess import Normalizer, WrenchNormalizer, image_input

#: What a policy may make of the force/torque window.
WRENCH_INPUTS = ("none", "full", "slow")


@dataclass(frozen=True)
class NetworkShape:
    """What fixes the shape of every weight.

    joint_names: in the order of joint vectors. cameras: name -> (height_px, width_px), multiples
    of 16. chunk: predicted steps. channels: of the three convolutions. vision, proprio, hidden:
    widths of the image bottleneck, the joint embedding and the two hidden layers. wrench: what is
    made of the force/torque window: nothing (`none`), all of it (`full`), or its mean alone
    (`slow`, see `slow_band`).
    """

    joint_names: tuple[str, ...]
    cameras: Mapping[str, tuple[int, int]]
    chunk: int = 8
    channels: tuple[int, int, int] = (32, 64, 128)
    vision: int = 128
    proprio: int = 64
    hidden: int = 512
    wrench: str = "none"

    def __post_init__(self) -> None:
        """Refuse sizes that cannot be built."""
        if not self.joint_names:
            raise UsageError("A policy needs at least one joint.")
        if min(self.chunk, self.vision, self.proprio, self.hidden, *self.channels) < 1:
            raise UsageError("Chunk and layer widths of a policy must be 1 or more.")
        if self.wrench not in WRENCH_INPUTS:
            raise unknown("use of the force/torque window", self.wrench, WRENCH_INPUTS)
        for name, size in self.cameras.items():
            if not name or "." in name:
                raise UsageError(f"A camera cannot be named {name!r}.")
            if any(side < 16 or side % 16 for side in size):
                raise UsageError(
                    f"Camera {name!r} is {size} pixels; sides must be multiples of 16."
                )


class Encoder(nn.Module):
    """One camera: (B, 3, H, W) in [-0.5, 0.5] -> (B, vision).

    The first layer is the composition of PixelUnshuffle(2) and a 3x3 stride-2 convolution, which
    is one 6x6 stride-4 convolution: the same function, a seventh faster on a CPU.
    """

    def __init__(self, size: tuple[int, int], channels: tuple[int, int, int], vision: int) -> None:
        """Layers for images of `size` (height_px, width_px)."""
        super().__init__()
        first, second, third = channels
        self.conv1 = nn.Conv2d(3, first, kernel_size=6, stride=4, padding=2)
        self.conv2 = nn.Conv2d(first, second, kernel_size=3, stride=2, padding=1)
        self.conv3 = nn.Conv2d(second, third, kernel_size=3, stride=2, padding=1)
        self.out = nn.Linear(third * (size[0] // 16) * (size[1] // 16), vision)

    def forward(self, image: Tensor) -> Tensor:
        """Features of a batch of images."""
        x = torch.relu(self.conv1(image))
        x = torch.relu(self.conv2(x))
        x = torch.relu(self.conv3(x))
        return torch.relu(self.out(x.flatten(1)))


def slow_band(wrench: Tensor) -> Tensor:
    """Windows (B, S, 6) without their band above 20 Hz: every sample becomes the window's mean.

    Of 50 ms nothing below 20 Hz is left but the mean, a low-pass with its -3 dB at 9 Hz and zeros
    at 20 Hz and its multiples; between the zeros up to 22 % of an amplitude passes. A policy sees
    the window before a chunk of actions and not the ones between, so no longer filter is possible.
    """
    return wrench.mean(dim=1, keepdim=True).expand_as(wrench)


class WrenchEncoder(nn.Module):
    """The force/torque window: (B, S, 6) in N and Nm -> (B, width).

    `slow` replaces every sample by the window's mean, so both kinds have as many weights.
    """

    def __init__(self, slow: bool, width: int) -> None:
        """Two strided convolutions over time and a linear layer."""
        super().__init__()
        self.slow = slow
        self.normalizer = WrenchNormalizer()
        self.conv1 = nn.Conv1d(len(WRENCH_NAMES), 32, kernel_size=5, stride=2, padding=2)
        self.conv2 = nn.Conv1d(32, 32, kernel_size=5, stride=2, padding=2)
        left = ((WRENCH_SAMPLES + 1) // 2 + 1) // 2
        self.out = nn.Linear(32 * left, width)

    def forward(self, wrench: Tensor) -> Tensor:
        """Features of a batch of windows."""
        if self.slow:
            wrench = slow_band(wrench)
        x = self.normalizer(wrench).transpose(1, 2)
        x = torch.relu(self.conv2(torch.relu(self.conv1(x))))
        return torch.relu(self.out(x.flatten(1)))


class CompactNetwork(nn.Module):
    """Measured pose, images and forces -> a chunk of joint targets."""

    def __init__(self, shape: NetworkShape, seed: int = 0) -> None:
        """Fresh weights that depend on `shape` and `seed` only; statistics are unset."""
        super().__init__()
        self.shape = shape
        self.cameras = tuple(sorted(shape.cameras))
        joints = len(shape.joint_names)
        self.normalizer = Normalizer(shape.chunk, joints)
        self.encoders = nn.ModuleDict(
            {
                name: Encoder(shape.cameras[name], shape.channels, shape.vision)
                for name in self.cameras
            }
        )
        self.proprio = nn.Linear(joints, shape.proprio)
        seen = shape.proprio + shape.vision * len(self.cameras)
        if shape.wrench != "none":
            self.wrench = WrenchEncoder(shape.wrench == "slow", shape.proprio)
            seen += shape.proprio
        self.mlp1 = nn.Linear(seen, shape.hidden)
        self.mlp2 = nn.Linear(shape.hidden, shape.hidden)
        self.head = nn.Linear(shape.hidden, shape.chunk * joints)
        initialize(self, seed)
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    @property
    def feels(self) -> bool:
        """Whether it reads the force/torque window."""
        return self.shape.wrench != "none"

    def check(self, where: str) -> None:
        """Refuse to compute with statistics that were never fitted or are bad."""
        self.normalizer.check(where)
        if self.feels:
            self.wrench.normalizer.check(where)

    def forward(
        self, joint_pos: Tensor, images: Mapping[str, Tensor], wrench: Tensor | None = None
    ) -> Tensor:
        """Pose (B, J), preprocessed images and windows (B, S, 6) -> standardized relative targets
        (B, chunk, J).
        """
        features = [torch.relu(self.proprio(self.normalizer.state(joint_pos)))]
        if self.feels:
            if wrench is None:
                raise BadDataError(
                    "The policy reads the force/torque window; there is none. Give it a robot with "
                    "a force/torque sensor, or a policy trained on pictures alone (wrench none)."
                )
            features.append(self.wrench(wrench))
        features += [self.encoders[name](images[name]) for name in self.cameras]
        x = torch.relu(self.mlp1(torch.cat([f.float() for f in features], dim=1)))
        z: Tensor = self.head(torch.relu(self.mlp2(x)))
        return z.float().view(len(joint_pos), self.shape.chunk, -1)

    def actions(
        self, joint_pos: Tensor, images: Mapping[str, Tensor], wrench: Tensor | None = None
    ) -> Tensor:
        """Pose (B, J), images (B, 3, H, W) uint8 or in [0, 1] -> absolute targets (B, chunk, J)."""
        inputs = {name: image_input(self._image(images, name), name) for name in self.cameras}
        return self.normalizer.actions(self(joint_pos, inputs, wrench), joint_pos)

    def loss(
        self,
        joint_pos: Tensor,
        images: Mapping[str, Tensor],
        actions: Tensor,
        valid: Tensor,
        wrench: Tensor | None = None,
    ) -> Tensor:
        """Mean absolute error in standardized units over the steps where `valid` (B, chunk) is 1.

        images: preprocessed. actions: absolute targets (B, chunk, J). Joints whose target never
        changes carry no loss.
        """
        meant = self(joint_pos, images, wrench)
        error = (meant - self.normalizer.target(actions, joint_pos)).abs()
        weight = valid[..., None] * self.normalizer.action_free
        total: Tensor = (error * weight).sum() / weight.sum().clamp(min=1.0)
        return total

    def _image(self, images: Mapping[str, Tensor], name: str) -> Tensor:
        if name not in images:
            raise BadDataError(
                f"The policy needs the camera {name!r}; the observation has "
                f"{', '.join(sorted(images)) or 'no images'}."
            )
        size = self.shape.cameras[name]
        if tuple(images[name].shape[-2:]) != tuple(size):
            raise BadDataError(
                f"Camera {name!r}: the policy was trained on {size[0]}x{size[1]} pixels, "
                f"got an image of shape {tuple(images[name].shape)}."
            )
        return images[name]


def initialize(network: CompactNetwork, seed: int) -> None:
    """He for convolutions, orthogonal for linear layers, a small head, zero biases."""
    generator = torch.Generator().manual_seed(integer(seed, "network weights"))
    with torch.no_grad():
        for module in network.modules():
            if isinstance(module, nn.Conv2d | nn.Conv1d):
                nn.init.kaiming_normal_(module.weight, nonlinearity="relu", generator=generator)
            elif isinstance(module, nn.Linear):
                gain = 0.01 if module is network.head else math.sqrt(2)
                nn.init.orthogonal_(module.weight, gain=gain, generator=generator)
            if isinstance(module, nn.Conv2d | nn.Conv1d | nn.Linear) and module.bias is not None:
                module.bias.zero_()
