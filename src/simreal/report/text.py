"""Text for a terminal: lines of 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

WIDTH = 80


def wrap(
    text: str, width: int = WIDTH, first: str = "", rest: str = "", *, break_words: bool = True
) -> list[str]:
    """Lines of at most `width` columns, broken between words; none of an empty text.

    first, rest: indents. break_words: whether a word longer than a line is broken too.
    """
    return textwrap.wrap(
        text,
        width,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=break_words,
        break_on_hyphens=False,
    )


def bullets(entries: Iterable[str], width: int = WIDTH) -> list[str]:
    """Each entry behind a dash."""
    return [line for entry in entries for line in wrap(entry, width, "- ", "  ")]


def capital(text: str) -> str:
    """The text as a sentence begins."""
    return text[:1].upper() + text[1:]
