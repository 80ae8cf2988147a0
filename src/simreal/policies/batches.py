"""From frames in memory to training batches: gathering, action chunks, augmentation.

All pictures stay uint8 in memory; a batch is gathered, shifted and cut in two copies. What step s
sees depends on (seed, stage, s) only, so a resumed run sees what the unbroken one would have seen.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from simreal.core.errors import BadDataError, UsageError
from simreal.core.seeds import generator
from simreal.core.types import WRENCH_NAMES, WRENCH_SAMPLES, Bools, Floats, Images
from simreal.policies.augment import Augmentation, augment, augment_wrench

Indices = npt.NDArray[np.int64]


class Source(Protocol):
    """Frames of one part of a mixture; those of an episode are contiguous and in order."""

    @property
    def joint_pos(self) -> Floats:
        """Measured positions (F, J), LeRobot units."""
        ...

    @property
    def actions(self) -> Floats:
        """Absolute targets (F, J) commanded at each frame."""
        ...

    @property
    def images(self) -> Images:
        """Per camera (F, H, W, 3) uint8 RGB."""
        ...

    @property
    def episode(self) -> Indices:
        """The episode each frame belongs to (F,)."""
        ...

    @property
    def wrench(self) -> Floats | None:
        """Force/torque windows (F, S, 6), N and Nm, or None."""
        ...


class Sampler(Protocol):
    """Chooses the frames of a batch; a pure function of the step."""

    def draw(self, step: int) -> tuple[Indices, Indices]:
        """(part index (B,), frame index within that part (B,)) of optimizer step `step`."""
        ...


class Part:
    """A checked `Source`, and where the episode of each of its frames ends."""

    def __init__(self, source: Source, name: str = "part") -> None:
        """Check `source`; `name` stands in logs and messages."""
        self.name = name
        self.joint_pos = np.ascontiguousarray(source.joint_pos, dtype=np.float32)
        self.actions = np.ascontiguousarray(source.actions, dtype=np.float32)
        self.images = dict(source.images)
        self.episode = np.asarray(source.episode)
        wrench = source.wrench
        self.wrench = None if wrench is None else np.ascontiguousarray(wrench, dtype=np.float32)
        self._check_shapes()
        self._check_finite()
        self.last = _last_frames(self.episode, name)

    def __len__(self) -> int:
        """Number of frames."""
        return len(self.joint_pos)

    def chunks(self, frames: Indices, chunk: int) -> tuple[Floats, Bools]:
        """Targets (B, chunk, J) from each frame on, and which lie inside the episode (B, chunk).

        Past the end of an episode its last target is repeated.
        """
        steps = frames[:, None] + np.arange(chunk)
        last = self.last[frames][:, None]
        return self.actions[np.minimum(steps, last)], steps <= last

    def rows(self, chunk: int) -> tuple[Floats, Floats]:
        """All measured poses (F, J) and the chunks that answer them (F, chunk, J)."""
        return self.joint_pos, self.chunks(np.arange(len(self)), chunk)[0]

    def digest(self) -> str:
        """A fingerprint of the numbers and of a sample of the pictures."""
        sha = hashlib.sha256()
        for array in (self.joint_pos, self.actions, self.episode, self.wrench):
            if array is not None:
                sha.update(np.ascontiguousarray(array).tobytes())
        for camera in sorted(self.images):
            pictures = self.images[camera]
            sha.update(f"{camera} {pictures.shape}".encode())
            sha.update(np.ascontiguousarray(pictures[:: max(1, len(pictures) // 64)]).tobytes())
        return sha.hexdigest()

    def _check_shapes(self) -> None:
        frames, shape = len(self.joint_pos), self.joint_pos.shape
        if self.joint_pos.ndim != 2 or frames == 0:
            raise BadDataError(f"{self.name}: joint_pos must be (F, J) with F >= 1, got {shape}.")
        if self.actions.shape != shape:
            raise BadDataError(
                f"{self.name}: actions have shape {self.actions.shape}, joint_pos has {shape}."
            )
        if self.episode.shape != (frames,):
            got = self.episode.shape
            raise BadDataError(f"{self.name}: episode has shape {got}, needs ({frames},).")
        windows = (frames, WRENCH_SAMPLES, len(WRENCH_NAMES))
        if self.wrench is not None and self.wrench.shape != windows:
            raise BadDataError(f"{self.name}: wrench has {self.wrench.shape}, needs {windows}.")
        for camera, pictures in self.images.items():
            if pictures.dtype != np.uint8 or pictures.ndim != 4 or pictures.shape[-1] != 3:
                raise BadDataError(
                    f"{self.name}: camera {camera!r} must be (F, H, W, 3) uint8, "
                    f"got {pictures.shape} {pictures.dtype}."
                )
            if len(pictures) != frames:
                raise BadDataError(
                    f"{self.name}: camera {camera!r} has {len(pictures)} frames, not {frames}."
                )

    def _check_finite(self) -> None:
        for feature, values in (("joint_pos", self.joint_pos), ("actions", self.actions)):
            bad = np.argwhere(~np.isfinite(values))
            if len(bad):
                frame, joint = (int(i) for i in bad[0])
                raise BadDataError(
                    f"{self.name}: {feature} is not finite at frame {frame} "
                    f"(episode {self.episode[frame]}), joint {joint}; {len(bad)} such values."
                )

    def check_windows(self) -> None:
        """Refuse force/torque windows that are not finite."""
        bad = np.argwhere(~np.isfinite([] if self.wrench is None else self.wrench))
        if len(bad):
            frame, _, axis = (int(i) for i in bad[0])
            raise BadDataError(
                f"{self.name}: wrench is not finite at frame {frame} (episode "
                f"{self.episode[frame]}), {WRENCH_NAMES[axis]}; {len(bad)} such values. Leave the "
                "episode out, or train on pictures alone (wrench none)."
            )


def _last_frames(episode: Indices, name: str) -> Indices:
    """For each frame the index of its episode's last frame."""
    ends = np.flatnonzero(np.r_[episode[1:] != episode[:-1], True])
    if len(np.unique(episode[ends])) != len(ends):
        raise BadDataError(f"{name}: the frames of an episode are not contiguous.")
    lengths = np.diff(np.r_[-1, ends])
    return np.repeat(ends, lengths)


