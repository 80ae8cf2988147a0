"""Everything between stored numbers and what a network computes with, and back again.

One path serves training, simulation, a robot and LeRobot's tools, and it lives inside the network:
joints come in as measured positions and leave as absolute targets (LeRobot units: degrees, gripper
0-100); images come in as uint8 and become [-0.5, 0.5]. The statistics are fitted on training rows,
frozen in buffers, saved with the weights, and checked whenever weights are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from simreal.core.errors import BadDataError
from simreal.core.types import WRENCH_NAMES, Floats

Numbers = npt.NDArray[np.float64]

#: Normalized numbers are clamped to +-this, so that an off-distribution reading stays bounded.
Z_LIMIT = 10.0
#: Smallest scale, in joint units: about one encoder step of an STS3215 (360/4096 = 0.088 deg).
SCALE_FLOOR = 0.1
#: A joint whose values span no more than this is constant.
CONSTANT_SPAN = 1e-3
#: Smallest scale of a force (N) and of a torque (Nm): the noise of a good wrist sensor.
WRENCH_FLOOR = (0.2, 0.2, 0.2, 0.01, 0.01, 0.01)
WRENCH_STATISTICS = ("wrench_scale", "wrench_live")
#: A value farther from the median than this many spreads (1 % to 99 %) is left out of the fit.
OUTLIER_SPREADS = 10.0


@dataclass(frozen=True)
class Statistics:
    """Normalization, float64, LeRobot units; (J,), the target's (K, J): a scale a chunk step.

    Later steps of a chunk lie farther from the measured pose; on one common scale they would drown
    the first ones, which are those that are executed (measured in docs/lift.md).

    state_mean, state_scale: of measured positions. state_live: 0 where the joint never moved; the
    network then does not see it. target_mean, target_scale: of targets relative to the pose
    measured when the chunk began. action_free: 0 where the commanded target never changed; the
    output is then `action_value`, whatever the network says.
    """

    state_mean: Numbers
    state_scale: Numbers
    state_live: Numbers
    target_mean: Numbers
    target_scale: Numbers
    action_free: Numbers
    action_value: Numbers


STATISTICS = tuple(Statistics.__dataclass_fields__)


def fit_statistics(rows: Iterable[tuple[Floats, Floats]]) -> Statistics:
    """Fit on pairs of measured positions (F, J) and the target chunks they answer (F, K, J)."""
    pairs = list(rows)
    states = np.concatenate([state for state, _ in pairs]).astype(np.float64)
    chunks = np.concatenate([chunk for _, chunk in pairs]).astype(np.float64)
    joints = states.shape[1]
    relative = chunks - states[:, None, :]
    absolute = chunks.reshape(-1, joints)
    state = [_summary(states[:, j]) for j in range(joints)]
    target = [
        [_summary(relative[:, k, j]) for j in range(joints)] for k in range(relative.shape[1])
    ]
    action = [_summary(absolute[:, j]) for j in range(joints)]
    return Statistics(
        state_mean=np.array([s.mean for s in state]),
        state_scale=np.array([s.scale for s in state]),
        state_live=np.array([float(not s.constant) for s in state]),
        target_mean=np.array([[s.mean for s in step] for step in target]),
        target_scale=np.array([[s.scale for s in step] for step in target]),
        action_free=np.array([float(not s.constant) for s in action]),
        action_value=np.array([s.mean for s in action]),
    )


@dataclass(frozen=True)
class _Summary:
    mean: float
    scale: float
    constant: bool


def _summary(values: Numbers) -> _Summary:
    """Mean and scale of one joint without its outliers, and whether it is constant."""
    low, median, high = np.quantile(values, [0.01, 0.5, 0.99])
    if high - low > SCALE_FLOOR:
        values = values[np.abs(values - median) <= OUTLIER_SPREADS * (high - low)]
    constant = bool(np.ptp(values) <= CONSTANT_SPAN)
    return _Summary(float(values.mean()), max(float(values.std()), SCALE_FLOOR), constant)


def check_statistics(
    found: Mapping[str, Tensor], chunk: int, joints: int, file: str, prefix: str = ""
) -> None:
    """Refuse statistics that are missing, of another width, not finite or not positive.

    found: the tensors of a weights file by their full names; `prefix` comes before each name.
    chunk, joints: the policy's.
    """
    names = [prefix + name for name in STATISTICS]
    missing = [name for name in names if name not in found]
    if missing:
        alike = [k for k in sorted(found) if k.rsplit(".", 1)[-1] in STATISTICS or "stat" in k]
        raise BadDataError(
            f"{file} lacks the normalization statistics {', '.join(missing)}; "
            f"found {', '.join(alike) or 'none'}. "
            "Without them raw network output would reach the robot."
        )
    for name in names:
        steps = (chunk,) if "target_" in name else ()
        _check_statistic(name, found[name], (*steps, joints), file)


def _check_statistic(name: str, value: Tensor, shape: tuple[int, ...], file: str) -> None:
    if tuple(value.shape) != shape:
        raise BadDataError(
            f"{file}: statistic {name} has shape {tuple(value.shape)}, the policy {shape[-1]} "
            f"joints; it needs {shape}."
        )
    if not bool(torch.isfinite(value).all()):
        raise BadDataError(f"{file}: statistic {name} is not finite: {value.tolist()}.")
    if name.endswith("_scale") and not bool((value > 0).all()):
        raise BadDataError(f"{file}: statistic {name} must be positive: {value.tolist()}.")
    if name.endswith(("_live", "_free")) and not bool(((value == 0) | (value == 1)).all()):
        raise BadDataError(f"{file}: statistic {name} must be 0 or 1: {value.tolist()}.")


class Normalizer(nn.Module):
    """The statistics as frozen float32 buffers (NaN until fitted), and the maps they define."""

    state_mean: Tensor
    state_scale: Tensor
    state_live: Tensor
    target_mean: Tensor
    target_scale: Tensor
    action_free: Tensor
    action_value: Tensor

    def __init__(self, chunk: int, joints: int) -> None:
        """Buffers for `joints` joints and chunks of `chunk` steps."""
        super().__init__()
        for name in STATISTICS:
            shape = (chunk, joints) if name.startswith("target_") else (joints,)
            self.register_buffer(name, torch.full(shape, float("nan")))

    def set(self, statistics: Statistics) -> None:
        """Freeze fitted statistics."""
        for name in STATISTICS:
            value = torch.from_numpy(getattr(statistics, name)).float()
            getattr(self, name).copy_(value)
        self.check("the fitted statistics")

    def check(self, where: str) -> None:
        """Refuse to compute with statistics that were never fitted or are bad."""
        found = dict(self.named_buffers())
        chunk, joints = self.target_mean.shape
        check_statistics(found, chunk, joints, where)

    def state(self, joint_pos: Tensor) -> Tensor:
        """Measured positions (B, J) -> network input (B, J), |z| <= 10."""
        z = (joint_pos - self.state_mean) / self.state_scale
        return z.clamp(-Z_LIMIT, Z_LIMIT) * self.state_live

    def target(self, actions: Tensor, joint_pos: Tensor) -> Tensor:
        """Absolute targets (B, K, J) and the pose they start from (B, J) -> what is learned."""
        z = (actions - joint_pos[:, None] - self.target_mean) / self.target_scale
        return z.clamp(-Z_LIMIT, Z_LIMIT) * self.action_free

    def actions(self, z: Tensor, joint_pos: Tensor) -> Tensor:
        """Network output (B, K, J) and the measured pose (B, J) -> absolute targets (B, K, J)."""
        relative = z.clamp(-Z_LIMIT, Z_LIMIT) * self.target_scale + self.target_mean
        return torch.where(self.action_free > 0, joint_pos[:, None] + relative, self.action_value)


class WrenchNormalizer(nn.Module):
    """Scales of the six force/torque axes as frozen buffers (NaN until fitted).

    Free motion reads near zero most of the time and contact is heavy-tailed, so the scale is the
    98th percentile of the absolute value, zero stays zero, and large values grow by the logarithm:
    they stay bounded, and 20 N still differ from 30 N, which a clamp would make the same.
    wrench_live: 0 where an axis never changed; the network then does not see it.
    """

    wrench_scale: Tensor
    wrench_live: Tensor

    def __init__(self) -> None:
        """Buffers for six axes."""
        super().__init__()
        for name in WRENCH_STATISTICS:
            self.register_buffer(name, torch.full((len(WRENCH_NAMES),), float("nan")))

    def fit(self, windows: Iterable[Floats]) -> None:
        """Fit on training windows (F, S, 6), N and Nm."""
        rows = np.concatenate([w.reshape(-1, len(WRENCH_NAMES)) for w in windows])
        scale = np.maximum(np.quantile(np.abs(rows), 0.98, axis=0), WRENCH_FLOOR)
        live = np.ptp(rows, axis=0) > 0.01 * np.array(WRENCH_FLOOR)
        self.wrench_scale.copy_(torch.from_numpy(scale).float())
        self.wrench_live.copy_(torch.from_numpy(live).float())

    def check(self, where: str) -> None:
        """Refuse to compute with statistics that were never fitted or are bad."""
        for name in WRENCH_STATISTICS:
            _check_statistic(name, getattr(self, name), (len(WRENCH_NAMES),), where)

    def forward(self, wrench: Tensor) -> Tensor:
        """Windows (B, S, 6) in N and Nm -> network input of about unit size."""
        z = wrench / self.wrench_scale
        return torch.sign(z) * torch.log1p(2 * z.abs()) * self.wrench_live


def image_input(image: Tensor, camera: str) -> Tensor:
    """An image batch (B, 3, H, W) as float32 in [-0.5, 0.5], channels last in memory.

    uint8 is what our own boundaries carry; LeRobot's tools hand over floats in [0, 1]. Floats of
    another range (0..255 among them) are refused, not guessed at.
    """
    if image.ndim != 4 or image.shape[1] != 3:
        raise BadDataError(
            f"Camera {camera!r}: expected a batch of shape (B, 3, H, W), got {tuple(image.shape)}."
        )
    if image.dtype == torch.uint8:
        unit = image.to(torch.float32) / 255
    elif image.is_floating_point():
        unit = image.to(torch.float32)
        low, high = float(unit.min()), float(unit.max())
        if not (low >= -0.5 and high <= 1.5):
            raise BadDataError(
                f"Camera {camera!r}: float images must lie in [0, 1], got [{low:g}, {high:g}]; "
                "hand over uint8 or divide by 255."
            )
    else:
        raise BadDataError(f"Camera {camera!r}: images must be uint8, got {image.dtype}.")
    return (unit - 0.5).contiguous(memory_format=torch.channels_last)
