import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.contest import PEER, Contestant, contest

ROOT = Path(__file__).parents[2]

FAKE = f"""
import sys
import time
sys.path.insert(0, {str(PEER)!r})
import numpy as np
from loop import serve

kind, size = sys.argv[1], int(sys.argv[3])
if kind == "broken":
    sys.exit("no such robot")
print("a library greets")
picture = np.zeros((size, size, 3), np.uint8)
if kind != "dark":
    picture[::2] = 200

def step(number):
    time.sleep(0.01 if kind == "slow" else 0.001)
    return 2, picture

serve(step, {{"size_px": size if kind != "small" else size + 1, "worlds": 1}})
"""


def bench(*words):
    return subprocess.run(
        [sys.executable, "benchmarks", *words], cwd=ROOT, capture_output=True, text=True
    )


def test_the_list_names_every_benchmark_and_what_it_measures():
    shown = bench("list").stdout
    files = {path.stem for path in (ROOT / "benchmarks").glob("[a-z]*.py")} - {
        "advice_worlds",
        "contest",
    }
    assert {"generation", "peers", "picture"} <= files
    for name in files:
        line = next(line for line in shown.splitlines() if line.split()[:1] == [name])
        assert len(line.split()) > 4


def test_an_unknown_benchmark_is_refused_with_the_ones_there_are():
    done = bench("nonsense")
    assert done.returncode == 2
    assert "nonsense" in done.stderr
    assert "generation, " in done.stderr
    assert "peers, " in done.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("peers", "--only", "isaac"), "isaac names no contestant; there are: simreal, randomized"),
        (("peers", "--shadows", "soft"), "invalid choice: 'soft'"),
        (("generation", "--demonstrations", "0"), "at least 1"),
        (("picture", "--scenes", "0"), "at least 1"),
    ],
)
def test_arguments_go_to_the_benchmark_which_refuses_wrong_ones(words, message):
    done = bench(*words)
    assert done.returncode == 2
    assert message in done.stderr


def test_contestants_play_in_turn_and_broken_ones_are_named(tmp_path):
    program = tmp_path / "fake.py"
    program.write_text(FAKE)
    kinds = ("quick", "slow", "broken", "dark", "small")
    contestants = [Contestant(kind, "fakes", str(program), (kind,)) for kind in kinds]
    scores, reasons = contest(contestants, ["--size", "8"], processes=2, rounds=2, seconds=0.1)
    assert reasons == {
        "broken": "no such robot",
        "dark": "the picture is of one colour",
        "small": "the picture has shape (8, 8, 3)",
    }
    assert set(scores) == {"quick", "slow"}
    assert all(len(score.rates) == 2 for score in scores.values())
    assert scores["quick"].facts == {"size_px": 8, "worlds": 1}
    assert scores["quick"].rate > 2 * scores["slow"].rate
    # Two processes of at most 100 steps a second with two images each.
    assert 100 < scores["slow"].rate <= 400
    assert scores["slow"].per_cpu_s > scores["slow"].rate / 2
