"""What newer studies add to summary.json: curves, causes, roads, money and days, made up."""

from __future__ import annotations

import math
from typing import Any

from simreal.verdicts.cost import Arm
from simreal.verdicts.rates import Rate, clopper_pearson

LABEL = "stand-in (simulated)"
ARMS = (
    Arm("sim-only", 600, 0),
    Arm("real-12", 0, 12),
    Arm("real-only", 0, 50),
    Arm("real-100", 0, 100),
    Arm("hybrid-5", 600, 5),
    Arm("hybrid", 600, 20),
)
#: (simulation, target, unseen backgrounds), successes of 100.
RATES = {
    "sim-only": (96, 62, 51),
    "real-12": (21, 34, 6),
    "real-only": (58, 71, 14),
    "real-100": (66, 80, 19),
    "hybrid-5": (95, 74, 60),
    "hybrid": (95, 87, 68),
}


def rate(k: int, n: int) -> dict[str, Any]:
    return Rate.of(k, n).to_json()


def curves() -> dict[str, Any]:
    def line(n_sim: int, start: float, tau: float, measured_to: int) -> dict[str, Any]:
        n_real = [0, 2, 5, 10, 20, 35, 50, 75, 100, 150, 200, 300, 400]
        middle = [1 - 0.06 - (start - 0.06) * (1 + n / tau) ** -0.9 for n in n_real]
        spread = [0.04 + 0.03 * max(0.0, math.log((n + 1) / (measured_to + 1))) for n in n_real]
        ends = {
            "p10": [max(0.0, m - 1.6 * s) for m, s in zip(middle, spread, strict=True)],
            "p90": [min(1.0, m + 1.2 * s) for m, s in zip(middle, spread, strict=True)],
        }
        return {"n_sim": n_sim, "n_real": n_real, "p50": middle, **ends, "measured_to": measured_to}

    return {
        "target": "twin-7",
        "cells": [
            {"arm": a.name, "n_real": a.n_real, "n_sim": a.n_sim, "k": RATES[a.name][1], "n": 100}
            for a in ARMS
        ],
        "lines": [line(0, 0.97, 14, 100), line(600, 0.38, 9, 20)],
        "models": {"additive": 0.31, "multiplicative": 0.58, "exchange": 0.11},
        "non_monotone": [
            "real-100 with 80/100 lies within noise of its neighbours; hybrid-5 does not flag."
        ],
        "saving": {
            "goal": 0.85,
            "n_sim": 600,
            "state": "estimated",
            "p10": 0.58,
            "p50": 0.81,
            "p90": 0.92,
            "reach_real": 0.71,
            "reach_hybrid": 0.96,
        },
    }


def explanation() -> dict[str, Any]:
    names = ("visual", "dynamics", "sensing", "actuation")
    shares = (0.17, 0.06, 0.03, 0.05)
    paired = {"n": 100, "paired": True, "method": "paired: Tango score interval"}
    cells = []
    for bits in range(16):
        chosen = [name for i, name in enumerate(names) if bits >> i & 1]
        lost = sum(share for i, share in enumerate(shares) if bits >> i & 1)
        cells.append({"factors": chosen, "k": round(200 * (0.955 - lost)), "n": 200})
    return {
        "arm": "sim-only",
        "seed": 0,
        "target": "twin-7",
        "label": LABEL,
        "profile": "twin-7.profile.toml",
        "conditions": 200,
        "factors": [
            {
                "name": name,
                "share": share,
                "ci": [share - 0.035, share + 0.035],
                "first_in": share + 0.02,
                "first_in_ci": [share - 0.02, share + 0.06],
                "last_in": share - 0.015,
                "last_in_ci": [share - 0.05, share + 0.02],
                "described": True,
            }
            for name, share in zip(names, shares, strict=True)
        ],
        "interactions": [{"factors": ["visual", "sensing"], "points": -0.015, "ci": [-0.05, 0.02]}],
        "recorded": {"n": 100, "differ": 0},
        "explained": {"points": 0.31, "ci": [0.24, 0.38]},
        "gap": {"points": 0.335, "ci": [0.23, 0.43], **paired},
        "sim": rate(191, 200),
        "calibrated": rate(129, 200),
        "real": rate(62, 100),
        "unexplained": {"points": 0.025, "ci": [-0.088, 0.14], **paired},
        "cells": cells,
        "failures": {
            "sim": {"missed": 6, "slipped": 3},
            "calibrated": {"missed": 41, "slipped": 22, "timed out": 8},
            "real": {"missed": 21, "slipped": 9, "timed out": 6, "dropped": 2},
        },
        "note": "It attributes simulator variants, and is no causal claim about the robot.",
    }


