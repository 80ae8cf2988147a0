"""Building blocks of JSON schemas (2020-12): an object lists all its fields, none may be added."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
NAME: Schema = {"type": "string", "minLength": 1}
COUNT: Schema = {"type": "integer", "minimum": 0}
AMOUNT: Schema = {"type": "number", "minimum": 0}
NUMBER: Schema = {"type": "number"}
FLAG: Schema = {"type": "boolean"}
FRACTION: Schema = {"type": "number", "minimum": 0, "maximum": 1}


def optional(schema: Schema) -> Schema:
    """The schema, or null."""
    if isinstance(schema.get("type"), str):
        return {**schema, "type": [schema["type"], "null"]}
    return {"anyOf": [schema, {"type": "null"}]}


def record(**entries: Schema) -> Schema:
    """An object with exactly these fields, all required."""
    return {
        "type": "object",
        "properties": entries,
        "required": list(entries),
        "additionalProperties": False,
    }


def array(items: Schema) -> Schema:
    """A list of such items."""
    return {"type": "array", "items": items}


def mapping(values: Schema) -> Schema:
    """An object with any keys and such values."""
    return {"type": "object", "additionalProperties": values}


def one_of(*values: str) -> Schema:
    """One of these words."""
    return {"enum": list(values)}


def pair(ends: Schema) -> Schema:
    """A list of two: the ends of an interval."""
    return {"type": "array", "items": ends, "minItems": 2, "maxItems": 2}


RATE_FIELDS: dict[str, Schema] = {
    "k": COUNT,
    "n": COUNT,
    "rate": optional(FRACTION),
    "ci": pair(FRACTION),
}
RATE = record(**RATE_FIELDS)
CI = pair(NUMBER)
