"""One optimizer step, and everything that must survive a kill for the next one to be the same."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping

import torch
from torch import Tensor

from simreal.core.errors import BadDataError, UsageError, unknown
from simreal.policies.batches import Batch
from simreal.policies.network import CompactNetwork

PRECISIONS = ("auto", "bf16", "fp32")


def resolve_precision(precision: str, device: torch.device) -> str:
    """`auto` is bf16 where the hardware multiplies bf16 natively, else fp32."""
    if precision not in PRECISIONS:
        raise unknown("precision", precision, PRECISIONS)
    if precision != "auto":
        return precision
    if device.type == "cuda":
        return "bf16"
    return "bf16" if torch.cpu._is_avx512_bf16_supported() else "fp32"


def resolve_device(name: str) -> torch.device:
    """`cpu` or `cuda` (also `cuda:N`); one that is not there is an error, never a fall-back."""
    if name.split(":")[0] not in ("cpu", "cuda"):
        raise unknown("device", name, ("cpu", "cuda"))
    if name.startswith("cuda") and not torch.cuda.is_available():
        raise UsageError(
            f"Device {name!r} was asked for, but no CUDA device is available; use 'cpu'."
        )
    return torch.device(name)


def learning_rate(step: int, steps: int, peak: float, warmup: int) -> float:
    """Linear warm-up over `warmup` steps under a cosine from `peak` to 0 over all `steps`."""
    ramp = min(1.0, (step + 1) / max(1, warmup))
    return peak * ramp * 0.5 * (1 + math.cos(math.pi * step / steps))


def loss_of(network: CompactNetwork, batch: Batch) -> Tensor:
    """The network's loss on a batch; it gets the force/torque windows if it reads them."""
    wrench = batch.wrench if network.feels else None
    return network.loss(batch.joint_pos, batch.images, batch.actions, batch.valid, wrench)


class Learner:
    """Network, optimizer and the moving average (EMA) of the weights."""

    def __init__(
        self,
        network: CompactNetwork,
        precision: str,
        weight_decay: float,
        clip_norm: float,
        ema_decay: float,
    ) -> None:
        """`network` must have its statistics and its device."""
        self.network = network
        self.precision = precision
        self.weight_decay = weight_decay
        self.clip_norm = clip_norm
        self.ema_decay = ema_decay
        self.names = [name for name, _ in network.named_parameters()]
        self.parameters: list[Tensor] = list(network.parameters())
        self.device = self.parameters[0].device
        self.average = [p.detach().clone() for p in self.parameters]
        self.begin_stage()

    def begin_stage(self) -> None:
        """Continue from the averaged weights with a fresh optimizer, as from a base checkpoint."""
        with torch.no_grad():
            torch._foreach_copy_(self.parameters, self.average)
        self.optimizer = torch.optim.AdamW(
            self.parameters, lr=1.0, weight_decay=self.weight_decay, fused=True
        )
        self.updates = 0

    def update(self, batch: Batch, rate: float) -> tuple[Tensor, Tensor]:
        """One optimizer step at learning rate `rate` -> (loss, gradient norm before clipping)."""
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.precision == "bf16"):
            loss = loss_of(self.network, batch)
        loss.backward()  # type: ignore[no-untyped-call]
        norm = torch.nn.utils.clip_grad_norm_(self.parameters, self.clip_norm)
        self.optimizer.param_groups[0]["lr"] = rate
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        decay = min(self.ema_decay, (1 + self.updates) / (10 + self.updates))
        self.updates += 1
        with torch.no_grad():
            torch._foreach_lerp_(self.average, self.parameters, 1 - decay)
        return loss.detach(), norm

    def averaged(self) -> CompactNetwork:
        """A copy of the network with the averaged weights."""
        network = copy.deepcopy(self.network)
        with torch.no_grad():
            torch._foreach_copy_(list(network.parameters()), self.average)
        return network.eval()

    def tensors(self) -> dict[str, Tensor]:
        """All tensors of the training state by name, contiguous on the CPU."""
        found: dict[str, Tensor] = {}
        for name, parameter, average in zip(self.names, self.parameters, self.average, strict=True):
            found[f"weights.{name}"] = parameter
            found[f"average.{name}"] = average
            for kind, value in self.optimizer.state[parameter].items():
                found[f"optimizer.{kind}.{name}"] = value
        for name, buffer in self.network.named_buffers():
            found[f"statistics.{name}"] = buffer
        return {name: value.detach().cpu().contiguous() for name, value in found.items()}

    def restore(self, tensors: Mapping[str, Tensor], updates: int, file: str) -> None:
        """Take over what `tensors` gave; a state of another network is refused."""
        wanted = set(self.tensors()) | self._moment_names(updates)
        if wanted != set(tensors):
            odd = sorted(wanted ^ set(tensors))
            raise BadDataError(f"{file} is no training state of this network: {odd[0]} differs.")
        with torch.no_grad():
            for name, buffer in self.network.named_buffers():
                buffer.copy_(tensors[f"statistics.{name}"])
            for name, parameter, average in zip(
                self.names, self.parameters, self.average, strict=True
            ):
                parameter.copy_(tensors[f"weights.{name}"])
                average.copy_(tensors[f"average.{name}"])
                if updates:
                    self.optimizer.state[parameter] = self._moments(tensors, name, parameter)
        self.updates = updates

    def _moment_names(self, updates: int) -> set[str]:
        kinds = ("step", "exp_avg", "exp_avg_sq") if updates else ()
        return {f"optimizer.{kind}.{name}" for kind in kinds for name in self.names}

    def _moments(
        self, tensors: Mapping[str, Tensor], name: str, parameter: Tensor
    ) -> dict[str, Tensor]:
        """The optimizer's entries for one parameter, in that parameter's memory layout."""
        first, second = (
            torch.zeros_like(parameter).copy_(tensors[f"optimizer.{kind}.{name}"])
            for kind in ("exp_avg", "exp_avg_sq")
        )
        step = tensors[f"optimizer.step.{name}"].clone().to(parameter.device)
        return {"step": step, "exp_avg": first, "exp_avg_sq": second}