def time() -> dict[str, Any]:
    def road(name: str, days: tuple[float, float], robot: tuple[float, float], p: float) -> Any:
        cost = {"p50": 46 * days[0], "p90": 52 * days[1]}
        spans = {"days": dict(zip(("p50", "p90"), days, strict=True))}
        spans["robot_days"] = dict(zip(("p50", "p90"), robot, strict=True))
        return {"name": name, **spans, "by_deadline": p, "cost": cost}

    speed = {"p10": 1.5, "p90": 4.0, "source": "the ledger"}
    return {
        "inputs": {
            "robots": 1,
            "operators": 1,
            "shift_hours": 8,
            "shifts": 1,
            "days_a_week": 5,
            "deadline_days": 15,
            "cores": 16,
            "gpus": 1,
            "can_build": True,
            "engineers": 1,
            "stopped_line": 0,
            "variants": 1,
            "trials": 50,
            "goal": 0.85,
            **dict.fromkeys(("minutes", "usable", "trial_minutes", "setup_hours"), speed),
            "per_core_hour": speed,
        },
        "roads": [
            road("real-only", (4.2, 9.5), (3.1, 8.0), 0.97),
            road("hybrid", (11.0, 16.4), (0.8, 1.9), 0.78),
            road("sim-only", (10.1, 31.0), (0.4, 0.6), 0.41),
        ],
        "fastest": "real-only",
        "cheapest": "hybrid",
        "label": LABEL,
    }


def economics(totals: dict[str, float]) -> dict[str, Any]:
    """totals: what the arms cost, by name."""

    def stack(total: float) -> dict[str, float]:
        parts = {"operator": 0.6, "robot": 0.04, "wear": 0.03, "compute": 0.03}
        parts |= {"engineering": 0.0, "quality_check": 0.3, "incident": 0.0}
        return {name: share * total for name, share in parts.items()}

    def points(scale: float, ceiling: float) -> list[dict[str, float | None]]:
        rates = [0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95]
        found: list[dict[str, float | None]] = []
        for p in rates:
            middle = scale * (ceiling - 0.5) / (ceiling - p) if p < ceiling else None
            low = middle * 0.5 if middle else scale * 9
            high = middle * 2.4 if middle and p < ceiling - 0.05 else None
            found.append({"rate": p, "p10": low, "p50": middle, "p90": high})
        return found

    return {
        "per_arm": [
            {
                "arm": a.name,
                "total": totals[a.name],
                "ends": [0.6 * totals[a.name], 1.7 * totals[a.name]],
                "setup": [3000.0, 24000.0] if a.n_sim else None,
                "per_demonstration": {
                    "real": 0.77 if a.n_real else None,
                    "sim": 0.00004 if a.n_sim else None,
                },
                "per_success_point": totals[a.name] / RATES[a.name][1],
                "stack": stack(totals[a.name]),
                "label": LABEL,
            }
            for a in ARMS
        ],
        "reach": [
            {"road": "real-only", "basis": "learning curve", "points": points(30.0, 0.94)},
            {"road": "hybrid", "basis": "learning curve", "points": points(9.0, 0.97)},
            {"road": "sim-only", "basis": "learning curve", "points": points(0.4, 0.72)},
        ],
        "break_even": [
            {
                "arm": "hybrid",
                "against": "real-only",
                "variants": variants,
                "built": built,
                "demonstrations": ends,
                "saving": saving,
            }
            for variants, built, ends, saving in (
                (1, True, [3, 9], [0.55, 0.9]),
                (1, False, [1200, 9600], None),
                (10, False, [120, 960], None),
                (100, False, [12, None], None),
            )
        ],
        "note": None,
        "avoided": {"events": 1240, "money": [0.0, 18600.0]},
    }


def acceptance() -> list[dict[str, Any]]:
    return [
        {
            "arm": name,
            "target": "twin-7",
            "k": k,
            "n": 100,
            "goal": 0.85,
            "trials_needed": needed,
            "shown": shown,
            "lower": clopper_pearson(k, 100, side="lower")[0],
            "sentence": sentence,
        }
        for name, k, needed, shown, sentence in (
            (
                *("hybrid", 87, 120, False),
                "At least 85 % with 95 % confidence needs 120 trials with 13 failures; hybrid has "
                "87 of 100 on twin-7, stand-in (simulated), which shows at least 80.1 %.",
            ),
            (
                *("hybrid-5", 95, 59, True),
                "At least 85 % is shown with 95 % confidence: hybrid-5 has 95 of 100 on twin-7, "
                "stand-in (simulated) (at least 89.7 %).",
            ),
        )
    ]


