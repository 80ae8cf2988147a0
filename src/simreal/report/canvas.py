"""A matplotlib figure measured in CSS pixels, whose SVG takes colours and fonts from the page.

Colours are drawn as marker values and replaced by the page's CSS variables, so one picture serves
light, dark and print. Text stays text: it can be selected, searched and read aloud.
"""

from __future__ import annotations

import io
import re
import warnings
from html import escape
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

#: The CSS variables that figures may use as colours.
_NAMES = (
    "ink",
    "soft",
    "line",
    "paper",
    "sim",
    "target",
    "unseen",
    "robot",
    "operator",
    "engineering",
    "compute",
    "one",
)
#: CSS variable -> the marker colour that stands for it while drawing.
INKS = {name: f"#0a0b{number:02x}" for number, name in enumerate(_NAMES, start=16)}
_RC: Any = {
    "svg.fonttype": "none",
    "font.family": "DejaVu Sans",
    "text.parse_math": False,
    "axes.unicode_minus": True,
    "hatch.linewidth": 1.2,
}


class Canvas:
    """A figure of `width` x `height` pixels; y grows downwards, as on the page."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self.figure = Figure(figsize=(width / 72, height / 72), dpi=72)
        self.figure.patch.set_visible(False)

    def axes(self, left: float, top: float, right: float, bottom: float) -> Axes:
        """A bare plotting area given by its edges in pixels."""
        box = (
            left / self.width,
            1 - bottom / self.height,
            (right - left) / self.width,
            (bottom - top) / self.height,
        )
        axes = self.figure.add_axes(box)
        axes.patch.set_visible(False)
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0, labelsize=12, labelcolor=INKS["soft"], pad=6)
        return axes

    def text(self, x: float, y: float, text: str, **style: Any) -> None:
        """Text with its baseline at (x, y) pixels; `ink` names a CSS variable."""
        ink = INKS[style.pop("ink", "ink")]
        style = {"fontsize": 12, "ha": "left", "va": "baseline", "parse_math": False, **style}
        self.figure.text(x / self.width, 1 - y / self.height, text, color=ink, **style)

    def line(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """A thin line between two points in pixels, for a label that stands apart from its mark."""
        x, y = zip(start, end, strict=True)
        across, up = [v / self.width for v in x], [1 - v / self.height for v in y]
        self.figure.add_artist(Line2D(across, up, color=INKS["soft"], linewidth=0.8, zorder=0))

    def svg(self, prefix: str, title: str, description: str) -> str:
        """The figure as an `<svg>` element for a page; `prefix` keeps its ids unique there."""
        buffer = io.StringIO()
        with rc_context({**_RC, "svg.hashsalt": prefix}), warnings.catch_warnings():
            # The browser draws the text; what matplotlib's own font lacks does not matter.
            warnings.filterwarnings("ignore", message="Glyph .* missing from")
            self.figure.savefig(buffer, format="svg", metadata={"Date": None})
        return _inline(buffer.getvalue(), prefix, title, description, self.width, self.height)


def _inline(svg: str, prefix: str, title: str, description: str, width: int, height: int) -> str:
    body = svg[svg.index("<svg") :]
    body = body[body.index(">") + 1 :]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.S)
    body = re.sub(r"<!--.*?-->", "", body, flags=re.S)
    used = set(re.findall(r'(?:href="#|url\(#)([^")]+)', body))
    body = re.sub(r' id="([^"]+)"', lambda m: m[0] if m[1] in used else "", body)
    body = re.sub(r'( id="| xlink:href="#|url\(#)', rf"\g<1>{prefix}-", body)
    for name, marker in INKS.items():
        body = body.replace(marker, f"var(--{name})")
    body = re.sub(r"\n\s*", "\n", body)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'viewBox="0 0 {width} {height}" style="max-width:{width}px" role="img" '
        f'aria-labelledby="{prefix}-title {prefix}-desc">'
        f'<title id="{prefix}-title">{escape(title)}</title>'
        f'<desc id="{prefix}-desc">{escape(description)}</desc>'
    )
    return head + body
