"""What a study is asked to do, as data: read from TOML, frozen, checked before anything runs."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from importlib import resources
from pathlib import Path
from typing import Any

from simreal.core.errors import UsageError, unknown

SOURCES = ("sim", "real")
SEVERITIES = ("mild", "moderate", "harsh")


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
    """A target: `twin` by seed and severity, or a reference (`robot:FILE`, `NAME:ARGUMENT`)."""

    name: str
    kind: str = "twin"
    seed: int = 0
    severity: str = "moderate"
    ref: str | None = None


@dataclass(frozen=True)
class StudySpec:
    """A whole study. trials: conditions a cell. seeds: of training."""

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


def _known(cls: type, content: Mapping[str, Any], where: str) -> dict[str, Any]:
    names = [f.name for f in fields(cls)]
    for key in content:
        if key not in names:
            raise unknown(f"key of {where}", key, names)
    return dict(content)


def _make(cls: type, content: Mapping[str, Any], where: str) -> Any:
    try:
        return cls(**_known(cls, content, where))
    except TypeError as error:
        raise UsageError(f"{where}: {str(error).split('.')[-1]}.") from error


def _arm(content: Mapping[str, Any]) -> ArmSpec:
    where = f"arm {content.get('name', '?')!r}"
    stages = []
    for stage in content.get("stages", ()):
        parts = tuple(_make(PartSpec, p, f"a part of {where}") for p in stage.get("parts", ()))
        stages.append(_make(StageSpec, {**stage, "parts": parts}, f"a stage of {where}"))
    arm: ArmSpec = _make(ArmSpec, {**content, "stages": tuple(stages)}, where)
    return arm


def study_from_json(content: Mapping[str, Any]) -> StudySpec:
    """Read a study.

    Raises:
        UsageError: for unknown keys, arms, sources or severities, and impossible numbers.
    """
    simulation = _make(SimulationSpec, content.get("simulation", {}), "[simulation]")
    targets = tuple(_make(TargetRef, t, "a target") for t in content.get("targets", ()))
    arms = tuple(_arm(a) for a in content.get("arms", ()))
    rest = {k: tuple(v) if isinstance(v, list) else v for k, v in content.items()}
    spec: StudySpec = _make(
        StudySpec, {**rest, "simulation": simulation, "targets": targets, "arms": arms}, "the study"
    )
    _check(spec)
    return spec


def _check(spec: StudySpec) -> None:
    names = [arm.name for arm in spec.arms]
    if not spec.arms or not spec.targets or not spec.seeds:
        raise UsageError("A study needs at least one arm, one target and one training seed.")
    for kind, values in (("arm", names), ("target", [t.name for t in spec.targets])):
        if len(set(values)) != len(values):
            raise UsageError(f"Names of {kind}s must differ; got {', '.join(values)}.")
    for target in spec.targets:
        if target.severity not in SEVERITIES:
            raise unknown(f"severity of target {target.name!r}", target.severity, SEVERITIES)
    for arm in spec.arms:
        _check_arm(spec, arm, names)
    if not 5 <= spec.trials <= 10_000:
        raise UsageError(f"trials = {spec.trials}; allowed: 5 to 10000 a cell.")


def _check_arm(spec: StudySpec, arm: ArmSpec, names: Sequence[str]) -> None:
    if arm.base is not None and arm.base not in names[: names.index(arm.name)]:
        earlier = names[: names.index(arm.name)]
        raise unknown(f"base of arm {arm.name!r} (it must come earlier)", arm.base, earlier)
    if not arm.stages or any(not s.parts for s in arm.stages):
        raise UsageError(f"Arm {arm.name!r} needs stages, each with parts.")
    for stage in arm.stages:
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


def load_study(name: str) -> StudySpec:
    """A built-in study by name, or one from a TOML file.

    Raises:
        UsageError: for an unknown name, a broken file or impossible settings.
    """
    texts = built_in()
    if name in texts:
        return study_from_json(tomllib.loads(texts[name]))
    path = Path(name)
    if not path.is_file():
        raise unknown("study (and no such file)", name, texts)
    try:
        return study_from_json(tomllib.loads(path.read_text()))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path} is not valid TOML: {error}.") from error
