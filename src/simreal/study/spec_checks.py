"""What a study may ask for: names that exist and possible numbers, before anything runs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from simreal.core.errors import UsageError, unknown
from simreal.robots.ranges import SEVERITIES
from simreal.robots.twinfile import SUITES

if TYPE_CHECKING:
    from simreal.study.spec import ArmSpec, ComparisonSpec, StudySpec, TargetRef

SOURCES = ("sim", "real")

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
#: Names that mean something else in records.
_TAKEN = ("any", "shared", "simulation")


def check(spec: StudySpec) -> None:
    """Refuse a study with unknown names or impossible numbers.

    Raises:
        UsageError: naming what is wrong and what would have worked.
    """
    names = [arm.name for arm in spec.arms]
    if not spec.arms or not spec.targets or not spec.seeds:
        raise UsageError("A study needs at least one arm, one target and one training seed.")
    _check_numbers(spec)
    for kind, values in (("arm", names), ("target", [t.name for t in spec.targets])):
        _check_names(kind, values)
    for target in spec.targets:
        _check_target(spec, target)
    for arm in spec.arms:
        _check_arm(spec, arm, names)
    for suite in spec.suites:
        if suite not in SUITES:
            raise unknown("suite", suite, SUITES)
    for test in spec.tests:
        _check_test(spec, test, names)
    if "nominal" not in spec.suites or len(set(spec.suites)) != len(spec.suites):
        raise UsageError(f"suites = {list(spec.suites)}; name each once, nominal among them.")


def _check_test(spec: StudySpec, test: ComparisonSpec, names: Sequence[str]) -> None:
    for name in (test.arm, test.against):
        if name not in names:
            raise unknown("arm of a test", name, names)
    if test.arm == test.against:
        raise UsageError(f"A test compares arm {test.arm!r} with itself; name two arms.")
    for suite in test.suites:
        if suite not in spec.suites:
            raise unknown("suite of a test", suite, spec.suites)


def _check_names(kind: str, names: Sequence[str]) -> None:
    """Names become folders and columns."""
    if len(set(names)) != len(names):
        raise UsageError(f"Names of {kind}s must differ; got {', '.join(names)}.")
    for name in names:
        if not _NAME.fullmatch(name) or name in _TAKEN:
            raise UsageError(
                f"Name of {kind} {name!r}; allowed: letters, digits, '-', '_' and '.', a letter or "
                f"digit first, none of {', '.join(_TAKEN)}."
            )


def _check_target(spec: StudySpec, target: TargetRef) -> None:
    if target.severity not in SEVERITIES:
        raise unknown(f"severity of target {target.name!r}", target.severity, SEVERITIES)
    kind = (target.ref or "twin:").partition(":")[0]
    if kind == "robot":
        raise UsageError(
            f"Target {target.name!r} is a robot, where a person is asked at every trial; try a "
            f"study's checkpoint on it with `simreal evaluate CHECKPOINT --on {target.ref}`."
        )
    if kind not in ("sim", "twin") and any(arm.episodes("real") for arm in spec.arms):
        raise UsageError(
            f"Target {target.name!r} ({target.ref}) cannot give real demonstrations: the scripted "
            "operator works on twins only."
        )


def _check_numbers(spec: StudySpec) -> None:
    seeds = (*spec.seeds, spec.trial_seed, spec.simulation.seed, *(t.seed for t in spec.targets))
    if min(seeds) < 0 or len(set(spec.seeds)) != len(spec.seeds):
        raise UsageError(f"Seeds must be 0 or more, those of training different; got {seeds}.")
    if not 5 <= spec.trials <= 10_000:
        raise UsageError(f"trials = {spec.trials}; allowed: 5 to 10000 a cell.")
    if spec.goal is not None and not 0 < spec.goal < 1:
        raise UsageError(f"goal = {spec.goal:g}; give a success rate between 0 and 1, or none.")
    if not 0 < spec.margin < 1:
        raise UsageError(f"margin = {spec.margin:g}; give a fraction between 0 and 1.")
    if not 16 <= spec.size_px <= 512 or spec.size_px % 16:
        raise UsageError(f"size_px = {spec.size_px}; allowed: multiples of 16 from 16 to 512.")
    if spec.simulation.episodes < 1 or spec.simulation.appearances < 1:
        raise UsageError("[simulation]: episodes and appearances must be 1 or more.")


def _check_arm(spec: StudySpec, arm: ArmSpec, names: Sequence[str]) -> None:
    if arm.base is not None and arm.base not in names[: names.index(arm.name)]:
        earlier = names[: names.index(arm.name)]
        raise unknown(f"base of arm {arm.name!r} (it must come earlier)", arm.base, earlier)
    if not arm.stages or any(not s.parts for s in arm.stages):
        raise UsageError(f"Arm {arm.name!r} needs stages, each with parts.")
    for stage in arm.stages:
        if stage.steps < 1 or not 0 < stage.peak_lr < 1:
            raise UsageError(
                f"Arm {arm.name!r}: steps must be 1 or more and peak_lr between 0 and 1; got "
                f"{stage.steps} and {stage.peak_lr:g}."
            )
        for part in stage.parts:
            if part.source not in SOURCES:
                raise unknown(f"source in arm {arm.name!r}", part.source, SOURCES)
            if part.episodes < 1 or part.weight <= 0:
                raise UsageError(f"Arm {arm.name!r}: episodes and weights must be positive.")
            if part.source == "sim" and part.episodes > spec.simulation.episodes:
                raise UsageError(
                    f"Arm {arm.name!r} asks for {part.episodes} simulated demonstrations; "
                    f"[simulation] makes {spec.simulation.episodes}."
                )
