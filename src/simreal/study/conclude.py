"""From raw records to verdicts.json, summary.json and report.html; can be run again any time."""

from __future__ import annotations

import platform
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

from simreal.core.files import read_json, write_json
from simreal.report.page import build_page
from simreal.study.evidence import evidence_of
from simreal.study.forces import write_profiles
from simreal.trials.plan import load_plan
from simreal.verdicts.advise import Request, advise, simulated, strategies_of
from simreal.verdicts.evidence import DeclaredTest
from simreal.verdicts.goals import Goal
from simreal.verdicts.summary import StudyFacts, TargetFacts, summarise

PACKAGES = ("simreal", "lerobot", "mujoco", "mujoco-warp", "warp-lang", "torch", "numpy")


def conclude(folder: Path, wall_s: float | None = None, prices: Path | None = None) -> Path:
    """Make verdicts.json, summary.json and report.html again from the raw records."""
    plan = load_plan(folder / "plan.json").content
    evidence = evidence_of(folder, prices)
    roads = evidence.roads()
    evidence = replace(evidence, strategies=strategies_of(roads))
    if wall_s is None:
        wall = folder / "wall.json"
        wall_s = float(read_json(wall)["wall_s"]) if wall.exists() else 0.0
    explained = folder / "explain.json"
    facts = StudyFacts(
        study=plan["study"]["name"],
        form=plan["study"]["form"],
        targets=tuple(TargetFacts(**t) for t in plan["targets"]),
        versions={**{p: version(p) for p in PACKAGES}, "python": platform.python_version()},
        wall_s=round(wall_s, 1),
        tests=tuple(DeclaredTest(*test) for test in plan["tests"]["family"]),
        goals=tuple(Goal(**goal) for goal in plan["study"].get("goals", ())),
        explanation=read_json(explained) if explained.exists() else None,
    )
    request = Request(target=evidence.goal, built=simulated(roads))
    summary = summarise(facts, evidence, advise(evidence.roads(), request))
    write_profiles(folder, [c["target"] for c in plan["cells"] if c["role"] == "sim"])
    write_json(folder / "verdicts.json", {k: summary[k] for k in ("claims", "verdicts", "advice")})
    write_json(folder / "summary.json", summary)
    return build_page(folder, evidence.prices)