@dataclass(frozen=True)
class Batch:
    """One training batch as tensors.

    joint_pos (B, J) and actions (B, chunk, J) in LeRobot units; valid (B, chunk) 1 inside the
    episode; images per camera (B, 3, H, W) float32 in about [-0.5, 0.5], channels last; wrench
    (B, S, 6) in N and Nm, or None.
    """

    joint_pos: Tensor
    actions: Tensor
    valid: Tensor
    images: Mapping[str, Tensor]
    wrench: Tensor | None = None

    def to(self, device: torch.device) -> Batch:
        """The same batch on another device."""
        images = {name: image.to(device) for name, image in self.images.items()}
        wrench = None if self.wrench is None else self.wrench.to(device)
        return Batch(
            self.joint_pos.to(device),
            self.actions.to(device),
            self.valid.to(device),
            images,
            wrench,
        )


def _sizes(part: Part) -> dict[str, tuple[int, int]]:
    """Camera -> (height_px, width_px), by name."""
    return {name: (i.shape[1], i.shape[2]) for name, i in sorted(part.images.items())}


def have_windows(parts: Sequence[Part]) -> bool:
    """Whether the parts hold force/torque windows; some with and some without are refused."""
    there = [part.wrench is not None for part in parts]
    if any(there) and not all(there):
        raise BadDataError(
            f"{parts[there.index(False)].name} has no force/torque windows, "
            f"{parts[there.index(True)].name} does; mix data of one kind, or train on pictures "
            "alone (wrench none)."
        )
    return all(there)


class Batcher:
    """Assembles batches from the parts of one stage."""

    def __init__(
        self,
        parts: Sequence[Part],
        chunk: int,
        augmentation: Augmentation,
        feels: bool = True,
    ) -> None:
        """All parts must have the same joints, cameras and picture sizes.

        feels: batches hold the force/torque windows, which all parts have or none.
        """
        self.parts = tuple(parts)
        self.chunk = chunk
        self.augmentation = augmentation
        self.cameras = _sizes(parts[0])
        for part in parts:
            sizes = _sizes(part)
            if sizes != self.cameras or part.joint_pos.shape[1] != parts[0].joint_pos.shape[1]:
                raise BadDataError(
                    f"{part.name} has {part.joint_pos.shape[1]} joints and cameras {sizes}; "
                    f"{parts[0].name} has {parts[0].joint_pos.shape[1]} and {self.cameras}."
                )
        self.wrench = feels and have_windows(parts)
        for part in parts if self.wrench else ():
            part.check_windows()

    def training(
        self, which: Indices, frames: Indices, seed: int, purpose: str, step: int
    ) -> Batch:
        """The augmented batch of `frames` (B,) of the parts `which` (B,)."""
        if which.shape != frames.shape or not 0 <= which.min() <= which.max() < len(self.parts):
            raise UsageError(
                f"The sampler must draw (part, frame) pairs of {len(self.parts)} parts."
            )
        draw = generator(seed, purpose, step)
        images = {
            name: augment(self._gather(name, which, frames), self.augmentation, draw)
            for name in self.cameras
        }
        batch = self._batch(which, frames, images)
        return replace(batch, wrench=augment_wrench(batch.wrench, self.augmentation, draw))

    def plain(self, which: Indices, frames: Indices) -> Batch:
        """The batch as it is, for held-out losses."""
        images = {
            name: torch.from_numpy(self._gather(name, which, frames)).permute(0, 3, 1, 2) / 255
            - 0.5
            for name in self.cameras
        }
        return self._batch(which, frames, images)

    def _batch(self, which: Indices, frames: Indices, images: Mapping[str, Tensor]) -> Batch:
        joints = self.parts[0].joint_pos.shape[1]
        joint_pos = np.empty((len(frames), joints), np.float32)
        actions = np.empty((len(frames), self.chunk, joints), np.float32)
        valid = np.empty((len(frames), self.chunk), np.float32)
        for index, part in enumerate(self.parts):
            rows = which == index
            joint_pos[rows] = part.joint_pos[frames[rows]]
            actions[rows], valid[rows] = part.chunks(frames[rows], self.chunk)
        return Batch(
            torch.from_numpy(joint_pos),
            torch.from_numpy(actions),
            torch.from_numpy(valid),
            images,
            self._wrench(which, frames),
        )

    def _wrench(self, which: Indices, frames: Indices) -> Tensor | None:
        """The windows (B, S, 6), if batches hold them."""
        windows = [part.wrench for part in self.parts if part.wrench is not None]
        return torch.from_numpy(_rows(windows, which, frames)) if self.wrench else None

    def _gather(self, camera: str, which: Indices, frames: Indices) -> npt.NDArray[np.uint8]:
        return _rows([part.images[camera] for part in self.parts], which, frames)


def _rows[Number: np.generic](
    sources: Sequence[npt.NDArray[Number]], which: Indices, frames: Indices
) -> npt.NDArray[Number]:
    """Row `frames[i]` of source `which[i]`, for all i."""
    if len(sources) == 1:
        return sources[0][frames]
    out = np.empty((len(frames), *sources[0].shape[1:]), sources[0].dtype)
    for index, source in enumerate(sources):
        rows = which == index
        out[rows] = source[frames[rows]]
    return out
