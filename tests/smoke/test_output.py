"""Where standard output ends: a pipe that closes, a full disk, a terminal of few characters."""

import os
import subprocess
import sys

import pytest

ROWS = [f"{i},{int(i < k)},{arm}" for arm, k in (("Größe", 17), ("日本", 5)) for i in range(20)]


@pytest.fixture
def simreal(tmp_path):
    """Runs a shell line in which $S is simreal, beside a table with names of many alphabets."""
    table = "\n".join(["condition,success,arm", *ROWS]) + "\n"
    (tmp_path / "t.csv").write_text(table, encoding="utf-8")

    def run(line, **more):
        return subprocess.run(
            ["bash", "-c", f"set -o pipefail; {line}"],
            cwd=tmp_path,
            env={**os.environ, "S": f"{sys.executable} -m simreal.cli", **more},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_a_terminal_without_the_letters_shows_their_codes(simreal):
    done = simreal("$S compare t.csv", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(r"Gr\xf6\xdfe did better than \u65e5\u672c")


@pytest.mark.parametrize("end", ["| head -1 >file", ">&-"])
def test_an_output_that_is_closed_is_no_error(simreal, end):
    done = simreal(f"$S compare t.csv {end}")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_full_disk_is_one_sentence(simreal):
    done = simreal("$S compare t.csv >/dev/full")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "simreal: No space left on device.\n"
