"""A made-up failure map, for `simreal schema explore --example`."""

from __future__ import annotations

from typing import Any

from simreal.verdicts.failure_map import MAP_SCHEMA, Evidence, Seen, judged
from simreal.verdicts.regions import Bound, Region, Scale

_DIM = Region((Bound("light_ambient", None, 0.8, "light_ambient below x0.8"),))
_NEVER = "never reached"


def _seen(level: float, failed: bool) -> Seen:
    return Seen({"light_ambient": level}, _NEVER if failed else None)


def failure_map_example() -> dict[str, Any]:
    """One region that stands out: 60 fresh trials inside it, 100 of the profile as it is."""
    spread = [_seen(0.5 + 0.015 * i, (i < 20 and i % 3 != 0) or i % 11 == 0) for i in range(100)]
    inside = [_seen(0.5 + 0.005 * i, i % 3 != 0) for i in range(60)]
    scales = {"light_ambient": Scale((0.8, 1.25, 1.6), prefix="x")}
    found = judged(Evidence(spread, inside[:40], [_DIM], spread, [inside], [0.2], scales))
    region = {"profile": "region-1.toml", "pictures": ["region-1-never-reached-scene.png"]}
    return {
        "schema": MAP_SCHEMA,
        "task": "lift",
        "profile": "full",
        "checkpoint": "runs/sim-only/checkpoint",
        "seed": 0,
        **found,
        "regions": [{**entry, **region} for entry in found["regions"]],
        "next_profile": "explored.toml",
    }
