"""What the benchmark of explorations says is what its trials say."""

import importlib.util
import json
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from simreal.core.files import append_jsonl
from simreal.core.types import Trial

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def bench():
    name = "benchmark_explore"
    spec = importlib.util.spec_from_file_location(name, ROOT / "benchmarks" / "explore.py")
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del sys.modules[name]


def trials(path, target, successes, n=60):
    rows = [
        Trial("x", "a", 0, target, "nominal", i, i < successes, 1.0, None, 9, 4.5, 0, None, 0)
        for i in range(n)
    ]
    append_jsonl(path, [asdict(row) for row in rows])
    return path


def test_pairs_are_those_of_a_target_and_a_condition(bench, tmp_path):
    files = {
        arm: [trials(tmp_path / f"{arm}-{t}.jsonl", f"twin:{t}", k, 60) for t in range(2)]
        for arm, k in (("base", 20), ("control", 30), ("second", 50))
    }
    found = bench.verdicts(files)
    assert found["against_control"]["paired"]
    assert found["against_control"]["difference"] == pytest.approx(20 / 60)
    assert found["against_control"]["a"]["n"] == 120
    line = bench.said({"measured": {"region, simulation": found}})[0]
    assert line.startswith(
        "region, simulation: base 33 %, ordinary data 50 %, second round 83 %; second round less "
        "ordinary +33.3 points ("
    )
    assert line.endswith("better")


def test_without_a_region_there_is_nothing_to_train(bench):
    note = "No region stands out: no second round."
    assert bench.said({"measured": {}, "note": note}) == [note]


def test_a_base_needs_its_data(bench, capsys):
    with pytest.raises(SystemExit):
        bench.options(["--base", "run/checkpoint"])
    assert "--data" in capsys.readouterr().err


def test_stored_results_are_what_the_page_shows(bench):
    stored = json.loads((ROOT / "benchmarks" / "results" / "explore.json").read_text())
    page = " ".join((ROOT / "docs" / "explore.md").read_text().split())
    for found in stored["measured"].values():
        ci = found["against_control"]["ci"]
        assert f"({100 * ci[0]:+.1f} to {100 * ci[1]:+.1f})" in page
