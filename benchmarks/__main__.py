"""Benchmarks: list them, run one with its own options, or run the standard ones.

python benchmarks                       the standard ones, one after another (about 40 minutes)
python benchmarks list                  what there is
python benchmarks NAME [OPTION ...]     one of them, e.g. peers --rounds 2; NAME --help
make bench ARGS="NAME OPTION ..."       the same
"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
#: What `python benchmarks` runs, and docs/benchmarks.md shows.
STANDARD = ("generation", "peers", "picture")
#: Parts of benchmarks.
PARTS = ("advice_worlds", "contest")


def benchmarks() -> dict[str, str]:
    """Name -> what it measures, the first line of the file's docstring."""
    found = {}
    for path in sorted(HERE.glob("[a-z]*.py")):
        if path.stem not in PARTS:
            text = ast.get_docstring(ast.parse(path.read_text())) or ""
            found[path.stem] = text.splitlines()[0] if text else ""
    return found


def listing() -> str:
    rows = [f"  {name:12} {text}" for name, text in benchmarks().items()]
    return "\n".join([__doc__.strip(), "", *rows, "", f"Standard: {', '.join(STANDARD)}."])


def run(name: str, words: list[str]) -> int:
    """Run one as a program of its own; returns its exit code."""
    return subprocess.run(
        [sys.executable, str(HERE / f"{name}.py"), *words], check=False
    ).returncode


def main(words: list[str]) -> int:
    if words and words[0] in ("list", "--list", "-h", "--help"):
        print(listing())
        return 0
    if not words:
        codes = []
        for name in STANDARD:
            print(f"== {name}: {benchmarks()[name]}", flush=True)
            codes.append(run(name, []))
        return max(codes)
    known = benchmarks()
    if words[0] not in known:
        print(f"No benchmark {words[0]!r}; there are: {', '.join(known)}.", file=sys.stderr)
        return 2
    return run(words[0], words[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
