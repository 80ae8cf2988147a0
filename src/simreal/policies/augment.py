"""Random changes of a batch: pictures shifted and recoloured, forces off by bias and noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from simreal.policies.preprocess import WRENCH_FLOOR


@dataclass(frozen=True)
class Augmentation:
    """Random changes, drawn per sample and camera.

    shift_px: whole pixels up to +-this, edges repeated. contrast, tint: relative, the second per
    channel. brightness: in units of the full range. A shift is off by default: it blurs where an
    object is, and cost half of the successes on `lift` (docs/lift.md). wrench: standard deviation
    of a bias of each window and of the noise of its samples, in multiples of `WRENCH_FLOOR`; off.
    """

    shift_px: int = 0
    contrast: float = 0.2
    tint: float = 0.1
    brightness: float = 0.1
    wrench: float = 0.0


def augment(
    images: npt.NDArray[np.uint8], config: Augmentation, draw: np.random.Generator
) -> Tensor:
    """Shift and colour-jitter a batch (B, H, W, 3) uint8 -> float32 (B, 3, H, W), channels last."""
    count, height, width, _ = images.shape
    shifted = torch.from_numpy(_shift(images, config.shift_px, draw)).view(count, height, width * 3)
    contrast = 1 + config.contrast * draw.uniform(-1, 1, (count, 1))
    gain = contrast * (1 + config.tint * draw.uniform(-1, 1, (count, 3)))
    bias = config.brightness * draw.uniform(-1, 1, (count, 1)) - 0.5 * gain
    rows = [np.tile(x.astype(np.float32), width)[:, None, :] for x in (gain / 255, bias)]
    scale, offset = (torch.from_numpy(np.ascontiguousarray(row)) for row in rows)
    jittered = torch.addcmul(offset, shifted.to(torch.float32), scale)
    return jittered.view(count, height, width, 3).permute(0, 3, 1, 2)


def augment_wrench(
    windows: Tensor | None, config: Augmentation, draw: np.random.Generator
) -> Tensor | None:
    """Add bias and noise to force/torque windows (B, S, 6), N and Nm, where there are any."""
    if windows is None or not config.wrench:
        return windows
    count, samples, axes = windows.shape
    bias = draw.standard_normal((count, 1, axes), np.float32)
    noise = draw.standard_normal((count, samples, axes), np.float32)
    scale = np.float32(config.wrench) * np.array(WRENCH_FLOOR, np.float32)
    return windows + torch.from_numpy((bias + noise) * scale)


def _shift(
    images: npt.NDArray[np.uint8], pixels: int, draw: np.random.Generator
) -> npt.NDArray[np.uint8]:
    """Move each picture by its own whole-pixel offset, repeating the edge."""
    count, height, width, _ = images.shape
    rows, columns = draw.integers(0, 2 * pixels + 1, (2, count))
    padded = np.empty((count, height + 2 * pixels, width + 2 * pixels, 3), np.uint8)
    padded[:, pixels : pixels + height, pixels : pixels + width] = images
    padded[:, :pixels] = padded[:, pixels : pixels + 1]
    padded[:, pixels + height :] = padded[:, pixels + height - 1 : pixels + height]
    padded[:, :, :pixels] = padded[:, :, pixels : pixels + 1]
    padded[:, :, pixels + width :] = padded[:, :, pixels + width - 1 : pixels + width]
    windows = np.lib.stride_tricks.sliding_window_view(padded, (1, height, width, 3))[
        ..., 0, :, :, :
    ]
    return np.ascontiguousarray(windows[np.arange(count), rows, columns, 0])
