"""Tables of a TOML file as frozen dataclasses; what does not fit is refused by name."""

from __future__ import annotations

import math
import types
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any, Union, get_args, get_origin, get_type_hints

from simreal.core.errors import UsageError, unknown

_WORDS = {str: "a text", bool: "true or false", int: "a whole number", float: "a finite number"}


def make(cls: type, content: Any, where: str) -> Any:
    """`cls(**content)`; lists become tuples. where: names the table in errors.

    Raises:
        UsageError: for what is no table, unknown or missing keys, and values of a wrong type.
    """
    if not isinstance(content, Mapping):
        raise UsageError(f"{where} must be a table, not {content!r}.")
    hints = get_type_hints(cls)
    values = {}
    for key, value in content.items():
        if key not in hints:
            raise unknown(f"key of {where}", key, hints)
        values[key] = tuple(value) if isinstance(value, list) else value
        if not _fits(values[key], hints[key]):
            raise UsageError(f"{where}: {key} = {value!r}; give {_words(hints[key])}.")
    missing = [f.name for f in fields(cls) if f.name not in values and _required(f)]
    if missing:
        raise UsageError(f"{where} lacks {', '.join(missing)}.")
    return cls(**values)


def tables(content: Any, where: str) -> list[Mapping[str, Any]]:
    """A list of tables, such as `[[arms]]`; nothing at all is an empty one."""
    if not isinstance(content, list | tuple) or not all(isinstance(t, Mapping) for t in content):
        raise UsageError(f"{where} must be tables, not {content!r}.")
    return list(content)


def _required(field: Any) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _fits(value: Any, hint: Any) -> bool:
    if get_origin(hint) in (types.UnionType, Union):
        return any(_fits(value, option) for option in get_args(hint))
    if get_origin(hint) is tuple:
        item = get_args(hint)[0]
        return isinstance(value, tuple) and all(_fits(x, item) for x in value)
    if hint is float:
        return type(value) in (int, float) and math.isfinite(value)
    return type(value) is hint


def _words(hint: Any) -> str:
    """What would have fitted."""
    if get_origin(hint) is tuple:
        return f"a list, each {_words(get_args(hint)[0])}"
    options = [_words(option) for option in get_args(hint) if option is not type(None)]
    return " or ".join(options) if options else _WORDS.get(hint, hint.__name__)
