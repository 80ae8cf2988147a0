"""What a study measured, as verdicts read it: arms, trials by cell, the ledger and its prices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from simreal.core.errors import unknown
from simreal.core.types import Charge
from simreal.verdicts.compare import MARGIN, Estimate, compare
from simreal.verdicts.cost import Arm, ArmCost, arm_costs
from simreal.verdicts.cost.prices import Prices
from simreal.verdicts.intervals import t_interval, t_test
from simreal.verdicts.keys import keyed, sample_of
from simreal.verdicts.planning import ALPHA
from simreal.verdicts.rates import Interval, Rate, clopper_pearson
from simreal.verdicts.records import TrialRow

Role = Literal["sim-only", "real-only", "hybrid"]
#: The roads, in the order in which ties are broken.
ROADS: tuple[Role, ...] = ("real-only", "hybrid", "sim-only")


@dataclass(frozen=True)
class Evidence:
    """All that claims and advice rest on.

    sim: name of the target that is the simulation; targets: names of the others (twins, robots).
    goal: success rate that is wanted on the targets, None for simply the best.
    strategies: situation -> strategy the advisor names there, for the claim that they differ.
    variants: names of arms that differ from the others in something else than data (what their
    policies sense). operator: target -> suite -> (successes, attempts) of whoever gave the real
    demonstrations. force_limit_n: peak force within which a trial should stay.
    """

    task: str
    arms: tuple[Arm, ...]
    trials: tuple[TrialRow, ...]
    targets: tuple[str, ...]
    sim: str | None = None
    charges: tuple[Charge, ...] = ()
    prices: Prices | None = None
    margin: float = MARGIN
    goal: float | None = None
    strategies: Mapping[str, str] = field(default_factory=dict)
    variants: tuple[str, ...] = ()
    operator: Mapping[str, Mapping[str, tuple[int, int]]] = field(default_factory=dict)
    force_limit_n: float | None = None

    def roads(self) -> Evidence:
        """The same without arms that differ in something else than data, and what they took.

        Learning curves, claims and advice are about data; two arms of the same data would be two
        points at one place.
        """
        if not self.variants:
            return self
        named = [(charge, charge.arm.split("+")) for charge in self.charges]
        left = [(c, [n for n in names if n not in self.variants]) for c, names in named]
        return replace(
            self,
            arms=tuple(arm for arm in self.arms if arm.name not in self.variants),
            trials=tuple(row for row in self.trials if row.arm not in self.variants),
            charges=tuple(replace(c, arm="+".join(names)) for c, names in left if names),
            variants=(),
        )

    def suites_of(self, arm: str) -> tuple[str, ...]:
        """The suites an arm was tried on, nominal first, the others as they came."""
        found = dict.fromkeys(suite for one, suite, _ in self._cells if one == arm)
        return tuple(sorted(found, key=lambda suite: suite != "nominal"))

    def arm(self, name: str) -> Arm:
        """The arm of that name."""
        for arm in self.arms:
            if arm.name == name:
                return arm
        raise unknown("arm", name, [arm.name for arm in self.arms])

    def role(self, role: str) -> Arm | None:
        """The arm that plays a role: the one of that name, else the one with the most data."""
        fitting = self.all_of(role)
        named = [arm for arm in fitting if arm.name == role]
        if named:
            return named[0]
        return max(fitting, key=lambda arm: (arm.n_real, arm.n_sim), default=None)

    def all_of(self, role: str) -> tuple[Arm, ...]:
        """All arms that train on the kinds of data the role names."""
        return tuple(arm for arm in self.arms if role_of(arm) == role)

    @property
    def costs(self) -> dict[str, ArmCost]:
        """What each arm would cost alone; empty without a ledger or prices."""
        if not self.charges or self.prices is None:
            return {}
        return {cost.name: cost for cost in arm_costs(self.charges, self.arms, self.prices)}

    def cell(self, arm: str, suite: str, target: str) -> tuple[TrialRow, ...]:
        """The trials of one arm on one suite and target."""
        return self._cells.get((arm, suite, target), ())

    @cached_property
    def _cells(self) -> Mapping[tuple[str | None, str, str | None], tuple[TrialRow, ...]]:
        """(arm, suite, target) -> trials, in their order."""
        found: dict[tuple[str | None, str, str | None], list[TrialRow]] = {}
        for row in self.trials:
            found.setdefault((row.arm, row.suite, row.target), []).append(row)
        return {key: tuple(rows) for key, rows in found.items()}

    def simulated(self, target: str | None) -> bool:
        """Whether a target of some trials is the simulation."""
        names = {simulation_for(self.sim, t) for t in self.targets} if self.sim else set()
        return self.sim is not None and (target == self.sim or target in names)

    def in_simulation(self, arm: str, suite: str = "nominal") -> dict[str, tuple[TrialRow, ...]]:
        """Target name -> trials in simulation of the checkpoint that plays there; none left out."""
        if self.sim is None:
            return {}
        shared = self.cell(arm, suite, self.sim)
        own = {t: self.cell(arm, suite, simulation_for(self.sim, t)) for t in self.targets}
        return {target: rows or shared for target, rows in own.items() if rows or shared}

    def sim_trials(self, arm: str, suite: str = "nominal") -> tuple[TrialRow, ...]:
        """All trials of an arm in simulation, each once."""
        if self.sim is None:
            return ()
        names = (self.sim, *(simulation_for(self.sim, target) for target in self.targets))
        return tuple(row for name in names for row in self.cell(arm, suite, name))

    def gap_of(self, arm: str, suite: str = "nominal") -> Contrast | None:
        """Simulation minus target of the same checkpoints; None without trials of both."""
        sim, real = self.in_simulation(arm, suite), self.on_targets(arm, suite)
        return contrast(sim, real, self.margin, across_targets=True)

    def on_targets(self, arm: str, suite: str = "nominal") -> dict[str, tuple[TrialRow, ...]]:
        """Target name -> trials of one arm on one suite, targets without any left out."""
        cells = {target: self.cell(arm, suite, target) for target in self.targets}
        return {target: rows for target, rows in cells.items() if rows}

    def pooled_rate(self, arm: str, suite: str = "nominal") -> Rate:
        """The rate over all trials on the targets: a statement about these targets only."""
        return rate_of([r for rows in self.on_targets(arm, suite).values() for r in rows])

    def reach(self, arm: str, suite: str = "nominal", alpha: float = ALPHA) -> Reach | None:
        """One-sided bounds of an arm's rate on the targets; None without trials there."""
        cells = self.on_targets(arm, suite)
        if not cells:
            return None
        rate = self.pooled_rate(arm, suite)
        rates = [r for rows in cells.values() if (r := rate_of(rows).rate) is not None]
        if len(rates) > 1:
            mean, ci = t_interval(rates, 1 - 2 * alpha)
            bounds = (max(0.0, ci[0]), min(1.0, ci[1]))
            return Reach(mean, bounds, f"one-sided t bounds over {len(rates)} targets", True)
        if rate.method != "Wilson":
            return Reach(rate.rate, rate.ci, rate.method, rate.enough)
        bounds = clopper_pearson(rate.k, rate.n, 1 - 2 * alpha)
        return Reach(rate.rate, bounds, "one-sided 95 % Clopper-Pearson bounds", rate.enough)


