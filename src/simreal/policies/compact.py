"""The compact policy as LeRobot knows it: a config, a policy and its processors.

LeRobot 0.6.1 finds the three by their names in one module. Importing this imports LeRobot (15 s of
CPU); our own training and evaluation use `network.py` directly, through the same checkpoints.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from lerobot.configs import NormalizationMode, PreTrainedConfig
from lerobot.optim import AdamWConfig, CosineDecayWithWarmupSchedulerConfig
from lerobot.policies.pretrained import PreTrainedPolicy
from lerobot.processor import make_default_pre_post_processors
from lerobot.utils.constants import ACTION, OBS_STATE
from torch import Tensor

from simreal.core.errors import BadDataError, UsageError
from simreal.core.types import WRENCH_NAMES, WRENCH_SAMPLES
from simreal.policies.batches import Part
from simreal.policies.checkpoint import (
    CAMERA_PREFIX,
    IDENTITY,
    TYPE,
    WRENCH,
    execute_error,
    load_weights,
)
from simreal.policies.dither import dither
from simreal.policies.network import CompactNetwork, NetworkShape
from simreal.policies.preprocess import fit_statistics, image_input


def _identity() -> dict[str, NormalizationMode]:
    return {kind: NormalizationMode(mode) for kind, mode in IDENTITY.items()}


@PreTrainedConfig.register_subclass(TYPE)
@dataclass
class SimrealCompactConfig(PreTrainedConfig):  # type: ignore[misc]
    """Sizes of the compact policy; features and their names come from the data set.

    normalization_mapping says IDENTITY because the network normalizes by itself. The optimizer
    fields are LeRobot's presets for `lerobot-train`, equal to ours.
    """

    chunk_size: int = 8
    n_action_steps: int = 4
    dither: float = 0.0
    normalization_mapping: dict[str, NormalizationMode] = field(default_factory=_identity)
    action_feature_names: list[str] | None = None
    channels: tuple[int, ...] = (32, 64, 128)
    vision: int = 128
    proprio: int = 64
    hidden: int = 512
    wrench: str = "none"

    @property
    def observation_delta_indices(self) -> None:
        """One observation, the present one."""
        return

    @property
    def action_delta_indices(self) -> list[int]:
        """The targets from the present frame on."""
        return list(range(self.chunk_size))

    @property
    def reward_delta_indices(self) -> None:
        """No rewards."""
        return

    def get_optimizer_preset(self) -> AdamWConfig:
        """AdamW at 1e-3, gradient norm clipped to 1."""
        return AdamWConfig(lr=1e-3, weight_decay=1e-2, grad_clip_norm=1.0)

    def get_scheduler_preset(self) -> CosineDecayWithWarmupSchedulerConfig:
        """A cosine to 0 over the run; LeRobot shortens it to a run of fewer steps."""
        return CosineDecayWithWarmupSchedulerConfig(
            num_warmup_steps=100, num_decay_steps=100_000, peak_lr=1e-3, decay_lr=0.0
        )

    def validate_features(self) -> None:
        """Refuse features that the network cannot bind by name."""
        if self.robot_state_feature is None or self.action_feature is None:
            raise UsageError(f"{TYPE} needs the features {OBS_STATE} and {ACTION}.")
        joints = self.action_feature.shape[0]
        if self.robot_state_feature.shape != self.action_feature.shape:
            raise UsageError(
                f"{TYPE} needs {OBS_STATE} and {ACTION} of the same joints, got the shapes "
                f"{self.robot_state_feature.shape} and {self.action_feature.shape}."
            )
        names = self.action_feature_names or []
        if len(names) != joints or len(self.channels) != 3:
            raise UsageError(
                f"{TYPE} needs one name for each of {joints} actions (action_feature_names), got "
                f"{names}, and 3 channels, got {list(self.channels)}."
            )
        odd = [key for key in self.image_features if not key.startswith(CAMERA_PREFIX)]
        if odd:
            raise UsageError(f"{TYPE} reads cameras named {CAMERA_PREFIX}<name>, not {odd[0]}.")
        window = (self.input_features or {}).get(WRENCH)
        size = (WRENCH_SAMPLES * len(WRENCH_NAMES),)
        if self.wrench != "none" and (window is None or tuple(window.shape) != size):
            raise UsageError(
                f"{TYPE} with wrench {self.wrench} needs the feature {WRENCH} of shape {size}, got "
                f"{'none' if window is None else tuple(window.shape)}; record with a force/torque "
                "sensor, or set wrench to none."
            )
        if not 0 <= self.dither < float("inf"):
            raise UsageError(f"{TYPE}: dither {self.dither} must be 0 or more.")
        if not 1 <= self.n_action_steps <= self.chunk_size:
            raise execute_error(self.n_action_steps, self.chunk_size)

    def network_shape(self) -> NetworkShape:
        """The network these features and sizes describe."""
        self.validate_features()
        first, second, third = self.channels
        return NetworkShape(
            joint_names=tuple(n.removesuffix(".pos") for n in self.action_feature_names or ()),
            cameras={
                key.removeprefix(CAMERA_PREFIX): (feature.shape[1], feature.shape[2])
                for key, feature in self.image_features.items()
            },
            chunk=self.chunk_size,
            channels=(first, second, third),
            vision=self.vision,
            proprio=self.proprio,
            hidden=self.hidden,
            wrench=self.wrench,
        )


class SimrealCompactPolicy(PreTrainedPolicy):  # type: ignore[misc]
    """`CompactNetwork` behind LeRobot's policy interface; takes and gives unnormalized numbers."""

    config_class = SimrealCompactConfig
    name = TYPE

    def __init__(
        self, config: SimrealCompactConfig, dataset_meta: Any = None, **_unused: Any
    ) -> None:
        """A fresh policy. dataset_meta: LeRobot's; the statistics are fitted on its data set.

        LeRobot's own `dataset_stats` do not serve: targets are relative to the measured pose.
        """
        super().__init__(config)
        self.network = CompactNetwork(config.network_shape(), seed=torch.initial_seed())
        if dataset_meta is not None and config.pretrained_path is None:
            _fit(self.network, dataset_meta)
        self._queue: deque[Tensor] = deque(maxlen=config.n_action_steps)
        self._step = 0

    @classmethod
    def _load_as_safetensor(
        cls, model: SimrealCompactPolicy, model_file: str, map_location: str, strict: bool
    ) -> SimrealCompactPolicy:
        """Always strict: a checkpoint without sound statistics is refused."""
        load_weights(model.network, Path(model_file))
        return model

    def get_optim_params(self) -> Iterator[torch.nn.Parameter]:
        """All parameters, one group."""
        return self.network.parameters()

    def reset(self) -> None:
        """Forget the present chunk."""
        self._queue.clear()
        self._step = 0

    def forward(self, batch: dict[str, Tensor]) -> tuple[Tensor, dict[str, float]]:
        """Training loss (standardized L1) of a LeRobot batch."""
        self.network.check("The policy in training")
        cameras = self.network.cameras
        images = {name: image_input(batch[CAMERA_PREFIX + name], name) for name in cameras}
        actions = batch[ACTION]
        padded = batch.get("action_is_pad")
        valid = torch.ones(actions.shape[:2]) if padded is None else (~padded).float()
        loss = self.network.loss(
            batch[OBS_STATE], images, actions, valid.to(actions.device), self._windows(batch)
        )
        return loss, {"l1_loss": float(loss.detach())}

    @torch.no_grad()
    def predict_action_chunk(self, batch: dict[str, Tensor], **_unused: Any) -> Tensor:
        """Absolute targets (B, chunk, J), LeRobot units."""
        self.eval()
        self.network.check("The policy in use")
        images = {
            key.removeprefix(CAMERA_PREFIX): image
            for key, image in batch.items()
            if key.startswith(CAMERA_PREFIX)
        }
        return self.network.actions(batch[OBS_STATE], images, self._windows(batch))

    @torch.no_grad()
    def select_action(self, batch: dict[str, Tensor], **_unused: Any) -> Tensor:
        """The next target (B, J) of the present chunk; a new chunk after n_action_steps."""
        if not self._queue:
            chunk = self.predict_action_chunk(batch)
            self._queue.extend(chunk[:, : self.config.n_action_steps].unbind(dim=1))
        target = self._queue.popleft()
        wobble = dither(self._step, target.shape[1], self.config.dither)
        self._step += 1
        return target + torch.from_numpy(wobble).to(target)

    def _windows(self, batch: dict[str, Tensor]) -> Tensor | None:
        """Force/torque windows (B, S, 6) of a LeRobot batch, where the network reads them."""
        flat = batch.get(WRENCH) if self.network.feels else None
        return None if flat is None else flat.reshape(len(flat), WRENCH_SAMPLES, len(WRENCH_NAMES))


