"""A study of ten arms in which much is beyond reach: long lists, null quantiles, missed cells."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from tests.report import expected, synthetic

from simreal.core.files import write_json
from simreal.core.types import Charge
from simreal.verdicts.cost import Arm

_REAL, _HYBRID = (12, 25, 50, 100), (5, 10, 20, 40)
ARMS = (
    *(Arm(f"real-{n}" if n != 50 else "real-only", 0, n) for n in _REAL),
    Arm("sim-300", 300, 0),
    Arm("sim-only", 600, 0),
    *(Arm(f"hybrid-{n}" if n != 20 else "hybrid", 600, n) for n in _HYBRID),
)
#: Successes of 100 on the target: more real data after simulation makes it worse.
RATES = (12, 34, 50, 66, 30, 81, 69, 59, 57, 53)


def crowded(folder: Path) -> dict[str, Any]:
    """Ten arms; no road reaches the goal; incidents have no price; the curves miss what is seen."""
    counts = {}
    for arm, k in zip(ARMS, RATES, strict=True):
        counts[arm.name, "simulation", "nominal"] = (99 if arm.n_sim else 1, 100)
        counts[arm.name, "twin-7", "nominal"] = (k, 100)
    train = [
        Charge("2026-01-15T09:30:00Z", "process clock", a.name, "train", 130.0 + 5 * i, "s")
        for i, a in enumerate(ARMS)
    ]
    recorded = Charge("2026-01-15T09:30:00Z", "twin clock", "shared", "demonstration", 900.0, "s")
    summary = synthetic.write_study(
        folder, ARMS, counts, (synthetic.twin("twin-7", 7),), goal=0.85, ledger=(recorded, *train)
    )
    totals = {arm["name"]: arm["cost"]["total"] for arm in summary["arms"]}
    summary |= {"goal": 0.85, "curves": _curves(), "time": _time(), "economics": _money(totals)}
    write_json(folder / "summary.json", summary)
    return summary


def _curves() -> dict[str, Any]:
    found = expected.curves()
    found["cells"] = [
        {"arm": a.name, "n_real": a.n_real, "n_sim": a.n_sim, "k": k, "n": 100}
        for a, k in zip(ARMS, RATES, strict=True)
        if a.n_sim != 300
    ]
    return found


def _time() -> dict[str, Any]:
    found = expected.time()
    nothing = {"p50": None, "p90": None}
    for road in found["roads"]:
        road |= {"days": nothing, "robot_days": nothing, "cost": nothing, "by_deadline": None}
    return found | {"fastest": None, "cheapest": None}


def _money(totals: dict[str, float]) -> dict[str, Any]:
    found = expected.economics({arm.name: 1.0 for arm in expected.ARMS})
    first = found["per_arm"][0]
    found["per_arm"] = [{**copy.deepcopy(first), "arm": a, "total": t} for a, t in totals.items()]
    for one in found["per_arm"]:
        one["stack"] = dict.fromkeys(one["stack"], 0.0) | {"operator": one["total"]}
    for point in found["reach"][2]["points"]:
        point |= {"p10": None, "p50": None, "p90": None}
    found["break_even"][0]["saving"] = [0.9978, 0.9995]
    found["break_even"][1]["saving"] = [-787.0, -38.0]
    found["avoided"] = {"events": 92, "money": [0.0, 0.0]}
    return found
