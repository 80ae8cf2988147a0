import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def bench(*words):
    return subprocess.run(
        [sys.executable, "benchmarks", "partial_credit", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )


def test_it_measures_both_tests_side_by_side(tmp_path):
    out = tmp_path / "found.json"
    done = bench("--runs", "2", "--most", "60", "--out", str(out))
    assert done.returncode == 0, done.stderr
    found = json.loads(out.read_text())
    assert {row["shared"] for row in found["savings"]} == {0.0, 0.5}
    assert all(0 < row["pairs"]["score"] <= 60 for row in found["savings"])
    assert "median over the models" in done.stdout
    again = bench("--runs", "2", "--most", "60", "--out", str(out))
    assert again.stdout == done.stdout


def test_the_documented_figures_are_those_of_the_stored_results():
    stored = json.loads((ROOT / "benchmarks" / "results" / "partial_credit.json").read_text())
    text = (ROOT / "docs" / "verdicts.md").read_text()
    for row in stored["savings"]:
        line = next(line for line in text.splitlines() if line.startswith(f"| {row['model']} |"))
        assert f"| {round(100 * row['saved'])} % |" in line
        assert f"| {row['pairs']['score']:.0f}" in line
    for row in stored["errors"]:
        assert f"| {row['null']} | {row['score']['k']} of {row['score']['n']} |" in text


@pytest.mark.parametrize("words", [("--runs", "0"), ("--most", "0")])
def test_nothing_cannot_be_measured(words):
    done = bench(*words)
    assert done.returncode == 2
    assert "at least 1" in done.stderr
