"""Opens targets by reference: `sim`, `sim:PROFILE`, `twin:FILE`, `robot:FILE`, or a plug-in's.

A package of anyone's adds a kind by an entry point in the group `simreal.targets`: its name is the
kind, its value a function `(argument: str, job: TargetJob) -> Target` (see docs/targets.md).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np

from simreal.core.errors import UsageError, unknown
from simreal.core.protocols import Target
from simreal.core.types import Form
from simreal.robots.twin import open_twin
from simreal.robots.twinfile import read_twin
from simreal.worlds.randomize import profile
from simreal.worlds.simulated import SimConfig, simulated_world
from simreal.worlds.starts import Starts, starting
from simreal.worlds.task import Privileged, Task
from simreal.worlds.tasks import task as find_task

GROUP = "simreal.targets"


@dataclass(frozen=True)
class TargetJob:
    """Which target, and how it should play: plain values that travel to worker processes.

    form: look of the robot in simulation; a twin's stands in its file.
    """

    ref: str
    task: str = "lift"
    form: Form = "primitive"
    size_px: int = 64
    shadows: bool = False
    batch: int = 50
    device: str = "cpu"
    seed: int = 0


class Operated(Target, Protocol):
    """A target with the privileged channel that scripted operators need."""

    def privileged(self) -> Privileged:
        """Exact values of all N worlds."""
        ...


Factory = Callable[[str, TargetJob], Target]


def _open_sim(argument: str, job: TargetJob) -> Target:
    config = SimConfig(
        task=job.task,
        form=job.form,
        size_px=job.size_px,
        profile=profile(argument or "none", find_task(job.task).robot),
        seed=job.seed,
        shadows=job.shadows,
        batch=job.batch,
        device=job.device,
    )
    return simulated_world(config)


def _open_twin(argument: str, job: TargetJob) -> Target:
    twin: Target = open_twin(
        argument,
        task=job.task,
        size_px=job.size_px,
        shadows=job.shadows,
        batch=job.batch,
        device=job.device,
    )
    return twin


def _open_robot(argument: str, job: TargetJob) -> Target:
    from simreal.robots.lerobot_robot import open_robot

    task = find_task(job.task)
    return open_robot(
        argument,
        task.name,
        size_px=job.size_px,
        horizon=task.horizon,
        failures=task.kinds,
    )


def factories() -> Mapping[str, Factory]:
    """Kinds of targets there are: ours, then those of installed packages."""
    kinds: dict[str, Factory] = {"sim": _open_sim, "twin": _open_twin, "robot": _open_robot}
    for point in entry_points(group=GROUP):
        if point.name not in kinds:
            kinds[point.name] = functools.partial(_open_plugin, point.name)
    return kinds


def _open_plugin(kind: str, argument: str, job: TargetJob) -> Target:
    (point,) = entry_points(group=GROUP, name=kind)
    try:
        factory = cast(Factory, point.load())
    except ImportError as error:
        raise UsageError(f"Target kind {kind!r} ({point.value}) cannot load: {error}.") from error
    return factory(argument, job)


def initial_values(
    task: str, ref: str, starts: str | None = None, suite: str = "nominal"
) -> Callable[[np.random.Generator], dict[str, float]]:
    """How initial values are drawn: by the task, within the bounds of a profile that has any.

    starts: that profile; None: the one of a target `sim:PROFILE`.

    Raises:
        UsageError: for a profile without such bounds where one is asked for, or a bad one, or
            bounds that what the suite sets is not within.
    """
    found = find_task(task)
    kind, _, argument = ref.partition(":")
    name = starts or (argument if kind == "sim" and argument else "none")
    bounds = profile(name, found.robot).starts
    if starts is not None and not bounds:
        raise UsageError(f"--starts {starts}: this profile has no [[starts]].")
    _check_suite(found, bounds, suite)
    return starting(found, bounds)


def _check_suite(task: Task[Any], bounds: Sequence[Starts], suite: str) -> None:
    """A suite sets some initial values itself, whatever was drawn: they must be in the bounds."""

    def outside(name: str) -> list[str]:
        fixed = {**task.suites.get("nominal", {}), **task.suites.get(name, {})}
        bounded = [bound for one in bounds for bound in one.bounds if bound[0] in fixed]
        return [f"{v} to {fixed[v]:g}" for v, low, high in bounded if not low <= fixed[v] <= high]

    if wrong := outside(suite):
        fit = [f"--suite {name}" for name in task.suites if not outside(name)]
        raise UsageError(
            f"The suite {suite} sets {', '.join(dict.fromkeys(wrong))}, outside the bounds in "
            f"[[starts]]; choose {' or '.join(fit) or 'bounds that one of the suites keeps'}."
        )


def check_reference(ref: str, task: str) -> None:
    """Refuse a reference that cannot be opened, as far as that can be told without opening it.

    Raises:
        UsageError: for an unknown kind or profile, or a twin file that is missing, bad or another
            task's.
    """
    kind, _, argument = ref.partition(":")
    kinds = factories()
    if kind not in kinds:
        raise unknown("target", ref, [*kinds, "sim:PROFILE", "twin:FILE", "robot:FILE"])
    if kind == "twin":
        twin = read_twin(Path(argument))
        if twin.task != task:
            raise UsageError(f"{argument} is a twin for the task {twin.task!r}; this is {task!r}.")
    elif kind == "sim":
        profile(argument or "none", find_task(task).robot)


def open_target(job: TargetJob) -> Target:
    """Open the target a job refers to.

    Raises:
        UsageError: for an unknown kind, or a missing or bad file.
    """
    check_reference(job.ref, job.task)
    kind, _, argument = job.ref.partition(":")
    return factories()[kind](argument, job)


_open: dict[TargetJob, Target] = {}


def kept_target(job: TargetJob) -> Target:
    """The target of a job, kept open in this process until another one is asked for."""
    if job not in _open:
        close_kept()
        _open[job] = open_target(job)
    return _open[job]


def close_kept() -> None:
    """Close what `kept_target` keeps open in this process."""
    while _open:
        _open.popitem()[1].close()


def open_operated(job: TargetJob) -> Operated:
    """A kept target that a scripted operator can drive.

    Raises:
        UsageError: when the target has no privileged channel (a real robot).
    """
    if job.ref.partition(":")[0] not in ("sim", "twin"):
        raise UsageError(
            f"The scripted operator needs exact object poses; {job.ref!r} has none. Record with a "
            "person instead."
        )
    return cast(Operated, kept_target(job))
