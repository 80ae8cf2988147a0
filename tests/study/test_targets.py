"""Opening targets by reference; the package printed in docs/targets.md, laid out as pip would."""

import importlib
import re
import sys
import tomllib
from pathlib import Path

import pytest
from tests.contract.fake_target import FakeTarget

from simreal.core.errors import UsageError
from simreal.robots.twinfile import TwinFile, write_twin
from simreal.study import targets
from simreal.study.targets import TargetJob, close_kept, kept_target, open_operated, open_target

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "docs" / "targets.md"


def block(language, containing):
    """The one code block of the document that contains a text."""
    found = re.findall(rf"^```{language}\n(.*?)^```", DOCUMENT.read_text(), re.S | re.M)
    (code,) = [text for text in found if containing in text]
    return code


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Lays out a distribution: its modules, its metadata, its entry points."""

    def install(name, modules, points):
        for module, code in modules.items():
            (tmp_path / f"{module}.py").write_text(code)
        info = tmp_path / f"{name.replace('-', '_')}-0.1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1\n")
        lines = "".join(f"{kind} = {value}\n" for kind, value in points.items())
        (info / "entry_points.txt").write_text(f"[{targets.GROUP}]\n{lines}")
        monkeypatch.syspath_prepend(tmp_path)

    before = set(sys.modules)
    yield install
    for name in set(sys.modules) - before:
        if name.startswith("simreal_bench") or name == "target_kit":
            del sys.modules[name]


@pytest.fixture
def bench(installed):
    """The documented package and the documented test of it."""
    project = tomllib.loads(block("toml", "entry-points"))["project"]
    modules = {
        "simreal_bench": block("python", "class Bench"),
        "simreal_bench_test": block("python", "def test_bench"),
        "target_kit": (ROOT / "tests/contract/target_kit.py").read_text(),
    }
    installed(project["name"], modules, project["entry-points"]["simreal.targets"])


def test_the_documented_package_is_a_target(bench):
    assert list(targets.factories()) == ["sim", "twin", "robot", "bench"]
    opened = open_target(TargetJob("bench:lab-1", task="push", size_px=16))
    assert opened.spec.name == "lab-1"
    assert opened.spec.task == "push"
    assert opened.spec.cameras["wrist"] == (16, 16)
    with pytest.raises(UsageError, match="needs an address"):
        open_target(TargetJob("bench"))


def test_the_documented_test_passes_and_can_fail(bench, monkeypatch):
    documented = importlib.import_module("simreal_bench_test")
    documented.test_bench()
    monkeypatch.setattr(sys.modules["simreal_bench"].Bench, "act", lambda self, actions: None)
    with pytest.raises(AssertionError, match=r"time is 0\.0"):
        documented.test_bench()


def test_the_documented_robot_file_is_read(tmp_path):
    from simreal.robots.robotfile import read_robot

    (tmp_path / "arm.toml").write_text(block("toml", "so101_follower"))
    found = read_robot(tmp_path / "arm.toml")
    assert found.name == "so101_follower my_arm"
    assert set(found.robot["cameras"]) == set(found.cameras)


def test_the_document_is_short_and_the_files_it_names_are_there():
    text = DOCUMENT.read_text()
    assert len(text.splitlines()) <= 170
    named = re.findall(r"`((?:src|tests)/[\w/]+\.py)`", text)
    assert len(named) == 3
    assert all((ROOT / name).is_file() for name in named)
    links = re.findall(r"\]\((\w+\.md)\)", text)
    assert links
    assert all((DOCUMENT.parent / name).is_file() for name in links)


def test_a_package_that_cannot_be_imported_is_named(installed):
    installed("other", {}, {"lab": "simreal_bench_of_nobody:open_it"})
    with pytest.raises(UsageError, match=r"Target kind 'lab' \(simreal_bench_of_nobody:open_it\)"):
        open_target(TargetJob("lab:1"))


def test_a_package_cannot_take_the_place_of_a_shipped_kind(installed):
    installed("other", {}, {"sim": "simreal_bench_of_nobody:open_it"})
    assert open_target(TargetJob("sim", size_px=16, batch=1)).spec.kind == "sim"


@pytest.mark.parametrize(
    ("job", "message"),
    [
        (TargetJob("twinn:a.toml"), "Unknown target 'twinn:a.toml'; allowed: .*twin:FILE"),
        (TargetJob(""), "Unknown target ''"),
        (TargetJob("sim:fulll"), "randomization profile.*'fulll'.*Did you mean 'full'"),
        (
            TargetJob("sim", task="lit"),
            "Unknown task 'lit'; allowed: insert, insert_square, lift, push",
        ),
        (TargetJob("sim", size_px=8), "Camera size 8 px; allowed: 16 to 512"),
        (TargetJob("twin:/no/such.toml"), "No twin file /no/such.toml; make one with"),
        (TargetJob("robot:/no/such.toml"), "No robot file /no/such.toml"),
    ],
)
def test_a_wrong_reference_is_refused_in_one_sentence(job, message):
    with pytest.raises(UsageError, match=message) as caught:
        open_target(job)
    assert "\n" not in str(caught.value)


class Closing(FakeTarget):
    """Says how often it was closed."""

    def __init__(self):
        super().__init__()
        self.closed = 0

    def close(self):
        self.closed += 1


def test_one_target_is_kept_open_and_closed_when_another_is_asked_for(monkeypatch):
    made = []
    monkeypatch.setattr(targets, "open_target", lambda job: made.append(Closing()) or made[-1])
    first, second = TargetJob("sim"), TargetJob("sim", seed=1)
    assert kept_target(first) is kept_target(first)
    kept_target(second)
    assert [target.closed for target in made] == [1, 0]
    close_kept()
    close_kept()
    assert [target.closed for target in made] == [1, 1]


def test_the_scripted_operator_refuses_what_has_no_privileged_channel():
    with pytest.raises(UsageError, match=r"has none\. Record with a person"):
        open_operated(TargetJob("robot:a.toml"))


def test_what_a_suite_sets_has_to_lie_within_the_bounds(tmp_path):
    """A suite sets the clearance of a hole itself: bounds on it would be ignored without a word."""
    tight, odd = tmp_path / "tight.toml", tmp_path / "odd.toml"
    tight.write_text("[[starts]]\nclearance_m = { high = 0.00015 }\n")
    odd.write_text("[[starts]]\nclearance_m = { low = 0.0006 }\n")
    refused = r"suite nominal sets clearance_m to 0\.0002, outside the bounds.*choose --suite tight"
    for ref, starts in ((f"sim:{tight}", None), ("twin:any.toml", str(tight))):
        with pytest.raises(UsageError, match=refused):
            targets.initial_values("insert", ref, starts)
        with pytest.raises(UsageError, match=r"suite wide sets clearance_m to 0\.0005"):
            targets.initial_values("insert", ref, starts, "wide")
        targets.initial_values("insert", ref, starts, "tight")
    with pytest.raises(UsageError, match="choose bounds that one of the suites keeps"):
        targets.initial_values("insert", f"sim:{odd}")


def test_a_twin_of_another_task_is_refused_before_it_is_opened(tmp_path):
    write_twin(tmp_path / "pegs.toml", TwinFile(3, task="insert"))
    ref = f"twin:{tmp_path / 'pegs.toml'}"
    targets.check_reference(ref, "insert")
    for other in ("lift", "insert_square"):
        with pytest.raises(UsageError, match=f"a twin for the task 'insert'; this is '{other}'"):
            targets.check_reference(ref, other)
