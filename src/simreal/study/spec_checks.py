"""What a study may ask for: names that exist and possible numbers, before anything runs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from simreal.core.errors import UsageError, unknown
from simreal.robots.ranges import SEVERITIES
from simreal.robots.twinfile import SUITES
from simreal.worlds.tasks import task as find_task

if TYPE_CHECKING:
    from simreal.study.spec import ArmSpec, ComparisonSpec, GoalSpec, StudySpec, TargetRef

SOURCES = ("sim", "real")
#: What a policy may make of the force/torque window.
WRENCHES = ("full", "slow", "none")
#: Who may reach a goal beside an arm: any arm, and whoever gave the real demonstrations.
BEST, OPERATOR = "best", "operator"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
#: Names that mean something else in records.
_TAKEN = ("any", "shared", "simulation", BEST, OPERATOR)


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
    _check_suites(spec)
    for test in spec.tests:
        _check_test(spec, test, names)
    for goal in spec.goals:
        _check_goal(spec, goal, names)


def _check_suites(spec: StudySpec) -> None:
    """Suites are a target's or the task's own; nominal is always one of them."""
    allowed = list(dict.fromkeys([*SUITES, *find_task(spec.task).suites]))
    _check_listed("suite", spec.suites, allowed)
    played = [s for s in spec.suites if s == "nominal" or s in find_task(spec.task).suites]
    if spec.gap_suites:
        _check_listed("gap_suite", spec.gap_suites, played)
    for arm in spec.arms:
        if arm.suites:
            _check_listed(f"suite of arm {arm.name!r}", arm.suites, spec.suites)


def _check_listed(what: str, suites: Sequence[str], allowed: Sequence[str]) -> None:
    for suite in suites:
        if suite not in allowed:
            raise unknown(what, suite, allowed)
    if "nominal" not in suites or len(set(suites)) != len(suites):
        plural = what.replace("suite", "suites", 1)
        raise UsageError(f"{plural} = {list(suites)}; name each once, nominal among them.")


def _check_test(spec: StudySpec, test: ComparisonSpec, names: Sequence[str]) -> None:
    for name in (test.arm, test.against):
        if name not in names:
            raise unknown("arm of a test", name, names)
    if test.arm == test.against:
        raise UsageError(f"A test compares arm {test.arm!r} with itself; name two arms.")
    others = spec.suites_of(spec.arm(test.against))
    both = [suite for suite in spec.suites_of(spec.arm(test.arm)) if suite in others]
    for suite in test.suites:
        if suite not in both:
            raise unknown(f"suite of a test of {test.arm} against {test.against}", suite, both)


def _check_goal(spec: StudySpec, goal: GoalSpec, names: Sequence[str]) -> None:
    """A goal names who reaches what; exactly one of a rate and another arm."""
    where = f"goal {goal.text!r}"
    who = [*names, BEST, *([OPERATOR] if goal.of == "success" else [])]
    if goal.arm not in (who if goal.against is None else names):
        raise unknown(f"arm of the {where}", goal.arm, who if goal.against is None else names)
    if goal.against is not None and goal.against not in names:
        raise unknown(f"arm of the {where}", goal.against, names)
    if goal.against == goal.arm:
        raise UsageError(f"The {where} compares arm {goal.arm!r} with itself; name two arms.")
    if goal.suite not in spec.suites:
        raise unknown(f"suite of the {where}", goal.suite, spec.suites)
    _check_tried(spec, goal, where)
    if goal.of not in ("success", "force"):
        raise unknown(f"measure (of) of the {where}", goal.of, ("success", "force"))
    if (goal.at_least is None) == (goal.against is None):
        raise UsageError(f"The {where} needs either at_least, a rate, or against, another arm.")
    if goal.at_least is not None and not 0 < goal.at_least < 1:
        raise UsageError(f"The {where}: at_least = {goal.at_least:g}; give a rate between 0 and 1.")
    if not 0 < goal.margin < 1 or not 0 <= goal.less_real < 1:
        raise UsageError(f"The {where}: margin and less_real are fractions below 1.")
    if goal.of == "force" and (spec.force_limit_n is None or goal.against is not None):
        raise UsageError(f"The {where} needs the study's force_limit_n and at_least.")


def _check_tried(spec: StudySpec, goal: GoalSpec, where: str) -> None:
    """A goal is about trials that the study holds."""
    named = [arm for arm in spec.arms if arm.name in (goal.arm, goal.against)]
    for arm in named:
        if goal.suite not in (tried := spec.suites_of(arm)):
            raise unknown(f"suite of the {where} ({arm.name})", goal.suite, tried)
    if goal.arm == BEST and not any(goal.suite in spec.suites_of(arm) for arm in spec.arms):
        raise UsageError(f"The {where}: no arm is tried on the suite {goal.suite!r}.")
    if goal.arm == OPERATOR and not any(arm.episodes("real") for arm in spec.arms):
        raise UsageError(
            f"The {where} is about the operator, but no arm reads real demonstrations; drop it."
        )


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
    if spec.force_limit_n is not None and spec.force_limit_n <= 0:
        raise UsageError(f"force_limit_n = {spec.force_limit_n:g}; give newtons above 0, or none.")
    if not 16 <= spec.size_px <= 512 or spec.size_px % 16:
        raise UsageError(f"size_px = {spec.size_px}; allowed: multiples of 16 from 16 to 512.")
    if spec.simulation.episodes < 1 or spec.simulation.appearances < 1:
        raise UsageError("[simulation]: episodes and appearances must be 1 or more.")
    _check_corrections(spec)
    _check_training(spec)


def _check_corrections(spec: StudySpec) -> None:
    asked = spec.simulation
    if not 0 <= asked.corrections < asked.episodes:
        raise UsageError(
            f"[simulation]: corrections = {asked.corrections}; they are the last of the episodes = "
            f"{asked.episodes} and need others before them."
        )
    if asked.leader_steps < 1:
        raise UsageError(f"[simulation]: leader_steps = {asked.leader_steps}; give 1 or more.")


def _check_training(spec: StudySpec) -> None:
    """Pictures are shifted by a few pixels at most, and colours changed by less than all."""
    training = spec.training
    if not 0 <= training.shift_px <= spec.size_px // 8:
        raise UsageError(
            f"[training]: shift_px = {training.shift_px}; allowed: 0 to {spec.size_px // 8}, an "
            f"eighth of size_px = {spec.size_px}."
        )
    for name in ("contrast", "tint", "brightness", "weight_decay"):
        if not 0 <= (value := getattr(training, name)) < 1:
            raise UsageError(f"[training]: {name} = {value:g}; allowed: 0 to below 1.")
    for name in ("wrench", "dither"):
        if (value := getattr(training, name)) < 0:
            raise UsageError(f"[training]: {name} = {value:g}; give 0 or more.")


def _check_wrench(spec: StudySpec, arm: ArmSpec) -> None:
    """Force needs a sensor, and an arm that goes on from another one has the same senses."""
    if arm.wrench is not None and arm.wrench not in WRENCHES:
        raise unknown(f"wrench of arm {arm.name!r}", arm.wrench, WRENCHES)
    if arm.wrench in ("full", "slow") and not find_task(spec.task).robot.wrench:
        raise UsageError(
            f"Arm {arm.name!r}: wrench = {arm.wrench!r}, but the robot of the task {spec.task} has "
            "no force/torque sensor; leave wrench out."
        )
    base = None if arm.base is None else spec.arm(arm.base)
    if base is not None and (base.wrench or "full") != (arm.wrench or "full"):
        raise UsageError(
            f"Arm {arm.name!r} has wrench = {arm.wrench or 'full'!r} and its base {base.name!r} "
            f"{base.wrench or 'full'!r}; give both the same."
        )


def _check_arm(spec: StudySpec, arm: ArmSpec, names: Sequence[str]) -> None:
    if arm.base is not None and arm.base not in names[: names.index(arm.name)]:
        earlier = names[: names.index(arm.name)]
        raise unknown(f"base of arm {arm.name!r} (it must come earlier)", arm.base, earlier)
    _check_wrench(spec, arm)
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
