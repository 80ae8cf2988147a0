"""How numbers are written: rates with their counts, points, money, hours, p values.

A rate is only ever written through `rate`, which puts the counts in front, so none appears alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from simreal.verdicts.rates import FEW_TRIALS

#: Narrow no-break space, between a number and its unit.
THIN = "\u202f"
MINUS = "\u2212"
#: Fewer trials than this give counts and no interval.
ENOUGH = FEW_TRIALS
_SYMBOLS = {"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥", "CNY": "¥"}


@dataclass(frozen=True)
class Cell:
    """One measured success rate: k successes in n trials and the 95 % interval (fractions of 1)."""

    k: int
    n: int
    low: float
    high: float

    @property
    def measured(self) -> bool:
        """Whether there is any trial at all."""
        return self.n > 0

    @property
    def enough(self) -> bool:
        """Whether an interval and a verdict may be shown."""
        return self.n >= ENOUGH

    @property
    def rate(self) -> float:
        """k / n; asked for only where `measured`."""
        return self.k / self.n


NO_DATA = Cell(0, 0, 0.0, 1.0)


def cell(content: Mapping[str, Any] | None) -> Cell:
    """A `{k, n, rate, ci}` of summary.json; an absent one has no data."""
    if not content or not content.get("n"):
        return NO_DATA
    low, high = content.get("ci") or (0.0, 1.0)
    return Cell(int(content["k"]), int(content["n"]), float(low), float(high))


def percent(fraction: float) -> str:
    """`0.857` as `86`; never rounded up to 100 or down to 0, and cut at these ends."""
    value = 100.0 * min(1.0, max(0.0, fraction))
    text = f"{value:.0f}"
    if text not in ("0", "100") or value in (0.0, 100.0):
        return text
    return min(f"{value:.1f}", "99.9", key=float) if value > 50 else max(f"{value:.1f}", "0.1")


def span(ci: Sequence[float]) -> str:
    """A 95 % interval of a rate in per cent: `78 to 91`."""
    return f"{percent(ci[0])} to {percent(ci[1])}"


def counts(c: Cell) -> str:
    """`86/100`, or `no data`."""
    return f"{c.k}/{c.n}" if c.measured else "no data"


def interval(c: Cell) -> str:
    """What stands beside the counts: `86 % (78 to 91)`, or why it does not."""
    if not c.measured:
        return "not measured"
    if not c.enough:
        return f"fewer than {ENOUGH} trials: no interval"
    return f"{percent(c.rate)}{THIN}% ({span((c.low, c.high))})"


def rate(c: Cell) -> str:
    """`86/100 = 86 % (78 to 91)`: the only way a rate enters a sentence."""
    if not c.measured:
        return "no data"
    return f"{counts(c)} = {interval(c)}" if c.enough else f"{counts(c)} ({interval(c)})"


def signed(fraction: float) -> str:
    """A difference in points with its sign: `+12.0`, `−3.1`, `0.0`."""
    value = round(100.0 * fraction, 1)
    if value == 0:
        return "0.0"
    return f"+{value:.1f}" if value > 0 else f"{MINUS}{-value:.1f}"


def points(value: float, ci: Sequence[float] | None) -> str:
    """`+12.0 points (+3.1 to +21.4)`; a difference of rates cannot leave ±100."""
    ci = [min(1.0, max(-1.0, end)) for end in ci] if ci else None
    text = f"{signed(value)} points"
    return f"{text} ({signed(ci[0])} to {signed(ci[1])})" if ci else text


def share(fraction: float) -> str:
    """A share that may be negative or large, in per cent: `-5,166`; never `-0`."""
    return f"{round(100.0 * fraction):,}".replace("-", MINUS)


def factor(value: float) -> str:
    """A ratio: `12`, `4.2`, `0.011`."""
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}" if value >= 1 else f"{value:.2g}"


def money(amount: float, currency: str) -> str:
    """`$1,234` from 100 up, `$12.34` below, `<$0.01`; other currencies with their code behind."""
    digits = f"{amount:,.0f}" if abs(amount) >= 100 else f"{amount:,.2f}"
    symbol = _SYMBOLS.get(currency)
    if 0 < amount < 0.005:
        return f"<{money(0.01, currency)}"
    return f"{symbol}{digits}" if symbol else f"{digits}{THIN}{currency}"


def hours(value: float) -> str:
    """Hours as people say them: `2.4 h`, `12 min`, `40 s`, `0`."""
    seconds = 3600.0 * value
    if seconds <= 0:
        return "0"
    if seconds < 99.5:
        return f"{seconds:.0f}{THIN}s" if seconds >= 1 else f"<1{THIN}s"
    if seconds < 5970:
        return f"{seconds / 60:.0f}{THIN}min"
    return f"{value:.1f}{THIN}h"


def p_value(p: float | None) -> str:
    """`p = .012`, `p < .001`; empty where the method gives none."""
    if p is None:
        return ""
    return "p < .001" if p < 0.001 else f"p = {p:.3f}".replace("0.", ".")
