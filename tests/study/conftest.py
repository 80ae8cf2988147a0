"""What tests of studies and of the command line share."""

from collections.abc import Callable
from pathlib import Path

import pytest

from simreal import cli

Result = tuple[int, str, str]


@pytest.fixture
def run(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Result]:
    """Runs a command in an empty folder; (exit code, standard output, standard error)."""
    monkeypatch.chdir(tmp_path)

    def go(*arguments: object) -> Result:
        code: object = 0
        try:
            cli.main([str(argument) for argument in arguments])
        except SystemExit as end:
            code = end.code or 0
        out, err = capsys.readouterr()
        assert isinstance(code, int)
        return code, out, err

    return go


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint that was never trained, for cameras of 16 pixels."""
    import torch

    from simreal.policies.checkpoint import save_checkpoint
    from simreal.policies.network import CompactNetwork, NetworkShape
    from simreal.robots.safety import SO101_LIMITS

    cameras = {"scene": (16, 16), "wrist": (16, 16)}
    network = CompactNetwork(NetworkShape(tuple(SO101_LIMITS), cameras), seed=0)
    with torch.no_grad():
        for name, value in network.normalizer.named_buffers():
            value.fill_({"mean": 0.0, "value": 0.0, "scale": 5.0}.get(name.split("_")[1], 1.0))
    folder = tmp_path_factory.mktemp("run") / "checkpoint"
    save_checkpoint(folder, network, 4, {"steps": 0})
    return folder
