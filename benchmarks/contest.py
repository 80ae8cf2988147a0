"""Contestants measured side by side: programs that wait, and play for some seconds when told to.

Not a benchmark itself; benchmarks/peers.py runs it. The other side is benchmarks/peer/loop.py.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

HERE = Path(__file__).parent
PEER = HERE / "peer"
CACHE = HERE.parent / ".bench"
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


#: How long a program may take to get ready (Warp compiles for minutes) or to play a round, s.
PATIENCE_S = 900


class NotRunError(Exception):
    """A contestant that could not be installed or started, with the reason."""


@dataclass(frozen=True)
class Contestant:
    """A program of benchmarks/peer. pins: name of its list of packages, None for our own."""

    name: str
    group: str
    program: str
    words: tuple[str, ...] = ()
    pins: str | None = None
    variables: dict[str, str] = field(default_factory=dict)


@dataclass
class Score:
    """What a contestant's processes did. rates: images/s of all its processes, a round each."""

    facts: dict[str, Any]
    rates: list[float] = field(default_factory=list)
    images: int = 0
    cpu_s: float = 0.0

    def add(self, replies: list[dict[str, Any]]) -> None:
        self.rates.append(sum(r["images"] / r["wall_s"] for r in replies))
        self.images += sum(r["images"] for r in replies)
        self.cpu_s += sum(r["cpu_s"] for r in replies)

    @property
    def rate(self) -> float:
        """Images a second, the median over rounds."""
        return median(self.rates)

    @property
    def per_cpu_s(self) -> float:
        """Images for each second of CPU time of its processes."""
        return self.images / self.cpu_s


def interpreter(pins: str | None) -> Path:
    """The Python of a contestant; makes its environment where that is missing or out of date."""
    if pins is None:
        return Path(sys.executable)
    listed = PEER / f"{pins}.txt"
    folder, python = CACHE / pins, CACHE / pins / "bin" / "python"
    stamp, wanted = folder / "pins.sha256", hashlib.sha256(listed.read_bytes()).hexdigest()
    if stamp.is_file() and stamp.read_text() == wanted:
        return python
    uv = shutil.which("uv") or str(HERE.parent / ".tools" / "bin" / "uv")
    print(f"making .bench/{pins} from benchmarks/peer/{pins}.txt ...", file=sys.stderr)
    for words in (
        ["venv", "-q", "--clear", "--python", sys.executable, str(folder)],
        ["pip", "install", "-q", "--python", str(python), "-r", str(listed)],
    ):
        try:
            done = subprocess.run([uv, *words], stderr=subprocess.PIPE, text=True, check=False)
        except OSError as error:
            raise NotRunError(f"uv does not run ({error})") from error
        if done.returncode:
            raise NotRunError(f"{pins} cannot be installed: {_last_line(done.stderr)}")
    stamp.write_text(wanted)
    return python


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else "no message"


class Team:
    """The processes of one contestant, one a core, ready to play."""

    def __init__(self, contestant: Contestant, processes: int, words: list[str]) -> None:
        command = [str(interpreter(contestant.pins)), contestant.program, *contestant.words, *words]
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        environment |= ONE_THREAD | contestant.variables
        self._errors = [tempfile.TemporaryFile("w+") for _ in range(processes)]  # noqa: SIM115
        self._processes = [
            subprocess.Popen(
                command,
                cwd=PEER,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
            for errors in self._errors
        ]
        try:
            facts = [self._read(number) for number in range(processes)]
        except NotRunError:
            self.close()
            raise
        self.score = Score(facts[0])

    def _read(self, number: int) -> dict[str, Any]:
        """The next line of JSON of a process; libraries may print other lines before it."""
        process = self._processes[number]
        assert process.stdout is not None
        watchdog = threading.Timer(PATIENCE_S, process.kill)
        watchdog.start()
        try:
            for line in process.stdout:
                if line.startswith("{"):
                    return json.loads(line)
        finally:
            watchdog.cancel()
        process.wait()
        self._errors[number].seek(0)
        raise NotRunError(_last_line(self._errors[number].read()))

    def play(self, seconds: float) -> None:
        """All processes at once for some seconds of wall time."""
        for process in self._processes:
            assert process.stdin is not None
            process.stdin.write(f"{seconds}\n")
            process.stdin.flush()
        self.score.add([self._read(number) for number in range(len(self._processes))])

    def close(self) -> None:
        for process in self._processes:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    stream.close()
        for errors in self._errors:
            errors.close()


def contest(
    contestants: list[Contestant], words: list[str], processes: int, rounds: int, seconds: float
) -> tuple[dict[str, Score], dict[str, str]]:
    """Scores by name, and why those that did not run did not.

    In every round each contestant plays in turn, so that whatever else slows the machine for a
    while slows all of them. words: added to every program's arguments.
    """
    teams: dict[str, Team] = {}
    reasons: dict[str, str] = {}
    try:
        for contestant in contestants:
            try:
                teams[contestant.name] = Team(contestant, processes, words)
            except NotRunError as reason:
                reasons[contestant.name] = str(reason)
        for _ in range(rounds):
            for team in teams.values():
                team.play(seconds)
    finally:
        for team in teams.values():
            team.close()
    return {name: team.score for name, team in teams.items()}, reasons
