"""Commands that compute little start quickly: without torch, LeRobot and the simulators."""

import json
import subprocess
import sys

import pytest
from tests.architecture.tree import SOURCE, plain_environment, subcommands

HEAVY = ("torch", "lerobot", "datasets", "mujoco", "mujoco_warp", "warp", "ray")
LIMIT_S = 2.0

PROBE = """
import json, sys, time
result, sys.argv = sys.argv[1], ["simreal", *sys.argv[2:]]
from simreal.cli import main
try:
    code = main()
except SystemExit as end:
    code = end.code
found = [name for name in HEAVY if name in sys.modules]
with open(result, "w") as file:
    json.dump({"code": code or 0, "heavy": found, "cpu_s": time.process_time()}, file)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two lists of trials, and a folder that is neither a data set nor a study."""
    path = tmp_path_factory.mktemp("light")
    for name, period in (("a.csv", 2), ("b.csv", 3)):
        rows = "".join(f"{i},{int(i % period == 0)}\n" for i in range(60))
        (path / name).write_text(f"condition,success\n{rows}")
    (path / "empty").mkdir()
    return path


def probe(folder, arguments):
    """Run a command in a fresh interpreter; exit code, heavy modules and CPU seconds."""
    result = folder / "result.json"
    result.unlink(missing_ok=True)
    done = subprocess.run(
        [sys.executable, "-c", f"HEAVY = {HEAVY!r}\n{PROBE}", str(result), *arguments],
        cwd=folder,
        env=plain_environment(),
        capture_output=True,
        text=True,
    )
    assert result.exists(), f"simreal {' '.join(arguments)} did not end well:\n{done.stderr}"
    assert "Traceback" not in done.stderr
    return json.loads(result.read_text())


#: Commands that must start quickly, run on input that lets them end at once; exit codes allowed.
LIGHT = {
    "--help": ([], {0}),
    "compare": (["a.csv", "b.csv"], {0}),
    "gap": (["a.csv", "b.csv", "--json"], {0}),
    "check": (["empty"], {1, 2}),
    "advise": (["empty", "--target", "0.8"], {1, 2}),
    "report": (["empty"], {1, 2}),
    "cost": (["empty"], {1, 2}),
    "schema": (["summary"], {0}),
}


def test_light_commands_start_quickly_and_import_nothing_heavy(folder):
    existing = [name for name in LIGHT if name in ("--help", *subcommands())]
    assert len(existing) > 1, "the command line lists none of its light commands"
    complaints = []
    for name in existing:
        arguments, codes = LIGHT[name]
        # The first start in a new environment also compiles: the better of two counts.
        runs = [probe(folder, [name, *arguments]) for _ in range(2)]
        best = min(runs, key=lambda run: run["cpu_s"])
        if best["heavy"] or best["cpu_s"] > LIMIT_S or best["code"] not in codes:
            complaints.append((name, best))
    assert not complaints


@pytest.mark.parametrize("package", ["core", "verdicts", "report", "compute"])
def test_light_packages_import_nothing_heavy(package):
    modules = [f"simreal.{package}.{path.stem}" for path in (SOURCE / package).glob("[a-z]*.py")]
    code = f"import sys, {', '.join(modules)}; print(*[n for n in {HEAVY!r} if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert modules
    assert done.stdout.split() == []


def test_a_reader_that_has_enough_is_no_error() -> None:
    command = [sys.executable, "-m", "simreal.cli", "schema", "summary"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0
