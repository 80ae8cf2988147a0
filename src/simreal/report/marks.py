"""What the figures draw: a mark for each number, with the counts it came from."""

from __future__ import annotations

from dataclasses import dataclass

from simreal.report.numbers import THIN, Cell, interval, percent, span


@dataclass(frozen=True)
class Dot:
    """One rate of one arm. place: `sim`, `target` or `unseen` (colour and shape).

    label, short: its name in the wide and the narrow drawing. mean: where the mark is a mean over
    targets (its interval in `cell` is over them, its counts are pooled), that mean.
    """

    place: str
    label: str
    short: str
    cell: Cell
    mean: float | None = None
    over_targets: bool = False

    @property
    def position(self) -> float | None:
        """Where the mark stands (fraction of 1); None where there is nothing to show."""
        if self.over_targets:
            return self.mean
        return self.cell.rate if self.cell.enough else None

    @property
    def beside(self) -> str:
        """The rate and interval in words."""
        if self.over_targets:
            ends = (self.cell.low, self.cell.high)
            return "pooled" if self.mean is None else f"{percent(self.mean)}{THIN}% ({span(ends)})"
        if self.cell.enough:
            return interval(self.cell)
        return "too few for an interval" if self.cell.measured else ""


@dataclass(frozen=True)
class ArmDots:
    """All rates of one arm, in reading order."""

    arm: str
    dots: tuple[Dot, ...]


@dataclass(frozen=True)
class GapBar:
    """A transfer gap (fraction of 1, positive: lost on the target) and the rates it is between."""

    arm: str
    value: float | None
    ci: tuple[float, float] | None
    sim: Cell
    target: Cell


@dataclass(frozen=True)
class CostBar:
    """What one arm cost by part (`PARTS`; one part `total` where it cannot be split), in
    `currency`, and its rate on the target.
    """

    arm: str
    parts: dict[str, float]
    currency: str
    target: Dot

    @property
    def total(self) -> float:
        """The sum of the parts."""
        return sum(self.parts.values())
