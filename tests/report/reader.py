"""Reads a report page the way a test needs it: its text, its tags, and a few laws of HTML."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "link", "img", "br", "hr", "input"}
SHAPES = {"path", "use", "rect", "g", "clippath", "defs"}


@dataclass
class Page(HTMLParser):
    """tags: (name, attributes). text: what a reader sees, tags as spaces. broken: unclosed tags."""

    tags: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    skip: tuple[str, ...] = ("style", "title", "desc")

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._open: list[str] = []

    @classmethod
    def of(cls, html: str, skip: tuple[str, ...] = ("style", "title", "desc")) -> Page:
        page = cls(skip=skip)
        page.feed(html)
        page.close()
        page.broken += page._open
        return page

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.words))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if self._open and self._open[-1] == tag:
            self._open.pop()
        else:
            self.broken.append(tag)

    def handle_data(self, data: str) -> None:
        if not set(self.skip) & set(self._open):
            self.words.append(data)

    def all(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.tags if tag == name]


def pieces(html: str, tag: str) -> list[str]:
    """The source of every element `tag` (elements that do not nest)."""
    return re.findall(rf"<{tag}\b.*?</{tag}>", html, flags=re.S)
