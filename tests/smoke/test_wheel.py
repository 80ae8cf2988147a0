"""The built wheel, installed with the pinned versions into a fresh environment, works."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tests.architecture.tree import ROOT, SOURCE, tracked_files

pytestmark = pytest.mark.slow


def uv() -> str:
    """The uv that the set-up used."""
    own = ROOT / ".tools" / "bin" / "uv"
    found = str(own) if own.exists() else shutil.which("uv")
    assert found, "no uv here; run `make setup`"
    return found


def run(*command: object, cwd: Path) -> str:
    """Run a command without this environment's paths; its standard output."""
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(
        [str(word) for word in command], cwd=cwd, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, f"{command} failed:\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Built from the source distribution, so that one is whole too."""
    folder = tmp_path_factory.mktemp("dist")
    run(uv(), "build", "--python", sys.executable, "--out-dir", folder, ROOT, cwd=folder)
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """A fresh environment with nothing but the wheel and what it needs."""
    folder = tmp_path_factory.mktemp("fresh")
    python = folder / "env" / "bin" / "python"
    run(uv(), "venv", "--python", sys.executable, folder / "env", cwd=folder)
    constraints = ROOT / "constraints.txt"
    run(uv(), "pip", "install", "--python", python, "-c", constraints, wheel, cwd=folder)
    yield folder
    shutil.rmtree(folder / "env")  # gigabytes


def test_the_wheel_holds_the_package_with_its_data_files_and_nothing_else(wheel):
    names = {n for n in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in n}
    expected = {str(p.relative_to(SOURCE.parent)) for p in tracked_files() if SOURCE in p.parents}
    assert expected <= names
    assert all(name.startswith("simreal/") for name in names)


def test_the_installed_command_runs(installed):
    command = installed / "env" / "bin" / "simreal"
    assert "demo" in run(command, "--help", cwd=installed)
    assert run(command, "doctor", cwd=installed)


def test_it_runs_from_the_wheel_and_not_from_here(installed):
    python = installed / "env" / "bin" / "python"
    code = "import simreal; print(simreal.__file__, simreal.__version__)"
    where, version = run(python, "-c", code, cwd=installed).split()
    assert Path(where).is_relative_to(installed)
    assert version in (ROOT / "pyproject.toml").read_text()
