"""What the figures share: their two widths, cut names, scales."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes

from simreal.report.canvas import INKS
from simreal.report.numbers import Cell, money

#: Widths in CSS pixels: of a figure on a desk, and on a phone.
WIDE, NARROW = 860, 350
#: The shape of a mark by where it was measured.
MARKERS = {"sim": "o", "target": "s", "unseen": "D"}


def fit(text: str, width: float, size: float = 13.0) -> str:
    """`text` cut with an ellipsis where it would be wider than `width` pixels (.66 em each)."""
    room = max(4, int(width / (0.66 * size)))
    return text if len(text) <= room else text[: room - 1].rstrip() + "…"


def scale(axes: Axes, low: float, high: float, height: float, ticks: Sequence[float]) -> None:
    """x in data units between low and high; y in pixels from the top of the axes."""
    axes.set(xlim=(low, high), ylim=(max(height, 1.0), 0))
    axes.set_yticks([])
    axes.set_xticks(list(ticks), [f"{t:g}".replace("-", "−") for t in ticks])
    axes.grid(axis="x", color=INKS["line"], linewidth=1)
    axes.set_axisbelow(True)


def money_tick(value: float, currency: str) -> str:
    """An amount below an axis; nothing below zero."""
    if value < 0:
        return ""
    return money(value, currency).removesuffix(".00") if value else "0"


def faint(c: Cell) -> str:
    """The ink of counts: soft where there are none."""
    return "ink" if c.measured else "soft"


@dataclass(frozen=True)
class Panel:
    """One plotting area of several, by its edges in pixels."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def middle(self) -> float:
        """Its centre, from the left."""
        return (self.left + self.right) / 2


def panels(number: int, width: int, left: float, height: float, above: float) -> list[Panel]:
    """Places for `number` areas: side by side on a desk (three a row), one below another else.

    left: room for the labels of the vertical axis. height: of an area; `above` it is room for its
    title, and 48 pixels below it for the labels of the horizontal axis.
    """
    columns = min(max(1, number), 3) if width >= WIDE else 1
    pitch = width / columns
    found = []
    for i in range(number):
        x = pitch * (i % columns)
        top = above + (above + height + 48) * (i // columns)
        found.append(Panel(x + left, top, x + pitch - 14, top + height))
    return found


def band(axes: Axes, x: Sequence[float], ends: Sequence[Sequence[float]], hatched: bool) -> None:
    """The area between two curves: filled where measured, hatched where extrapolated."""
    style: Any = {"facecolor": INKS["one"], "alpha": 0.22, "linewidth": 0}
    if hatched:
        style = {"facecolor": "none", "edgecolor": INKS["one"], "hatch": "////", "linewidth": 0}
    axes.fill_between(x, ends[0], ends[1], **style)


def ladder(low: float, high: float, most: int) -> list[float]:
    """At most `most` round numbers (1, 2, 5 times a power of ten) between low and high."""
    if high <= 0:
        return []
    steps = [m * 10.0**e for e in range(-3, 10) for m in (1, 2, 5)]
    found = [s for s in steps if low <= s <= high]
    if len(found) > most:
        tens = [s for s in found if f"{s:e}".startswith("1.0")]
        found = tens if 1 < len(tens) <= most else found[:: -(-len(found) // most)]
    return found
