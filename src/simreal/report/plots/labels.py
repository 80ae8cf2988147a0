"""Labels beside marks, none over another: a place is taken only where no label lies yet."""

from __future__ import annotations

import math
from collections.abc import Iterator

#: (left, top, right, bottom) in pixels.
Box = tuple[float, float, float, float]

#: Pixels left free between two labels.
_APART = 2.0
#: Directions from a mark to its label in the order they are tried, degrees; 90 is down.
_TURNS = (-90, 90, 0, 180, -45, -135, 45, 135, -22, -158, 22, 158, -68, -112, 68, 112)


class Labels:
    """Labels inside an area; marks are left free where there is room for that, labels always."""

    def __init__(self, area: Box) -> None:
        self._area = area
        self._marks: list[Box] = []
        self._taken: list[Box] = []

    def keep_free(self, mark: Box) -> None:
        """A mark, which labels cover only where nothing else is left."""
        self._marks.append(mark)

    def place(self, x: float, y: float, width: float, height: float) -> Box | None:
        """The box of a label of a mark at (x, y): the nearest that is free, None where none is."""
        for kept in ([*self._taken, *self._marks], self._taken):
            for box in self._around(x, y, width, height):
                if not any(_overlap(box, other) for other in kept):
                    self._taken.append(box)
                    return box
        return None

    def _around(self, x: float, y: float, width: float, height: float) -> Iterator[Box]:
        """Boxes inside the area around (x, y), near ones first."""
        left, top, right, bottom = self._area
        for away in range(8, 8 + int(math.hypot(right - left, bottom - top)), 6):
            for turn in _TURNS:
                across = math.cos(math.radians(turn)) * (away + width / 2)
                down = math.sin(math.radians(turn)) * (away + height / 2)
                x0, y0 = x + across - width / 2, y + down - height / 2
                box = (x0, y0, x0 + width, y0 + height)
                if x0 >= left and y0 >= top and box[2] <= right and box[3] <= bottom:
                    yield box


def nearest(box: Box, x: float, y: float) -> tuple[float, float]:
    """The point of a box that is nearest to (x, y)."""
    return min(max(x, box[0]), box[2]), min(max(y, box[1]), box[3])


def text_width(text: str, size: float) -> float:
    """Pixels that a line of text may need (.66 em a character, as `parts.fit` cuts it)."""
    return 0.66 * size * len(text)


def _overlap(a: Box, b: Box) -> bool:
    return (
        a[0] < b[2] + _APART
        and b[0] < a[2] + _APART
        and a[1] < b[3] + _APART
        and b[1] < a[3] + _APART
    )
