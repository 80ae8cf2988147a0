"""What the report reads: one study folder, as frozen objects. Nothing is judged here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from simreal.core.errors import BadDataError
from simreal.core.files import read_json, read_jsonl
from simreal.core.types import STAND_IN
from simreal.report.media import Picture, read_index
from simreal.report.numbers import NO_DATA, Cell, cell

#: (target, suite, arm): one cell of the plan for one arm.
Key = tuple[str, str, str]


@dataclass(frozen=True)
class Place:
    """A twin or a robot policies were tried on. label: printed beside its numbers."""

    kind: str
    name: str
    label: str
    seed: int | None
    severity: str | None


@dataclass(frozen=True)
class Arm:
    """One road: how much data of each kind, and everything measured about it.

    targets: name -> rate, in the order of the study's places. suites: held-out suite -> rate.
    over_targets, gap, cost: as in summary.json, None where not measured.
    """

    name: str
    n_sim: int
    n_real: int
    seeds: tuple[int, ...]
    sim: Cell
    targets: Mapping[str, Cell]
    suites: Mapping[str, Cell]
    over_targets: Mapping[str, Any] | None
    gap: Mapping[str, Any] | None
    cost: Mapping[str, Any] | None


@dataclass(frozen=True)
class Study:
    """A whole study folder. summary, plan, ledger: as on disk, for what is printed verbatim.

    failures: (target, suite, arm) -> failure kind -> trials; trials: the same keys -> all trials.
    plan_shas: the plan hashes that the trials carry. profile: the randomization that the simulated
    demonstrations were made with, as `Profile.to_json` writes it.
    """

    name: str
    form: str
    places: tuple[Place, ...]
    arms: tuple[Arm, ...]
    summary: Mapping[str, Any]
    plan: Mapping[str, Any] = field(default_factory=dict)
    ledger: tuple[Mapping[str, Any], ...] = ()
    failures: Mapping[Key, Counter[str]] = field(default_factory=dict)
    trials: Mapping[Key, int] = field(default_factory=dict)
    plan_shas: frozenset[str] = frozenset()
    pictures: tuple[Picture, ...] = ()
    profile: Mapping[str, Any] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The distinct labels of all places, joined; empty where none has one."""
        return "; ".join(dict.fromkeys(p.label for p in self.places if p.label))

    @property
    def stand_in(self) -> bool:
        """Whether any number of the study comes from a stand-in for a robot."""
        return STAND_IN in self.label


def read_study(folder: Path) -> Study:
    """Read a study folder; summary.json must be there, what was not recorded stays empty."""
    path = folder / "summary.json"
    if not path.exists():
        raise BadDataError(f"{path} is missing; `simreal report` makes it from the raw records.")
    summary = read_json(path)
    missing = {"study", "targets", "arms", "claims", "verdicts", "advice"} - set(summary)
    if missing:
        raise BadDataError(f"{path} lacks {', '.join(sorted(missing))}.")
    failures, trials, shas = _trials(folder / "trials.jsonl")
    plan = read_json(folder / "plan.json") if (folder / "plan.json").exists() else {}
    return replace(
        study_of(summary),
        plan=plan,
        ledger=tuple(read_jsonl(folder / "ledger.jsonl")),
        failures=failures,
        trials=trials,
        plan_shas=shas,
        pictures=read_index(folder / "media"),
        profile=plan.get("randomization") or _profile(folder / "data" / "sim.request.json"),
    )


def _profile(path: Path) -> Mapping[str, Any]:
    """The profile in the request that began the simulated data set."""
    return (read_json(path).get("profile") or {}) if path.exists() else {}


def study_of(summary: Mapping[str, Any]) -> Study:
    """What summary.json alone says; the raw records stay empty."""
    return Study(
        name=str(summary["study"]),
        form=str(summary.get("form") or ""),
        places=tuple(place(t) for t in summary["targets"]),
        arms=tuple(arm(a) for a in summary["arms"]),
        summary=summary,
    )


def place(content: Mapping[str, Any]) -> Place:
    """A target of summary.json; a twin without a label is labelled all the same."""
    label = str(content.get("label") or "")
    if content["kind"] == "twin" and STAND_IN not in label:
        label = f"{STAND_IN}: {label}" if label else STAND_IN
    return Place(
        kind=str(content["kind"]),
        name=str(content["name"]),
        label="" if content["kind"] == "sim" else label,
        seed=content.get("seed"),
        severity=content.get("severity"),
    )


def arm(content: Mapping[str, Any]) -> Arm:
    """An arm of summary.json."""
    seeds = content.get("seeds", ())
    return Arm(
        name=str(content["name"]),
        n_sim=int(content.get("n_sim") or 0),
        n_real=int(content.get("n_real") or 0),
        seeds=tuple(seeds) if isinstance(seeds, Sequence) else (int(seeds),),
        sim=cell(content.get("sim")),
        targets={str(t["name"]): cell(t) for t in content.get("target") or ()},
        suites={str(name): cell(c) for name, c in (content.get("suites") or {}).items()},
        over_targets=content.get("over_targets"),
        gap=content.get("gap"),
        cost=content.get("cost"),
    )


def suite_names(arms: Sequence[Arm]) -> tuple[str, ...]:
    """Every held-out suite any arm was tried on, in order of appearance."""
    return tuple(dict.fromkeys(name for a in arms for name in a.suites))


def target_cell(a: Arm, name: str) -> Cell:
    """The arm's rate on one target; no data where it was not tried there."""
    return a.targets.get(name, NO_DATA)


def _trials(path: Path) -> tuple[dict[Key, Counter[str]], dict[Key, int], frozenset[str]]:
    """Failure kinds and number of trials by cell and arm, and the plan hashes seen."""
    failures: dict[Key, Counter[str]] = {}
    trials: dict[Key, int] = {}
    shas = set()
    for trial in read_jsonl(path):
        key = (trial["target"], trial["suite"], trial["arm"])
        trials[key] = trials.get(key, 0) + 1
        shas.add(trial["plan_sha"])
        if not trial["success"]:
            failures.setdefault(key, Counter())[trial.get("failure") or "not named"] += 1
    return failures, trials, frozenset(shas)
