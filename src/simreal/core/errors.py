"""Errors a user can act on. Each carries the exit code the command line returns."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class SimrealError(Exception):
    """Base of every error that is reported as one sentence, without a traceback."""

    exit_code = 1


class BadDataError(SimrealError):
    """The thing that was checked (a data set, a checkpoint, a study folder) is bad. Exit code 1."""

    exit_code = 1


class UsageError(SimrealError):
    """The request itself was wrong: a name, a range, a size, a file. Exit code 2."""

    exit_code = 2


class InterruptedRunError(SimrealError):
    """Work stopped before its end and can be resumed. Exit code 3."""

    exit_code = 3


def unknown(what: str, got: str, allowed: Iterable[str]) -> UsageError:
    """A `UsageError` for a name that is not among `allowed`, with the nearest guess."""
    names = sorted(allowed)
    close = difflib.get_close_matches(got, names, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    return UsageError(f"Unknown {what} {got!r}; allowed: {', '.join(names) or 'none'}.{hint}")
