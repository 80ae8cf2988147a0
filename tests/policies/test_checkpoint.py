import json
import pickle
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file
from tests.policies.blobs import JOINTS

from simreal.core.errors import BadDataError, UsageError
from simreal.policies.checkpoint import load_checkpoint, read_facts, save_checkpoint
from simreal.policies.network import CompactNetwork, NetworkShape
from simreal.policies.preprocess import STATISTICS

CAMERAS = {"scene": (32, 32), "wrist": (48, 32)}


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    network = CompactNetwork(NetworkShape(JOINTS, CAMERAS, chunk=6), seed=5)
    for name, value in network.normalizer.named_buffers():
        value.fill_(0.0 if name.endswith(("mean", "value")) else 1.0)
    folder = tmp_path_factory.mktemp("saved") / "checkpoint"
    save_checkpoint(folder, network, 3, {"weights": "ema", "steps": 7})
    return folder, network


@pytest.fixture
def copied(saved, tmp_path):
    return shutil.copytree(saved[0], tmp_path / "copy")


def edit(folder, change):
    file = folder / "model.safetensors"
    tensors = load_file(file)
    change(tensors)
    save_file(tensors, file)


def test_a_checkpoint_reads_back_equal(saved):
    folder, network = saved
    again, execute = load_checkpoint(folder)
    assert execute == 3
    assert again.shape == network.shape
    assert not again.training
    for (name, a), (_, b) in zip(
        network.state_dict().items(), again.state_dict().items(), strict=True
    ):
        assert torch.equal(a, b), name
    assert read_facts(folder)["steps"] == 7
    names = {path.name for path in folder.iterdir()}
    assert names == {
        "config.json",
        "model.safetensors",
        "policy_preprocessor.json",
        "policy_postprocessor.json",
        "simreal.json",
    }
    assert [path.name for path in folder.parent.iterdir()] == ["checkpoint"]


def test_a_folder_that_is_not_there_is_a_usage_error(tmp_path):
    with pytest.raises(UsageError, match=r"is no checkpoint folder; it must hold config.json"):
        load_checkpoint(tmp_path / "nothing")


def test_missing_files_and_what_was_found_are_named(copied):
    (copied / "model.safetensors").unlink()
    with pytest.raises(BadDataError, match=r"model\.safetensors missing, found config\.json"):
        load_checkpoint(copied)


def test_nothing_is_unpickled(copied, tmp_path):
    class Trap:
        def __reduce__(self):
            return (open, (str(tmp_path / "sprung"), "w"))

    (copied / "model.safetensors").unlink()
    (copied / "pytorch_model.bin").write_bytes(pickle.dumps(Trap()))
    with pytest.raises(BadDataError, match="never read"):
        load_checkpoint(copied)
    (copied / "model.safetensors").write_bytes(pickle.dumps(Trap()))
    with pytest.raises(BadDataError, match="not a safetensors file"):
        load_checkpoint(copied)
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize("name", STATISTICS)
def test_missing_statistics_are_refused(copied, name):
    edit(copied, lambda t: t.pop(f"network.normalizer.{name}"))
    with pytest.raises(BadDataError, match=rf"model\.safetensors lacks .*normalizer\.{name}"):
        load_checkpoint(copied)


def test_prefixed_statistics_are_refused(copied):
    def rename(tensors):
        for name in STATISTICS:
            value = tensors.pop(f"network.normalizer.{name}")
            tensors[f"so100.network.normalizer.{name}"] = value

    edit(copied, rename)
    with pytest.raises(BadDataError, match=r"found so100\.network\.normalizer\.action_free"):
        load_checkpoint(copied)


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("network.normalizer.target_scale", torch.full((6, 6), float("inf")), "not finite"),
        ("network.normalizer.target_mean", torch.zeros(7), r"shape \(7,\), the policy 6"),
        ("network.head.bias", torch.zeros(3), r"head\.bias has shape \(3,\), needs \(36,\)"),
        ("network.head.bias", torch.full((36,), float("nan")), "head.bias is not finite"),
        ("network.extra", torch.zeros(1), r"unknown network\.extra"),
    ],
)
def test_other_tensors_are_refused(copied, key, value, said):
    edit(copied, lambda t: t.update({key: value}))
    with pytest.raises(BadDataError, match=said):
        load_checkpoint(copied)


def test_missing_weights_are_named(copied):
    edit(copied, lambda t: t.pop("network.mlp1.bias"))
    with pytest.raises(BadDataError, match=r"missing network\.mlp1\.bias"):
        load_checkpoint(copied)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"type": "act"}, "type 'act'; this reads 'simreal_compact'"),
        ({"n_action_steps": 9}, "n_action_steps 9 must lie in 1..chunk_size 6"),
        ({"chunk_size": "x"}, "garbles a field"),
        ({"action_feature_names": ["a"]}, "6 actions but the names"),
        ({"channels": [1, 2]}, "needs 3"),
        ({"output_features": {}}, "lacks or garbles a field"),
    ],
)
def test_other_configs_are_refused(copied, change, said):
    file = copied / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    with pytest.raises(BadDataError, match=said):
        load_checkpoint(copied)


def test_broken_json_is_named(copied):
    (copied / "config.json").write_text("{")
    with pytest.raises(BadDataError, match=r"config\.json is not valid JSON"):
        load_checkpoint(copied)


def test_bad_checkpoints_are_not_written(saved, tmp_path):
    _, network = saved
    with pytest.raises(UsageError, match=r"Cannot execute 7 .* predicts 6"):
        save_checkpoint(tmp_path / "a", network, 7, {})
    unset = CompactNetwork(network.shape)
    with pytest.raises(BadDataError, match="not finite"):
        save_checkpoint(tmp_path / "b", unset, 3, {})
    assert not list(tmp_path.iterdir())
