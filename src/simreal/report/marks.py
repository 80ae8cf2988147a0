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
    """All rates of one arm, in reading order. letters: of the ranking; arms that share one are
    not told apart; empty where nothing was ranked.
    """

    arm: str
    dots: tuple[Dot, ...]
    letters: str = ""


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


@dataclass(frozen=True)
class Level:
    """A success rate a waterfall starts from, passes or ends at. place: its colour and shape."""

    label: str
    cell: Cell
    place: str


@dataclass(frozen=True)
class Fall:
    """What one cause takes away (fraction of 1; negative: it adds). open: nothing explains it."""

    label: str
    value: float
    ci: tuple[float, float] | None
    open: bool = False


@dataclass(frozen=True)
class Dose:
    """A measured cell of a learning curve: its arm, how many real demonstrations, its rate."""

    arm: str
    n_real: int
    cell: Cell


@dataclass(frozen=True)
class Curve:
    """Estimated success over real demonstrations at one amount of simulation.

    n_real and the 10, 50 and 90 % quantiles (fractions of 1), one entry a point. measured_to: the
    largest n_real with a measurement; beyond it the curve is extrapolated.
    """

    label: str
    n_real: tuple[float, ...]
    p10: tuple[float, ...]
    p50: tuple[float, ...]
    p90: tuple[float, ...]
    measured_to: float
    doses: tuple[Dose, ...]


@dataclass(frozen=True)
class Reach:
    """What it costs one road to reach each success rate: (rate, p10, p50, p90).

    None where that quantile of the simulated futures never gets there.
    """

    road: str
    points: tuple[tuple[float, float | None, float | None, float | None], ...]


@dataclass(frozen=True)
class Band:
    """A range [low, high] with a name; high None: no end was found; low None: nothing was."""

    label: str
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Road:
    """A road as the advisor sees it. p_reach: probability to pass a test of the goal.

    mean, p50, p90: cost in `currency`. pareto: no other road passes more often at no more cost.
    tried: whether any arm has measured it; one that was not may only be measured, not advised.
    after: true success to expect of what passed (fraction of 1); tests are passed by luck too.
    """

    name: str
    n_real: int
    n_sim: int
    p_reach: float | None
    p50: float | None
    p90: float | None
    pareto: bool
    tried: bool = True
    after: float | None = None
    mean: float | None = None


@dataclass(frozen=True)
class Span:
    """Calendar days of one road: what half and nine tenths of the simulated futures stay within.

    robot: days the robot is busy, the same two quantiles. by_deadline: probability to be done.
    """

    road: str
    p50: float | None
    p90: float | None
    robot: tuple[float | None, float | None]
    by_deadline: float | None
    cost: tuple[float | None, float | None]


@dataclass(frozen=True)
class ForceCurve:
    """Force (N) over way (mm) or time (s): the middle, and the ends of a band (empty: none)."""

    place: str
    at: tuple[float, ...]
    low: tuple[float, ...]
    middle: tuple[float, ...]
    high: tuple[float, ...]


@dataclass(frozen=True)
class ForcePanel:
    """The force curves that stand in one panel, with the counts behind them in words."""

    name: str
    counts: str
    curves: tuple[ForceCurve, ...]
