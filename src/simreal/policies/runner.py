"""A checkpoint in the closed loop: `core.protocols.Policy` over N worlds in lockstep."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch

from simreal.core.errors import BadDataError
from simreal.core.types import WRENCH_NAMES, WRENCH_SAMPLES, Action, Floats, Observation, TargetSpec
from simreal.policies.checkpoint import execute_error, load_checkpoint, read_dither
from simreal.policies.dither import dither
from simreal.policies.learner import resolve_device
from simreal.policies.network import CompactNetwork


class CompactRunner:
    """Predicts a chunk of targets, executes the first `execute` of them, looks again.

    Deterministic on the CPU. What it computes for one world depends on the others only by rounding
    (batched matrix products), so trials keep the composition of their batches fixed.
    """

    def __init__(
        self, network: CompactNetwork, execute: int, device: str = "cpu", dither: float = 0.0
    ) -> None:
        """Run `network`, executing `execute` actions of each chunk, with a wobble of this size."""
        if not 1 <= execute <= network.shape.chunk:
            raise execute_error(execute, network.shape.chunk)
        network.check("The network to be run")
        self._device = resolve_device(device)
        self._network = network.to(self._device).eval()
        self.execute = execute
        self.dither = dither
        self._n = 0
        self._step = 0
        self._cursor = 0
        self._plan: Floats | None = None

    @classmethod
    def load(
        cls, checkpoint: Path, device: str = "cpu", execute: int | None = None
    ) -> CompactRunner:
        """Read a checkpoint folder; `execute` overrides how much of a chunk is executed."""
        network, saved = load_checkpoint(checkpoint)
        chosen = saved if execute is None else execute
        return cls(network, chosen, device, read_dither(checkpoint))

    @property
    def chunk(self) -> int:
        """Actions predicted at a time, as the checkpoint says."""
        return self._network.shape.chunk

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The joints of observations and actions, in order."""
        return self._network.shape.joint_names

    @property
    def cameras(self) -> Mapping[str, tuple[int, int]]:
        """The cameras it reads, name -> (height_px, width_px)."""
        return self._network.shape.cameras

    def check_target(self, spec: TargetSpec) -> None:
        """Refuse a target with other joints, another joint order, or without a camera of ours."""
        if tuple(spec.joint_names) != self.joint_names:
            raise BadDataError(
                f"The policy moves the joints {', '.join(self.joint_names)}; "
                f"the target {spec.name!r} has {', '.join(spec.joint_names)}."
            )
        if self._network.feels and not spec.wrench:
            raise BadDataError(
                f"The policy reads a force/torque window; the target {spec.name!r} has no sensor."
            )
        theirs = {name: tuple(size) for name, size in spec.cameras.items()}
        ours = {name: tuple(size) for name, size in self.cameras.items()}
        if any(theirs.get(name) != size for name, size in ours.items()):
            raise BadDataError(
                f"The policy reads the cameras {ours}; the target {spec.name!r} has {theirs}."
            )

    def reset(self, n: int) -> None:
        """Forget all episodes; the next `act` starts `n` new ones."""
        if n < 1:
            raise ValueError(f"A policy runs at least one world, not {n}.")
        self._n = n
        self._step = 0
        self._cursor = 0
        self._plan = None

    def looks(self) -> bool:
        """Whether the next `act` reads images."""
        return self._cursor == 0

    def act(self, observation: Observation) -> Action:
        """Absolute joint targets (N, J): the next step of the present chunk."""
        expected = (self._n, len(self.joint_names))
        if observation.joint_pos.shape != expected:
            raise ValueError(
                f"The policy was reset for joint_pos of shape {expected}, "
                f"got {observation.joint_pos.shape}."
            )
        if self._cursor == 0:
            self._plan = self._predict(observation)
        assert self._plan is not None
        action = self._plan[:, self._cursor].copy()
        action += dither(self._step, action.shape[1], self.dither)
        self._step += 1
        self._cursor = (self._cursor + 1) % self.execute
        return action

    def _predict(self, observation: Observation) -> Floats:
        """One chunk (N, chunk, J) from what is seen and felt now."""
        joint_pos, images = observation.joint_pos, observation.images
        bad = np.flatnonzero(~np.isfinite(joint_pos).all(axis=1))
        if len(bad):
            raise ValueError(f"joint_pos of world {bad[0]} is not finite: {joint_pos[bad[0]]}.")
        missing = sorted(set(self.cameras) - set(images))
        if missing:
            raise BadDataError(
                f"The policy needs the cameras {', '.join(sorted(self.cameras))}; "
                f"the observation has {', '.join(sorted(images)) or 'none'}."
            )
        for name in self.cameras:
            if images[name].dtype != np.uint8:
                raise BadDataError(f"Camera {name!r} must be uint8, got {images[name].dtype}.")
        wrench = self._felt(observation.wrench) if self._network.feels else None
        pose = torch.from_numpy(np.array(joint_pos, dtype=np.float32)).to(self._device)
        pictures = {
            name: torch.from_numpy(np.array(images[name])).to(self._device).permute(0, 3, 1, 2)
            for name in self.cameras
        }
        with torch.inference_mode():
            plan: Floats = self._network.actions(pose, pictures, wrench).cpu().numpy()
        return plan

    def _felt(self, wrench: Floats | None) -> torch.Tensor | None:
        """The force/torque windows as a tensor; what is not finite is refused."""
        if wrench is None:
            return None
        expected = (self._n, WRENCH_SAMPLES, len(WRENCH_NAMES))
        if wrench.shape != expected:
            raise ValueError(
                f"The policy reads force/torque windows of shape {expected}, got {wrench.shape}."
            )
        bad = np.argwhere(~np.isfinite(wrench))
        if len(bad):
            world, _, axis = (int(i) for i in bad[0])
            raise ValueError(
                f"The force/torque window of world {world} is not finite in "
                f"{WRENCH_NAMES[axis]}; check the sensor."
            )
        return torch.from_numpy(np.array(wrench, dtype=np.float32)).to(self._device)
