"""The space that an exploration searches: every number of a profile, and the task's initial values.

A *factor* is something a region can bound: a number of an axis (`camera_fov[1]` of several), the
mean of an axis whose numbers are levels, or an initial value of the task.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simreal.core.errors import UsageError
from simreal.core.seeds import generator, integer
from simreal.core.types import Condition, Scenario
from simreal.verdicts.numerics import Array
from simreal.verdicts.regions import Region, Scale, columns_of, scale_of
from simreal.worlds.randomize import RETRIES, impossible, settings_of
from simreal.worlds.simulated import SimConfig, scene_of
from simreal.worlds.starts import starting
from simreal.worlds.tasks import task as find_task
from simreal.worlds.variation import Axis, Each

#: The suite of an exploration's conditions: initial values as the task draws them.
SUITE = "demonstrations"
#: Draws of the profile that say how its factors are spread.
REFERENCE = 4096
#: Units that say nothing a number does not.
_PLAIN_UNITS = frozenset({"index", "count", "gain"})
#: Draws after which a region counts as empty.
MOST_DRAWS, _BLOCK = 20_480, 64


@dataclass(frozen=True)
class Point:
    """One trial to be played: a scenario of the profile, and initial values of the task."""

    index: int
    values: Mapping[str, tuple[float, ...]]
    reset: Mapping[str, float]
    rejected: int = 0

    def scenario(self, profile: str, seed: int) -> Scenario:
        """What its world is like."""
        return Scenario(profile, seed, self.index, self.values, self.rejected)

    def condition(self, seed: int) -> Condition:
        """How its trial begins."""
        noise = integer(seed, "explore/noise", self.index)
        return Condition(self.index, SUITE, self.reset, noise)


#: Draws once more: (attempt, from 0) -> (fractions of the space, initial values).
Draw = Callable[[int], tuple[Array, Mapping[str, float]]]


class Space:
    """A profile's numbers, one coordinate each, and the initial values that come with them."""

    def __init__(self, config: SimConfig) -> None:
        """Raises:
        UsageError: for a profile that randomizes nothing.
        """
        self.config, self.task = config, find_task(config.task)
        if not config.profile.axes:
            raise UsageError(
                f"Profile {config.profile.name!r} randomizes nothing, so there is nothing to "
                "search; choose visual, dynamics, full or a file."
            )
        terms = self.task.robot.terms
        self.start = starting(self.task, config.profile.starts)
        self._axes: tuple[tuple[Axis, int], ...] = tuple(
            (axis, terms[axis.term].size) for axis in config.profile.axes
        )
        self.dimensions = sum(size for _, size in self._axes)
        self._orders: dict[str, npt.NDArray[np.intp]] = {}

    def values(self, fractions: Array) -> dict[str, tuple[float, ...]]:
        """The numbers of every axis at fractions (D,) of its distributions."""
        found, at = {}, 0
        for axis, size in self._axes:
            numbers = axis.distribution.at(fractions[at : at + size])
            found[axis.term] = tuple(float(x) for x in numbers)
            at += size
        return found

    def factors(self, point: Point) -> dict[str, float]:
        """Factor -> its value."""
        found: dict[str, float] = {}
        for axis, size in self._axes:
            numbers = point.values[axis.term]
            found.update(zip(_names(axis.term, size), numbers, strict=True))
            if _level(axis, size):
                found[f"mean {axis.term}"] = float(np.mean(numbers))
        return {**found, **point.reset}

    @functools.cached_property
    def slots(self) -> dict[str, int]:
        """Factor that is one number of an axis -> its coordinate."""
        names = [name for axis, size in self._axes for name in _names(axis.term, size)]
        return {name: i for i, name in enumerate(names)}

    def axes_of(self, factor: str) -> tuple[Axis, tuple[int, ...]] | None:
        """The axis of a factor and which of its numbers; None of an initial value."""
        for axis, size in self._axes:
            names = _names(axis.term, size)
            if factor in names:
                return axis, (names.index(factor),)
            if _level(axis, size) and factor == f"mean {axis.term}":
                return axis, tuple(range(size))
        return None

    def drawn(self, index: int, draw: Draw) -> Point:
        """The first of the draws that a world can have and the robot can do.

        Raises:
            UsageError: where none can.
        """
        reason: str | None = None
        for attempt in range(RETRIES):
            fractions, reset = draw(attempt)
            point = Point(index, self.values(fractions), reset, attempt)
            reason = self._problem(point)
            if reason is None:
                return point
        raise UsageError(
            f"Profile {self.config.profile.name!r}: no solvable draw in {RETRIES} attempts (last: "
            f"{reason}). Narrow its ranges."
        )

    def _problem(self, point: Point) -> str | None:
        config = self.config
        scene = scene_of(config.task, config.form, config.backgrounds)
        scenario = point.scenario(config.profile.name, config.seed)
        settings = settings_of(scene, config.profile, scenario)
        return impossible(settings) or self.task.robot.unsolvable(self.task, settings)

    def plain(self, rng: np.random.Generator) -> tuple[Array, dict[str, float]]:
        """A draw of the profile as it is."""
        return rng.random(self.dimensions), self.start(rng)

    def within(self, rng: np.random.Generator, region: Region) -> tuple[Array, dict[str, float]]:
        """A draw of the profile that lies in the region: others are thrown away.

        Raises:
            UsageError: where none of many does.
        """
        names = {bound.factor for bound in region.bounds}
        for _ in range(MOST_DRAWS // _BLOCK):
            fractions = rng.random((_BLOCK, self.dimensions))
            resets = [self.start(rng) for _ in range(_BLOCK)]
            found = np.flatnonzero(region.inside(self._columns(fractions, resets, names)))
            if len(found):
                return fractions[found[0]], resets[found[0]]
        raise UsageError(f"No draw of the profile in {MOST_DRAWS} has {region.text}.")

    def _columns(
        self, fractions: Array, resets: Sequence[Mapping[str, float]], names: Container[str]
    ) -> dict[str, Array]:
        """The named factors of many draws at once: fractions (n, D)."""
        found: dict[str, Array] = {}
        at = 0
        for axis, size in self._axes:
            whole = axis.distribution
            parts = whole.parts if isinstance(whole, Each) else (whole,) * size
            own = _names(axis.term, size)
            mean = f"mean {axis.term}" if _level(axis, size) else None
            if mean in names or any(name in names for name in own):
                numbers = [part.at(fractions[:, at + i]) for i, part in enumerate(parts)]
                found |= {n: x for n, x in zip(own, numbers, strict=True) if n in names}
                if mean is not None and mean in names:
                    found[mean] = np.mean(numbers, axis=0)
            at += size
        given = columns_of(resets)
        return found | {name: column for name, column in given.items() if name in names}

    @functools.cached_property
    def _reference(self) -> tuple[Array, dict[str, Array]]:
        rng = generator(0, "explore/reference")
        fractions = rng.random((REFERENCE, self.dimensions))
        resets = [self.start(rng) for _ in range(REFERENCE)]
        point = Point(0, self.values(fractions[0]), resets[0])
        return fractions, self._columns(fractions, resets, self.factors(point))

    @property
    def reference(self) -> dict[str, Array]:
        """How the factors are spread under the profile: `REFERENCE` draws of each."""
        return self._reference[1]

    def fraction(self, factor: str, rank: float) -> float:
        """The fraction that gives a number of an axis the value of this rank, 0 to 1."""
        drawn, columns = self._reference
        order = self._orders.setdefault(factor, np.argsort(columns[factor], kind="stable"))
        at = order[min(int(rank * REFERENCE), REFERENCE - 1)]
        return float(drawn[at, self.slots[factor]])

    @functools.cached_property
    def scales(self) -> dict[str, Scale]:
        """How each factor is cut and written."""
        return {name: scale_of(x, *self._written(name)) for name, x in self.reference.items()}

    def _written(self, factor: str) -> tuple[str, str]:
        """What stands before and behind a number: `x` of a scale, else the unit."""
        found = self.axes_of(factor)
        if found is None:
            return "", ""
        axis, _ = found
        if axis.operation == "scale":
            return "x", ""
        unit = self.task.robot.terms[axis.term].unit
        return "", f" {unit}" if unit.isalpha() and unit not in _PLAIN_UNITS else ""


def _names(term: str, size: int) -> list[str]:
    return [term] if size == 1 else [f"{term}[{i}]" for i in range(size)]


def _level(axis: Axis, size: int) -> bool:
    """Whether the mean of an axis' numbers says something: of levels, not of directions."""
    return size > 1 and axis.operation != "add"