@dataclass(frozen=True)
class DeclaredTest:
    """A comparison the plan declared: one arm against another on a suite of the targets."""

    arm: str
    against: str
    suite: str = "nominal"

    @property
    def claim(self) -> str:
        """The question in words."""
        return f"{self.arm} against {self.against}, {self.suite}"


@dataclass(frozen=True)
class Reach:
    """What an arm reaches: its rate and the two one-sided bounds; `enough` for a verdict."""

    rate: float | None
    bounds: Interval
    method: str
    enough: bool


def simulation_for(sim: str, target: str) -> str:
    """The name under which the checkpoint for one of several targets plays in simulation."""
    return f"{sim}@{target}"


def road_of(n_real: int, n_sim: int) -> Role | None:
    """The road that so much data lies on; None without any."""
    if n_sim and n_real:
        return "hybrid"
    if n_sim:
        return "sim-only"
    return "real-only" if n_real else None


def role_of(arm: Arm) -> Role | None:
    """The road an arm takes, by its data; None for an arm without any."""
    return road_of(arm.n_real, arm.n_sim)


def pooled_note(rows: Sequence[TrialRow]) -> str:
    """What pooling trials of several targets or training seeds means; empty where none is pooled.

    It is a statement about these targets and these checkpoints, not about others like them.
    """
    targets = {row.target for row in rows}
    parts = [f"{len(targets)} targets pooled: these targets only"] if len(targets) > 1 else []
    arms: dict[str | None, set[int | None]] = {}
    for row in rows:
        arms.setdefault(row.arm, set()).add(row.seed)
    seeds = max(map(len, arms.values()), default=0)
    if seeds > 1:
        parts.append(f"checkpoints of {seeds} training seeds pooled: not the recipe")
    return "; ".join(parts)


def rate_of(rows: Sequence[TrialRow]) -> Rate:
    """The rate of some trials; lost ones widen the interval, repeated conditions count once."""
    return sample_of(rows).rate()


@dataclass(frozen=True)
class Contrast:
    """A difference over one or more targets: with several, a t interval over them."""

    estimate: Estimate
    method: str
    enough: bool


def contrast(
    a: Mapping[str, Sequence[TrialRow]],
    b: Mapping[str, Sequence[TrialRow]],
    margin: float = MARGIN,
    alpha: float = ALPHA,
    across_targets: bool = False,
) -> Contrast | None:
    """Difference a - b over the targets both were tried on; None without a common target.

    One target: the declared comparison of its trials. Several: the mean over targets with a t
    interval, because targets, not trials, are then what varies.
    """
    shared = [name for name in a if name in b]
    parts = [
        compare(*keyed(a[name], b[name], across_targets), margin=margin, alpha=alpha)
        for name in shared
    ]
    if not parts:
        return None
    if len(parts) == 1:
        only = parts[0]
        enough = only.p is not None and only.a.enough and only.b.enough
        method = _labelled(only.method, [*a[shared[0]], *b[shared[0]]], across_targets)
        return Contrast(Estimate(only.difference, only.ci, only.p), method, enough)
    differences = [part.difference for part in parts if part.difference is not None]
    if len(differences) < 2:
        return None
    mean, ci = t_interval(differences, 1 - alpha)
    rows = [row for name in shared for row in (*a[name], *b[name])]
    method = _labelled(f"t interval over {len(differences)} targets", rows, True)
    return Contrast(Estimate(mean, ci, t_test(differences)), method, True)


def _labelled(method: str, rows: Sequence[TrialRow], across_targets: bool) -> str:
    """The method with what is pooled; targets are not, where they are compared or averaged."""
    same = [replace(row, target=None) for row in rows] if across_targets else rows
    note = pooled_note(same)
    return f"{method}; {note}" if note else method
