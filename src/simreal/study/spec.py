"""What a study is asked to do, as data: read from TOML, frozen, checked before anything runs."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from simreal.core.errors import UsageError, unknown
from simreal.core.types import STAND_IN
from simreal.study.quick import quickened
from simreal.study.spec_checks import check
from simreal.study.typed import make, tables


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
    """One road: the stages of its training, from scratch or from another arm's checkpoint.

    wrench: what its policy makes of the force/torque window: `full`, `slow` (its band above 20 Hz
    cut) or `none`; None: full where the task's robot has a sensor. suites: those it is tried on
    (none: all of the study). gap: whether it is tried in simulation too, which its transfer gap
    needs.
    """

    name: str
    stages: tuple[StageSpec, ...]
    base: str | None = None
    wrench: str | None = None
    suites: tuple[str, ...] = ()
    gap: bool = True

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
    """Simulated demonstrations: how many, under which randomization.

    corrections: of these how many, the last ones, are made with a policy in the loop that is
    trained on the others for leader_steps: it acts at times, the expert says what to do.
    """

    profile: str
    episodes: int
    seed: int
    appearances: int = 1
    backgrounds: str | None = None
    corrections: int = 0
    leader_steps: int = 5000


@dataclass(frozen=True)
class TrainingSpec:
    """Settings that all arms share, against overfitting and against friction.

    dither: size of the wobble on top of what a policy commands (`policies.dither`), in the units of
    its actions. weight_decay: of the optimizer. shift_px, contrast, tint, brightness, wrench:
    random changes of pictures and forces, in the units of `Augmentation`, whose defaults these are.
    """

    weight_decay: float = 1e-2
    shift_px: int = 0
    contrast: float = 0.2
    tint: float = 0.1
    brightness: float = 0.1
    wrench: float = 0.0
    dither: float = 0.0


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
class GoalSpec:
    """What the study shall show on the targets; met only by a one-sided 95 % bound.

    arm: a name, `best` (any arm; the bound is corrected for how many were tried) or `operator`
    (who gave the real demonstrations). of: `success`, or `force`: the share of trials in which the
    force stayed within the study's limit. at_least: a rate; or against: another arm, than which
    this one is not worse by `margin`, with `less_real` (a fraction) less real data.
    """

    text: str
    arm: str
    suite: str = "nominal"
    of: str = "success"
    at_least: float | None = None
    against: str | None = None
    margin: float = 0.05
    less_real: float = 0.0


@dataclass(frozen=True)
class StudySpec:
    """A whole study. trials: conditions a cell. seeds: of training.

    gap_suites: those also played in simulation, for a gap (none: nominal and the task's own).
    training: settings that all arms share. goal: success rate that is wanted on the targets, None
    for simply the best. tests: the declared
    family of comparisons, none for every pair of arms on every suite that both are tried on.
    force_limit_n: peak force within which a trial should stay, N. quick: whether this is the short
    form of a study, whose numbers are not to be quoted.
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
    force_limit_n: float | None = None
    goals: tuple[GoalSpec, ...] = ()
    gap_suites: tuple[str, ...] = ()
    training: TrainingSpec = TrainingSpec()
    quick: bool = False

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
            and all(suite in self.suites_of(self.arm(arm)) for arm in (test.arm, test.against))
        )

    def suites_of(self, arm: ArmSpec) -> tuple[str, ...]:
        """The suites an arm is tried on, in the order of the study's."""
        return tuple(suite for suite in self.suites if suite in (arm.suites or self.suites))

    def arm(self, name: str) -> ArmSpec:
        """The arm of that name."""
        return next(a for a in self.arms if a.name == name)

    def n(self, arm: ArmSpec, source: str) -> int:
        """Demonstrations of `source` behind an arm, those of its base included."""
        base = self.n(self.arm(arm.base), source) if arm.base else 0
        return max(base, arm.episodes(source))

    def to_json(self) -> dict[str, Any]:
        """A JSON value with everything that decides the results; later settings where used."""
        content = asdict(self)
        for table in (content, content["simulation"], *content["arms"]):
            for key, unused in _LATER.items():
                if key in table and table[key] == unused:
                    del table[key]
        return content


#: Settings that came later, left out where they are not used: plans made before keep their hash.
_LATER = {
    "wrench": None,
    "suites": (),
    "gap": True,
    "force_limit_n": None,
    "goals": (),
    "gap_suites": (),
    "corrections": 0,
    "leader_steps": 5000,
    "training": asdict(TrainingSpec()),
    "quick": False,
}


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
    goals = [make(GoalSpec, g, "a goal") for g in tables(content.get("goals", ()), "goals")]
    training = make(TrainingSpec, content.get("training", {}), "[training]")
    parts: dict[str, Any] = {"simulation": simulation, "targets": targets, "arms": arms}
    parts |= {"tests": tests, "goals": goals, "training": training}
    spec: StudySpec = make(StudySpec, {**content, **parts}, "the study")
    check(spec)
    return spec


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


def _short(content: Mapping[str, Any], table: Any) -> StudySpec:
    try:
        return study_from_json(quickened(content, table))
    except UsageError as error:
        text = str(error)
        raise UsageError(text if text.startswith("[quick]") else f"[quick]: {text}") from error


def load_study(name: str, quick: bool = False) -> StudySpec:
    """A built-in study by name, or one from a TOML file; quick: as its table `[quick]` shortens it.

    Raises:
        UsageError: for an unknown name, a broken file or impossible settings, or where a study has
            no quick form.
    """
    try:
        content = tomllib.loads(study_text(name))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{name} is not valid TOML: {error}.") from error
    table = content.pop("quick", None)
    spec = study_from_json(content)
    short = None if table is None else _short(content, table)
    if not quick:
        return spec
    if short is None:
        raise UsageError(
            f"The study {spec.name!r} has no quick form: its file lacks a table [quick]. Run it "
            "without --quick."
        )
    return short
