"""The quick form of a study: its table `[quick]` says how much shorter than the whole it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from simreal.core.errors import UsageError, unknown
from simreal.study.typed import make, tables


@dataclass(frozen=True)
class QuickSpec:
    """How a study is shortened.

    seeds, trials, suites, arms: in place of the study's (arms: those that stay). targets: how many
    of the first targets stay. steps, sim, real: which share of training steps, of simulated and of
    real demonstrations stays.
    """

    seeds: tuple[int, ...] | None = None
    trials: int | None = None
    suites: tuple[str, ...] | None = None
    arms: tuple[str, ...] | None = None
    targets: int | None = None
    steps: float = 1.0
    sim: float = 1.0
    real: float = 1.0


def quickened(content: Mapping[str, Any], table: Any) -> dict[str, Any]:
    """The content of a study file as its table `[quick]` shortens it, under the name NAME-quick.

    Tests and goals of arms or suites that fall away fall away with them.

    Raises:
        UsageError: for unknown keys, values of a wrong type, impossible shares or unknown arms.
    """
    quick: QuickSpec = make(QuickSpec, table, "[quick]")
    for name in ("steps", "sim", "real"):
        if not 0 < getattr(quick, name) <= 1:
            raise UsageError(f"[quick]: {name} = {getattr(quick, name):g}; give a share, 0 to 1.")
    if quick.targets is not None and quick.targets < 1:
        raise UsageError(f"[quick]: targets = {quick.targets}; keep 1 or more.")
    arms = _arms(content, quick)
    suites = set(quick.suites or content.get("suites", ("nominal", "backgrounds")))
    named = {arm.get("name") for arm in arms} | {"best", "operator"}
    replaced = {"seeds": quick.seeds, "trials": quick.trials, "suites": quick.suites}
    if gaps := content.get("gap_suites"):
        replaced["gap_suites"] = tuple(suite for suite in gaps if suite in suites)
    simulation = dict(content.get("simulation", {}))
    for key, share in (("episodes", "sim"), ("corrections", "sim"), ("leader_steps", "steps")):
        if key in simulation:
            simulation[key] = _part(simulation[key], getattr(quick, share))
    short = {
        **content,
        **{key: list(v) if isinstance(v, tuple) else v for key, v in replaced.items() if v},
        "name": f"{content.get('name', 'study')}-quick",
        "quick": True,
        "simulation": simulation,
        "targets": tables(content.get("targets", ()), "targets")[: quick.targets],
        "arms": arms,
    }
    for key in ("tests", "goals"):
        entries = tables(content.get(key, ()), key)
        kept = [_kept(entry, suites) for entry in entries if _names(entry) <= named]
        short[key] = [entry for entry in kept if entry is not None]
    return short


def _names(entry: Mapping[str, Any]) -> set[Any]:
    return {entry[key] for key in ("arm", "against") if key in entry}


def _kept(entry: Mapping[str, Any], suites: set[str]) -> Mapping[str, Any] | None:
    """A test or a goal on the suites that stay; None where none of its own does."""
    if "suite" in entry:
        return entry if entry["suite"] in suites else None
    if not entry.get("suites"):
        return entry
    left = [suite for suite in entry["suites"] if suite in suites]
    return {**entry, "suites": left} if left else None


def _arms(content: Mapping[str, Any], quick: QuickSpec) -> list[dict[str, Any]]:
    """The arms that stay, with fewer steps and demonstrations."""
    arms = tables(content.get("arms", ()), "arms")
    names = [str(arm.get("name")) for arm in arms]
    for name in quick.arms or ():
        if name not in names:
            raise unknown("arm of [quick]", name, names)
    kept = [arm for arm in arms if quick.arms is None or arm.get("name") in quick.arms]
    return [{**_on_suites(arm, quick), "stages": _stages(arm, quick)} for arm in kept]


def _on_suites(arm: Mapping[str, Any], quick: QuickSpec) -> dict[str, Any]:
    """An arm on those of its own suites that stay."""
    suites = arm.get("suites")
    if quick.suites is None or not isinstance(suites, list | tuple):
        return {**arm}
    return {**arm, "suites": [suite for suite in suites if suite in quick.suites]}


def _stages(arm: Mapping[str, Any], quick: QuickSpec) -> list[dict[str, Any]]:
    where = f"arm {arm.get('name', '?')!r}"
    shares = {"sim": quick.sim, "real": quick.real}
    found = []
    for stage in tables(arm.get("stages", ()), f"stages of {where}"):
        short = dict(stage)
        if "steps" in short:
            short["steps"] = _part(short["steps"], quick.steps)
        parts = tables(short.get("parts", ()), f"parts of {where}")
        short["parts"] = [_episodes(part, shares) for part in parts]
        found.append(short)
    return found


def _episodes(part: Mapping[str, Any], shares: Mapping[str, float]) -> dict[str, Any]:
    share = shares.get(str(part.get("source")), 1.0)
    return {**part, "episodes": _part(part["episodes"], share)} if "episodes" in part else {**part}


def _part(number: Any, share: float) -> Any:
    """At least 1 of so many; what is no number is left for whoever reads it to refuse."""
    return max(1, round(number * share)) if type(number) is int else number
