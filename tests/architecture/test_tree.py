"""What the repository holds: no machine's paths, right constraints, a changelog, small files."""

import ast
import re
import statistics
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from tests.architecture.tree import ROOT, SOURCE, tracked_files

MACHINE_PATH = re.compile(r"(?<![\w.])/(?:root|work|Users/\w+|home/\w+)/")
REGISTRY = re.compile(r"pypi\.|pythonhosted|index-url|find-links|registry\.npm|conda\.anaconda")
MAX_FILE, MAX_FUNCTION, USUAL_FUNCTION = 350, 60, 40


def texts() -> list[tuple[Path, str]]:
    own = Path(__file__)
    found = []
    for path in tracked_files():
        content = path.read_bytes()
        if path != own and b"\0" not in content[:8000]:
            found.append((path.relative_to(ROOT), content.decode(errors="replace")))
    return found


@pytest.mark.parametrize("pattern", [MACHINE_PATH, REGISTRY], ids=["paths", "registries"])
def test_no_machine_and_no_registry_is_named(pattern):
    hits = [
        f"{path}:{number}: {line.strip()[:80]}"
        for path, text in texts()
        for number, line in enumerate(text.splitlines(), start=1)
        if pattern.search(line)
    ]
    assert not hits


@pytest.mark.parametrize(
    "line", ["see /root/x", "at '/work/else'", "/home/ann/.cache", "a /Users/b/"]
)
def test_a_machine_path_would_be_found(line):
    assert MACHINE_PATH.search(line)


def constraints() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    assert all(re.fullmatch(r"[a-z0-9][a-z0-9-]*==[0-9][\w.+!]*", line) for line in lines)
    return dict(line.split("==") for line in lines)


def test_constraints_are_plain_sorted_pins():
    pins = constraints()
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    assert len(pins) == len(lines)
    assert list(pins) == sorted(pins)
    assert all(canonicalize_name(name) == name for name in pins)


def closure(requirements: list[Requirement]) -> dict[str, str]:
    """Name -> installed version of everything the requirements bring in this environment."""
    found: dict[str, str] = {}
    seen: set[tuple[str, str]] = set()
    waiting = [(r, extra) for r in requirements for extra in ("", *r.extras)]
    while waiting:
        requirement, extra = waiting.pop()
        name = canonicalize_name(requirement.name)
        if (name, extra) in seen:
            continue
        seen.add((name, extra))
        distribution = metadata.distribution(name)
        found[name] = distribution.version
        for text in distribution.requires or ():
            child = Requirement(text)
            if child.marker is None or child.marker.evaluate({"extra": extra}):
                waiting += [(child, e) for e in ("", *child.extras)]
    return found


def test_constraints_pin_all_that_is_needed_and_nothing_else():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wanted = project["project"]["dependencies"] + project["dependency-groups"]["dev"]
    needed, pinned = closure([Requirement(text) for text in wanted]), constraints()
    assert needed.items() <= pinned.items()
    if sys.platform == "linux":  # elsewhere torch comes without its CUDA libraries
        assert needed == pinned


def test_the_changelog_has_an_entry_for_the_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    text = (ROOT / "CHANGELOG.md").read_text()
    sections = dict(re.findall(r"^## \[(.+?)\][^\n]*\n(.*?)(?=^## |\Z)", text, re.S | re.M))
    assert re.search(r"^[-*] \w", sections[project["version"]], re.M)
    assert re.search(r"Unreleased|\d{4}-\d{2}-\d{2}", text)


def functions(path: Path) -> list[tuple[int, str]]:
    tree = ast.parse(path.read_text())
    return [
        (node.end_lineno - node.lineno + 1, f"{path.relative_to(SOURCE)}:{node.name}")
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno
    ]


def test_files_and_functions_stay_small():
    files = sorted(
        (len(path.read_text().splitlines()), str(path.relative_to(SOURCE)))
        for path in SOURCE.rglob("*.py")
    )
    lengths = sorted(entry for path in SOURCE.rglob("*.py") for entry in functions(path))
    print("longest files:", files[-5:])
    print("longest functions:", lengths[-8:])
    assert [entry for entry in files if entry[0] > MAX_FILE] == []
    assert [entry for entry in lengths if entry[0] > MAX_FUNCTION] == []
    assert statistics.mean(length > USUAL_FUNCTION for length, _ in lengths) <= 0.05
