"""Options that several verbs have, and options that would be ignored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import tyro

from simreal.core.errors import UsageError

#: `--json`: print one JSON object and nothing else.
Json = Annotated[bool, tyro.conf.arg(name="json")]


def refuse(given: Mapping[str, object], why: str) -> None:
    """Refuse options (by parameter name; None: not given) that would be ignored.

    Raises:
        UsageError: which names them and says why.
    """
    unused = [f"--{name.replace('_', '-')}" for name, x in given.items() if x is not None]
    if unused:
        raise UsageError(f"{', '.join(unused)}: {why}.")


def fraction(option: str, value: float | None) -> float | None:
    """A rate strictly between 0 and 1, or None where it is not given.

    Raises:
        UsageError: for any other number.
    """
    if value is not None and not 0 < value < 1:
        raise UsageError(f"{option} {value:g}; give a fraction between 0 and 1, such as 0.85.")
    return value
