"""What is in the repository, and what its command line says of itself."""

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "simreal"
COMMAND = Path(sys.executable).with_name("simreal")


@cache
def tracked_files() -> tuple[Path, ...]:
    """Every file under version control that is there."""
    listing = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    return tuple(ROOT / name for name in listing.split("\0") if name and (ROOT / name).is_file())


@cache
def help_of(*words: str) -> str:
    """What `simreal WORDS --help` prints."""
    done = subprocess.run(
        [str(COMMAND), *words, "--help"], capture_output=True, text=True, env=plain_environment()
    )
    assert done.returncode == 0, f"simreal {' '.join(words)} --help failed:\n{done.stderr}"
    return done.stdout


def plain_environment() -> dict[str, str]:
    """The environment for commands whose output is read: wide and without colours."""
    import os

    return {**os.environ, "COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"}


def subcommands(*words: str) -> list[str]:
    """The subcommands that `simreal WORDS --help` lists; one may be two words."""
    return re.findall(r"•\s+([a-z][\w-]*(?: [a-z][\w-]*)*)", help_of(*words))


def resolve(words: list[str]) -> list[str]:
    """The leading words that name a command, e.g. [randomize, show]; fails on an unknown one."""
    path: list[str] = []
    while names := subcommands(*path):
        rest = words[len(path) :]
        fitting = [name.split() for name in names if rest[: len(name.split())] == name.split()]
        assert fitting, f"simreal {' '.join(words)}: {rest[:1]} is not one of {names}"
        path += max(fitting, key=len)
    return path
