"""Who puts the object back on a real table and judges: a person at the terminal, or a hook."""

from __future__ import annotations

import json
import math
import select
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from simreal.core.errors import BadDataError, InterruptedRunError, UsageError
from simreal.core.types import Condition


@dataclass(frozen=True)
class Verdict:
    """How an episode ended; failure: its kind, None where it succeeded."""

    success: bool
    failure: str | None


class Asker(Protocol):
    """Sets up episodes and judges them, where no program can."""

    def place(self, condition: Condition) -> None:
        """Return once the table is as the condition says."""
        ...

    def ended(self) -> bool:
        """Whether the present episode is to end now; asked every control step, must not wait."""
        ...

    def verdict(self, failures: Sequence[str]) -> Verdict:
        """How the episode that just ended went; `failures`: the task's failure kinds."""
        ...


def at_terminal(prompt: str) -> str:
    """One line of standard input; the prompt goes to standard error, away from `--json`."""
    print(prompt, end=" ", file=sys.stderr, flush=True)
    answer = sys.stdin.readline()
    if not answer:
        raise InterruptedRunError(
            "Nobody answers (standard input is closed); run it at a terminal, or name a hook "
            "under [ask] of the robot file, and the trials go on."
        )
    return answer.strip()


def enter_pressed() -> bool:
    """Whether a line came in at the terminal meanwhile."""
    if sys.platform == "win32" or not sys.stdin.isatty():
        return False
    ready = bool(select.select([sys.stdin], [], [], 0)[0])
    if ready:
        sys.stdin.readline()
    return ready


def in_words(reset: Mapping[str, float]) -> str:
    """Initial values as one reads them on a table: mm and degrees."""
    words = []
    for name, value in reset.items():
        if name.endswith("_m"):
            words.append(f"{name.removesuffix('_m')} {1000 * value:.0f} mm")
        elif name.endswith("_rad"):
            words.append(f"{name.removesuffix('_rad')} {math.degrees(value):.0f} degrees")
        else:
            words.append(f"{name} {value:g}")
    return ", ".join(words) or "as always"


class Person:
    """Asks at the terminal. Enter during an episode ends it early."""

    def __init__(
        self,
        ask: Callable[[str], str] = at_terminal,
        ended: Callable[[], bool] = enter_pressed,
    ) -> None:
        """ask: shows a prompt and returns the answer."""
        self._ask, self._ended = ask, ended

    def place(self, condition: Condition) -> None:
        """Say where things go, and wait for Enter."""
        unseen = (
            "" if condition.suite == "nominal" else f" Suite {condition.suite}: nothing trained on."
        )
        self._ask(
            f"Condition {condition.index}: {in_words(condition.reset)}.{unseen} "
            "Enter starts, and Enter again ends the episode early."
        )

    def ended(self) -> bool:
        """Whether Enter was pressed."""
        return self._ended()

    def verdict(self, failures: Sequence[str]) -> Verdict:
        """Success, yes or no; if no, which kind of failure."""
        while (answer := self._ask("Success? [y/n]").lower()) not in ("y", "yes", "n", "no"):
            pass
        if answer in ("y", "yes"):
            return Verdict(True, None)
        choices = ", ".join(f"{number} {kind}" for number, kind in enumerate(failures, start=1))
        while not (kind := self._ask(f"What went wrong? [{choices or 'in a word'}]")):
            pass
        if kind.isdigit() and 1 <= int(kind) <= len(failures):
            return Verdict(False, failures[int(kind) - 1])
        return Verdict(False, kind)


class Hook:
    """Runs a command for every question: JSON on its standard input, JSON on its standard output.

    It gets `{"ask": "place", "condition": {...}}` and answers nothing, or it gets
    `{"ask": "verdict", "failures": [...]}` and answers `{"success": true, "failure": null}`.
    """

    def __init__(self, command: Sequence[str]) -> None:
        """command: the program and its arguments."""
        self._command = list(command)

    def place(self, condition: Condition) -> None:
        """Have the table set up."""
        self._run({"ask": "place", "condition": condition.to_json()})

    def ended(self) -> bool:
        """Never: a hook is asked when time is up."""
        return False

    def verdict(self, failures: Sequence[str]) -> Verdict:
        """Have the episode judged."""
        text = self._run({"ask": "verdict", "failures": list(failures)})
        try:
            answer = json.loads(text)
            success, failure = answer["success"], answer.get("failure")
        except (json.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
            raise self._bad(text) from error
        if type(success) is not bool or not (success or (isinstance(failure, str) and failure)):
            raise self._bad(text)
        return Verdict(success, None if success else failure)

    def _bad(self, text: str) -> BadDataError:
        return BadDataError(
            f"The hook {self._command[0]} answered {text.strip()[:80]!r}; it must print "
            '{"success": true} or {"success": false, "failure": "KIND"}.'
        )

    def _run(self, question: Mapping[str, Any]) -> str:
        try:
            done = subprocess.run(
                self._command, input=json.dumps(question), stdout=subprocess.PIPE, text=True
            )
        except OSError as error:
            raise UsageError(f"The hook {self._command[0]} cannot be run: {error}.") from error
        if done.returncode:
            raise InterruptedRunError(
                f"The hook {self._command[0]} ended with exit code {done.returncode} when asked to "
                f"{question['ask']}; this trial is not recorded, the same command goes on with it."
            )
        return done.stdout
