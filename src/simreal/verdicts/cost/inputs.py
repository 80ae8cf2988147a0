"""What a lab has to work with: people, robots, machines, hours; the table [calendar] of prices."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

from simreal.core.errors import UsageError


@dataclass(frozen=True)
class Inputs:
    """People, robots and machines that work on a task.

    robots: arms that record or are tried at the same time. operators: at work in each shift, one
    an arm; None for as many as robots. shift_hours, shifts: a working day. days_a_week: working
    days. deadline_days: calendar days until the policy must be there, None for no deadline.
    cores, gpus: machines, which work day and night; trainings run on GPUs where there are any,
    else one on a core. can_build: whether somebody can build a simulation; engineers: how many
    share that work. stopped_line: money for each robot hour, where the line stands still
    meanwhile. variants: task variants, each with data, training and test of its own. trials:
    trials of the test that ends each variant.
    """

    robots: int = 1
    operators: int | None = None
    shift_hours: float = 8.0
    shifts: int = 1
    days_a_week: float = 5.0
    deadline_days: float | None = None
    cores: int = 8
    gpus: int = 0
    can_build: bool = True
    engineers: int = 1
    stopped_line: float = 0.0
    variants: int = 1
    trials: int = 50

    def __post_init__(self) -> None:
        for name in ("robots", "shifts", "cores", "engineers", "variants", "operators"):
            _check(name, getattr(self, name), 1, whole=True)
        for name in ("gpus", "trials"):
            _check(name, getattr(self, name), 0, whole=True)
        for name in ("shift_hours", "days_a_week", "deadline_days", "stopped_line"):
            _check(name, getattr(self, name), 0, whole=False)
        if not isinstance(self.can_build, bool):
            raise UsageError(f"can_build = {self.can_build!r}; give true or false.")
        if not (self.shift_hours > 0 and self.day_hours <= 24):
            raise UsageError(
                f"shifts = {self.shifts}, shift_hours = {self.shift_hours:g}; give a working day "
                "of more than 0 h and at most 24 h."
            )
        if not 0 < self.days_a_week <= 7:
            raise UsageError(f"days_a_week = {self.days_a_week:g}; give more than 0, at most 7.")

    @property
    def stations(self) -> int:
        """Arms at work at the same time."""
        return self.robots if self.operators is None else min(self.robots, self.operators)

    @property
    def day_hours(self) -> float:
        """Hours of a working day."""
        return self.shifts * self.shift_hours

    @property
    def slots(self) -> int:
        """Trainings at the same time."""
        return self.gpus or self.cores

    def to_json(self) -> dict[str, Any]:
        """All of them by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def _check(name: str, value: Any, least: float, whole: bool) -> None:
    """A number from `least` up; None stands where the field allows it."""
    if value is None and name in ("operators", "deadline_days"):
        return
    number = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or value < least:
        kind = "a whole number" if whole else "a number"
        raise UsageError(f"{name} = {value!r}; give {kind} from {least:g} up.")