def ranking() -> dict[str, Any]:
    marks = {"hybrid": "a", "real-100": "ab", "hybrid-5": "bc", "real-only": "bc"}
    marks |= {"sim-only": "c", "real-12": "d"}
    return {
        "method": "paired: Tango score interval, exact McNemar test; Holm over 15",
        "arms": [
            {"arm": name, **rate(RATES[name][1], 100), "letters": letters}
            for name, letters in marks.items()
        ],
    }


def recipes() -> list[dict[str, Any]]:
    return [
        {
            "claim": "hybrid against real-only, nominal",
            "state": "cannot tell",
            "estimate": 0.16,
            "ci": [-0.03, 0.35],
            "method": "two training seeds an arm; t interval over seeds",
        },
        {
            "claim": "hybrid against sim-only, nominal",
            "state": "not tested",
            "estimate": None,
            "ci": None,
            "method": "not tested: sim-only has 1 training seed",
        },
    ]


def roads() -> dict[str, Any]:
    """What the advisor adds to `advice`."""
    return {
        "roads": [
            {
                "road": "hybrid",
                "next": {"n_real": 40, "n_sim": 600},
                "p_reach": 0.91,
                "after": 0.88,
                "cost": {"p50": 62.0, "p90": 141.0, "mean": 74.0},
                "pareto": True,
                "tried": True,
            },
            {
                "road": "real-only",
                "next": {"n_real": 200, "n_sim": 0},
                "p_reach": 0.66,
                "after": 0.87,
                "cost": {"p50": 212.0, "p90": 410.0, "mean": 240.0},
                "pareto": False,
                "tried": True,
            },
            {
                "road": "sim-only",
                "next": {"n_real": 0, "n_sim": 1200},
                "p_reach": 0.07,
                "after": None,
                "cost": {"mean": 9.0, "p50": 3.1, "p90": 24.0},
                "pareto": True,
                "tried": True,
            },
        ],
        "goal": 0.85,
        "road": "hybrid",
        "p_reach": 0.91,
        "currency": "USD",
        "evpi": 18.4,
        "evsi": [
            {"measurement": "50 more trials of hybrid", "value": 6.2, "cost": 3.75},
            {"measurement": "a cell with 200 real demonstrations", "value": 9.1, "cost": 160.0},
        ],
        "strategy": "hybrid",
        "state": "advice",
        "reason": "hybrid reaches 85 % with a probability of 91 % at the least expected cost.",
        "next": {
            "arm": "hybrid",
            "n_real": 40,
            "n_sim": 600,
            "trials": 50,
            "why": "twice its real demonstrations, then a test of 50 trials.",
        },
        "flips": [
            "real-only wins if a real demonstration costs less than $0.21.",
            "real-only wins if building the simulation is not paid yet and fewer than 1,200 "
            "demonstrations are needed.",
        ],
    }


def plan_arms() -> list[dict[str, Any]]:
    """The arms as a study's own plan describes their training."""
    found = []
    for arm in ARMS:
        parts = []
        if arm.n_sim:
            weight = 0.7 if arm.n_real else 1.0
            parts.append({"source": "sim", "weight": weight, "episodes": arm.n_sim})
        if arm.n_real:
            weight = 0.3 if arm.n_sim else 1.0
            parts.append({"source": "real", "weight": weight, "episodes": arm.n_real})
        base = "sim-only" if arm.n_sim and arm.n_real else None
        stage = {"steps": 2500 if base else 8000, "peak_lr": 1e-3, "parts": parts}
        found.append({"name": arm.name, "base": base, "stages": [stage]})
    return found


def profile() -> dict[str, Any]:
    axes = {
        "object_mass": ("scale", "uniform", {"low": 0.5, "high": 1.5}),
        "object_friction": ("set", "log-uniform", {"low": 0.4, "high": 1.2}),
        "joint_offset": ("add", "uniform", {"low": -2.0, "high": 2.0}),
        "observation_delay": ("set", "integers", {"low": 0, "high": 1}),
        "image_noise": ("set", "normal", {"mean": 0.015, "std": 0.005, "clip": 3.0}),
        "scene_camera_position": ("add", "uniform", {"low": -0.025, "high": 0.025}),
    }
    return {
        "name": "full",
        "axes": {
            name: {"operation": operation, "distribution": kind, **numbers}
            for name, (operation, kind, numbers) in axes.items()
        },
    }