def make_simreal_compact_pre_post_processors(
    config: SimrealCompactConfig, dataset_stats: dict[str, dict[str, Tensor]] | None = None
) -> tuple[Any, Any]:
    """LeRobot's default pipelines: rename, batch, device. They normalize nothing.

    dataset_stats are not used: the network carries its own statistics.
    """
    return make_default_pre_post_processors(config, None)  # type: ignore[no-any-return]


def _fit(network: CompactNetwork, dataset_meta: Any) -> None:
    """Fit the statistics on all rows of the LeRobot data set that `dataset_meta` describes."""
    from lerobot.datasets import LeRobotDataset

    dataset = LeRobotDataset(dataset_meta.repo_id, root=dataset_meta.root)
    names = [OBS_STATE, ACTION, "episode_index", *([WRENCH] if network.feels else [])]
    rows = dataset.hf_dataset.select_columns(names).with_format("numpy")[:]
    wrench = rows[WRENCH].reshape(-1, WRENCH_SAMPLES, len(WRENCH_NAMES)) if network.feels else None
    numbers = _Rows(rows[OBS_STATE], rows[ACTION], rows["episode_index"], wrench)
    part = Part(numbers, name=str(dataset.root))
    if part.joint_pos.shape[1] != len(network.shape.joint_names):
        raise BadDataError(
            f"{dataset.root} has {part.joint_pos.shape[1]} joints, not the policy's."
        )
    network.normalizer.set(fit_statistics([part.rows(network.shape.chunk)]))
    if part.wrench is not None:
        network.wrench.normalizer.fit([part.wrench])


@dataclass(frozen=True)
class _Rows:
    """The numbers of a data set without its pictures: a `Source`."""

    joint_pos: Any
    actions: Any
    episode: Any
    wrench: Any = None
    images: dict[str, Any] = field(default_factory=dict)
