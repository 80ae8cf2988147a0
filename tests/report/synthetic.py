"""Study folders made up for the tests: one as `simreal demo` leaves it, and one full of edges."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw
from tests.report import expected

from simreal.core.files import append_jsonl, read_json, sha256_of, write_bytes, write_json
from simreal.core.seeds import generator
from simreal.core.types import Charge
from simreal.report.media import contact_sheet, filmstrip
from simreal.verdicts.advise import Request, advise
from simreal.verdicts.cost import Arm
from simreal.verdicts.cost.prices import prices_from
from simreal.verdicts.evidence import Evidence
from simreal.verdicts.records import read_trials
from simreal.verdicts.summary import StudyFacts, TargetFacts, summarise

LABEL = "stand-in (simulated)"
VERSIONS = {"simreal": "0.1.0", "mujoco": "4.0.0", "torch": "2.11.0", "lerobot": "0.6.1"}
KINDS = ("missed", "slipped", "dropped", "timed out")
_WHEN = "2026-01-15T09:30:00Z"


def twin(name: str, seed: int, severity: str = "moderate") -> TargetFacts:
    return TargetFacts("twin", name, seed, severity, LABEL)


def write_study(
    folder: Path,
    arms: tuple[Arm, ...],
    counts: Mapping[tuple[str, str, str], tuple[int, int]],
    targets: tuple[TargetFacts, ...],
    *,
    goal: float | None = 0.8,
    ledger: tuple[Charge, ...] = (),
    media: bool = True,
) -> dict[str, Any]:
    """counts: (arm, target, suite) -> (successes, trials); target `simulation` is what it says."""
    cells = list(dict.fromkeys((t, s) for _, t, s in counts))
    plan = _plan(folder.name, arms, cells, max(n for _, n in counts.values()), targets)
    write_json(folder / "plan.json", plan)
    for (arm, target, suite), (k, n) in counts.items():
        lines = _trials(plan["sha256"], arm, target, suite, k, n)
        append_jsonl(folder / "trials.jsonl", lines)
    if ledger:
        append_jsonl(folder / "ledger.jsonl", [vars(charge) for charge in ledger])
    evidence = Evidence(
        "lift",
        arms,
        read_trials(folder / "trials.jsonl").rows,
        tuple(t.name for t in targets),
        "simulation",
        ledger,
        prices_from({}),
    )
    facts = StudyFacts(folder.name, "primitive", targets, VERSIONS, 702.0)
    summary = summarise(facts, evidence, advise(evidence, Request(target=goal)))
    write_json(folder / "summary.json", summary)
    if media:
        write_media(folder / "media", [a.name for a in arms], targets[0].name)
    return summary


def demo(folder: Path) -> dict[str, Any]:
    """Three arms, one moderate twin, 100 trials a cell."""
    arms = (Arm("sim-only", 600, 0), Arm("real-only", 0, 50), Arm("hybrid", 600, 20))
    rates = {"sim-only": (96, 84, 75), "real-only": (71, 80, 14), "hybrid": (95, 93, 77)}
    counts = {}
    for arm, (sim, target, unseen) in rates.items():
        counts[arm, "simulation", "nominal"] = (sim, 100)
        counts[arm, "twin-7", "nominal"] = (target, 100)
        counts[arm, "twin-7", "backgrounds"] = (unseen, 100)
    ledger = (
        Charge(_WHEN, "twin clock", "shared", "demonstration", 900.0, "s", "50 episodes"),
        Charge(_WHEN, "twin clock", "shared", "reset", 1500.0, "s", "50 resets"),
        Charge(_WHEN, "twin clock", "shared", "retry", 240.0, "s", "8 retries"),
        Charge(_WHEN, "twin clock", "shared", "demonstration", 50.0, "count"),
        Charge(_WHEN, "process clock", "shared", "simulate", 95.0, "s"),
        Charge(_WHEN, "process clock", "shared", "render", 160.0, "s"),
        Charge(_WHEN, "process clock", "sim-only", "train", 130.0, "s"),
        Charge(_WHEN, "process clock", "real-only", "train", 130.0, "s"),
        Charge(_WHEN, "process clock", "hybrid", "train", 150.0, "s"),
    )
    return write_study(folder, arms, counts, (twin("twin-7", 7),), ledger=ledger)


def full(folder: Path) -> dict[str, Any]:
    """Six arms and everything that newer studies estimate beside what they measure."""
    counts = {}
    for arm, (sim, target, unseen) in expected.RATES.items():
        counts[arm, "simulation", "nominal"] = (sim, 100)
        counts[arm, "twin-7", "nominal"] = (target, 100)
        counts[arm, "twin-7", "backgrounds"] = (unseen, 100)
    train = [Charge(_WHEN, "process clock", a.name, "train", 130.0, "s") for a in expected.ARMS]
    ledger = (
        Charge(_WHEN, "twin clock", "shared", "demonstration", 1800.0, "s", "100 episodes"),
        Charge(_WHEN, "twin clock", "shared", "reset", 3000.0, "s", "100 resets"),
        Charge(_WHEN, "twin clock", "shared", "demonstration", 100.0, "count"),
        Charge(_WHEN, "process clock", "shared", "simulate", 95.0, "s"),
        *train,
    )
    summary = write_study(folder, expected.ARMS, counts, (twin("twin-7", 7),), ledger=ledger)
    totals = {arm["name"]: arm["cost"]["total"] for arm in summary["arms"]}
    summary |= {
        "curves": expected.curves(),
        "explanation": expected.explanation(),
        "time": expected.time(),
        "economics": expected.economics(totals),
        "acceptance": expected.acceptance(),
        "ranking": expected.ranking(),
        "recipes": expected.recipes(),
        "advice": {**summary["advice"], **expected.roads()},
    }
    write_json(folder / "summary.json", summary)
    plan = read_json(folder / "plan.json")
    simulation = {"profile": "full", "episodes": 600, "seed": 1, "appearances": 1}
    plan["study"] |= {"arms": expected.plan_arms(), "goal": 0.85, "simulation": simulation}
    _resealed(folder, plan)
    write_json(folder / "data" / "sim.request.json", {"profile": expected.profile(), "seed": 1})
    return summary


def _resealed(folder: Path, plan: dict[str, Any]) -> None:
    """Save a changed plan with a hash that fits, in the trials too."""
    old = plan.pop("sha256")
    plan["sha256"] = sha256_of(plan)
    write_json(folder / "plan.json", plan)
    trials = folder / "trials.jsonl"
    trials.write_text(trials.read_text().replace(old, plan["sha256"]))


def edges(folder: Path) -> dict[str, Any]:
    """Long names, several twins, no data, fewer than 5 trials, missing suites, no picture file."""
    long = "hybrid, co-trained from scratch with 600 simulated and 20 real demonstrations"
    arms = (
        Arm("sim-only", 600, 0, (0, 1)),
        Arm("real-only-with-a-name-that-has-no-place-to-break-a-line", 0, 50, (0, 1)),
        Arm(long, 600, 20, (0, 1)),
        Arm("untried", 50, 0),
        Arm("<b>markup & $money$</b>", 100, 5),
    )
    names = [a.name for a in arms]
    counts = {
        (names[0], "simulation", "nominal"): (40, 40),
        (names[0], "twin-7", "nominal"): (31, 40),
        (names[0], "twin-8", "nominal"): (20, 40),
        (names[0], "twin-9", "nominal"): (35, 40),
        (names[1], "twin-7", "nominal"): (32, 40),
        (names[1], "twin-8", "nominal"): (3, 4),
        (names[2], "simulation", "nominal"): (38, 40),
        (names[2], "twin-7", "nominal"): (33, 40),
        (names[2], "twin-8", "nominal"): (31, 40),
        (names[2], "twin-8", "backgrounds"): (0, 40),
        (names[2], "twin-8", "a_suite_of_ones_own"): (40, 40),
        (names[4], "twin-7", "nominal"): (2, 4),
    }
    targets = tuple(twin(f"twin-{seed}", seed) for seed in (7, 8, 9))
    ledger = (
        Charge(_WHEN, "user", "shared", "engineering", 80.0, "h", "declared"),
        Charge(_WHEN, "twin clock", "shared", "demonstration", 5400.0, "s"),
        Charge(_WHEN, "process clock", names[2], "train", 9000.0, "s"),
    )
    summary = write_study(folder, arms, counts, targets, ledger=ledger)
    (folder / "media" / "strip-7.png").unlink()
    summary["arms"][0]["cost"] = None
    summary["arms"][2]["over_targets"] = None
    write_json(folder / "summary.json", summary)
    return summary


def bare(folder: Path) -> dict[str, Any]:
    """summary.json alone, of a robot, with one arm that was never tried."""
    arm = {"name": "real-only", "n_sim": 0, "n_real": 50, "seeds": [0], "sim": None, "target": []}
    arm |= {"over_targets": None, "gap": None, "suites": {}, "cost": None}
    step = {"arm": None, "n_real": 0, "n_sim": 0, "trials": 50, "why": ""}
    advice = {
        "state": "not enough evidence",
        "strategy": None,
        "reason": "No trials.",
        "next": step,
    }
    advice |= {"runner_up": None, "flips": [], "cost": None, "eligibility": [], "assumptions": []}
    robot = {"kind": "robot", "name": "arm-1", "seed": None, "severity": None, "label": ""}
    summary = {"schema": "simreal.summary/1", "study": "bare", "form": "full", "targets": [robot]}
    summary |= {"arms": [arm], "claims": [], "verdicts": [], "advice": advice, "versions": {}}
    summary["wall_s"] = 0.0
    write_json(folder / "summary.json", summary)
    return summary


def _plan(
    name: str,
    arms: tuple[Arm, ...],
    cells: list[tuple[str, str]],
    n: int,
    targets: tuple[TargetFacts, ...],
) -> dict[str, Any]:
    plan: dict[str, Any] = {
        "schema": "simreal/plan/2",
        "study": {"name": name, "task": "lift", "rate_hz": 20, "steps": 3000},
        "arms": [{"name": a.name, "n_sim": a.n_sim, "n_real": a.n_real} for a in arms],
        "seeds": [0],
        "cells": [
            {"target": t, "suite": s, "role": "sim" if t == "simulation" else "target"}
            for t, s in cells
        ],
        "conditions": [
            {"index": i, "suite": "nominal", "reset": {"object_x_m": 0.2}, "seed": i}
            for i in range(n)
        ],
        "targets": [vars(t) for t in targets],
        "tests": {
            "pairs": [["sim-only", "real-only"], ["sim-only", "hybrid"], ["real-only", "hybrid"]],
            "margin": 0.05,
            "method": "paired: Tango interval, exact McNemar, Holm over all pairs",
        },
        "power": {"trials_per_cell": n, "smallest_difference_80": 0.1372019, "assumed": None},
        "shard": 50,
        "checkpoint_rule": "the last checkpoint (exponential moving average)",
    }
    return {**plan, "sha256": sha256_of(plan)}


def _trials(sha: str, arm: str, target: str, suite: str, k: int, n: int) -> list[dict[str, Any]]:
    """n trials, k of them successes, in an order that depends on the cell."""
    draw = generator(3, f"{arm}/{target}/{suite}")
    wins = set(draw.permutation(n)[:k].tolist())
    return [
        {
            "plan_sha": sha,
            "arm": arm,
            "seed": 0,
            "target": target,
            "suite": suite,
            "condition": i,
            "success": i in wins,
            "score": 1.0 if i in wins else 0.5,
            "failure": None if i in wins else KINDS[int(draw.integers(len(KINDS)) ** 2 / 3)],
            "steps": 60,
            "seconds": 3.0,
            "collisions": 0,
            "peak_force": None,
            "overruns": 0,
            "media": None,
        }
        for i in range(n)
    ]


def frames(n: int, look: int, caught: bool) -> np.ndarray:
    """n pictures of a block that a gripper reaches and lifts (or not), 64 x 64."""
    walls = ((196, 206, 214), (188, 170, 140), (96, 140, 110))
    tables = ((150, 118, 88), (92, 84, 80), (176, 176, 182))
    pictures = []
    for t in np.linspace(0, 1, n):
        image = Image.new("RGB", (64, 64), walls[look])
        draw = ImageDraw.Draw(image)
        draw.rectangle((0, 38, 64, 64), tables[look])
        down = min(1.0, t / 0.5)
        lift = max(0.0, (t - 0.5) / 0.5)
        tip = 12 + 26 * down - 22 * lift
        block = 42 - (22 * lift if caught else 0)
        draw.line((54, 0, 46, 14, 34, tip - 8), (60, 62, 68), width=4)
        for side in (-5, 5):
            draw.line((34 + side, tip - 8, 34 + side, tip + 4), (230, 140, 40), width=2)
        draw.rectangle((30, block, 38, block + 8), (190, 50, 60))
        pictures.append(np.asarray(image))
    return np.stack(pictures)


def write_media(media: Path, arms: list[str], target: str) -> None:
    """Samples, and the films of two cameras on the target, in simulation and before backgrounds."""
    index: list[dict[str, Any]] = []

    def add(name: str, content: bytes, kind: str, caption: str, **more: Any) -> None:
        write_bytes(media / name, content)
        fields = {"arm": None, "target": None, "suite": None, "condition": None, "failure": None}
        index.append({"file": name, "kind": kind, "caption": caption, **fields, **more})

    places = (("sample_sim", None), ("sample_target", target), ("sample_unseen", target))
    for look, (kind, name) in enumerate(places):
        sheet = contact_sheet(frames(16, look, True), 2, 8, scale=2)
        caption = "8 episode starts; scene above, wrist camera below"
        add(f"{kind}.png", sheet, kind, caption, target=name)
    cells = (("simulation", "nominal", 0), (target, "nominal", 1), (target, "backgrounds", 2))
    for arm, (place, suite, look), caught, camera in itertools.product(
        arms[:3], cells, (True, False), ("scene", "wrist")
    ):
        number = len(index)
        condition = (number - len(places)) // 2
        add(
            f"strip-{number}.png",
            filmstrip(frames(40, look, caught), 8, 1),
            "success" if caught else "failure",
            f"condition {condition}, {camera} camera, 61 steps",
            arm=arm,
            target=place,
            suite=suite,
            condition=condition,
            failure=None if caught else "slipped",
            camera=camera,
        )
    add("demo.png", filmstrip(frames(40, 0, True), 8, 1), "demo", "simulated, scene camera")
    write_json(media / "index.json", index)
