"""Forces over the course of trials: what each shard leaves, and the quantiles that come of it.

A shard's forces are binned, over time and over how far the tool was from where it came to rest
lowest, so that a study of ten thousand trials keeps a few megabytes.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from simreal.core.errors import BadDataError
from simreal.core.files import append_jsonl, read_jsonl, write_text
from simreal.trials.run import Tried

Array = npt.NDArray[np.float64]

#: Raw records, one line a shard; and what the report reads.
RECORDS, PROFILES = "forces.jsonl", Path("media") / "forces.json"
#: Trials of an arm and cell whose forces are kept, of the first training seed.
MOST = 200
#: Width and number of the bins over time (s) and over the tool's way to its lowest point (mm).
TIME_BIN_S, TIME_BINS = 0.5, 40
WAY_BIN_MM, WAY_BINS = 1.0, 30
QUANTILES = {"p10": 0.1, "p50": 0.5, "p90": 0.9}
#: Trials in a bin below which it has no quantiles.
LEAST = 5


def keep_forces(
    folder: Path, names: Mapping[str, Any], tried: Tried, filmed: Collection[int], rate_hz: float
) -> None:
    """Append what a shard's trials felt; nothing where nothing was measured.

    names: arm, seed, target and suite. filmed: conditions whose films are kept, and whole curves.
    """
    felt = tried.felt
    if felt is None:
        return
    rows: list[dict[str, Any]] = []
    for i, trial in enumerate(tried.trials):
        force, way = felt.of(i, trial.steps)
        row: dict[str, Any] = {
            "condition": trial.condition,
            "success": trial.success,
            "time": _binned(force, np.arange(len(force)) / rate_hz, TIME_BIN_S, TIME_BINS),
            "way": _binned(force, way, WAY_BIN_MM, WAY_BINS),
        }
        if trial.condition in filmed:
            row["film"] = {"failure": trial.failure, "force": _tenths(force), "way": _tenths(way)}
        rows.append(row)
    append_jsonl(folder / RECORDS, [{**names, "trials": rows}])


def _binned(force: Array, place: Array, width: float, bins: int) -> list[int | None]:
    """The largest force of each bin in tenths of a newton; None where a bin has no sample."""
    number = np.floor(np.nan_to_num(place, nan=-1.0) / width)
    found: list[int | None] = []
    for i in range(bins):
        inside = force[(number == i) & np.isfinite(force)]
        found.append(round(10 * float(inside.max())) if len(inside) else None)
    while found and found[-1] is None:
        found.pop()
    return found


def _tenths(values: Array) -> list[int | None]:
    return [round(10 * float(v)) if np.isfinite(v) else None for v in values]


def write_profiles(folder: Path, simulated: Sequence[str]) -> None:
    """Make media/forces.json again from the records; nothing where there are none.

    simulated: names of cells that are the simulation. Entries stand for each cell and arm, and for
    all targets of an arm and suite (`targets`).

    Raises:
        BadDataError: for records that are none of trials' forces.
    """
    try:
        content = _content(list(read_jsonl(folder / RECORDS)), simulated)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise BadDataError(
            f"{folder / RECORDS} holds what no trial felt ({type(error).__name__}: {error}); move "
            "it away to conclude without curves of force."
        ) from error
    if content is not None:
        write_text(folder / PROFILES, json.dumps(content, separators=(",", ":")) + "\n")


def _content(lines: Sequence[Mapping[str, Any]], simulated: Sequence[str]) -> dict[str, Any] | None:
    """What media/forces.json holds; None where nothing was felt."""
    shards = {_key(line): line for line in lines}
    if not shards:
        return None
    groups: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for line in shards.values():
        place = "simulation" if line["target"] in simulated else "targets"
        for name in dict.fromkeys((line["target"], place)):
            groups.setdefault((line["arm"], line["suite"], name), []).append(line)
    entries = [
        {"arm": arm, "suite": suite, "target": target, **_profile(lines)}
        for (arm, suite, target), lines in groups.items()
    ]
    return {"profiles": entries, "films": list(_films(shards.values()))}


def _key(line: Mapping[str, Any]) -> tuple[Any, ...]:
    first = line["trials"][0]["condition"] if line["trials"] else None
    return line["arm"], line["seed"], line["target"], line["suite"], first


def _profile(lines: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Quantiles over trials, N: over time of all, over the way of those that succeeded."""
    trials = [trial for line in lines for trial in line["trials"]]
    seated = [trial for trial in trials if trial["success"]]
    return {
        "trials": len(trials),
        "successes": len(seated),
        "time_s": _quantiles([t["time"] for t in trials], TIME_BIN_S),
        "way_mm": _quantiles([t["way"] for t in seated], WAY_BIN_MM),
    }


def _quantiles(rows: Sequence[Sequence[int | None]], width: float) -> dict[str, list[float]]:
    """Middle of each bin that enough trials reach, and the quantiles of their largest force."""
    found: dict[str, list[float]] = {"at": [], **{name: [] for name in QUANTILES}}
    for i in range(max(map(len, rows), default=0)):
        seen = [row[i] for row in rows if i < len(row) and row[i] is not None]
        values = np.array(seen, dtype=float) / 10
        if len(values) < LEAST:
            continue
        found["at"].append((i + 0.5) * width)
        for name, share in QUANTILES.items():
            found[name].append(round(float(np.quantile(values, share)), 2))
    return found


def _films(shards: Any) -> Iterator[dict[str, Any]]:
    """Whole curves of the trials that have filmstrips."""
    for line in shards:
        names = {key: line[key] for key in ("arm", "seed", "target", "suite")}
        for trial in line["trials"]:
            if "film" in trial:
                film = trial["film"]
                curves = {
                    "failure": film["failure"],
                    "force_n": [None if v is None else v / 10 for v in film["force"]],
                    "way_mm": [None if v is None else v / 10 for v in film["way"]],
                }
                yield {**names, "condition": trial["condition"], **curves}
