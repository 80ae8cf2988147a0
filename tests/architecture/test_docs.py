"""Every command that the documentation shows exists, with the options it shows."""

import re
import shlex
from pathlib import Path

from tests.architecture.tree import ROOT, help_of, resolve, subcommands

DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
FENCE = re.compile(r"^```[^\n]*\n(.*?)^```", re.S | re.M)
SIMREAL = re.compile(r"^\s*(?:\$ )?(?:[\w./-]*/)?simreal\s+(.+)$")


def commands(text: str) -> list[str]:
    """The arguments of each `simreal ...` line in the code blocks of a document."""
    blocks = (block.replace("\\\n", " ") for block in FENCE.findall(text))
    matches = (SIMREAL.match(line) for block in blocks for line in block.splitlines())
    return [re.split(r"\s#|[|&;<>]", match[1])[0].strip() for match in matches if match]


def shown() -> list[tuple[Path, str]]:
    return [(path, command) for path in DOCUMENTS for command in commands(path.read_text())]


def complaint(command: str) -> str | None:
    """What is wrong with a documented command, None where it parses."""
    words = shlex.split(command)
    leading = words[: next((i for i, w in enumerate(words) if w.startswith("-")), len(words))]
    options = {word.split("=")[0] for word in words if word.startswith("--") and len(word) > 2}
    if not leading:
        return None if options <= {"--help", "--version"} else f"no verb in {command!r}"
    try:
        text = help_of(*resolve(leading))
    except AssertionError as error:
        return str(error).splitlines()[0]
    missing = [o for o in options if not re.search(rf"{re.escape(o)}(?![\w-])", text)]
    return f"simreal {command}: no option {missing}" if missing else None


def test_documented_commands_exist():
    found = shown()
    assert found, "no document shows a command"
    problems = [
        f"{path.relative_to(ROOT)}: {problem}"
        for path, command in found
        if (problem := complaint(command))
    ]
    assert not problems


def test_every_command_is_documented():
    resolved = {" ".join(resolve(shlex.split(c.split(" -")[0]))) for _, c in shown() if c[0] != "-"}
    documented = {name.split()[0] for name in resolved if name}
    assert {name.split()[0] for name in subcommands()} <= documented


def test_documented_make_targets_exist():
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.M))
    used = {t for path in DOCUMENTS for t in re.findall(r"\bmake ([a-z-]+)`", path.read_text())}
    used |= {
        target
        for path in DOCUMENTS
        for block in FENCE.findall(path.read_text())
        for target in re.findall(r"^(?:\$ )?make ([a-z-]+)", block, re.M)
    }
    assert {"demo", "test"} <= used <= targets


def test_a_wrong_command_would_be_found():
    assert commands("```sh\n$ simreal nonsense --x 1  # why\n```\n") == ["nonsense --x 1"]
    assert "nonsense" in (complaint("nonsense --x 1") or "")
    verb = subcommands()[0]
    assert "--no-such-option" in (complaint(f"{verb} --no-such-option") or "")
