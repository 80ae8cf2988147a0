"""Checkpoints: a folder LeRobot 0.6.1 opens, written and read here without importing LeRobot.

    config.json                what LeRobot's `PreTrainedConfig` of this type encodes to
    model.safetensors          weights and statistics, named as in `SimrealCompactPolicy`
    policy_preprocessor.json, policy_postprocessor.json    LeRobot's processors, normalizing nothing
    simreal.json               what the weights are (EMA or raw), steps, seeds, versions

Nothing is ever unpickled.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from simreal.core.errors import BadDataError, UsageError
from simreal.core.files import read_json, write_bytes, write_json
from simreal.core.types import WRENCH_NAMES, WRENCH_SAMPLES
from simreal.policies.network import CompactNetwork, NetworkShape
from simreal.policies.preprocess import check_statistics

TYPE = "simreal_compact"
SCHEMA = "simreal-checkpoint/1"
#: `SimrealCompactPolicy` holds the network under this attribute.
PREFIX = "network."
CAMERA_PREFIX = "observation.images."
#: The force/torque window, flat, oldest sample first.
WRENCH = "observation.wrench"
FILES = ("config.json", "model.safetensors")
IDENTITY = {"VISUAL": "IDENTITY", "STATE": "IDENTITY", "ACTION": "IDENTITY"}


def lerobot_config(shape: NetworkShape, execute: int, dither: float = 0.0) -> dict[str, Any]:
    """The content of config.json: features by name, sizes, and LeRobot's defaults."""
    return {
        "type": TYPE,
        "n_obs_steps": 1,
        "input_features": _inputs(shape),
        "output_features": {"action": {"type": "ACTION", "shape": [len(shape.joint_names)]}},
        "device": "cpu",
        "use_amp": False,
        "use_peft": False,
        "push_to_hub": False,
        "repo_id": None,
        "private": None,
        "tags": None,
        "license": None,
        "pretrained_path": None,
        "pretrained_revision": None,
        "chunk_size": shape.chunk,
        "n_action_steps": execute,
        "dither": dither,
        "normalization_mapping": IDENTITY,
        "action_feature_names": [f"{name}.pos" for name in shape.joint_names],
        "channels": list(shape.channels),
        "vision": shape.vision,
        "proprio": shape.proprio,
        "hidden": shape.hidden,
        "wrench": shape.wrench,
    }


def _inputs(shape: NetworkShape) -> dict[str, Any]:
    inputs: dict[str, Any] = {
        "observation.state": {"type": "STATE", "shape": [len(shape.joint_names)]}
    }
    for name in sorted(shape.cameras):
        height, width = shape.cameras[name]
        inputs[CAMERA_PREFIX + name] = {"type": "VISUAL", "shape": [3, height, width]}
    if shape.wrench != "none":
        size = WRENCH_SAMPLES * len(WRENCH_NAMES)
        inputs[WRENCH] = {"type": "STATE", "shape": [size]}
    return inputs


