"""`scripts/setup` finds an interpreter, installs once, and says clearly what is missing.

It runs in a copy of the checkout's first files, with a PATH of its own and a uv that only notes
what it was asked for.
"""

import os
import shutil
import subprocess
import sys

import pytest
from tests.architecture.tree import ROOT

TOOLS = ("sh", "cat", "cksum", "dirname", "grep", "rm", "sleep", "mkdir", "ln", "printf")
BASE_PYTHON = os.path.realpath(sys.executable)
UV = f"""#!/bin/sh
case "$*" in
*--help*) echo "  --group <GROUP>" ;;
"python install"*) echo "error: no network" >&2; exit 2 ;;
venv*) echo "$*" >>log; mkdir -p .venv/bin; ln -sf {BASE_PYTHON} .venv/bin/python ;;
"pip install"*) sleep 0.3; echo "$*" >>log ;;
esac
"""
INACTIVE_SHIM = "#!/bin/sh\necho 'pyenv: command not found' >&2\nexit 127\n"


def script(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


class Checkout:
    """A fresh checkout on a machine with a uv and, at first, no Python 3.12."""

    def __init__(self, path):
        self.path = path / "checkout"
        self.bin = path / "bin"
        self.pyenv = path / "pyenv"
        self.log = self.path / "log"
        (self.path / "scripts").mkdir(parents=True)
        for name in ("scripts/setup", "pyproject.toml", "constraints.txt"):
            shutil.copy(ROOT / name, self.path / name)
        self.bin.mkdir()
        for tool in TOOLS:
            (self.bin / tool).symlink_to(shutil.which(tool))
        script(self.bin / "uv", UV)
        for name in ("python3", "python3.12", "python3.13"):
            script(self.bin / name, INACTIVE_SHIM)

    def start(self):
        return subprocess.Popen(
            [self.path / "scripts" / "setup"],
            env={"PATH": str(self.bin), "HOME": str(self.path), "PYENV_ROOT": str(self.pyenv)},
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self):
        process = self.start()
        _, err = process.communicate(timeout=30)
        return process.returncode, err

    def calls(self):
        return self.log.read_text().splitlines() if self.log.exists() else []


@pytest.fixture
def checkout(tmp_path):
    return Checkout(tmp_path)


@pytest.fixture
def with_pyenv(checkout):
    python = checkout.pyenv / "versions" / "3.12.1" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(BASE_PYTHON)
    return checkout


def test_pyenvs_versions_are_used_where_the_shim_runs_nothing(with_pyenv):
    code, err = with_pyenv.run()
    assert code == 0, err
    venv, install = with_pyenv.calls()
    assert "versions/3.12.1/bin/python" in venv
    assert "-c constraints.txt --group dev -e ." in install


def test_a_python_on_the_path_comes_first(with_pyenv):
    (with_pyenv.bin / "python3.12").unlink()
    (with_pyenv.bin / "python3.12").symlink_to(BASE_PYTHON)
    assert with_pyenv.run()[0] == 0
    assert str(with_pyenv.bin / "python3.12") in with_pyenv.calls()[0]


def test_a_second_run_does_nothing_and_new_pins_install_again(with_pyenv):
    assert with_pyenv.run()[0] == 0
    first = with_pyenv.calls()
    assert with_pyenv.run() == (0, "")
    assert with_pyenv.calls() == first
    with (with_pyenv.path / "constraints.txt").open("a") as file:
        file.write("zzz==1.0\n")
    assert with_pyenv.run()[0] == 0
    assert len(with_pyenv.calls()) == len(first) + 1  # installed again, into the same .venv


def test_two_at_once_install_once(with_pyenv):
    processes = [with_pyenv.start() for _ in range(3)]
    errors = [process.communicate(timeout=30)[1] for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0], errors
    assert len(with_pyenv.calls()) == 2


def test_a_failed_install_is_tried_again(with_pyenv):
    script(with_pyenv.bin / "uv", UV.replace("sleep 0.3;", "exit 1;"))
    assert with_pyenv.run()[0] == 1
    script(with_pyenv.bin / "uv", UV)
    assert with_pyenv.run()[0] == 0
    assert any("pip install" in call for call in with_pyenv.calls())


def test_no_python_is_one_clear_sentence(checkout):
    code, err = checkout.run()
    assert code == 1
    assert "found no" in err
    assert "install Python 3.12" in err
    assert not (checkout.path / ".venv").exists()
