"""What a study is asked to do, as data: read from TOML, frozen, checked before anything runs."""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from simreal.core.errors import UsageError, unknown
from simreal.core.types import STAND_IN
from simreal.robots.ranges import SEVERITIES
from simreal.robots.twinfile import SUITES
from simreal.study.typed import make, tables

SOURCES = ("sim", "real")

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
#: Names that mean something else in records.
_TAKEN = ("any", "shared", "simulation")


@dataclass(frozen=True)
class PartSpec:
    """A share of a stage's batches: which source, its weight, how many of its demonstrations."""

    source: str
    weight: float
    episodes: int


@dataclass(frozen=True)
class StageSpec:
    """A stretch of training."""

    steps: int
    peak_lr: float
    parts: tuple[PartSpec, ...]


@dataclass(frozen=True)
class ArmSpec:
    """One road: the stages of its training, from scratch or from another arm's checkpoint."""

    name: str
    stages: tuple[StageSpec, ...]
    base: str | None = None

    @property
    def sim_share(self) -> float:
        """Share of simulated samples in the batches of the last stage."""
        parts = self.stages[-1].parts
        simulated = sum(part.weight for part in parts if part.source == "sim")
        return simulated / sum(part.weight for part in parts)

    def episodes(self, source: str) -> int:
        """Largest number of demonstrations of `source` that its own stages read."""
        return max(
            (p.episodes for s in self.stages for p in s.parts if p.source == source), default=0
        )


@dataclass(frozen=True)
class SimulationSpec:
    """Simulated demonstrations: how many, under which randomization."""

    profile: str
    episodes: int
    seed: int
    appearances: int = 1
    backgrounds: str | None = None


@dataclass(frozen=True)
class TargetRef:
    """A target: a twin by seed and severity, or a reference (`robot:FILE`, `NAME:ARGUMENT`)."""

    name: str
    seed: int = 0
    severity: str = "moderate"
    ref: str | None = None

    def described(self) -> dict[str, Any]:
        """The target as plan and summary name it."""
        kind = "twin" if self.ref is None else self.ref.partition(":")[0]
        return {
            "name": self.name,
            "kind": kind,
            "label": STAND_IN if kind == "twin" else kind,
            "seed": self.seed if self.ref is None else None,
            "severity": self.severity if self.ref is None else None,
        }


@dataclass(frozen=True)
class ComparisonSpec:
    """A declared comparison: one arm against another, on these suites (none: on all)."""

    arm: str
    against: str
    suites: tuple[str, ...] = ()


@dataclass(frozen=True)
class StudySpec:
    """A whole study. trials: conditions a cell. seeds: of training.

    goal: success rate that is wanted on the targets, None for simply the best. tests: the declared
    family of comparisons, none for every pair of arms on every suite.
    """

    name: str
    task: str
    simulation: SimulationSpec
    targets: tuple[TargetRef, ...]
    arms: tuple[ArmSpec, ...]
    form: str = "primitive"
    size_px: int = 64
    shadows: bool = False
    seeds: tuple[int, ...] = (0,)
    trials: int = 100
    trial_seed: int = 0
    suites: tuple[str, ...] = ("nominal", "backgrounds")
    margin: float = 0.05
    goal: float | None = None
    tests: tuple[ComparisonSpec, ...] = ()

    @property
    def family(self) -> tuple[tuple[str, str, str], ...]:
        """The declared comparisons, (arm, against, suite) each, the nominal suite first."""
        pairs = itertools.combinations([arm.name for arm in self.arms], 2)
        tests = self.tests or tuple(ComparisonSpec(a, b) for a, b in pairs)
        return tuple(
            (test.arm, test.against, suite)
            for suite in sorted(self.suites, key=lambda name: (name != "nominal", name))
            for test in tests
            if suite in (test.suites or self.suites)
        )

    def arm(self, name: str) -> ArmSpec:
        """The arm of that name."""
        return next(a for a in self.arms if a.name == name)

    def n(self, arm: ArmSpec, source: str) -> int:
        """Demonstrations of `source` behind an arm, those of its base included."""
        base = self.n(self.arm(arm.base), source) if arm.base else 0
        return max(base, arm.episodes(source))

    def to_json(self) -> dict[str, Any]:
        """A JSON value with everything that decides the results."""
        return asdict(self)


def _arm(content: Mapping[str, Any]) -> ArmSpec:
    where = f"arm {content.get('name', '?')!r}"
    stages = []
    for stage in tables(content.get("stages", ()), f"stages of {where}"):
        listed = tables(stage.get("parts", ()), f"parts of {where}")
        parts = [make(PartSpec, part, f"a part of {where}") for part in listed]
        stages.append(make(StageSpec, {**stage, "parts": parts}, f"a stage of {where}"))
    arm: ArmSpec = make(ArmSpec, {**content, "stages": stages}, where)
    return arm


def study_from_json(content: Mapping[str, Any]) -> StudySpec:
    """Read a study.

    Raises:
        UsageError: for unknown keys, arms, sources, suites or severities, values of a wrong type,
            and impossible numbers.
    """
    simulation = make(SimulationSpec, content.get("simulation", {}), "[simulation]")
    targets = [
        make(TargetRef, t, "a target") for t in tables(content.get("targets", ()), "targets")
    ]
    arms = [_arm(a) for a in tables(content.get("arms", ()), "arms")]
    tests = [make(ComparisonSpec, t, "a test") for t in tables(content.get("tests", ()), "tests")]
    parts = {"simulation": simulation, "targets": targets, "arms": arms, "tests": tests}
    spec: StudySpec = make(StudySpec, {**content, **parts}, "the study")
    _check(spec)
    return spec


def _check(spec: StudySpec) -> None:
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


def built_in() -> dict[str, str]:
    """Names and texts of the studies that ship with simreal."""
    folder = resources.files("simreal.study") / "studies"
    return {
        entry.name.removesuffix(".toml"): entry.read_text()
        for entry in folder.iterdir()
        if entry.name.endswith(".toml")
    }


def study_text(name: str) -> str:
    """The text of a built-in study, or of a file.

    Raises:
        UsageError: for an unknown name.
    """
    texts = built_in()
    if name in texts:
        return texts[name]
    if not Path(name).is_file():
        raise unknown("study (and no such file)", name, texts)
    try:
        return Path(name).read_text()
    except UnicodeDecodeError as error:
        raise UsageError(f"{name} is not a text file: {error}.") from error


def load_study(name: str) -> StudySpec:
    """A built-in study by name, or one from a TOML file.

    Raises:
        UsageError: for an unknown name, a broken file or impossible settings.
    """
    try:
        return study_from_json(tomllib.loads(study_text(name)))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{name} is not valid TOML: {error}.") from error