def processors(config: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """LeRobot's default pipelines for `config`; their normalizers do nothing."""
    action = config["output_features"]
    everything = {**config["input_features"], **action}
    device = {"registry_name": "device_processor", "config": {"device": "cpu", "float_dtype": None}}
    before = [
        {"registry_name": "rename_observations_processor", "config": {"rename_map": {}}},
        {"registry_name": "to_batch_processor", "config": {}},
        device,
        _normalizer("normalizer_processor", everything),
    ]
    after = [_normalizer("unnormalizer_processor", action), device]
    return (
        {"name": "policy_preprocessor", "steps": before},
        {"name": "policy_postprocessor", "steps": after},
    )


def _normalizer(name: str, features: Mapping[str, Any]) -> dict[str, Any]:
    config = {"eps": 1e-8, "features": dict(features), "norm_map": IDENTITY}
    return {"registry_name": name, "config": config}


def save_checkpoint(
    folder: Path,
    network: CompactNetwork,
    execute: int,
    facts: Mapping[str, Any],
    dither: float = 0.0,
) -> None:
    """Write `folder` whole or not at all; `facts` go to simreal.json."""
    if not 1 <= execute <= network.shape.chunk:
        raise execute_error(execute, network.shape.chunk)
    if folder.exists():
        raise UsageError(f"{folder} exists; a checkpoint is never overwritten.")
    network.check(f"The network to be saved to {folder}")
    temporary = folder.with_name(f".{folder.name}.writing")
    shutil.rmtree(temporary, ignore_errors=True)
    config = lerobot_config(network.shape, execute, dither)
    write_json(temporary / "config.json", config)
    for content in processors(config):
        write_json(temporary / f"{content['name']}.json", content)
    write_json(temporary / "simreal.json", {"schema": SCHEMA, **facts})
    tensors = {
        PREFIX + name: value.detach().cpu().contiguous()
        for name, value in network.state_dict().items()
    }
    write_bytes(temporary / "model.safetensors", save(tensors, metadata={"format": "pt"}))
    temporary.rename(folder)


def execute_error(execute: int, chunk: int) -> UsageError:
    """`execute` does not fit the chunk the policy predicts."""
    return UsageError(
        f"Cannot execute {execute} actions of a chunk: the policy predicts {chunk} "
        f"(allowed: 1 to {chunk})."
    )


def load_checkpoint(folder: Path) -> tuple[CompactNetwork, int]:
    """Read a checkpoint -> (network in evaluation mode, actions to execute of each chunk)."""
    _check_folder(folder)
    file = folder / "config.json"
    shape, execute = parse_config(read_json(file), str(file))
    network = CompactNetwork(shape)
    load_weights(network, folder / "model.safetensors")
    return network.eval(), execute


def read_dither(folder: Path) -> float:
    """The size of the wobble that belongs to a checkpoint (`policies.dither`), 0 for older ones."""
    file = folder / "config.json"
    value = read_json(file).get("dither", 0.0)
    if not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise BadDataError(f"{file}: dither {value!r} must be a number, 0 or more.")
    return float(value)


def read_facts(folder: Path) -> dict[str, Any]:
    """The content of simreal.json."""
    _check_folder(folder)
    file = folder / "simreal.json"
    if not file.is_file():
        raise BadDataError(f"{folder} has no simreal.json.")
    facts = read_json(file)
    if not isinstance(facts, dict) or facts.get("schema") != SCHEMA:
        raise BadDataError(f"{file} does not follow {SCHEMA}.")
    return facts


def _check_folder(folder: Path) -> None:
    if not folder.is_dir():
        raise UsageError(f"{folder} is no checkpoint folder; it must hold {' and '.join(FILES)}.")
    found = sorted(path.name for path in folder.iterdir())
    missing = [name for name in FILES if name not in found]
    if missing:
        raise BadDataError(
            f"{folder} is no checkpoint: {', '.join(missing)} missing, found "
            f"{', '.join(found[:8]) or 'nothing'}. Pickled weights (.bin, .pt) are never read."
        )


def parse_config(config: Any, file: str) -> tuple[NetworkShape, int]:
    """The network's shape and the actions to execute, from config.json's content."""
    kind = config.get("type") if isinstance(config, dict) else None
    if kind != TYPE:
        raise BadDataError(f"{file} describes a policy of type {kind!r}; this reads {TYPE!r}.")
    try:
        joints = int(config["output_features"]["action"]["shape"][0])
        names = config["action_feature_names"] or []
        cameras = {
            key.removeprefix(CAMERA_PREFIX): (int(f["shape"][1]), int(f["shape"][2]))
            for key, f in config["input_features"].items()
            if f["type"] == "VISUAL"
        }
        channels = tuple(int(c) for c in config["channels"])
        widths = {key: int(config[key]) for key in ("vision", "proprio", "hidden")}
        chunk, execute = int(config["chunk_size"]), int(config["n_action_steps"])
        wrench = str(config.get("wrench", "none"))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise BadDataError(f"{file} lacks or garbles a field: {error!r}.") from error
    if len(names) != joints or len(channels) != 3:
        raise BadDataError(
            f"{file}: {joints} actions but the names {names}, channels {list(channels)} (needs 3)."
        )
    if not 1 <= execute <= chunk:
        raise BadDataError(f"{file}: n_action_steps {execute} must lie in 1..chunk_size {chunk}.")
    joint_names = tuple(str(name).removesuffix(".pos") for name in names)
    a, b, c = channels
    return NetworkShape(joint_names, cameras, chunk, (a, b, c), **widths, wrench=wrench), execute


def load_weights(network: CompactNetwork, file: Path) -> None:
    """Read weights and statistics; anything missing, extra, misshapen or not finite is refused."""
    tensors = read_tensors(file)
    chunk, joints = network.shape.chunk, len(network.shape.joint_names)
    check_statistics(tensors, chunk, joints, str(file), f"{PREFIX}normalizer.")
    wanted = {PREFIX + name: value for name, value in network.state_dict().items()}
    missing, extra = sorted(set(wanted) - set(tensors)), sorted(set(tensors) - set(wanted))
    if missing or extra:
        raise BadDataError(
            f"{file} does not fit the policy its config.json describes: "
            f"missing {', '.join(missing[:4]) or 'nothing'}; "
            f"unknown {', '.join(extra[:4]) or 'nothing'}."
        )
    with torch.no_grad():
        for name, target in wanted.items():
            value = tensors[name]
            if value.shape != target.shape:
                raise BadDataError(
                    f"{file}: {name} has shape {tuple(value.shape)}, needs {tuple(target.shape)}."
                )
            if not bool(torch.isfinite(value).all()):
                raise BadDataError(f"{file}: {name} is not finite.")
            target.copy_(value)
    network.check(str(file))


def read_tensors(file: Path) -> dict[str, Tensor]:
    """All tensors of a safetensors file."""
    if not file.is_file():
        raise BadDataError(f"{file} does not exist.")
    try:
        tensors: dict[str, Tensor] = load(file.read_bytes())
    except SafetensorError as error:
        raise BadDataError(f"{file} is not a safetensors file: {error}.") from error
    return tensors
