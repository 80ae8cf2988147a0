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
