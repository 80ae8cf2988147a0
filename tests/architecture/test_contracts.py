"""The import contracts of pyproject.toml hold, and each of them can fail."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import grimp
import pytest
from tests.architecture.tree import ROOT, SOURCE

#: (file under src/simreal, code added to it, the contract that must break)
VIOLATIONS = [
    ("core/__init__.py", "import simreal.verdicts", "layers"),
    ("verdicts/__init__.py", "import simreal.report", "layers"),
    ("worlds/__init__.py", "import simreal.demos", "layers"),
    ("trials/__init__.py", "def later():\n    import simreal.study", "layers"),
    ("report/__init__.py", "import simreal.trials", "layers"),
    ("helpers.py", "import simreal.core", "layers"),  # a module no layer knows
    ("demos/__init__.py", "import simreal.policies", "stages"),
    ("robots/__init__.py", "def later():\n    from simreal.compute import meter", "stages"),
    ("trials/__init__.py", "import simreal.verdicts", "stages-judge-nothing"),
    ("compute/__init__.py", "import simreal.report", "stages-judge-nothing"),
    ("cli.py", "import simreal.worlds", "worlds"),
    ("report/__init__.py", "import simreal.worlds.tasks", "worlds"),
    ("demos/__init__.py", "def later():\n    import simreal.worlds.task", "worlds"),
    ("trials/__init__.py", "import simreal.worlds", "protocols-only"),
    ("compute/__init__.py", "import simreal.robots", "protocols-only"),
    ("policies/__init__.py", "import simreal.robots", "twins-stay-hidden"),
    ("worlds/__init__.py", "import simreal.robots", "twins-stay-hidden"),
    ("verdicts/__init__.py", "import torch", "light"),
    ("core/__init__.py", "def later():\n    import mujoco", "light"),
    ("report/__init__.py", "import lerobot.datasets", "light"),
    ("worlds/__init__.py", "import torch", "workers"),
    ("compute/__init__.py", "def later():\n    import lerobot", "workers"),
]

#: What the light parts may import from outside (and the standard library).
ALLOWED = {
    "simreal.core": {"numpy"},
    "simreal.verdicts": {"numpy", "scipy"},
    "simreal.report": {"numpy", "scipy", "matplotlib", "jinja2", "markupsafe", "PIL", "rich"},
}


def lint(root: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run import-linter on the package that lies in `root`."""
    return subprocess.run(
        [str(Path(sys.executable).with_name("lint-imports")), "--no-cache", *options],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
    )


@pytest.fixture
def copy(tmp_path):
    """A copy of the package to break, with the contracts."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copytree(SOURCE, tmp_path / "simreal", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def test_contracts_hold(copy):
    result = lint(copy)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(("file", "code", "contract"), VIOLATIONS)
def test_a_violating_import_breaks_its_contract(copy, file, code, contract):
    with (copy / "simreal" / file).open("a") as target:
        target.write(f"\n{code}\n")
    result = lint(copy, "--contract", contract)
    assert result.returncode == 1, result.stdout + result.stderr
    assert "0 kept, 1 broken" in result.stdout


def test_every_contract_has_a_violation_that_breaks_it():
    listed = (ROOT / "pyproject.toml").read_text().split("[[tool.importlinter.contracts]]")[1:]
    names = {entry.split('id = "')[1].split('"')[0] for entry in listed}
    assert names == {contract for *_, contract in VIOLATIONS}


@pytest.mark.parametrize("package", ALLOWED)
def test_light_parts_import_nothing_heavy_from_outside(package):
    graph = grimp.build_graph("simreal", include_external_packages=True, cache_dir=None)
    modules = {package, *graph.find_descendants(package)}
    imported = {name for m in modules for name in graph.find_modules_directly_imported_by(m)}
    outside = {n.split(".")[0] for n in imported} - {"simreal"} - set(sys.stdlib_module_names)
    assert outside <= ALLOWED[package]
