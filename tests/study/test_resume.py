"""A whole tiny study, killed again and again, ends as the one that nobody disturbed."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from simreal.demos.sidecar import JOURNAL

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]

STUDY = """
name = "tiny"
task = "lift"
size_px = 16
trials = 10
[simulation]
profile = "visual"
episodes = 14
corrections = 4
leader_steps = 30
seed = 3
[[targets]]
name = "a"
seed = 11
severity = "mild"
[[arms]]
name = "sim-only"
[[arms.stages]]
steps = 40
peak_lr = 1e-3
parts = [{ source = "sim", weight = 1.0, episodes = 14 }]
[[arms]]
name = "hybrid"
base = "sim-only"
[[arms.stages]]
steps = 20
peak_lr = 1e-3
parts = [
    { source = "sim", weight = 0.5, episodes = 10 },
    { source = "real", weight = 0.5, episodes = 4 },
]
"""


def lines_in(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


#: When to kill: as soon as this holds of the study's folder.
INSTANTS = {
    "the plan is written": lambda out: (out / "plan.json").exists(),
    "simulated episodes are being stored": lambda out: lines_in(out / "data/sim" / JOURNAL) >= 3,
    "the policy to correct is training": lambda out: (out / "leader/run.json").exists(),
    "corrected episodes are being stored": lambda out: lines_in(out / "data/sim" / JOURNAL) >= 11,
    "real episodes are being stored": lambda out: lines_in(out / "data/real-a" / JOURNAL) >= 1,
    "the first arm is training": lambda out: (out / "runs/sim-only/any/0/run.json").exists(),
    "the second arm is training": lambda out: (out / "runs/hybrid/a/0/run.json").exists(),
    "a trial is charged": lambda out: "trials/" in (out / "ledger.jsonl").read_text(),
    "trials are being played": lambda out: lines_in(out / "trials.jsonl") >= 30,
}


def start(folder: Path, out: Path) -> subprocess.Popen[bytes]:
    """The study as a user would start it, in a process group of its own."""
    command = [sys.executable, "-m", "simreal.cli", "study", str(folder / "tiny.toml")]
    with (folder / f"{out.name}.log").open("ab") as log:
        return subprocess.Popen(
            [*command, "--out", str(out), "--resume", "--workers", "1"],
            stdout=subprocess.DEVNULL,
            stderr=log,
            process_group=0,
        )


def finish(folder: Path, out: Path) -> None:
    assert start(folder, out).wait() == 0, (folder / f"{out.name}.log").read_text()[-2000:]


def kill_when(folder: Path, out: Path, reached) -> bool:
    """Start or go on, and kill as soon as the instant has come; False if it ended before."""
    process = start(folder, out)
    while not reached(out):
        if process.poll() is not None:
            return False
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    return True


def records(out: Path) -> list[str]:
    return sorted((out / "trials.jsonl").read_text().splitlines())


def charged(out: Path) -> list[tuple[str, str, float | None]]:
    """What was charged for what; the quantity where it is not measured."""
    charges = [json.loads(line) for line in (out / "ledger.jsonl").read_text().splitlines()]
    return sorted(
        (c["kind"], c["note"], c["quantity"] if "twin" in c["source"] else None) for c in charges
    )


def test_a_study_killed_at_every_stage_equals_the_unbroken_one(tmp_path):
    (tmp_path / "tiny.toml").write_text(STUDY)
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    finish(tmp_path, whole)
    assert len(records(whole)) == len(set(records(whole))) == 2 * 3 * 10
    for what, reached in INSTANTS.items():
        assert kill_when(tmp_path, broken, reached), what
        moved = tmp_path / f"{broken.name}-"  # a study may be moved meanwhile
        broken = broken.rename(moved)
    finish(tmp_path, broken)
    assert records(broken) == records(whole)
    weights = sorted(whole.glob("runs/*/*/*/checkpoint/model.safetensors"))
    weights += whole.glob("leader/checkpoint/model.safetensors")
    assert len(weights) == 3
    assert not (whole / "pictures").exists()
    for path in weights:
        other = broken / path.relative_to(whole)
        assert other.read_bytes() == path.read_bytes(), path
    assert charged(broken) == charged(whole)
    a, b = (json.loads((out / "summary.json").read_text()) for out in (whole, broken))
    for arm, other in zip(a["arms"], b["arms"], strict=True):
        for key in ("name", "sim", "target", "gap", "suites"):
            assert arm[key] == other[key], key
