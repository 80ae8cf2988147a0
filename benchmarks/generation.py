"""Randomized demonstrations an hour a core: played, rendered and stored, and the memory they take.

    .venv/bin/python benchmarks/generation.py [--demonstrations N] [--forms mesh] [--shadows on]

Task lift, profile full, 20 Hz, two cameras of 64 pixels, one appearance a demonstration, written as
LeRobotDataset v3.0 and closed. One process a row, one row after another. Rates are demonstrations
stored for each hour of the process's CPU time (all its threads), which other work on the machine
hardly changes; the rate by wall time stands beside it. Attempts that fail are paid for and not
counted. Left out: starting the process and compiling or loading kernels.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from simreal.core.files import write_json
from simreal.core.types import RATE_HZ
from simreal.demos.live import TAIL
from simreal.demos.record import ShardResult, SimShard, simulate_shard
from simreal.demos.store import create
from simreal.study.data import SIM_SHARD, dataset_spec
from simreal.worlds.randomize import profile
from simreal.worlds.simulated import SimConfig, draw_scenario, scene_of
from simreal.worlds.so101_rig import SO101

RESULTS = Path(__file__).parent / "results" / "generation.json"
FORMS, SHADOWS = ("primitive", "mesh"), ("off", "on")
#: What was wanted, demonstrations an hour a core.
GOALS = {"primitive off": 6000, "primitive on": 4000, "mesh off": 3500, "mesh on": 1800}
SIZE_PX = 64
#: Numbers of stored demonstrations at which memory is read.
MARKS = (50, 100, 200, 400, 800, 1600)
#: A shard that no row measures.
WARM_UP = 10**6


def resident_mb() -> float:
    """Memory of this process that is in use now, MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    kilobytes = next(line.split()[1] for line in lines if line.startswith("VmRSS"))
    return int(kilobytes) / 1000


@dataclass
class Tally:
    """What one row has stored so far, and what it took."""

    stored: int = 0
    control_steps: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    casting: list[int] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=lambda: {"play": 0.0, "render": 0.0})
    shard_rates: list[float] = field(default_factory=list)
    memory_mb: dict[int, float] = field(default_factory=dict)

    def add(self, result: ShardResult, cpu_s: float) -> None:
        self.stored += len(result.episodes)
        self.control_steps += result.control_steps + TAIL * len(result.episodes)
        self.failed.update(failure.failure for failure in result.failed)
        self.seconds["play"] += result.physics_s
        self.seconds["render"] += result.render_s
        self.shard_rates.append(3600 * len(result.episodes) / cpu_s)

    def read_memory(self) -> None:
        for mark in MARKS:
            if self.stored >= mark and mark not in self.memory_mb:
                self.memory_mb[mark] = round(resident_mb(), 1)


def casting_lights(config: SimConfig, index: int) -> int:
    """How many lights of a scenario are on and cast shadows."""
    settings = draw_scenario(config, index)[1]
    on, casts = (settings.value(f"look.light_{name}") for name in ("active", "castshadow"))
    return int((on.astype(bool) & casts.astype(bool)).sum()) if config.shadows else 0


def measure(form: str, shadows: str, wanted: int, seed: int, root: Path) -> dict[str, Any]:
    """One row, in this process."""
    began = time.process_time()
    config = SimConfig("lift", form, SIZE_PX, profile("full", SO101), seed, shadows=shadows == "on")
    simulate_shard(SimShard(config, WARM_UP, 2))
    started = time.process_time()
    tally, number, wall = Tally(), 0, time.perf_counter()
    with create(root, dataset_spec(SIZE_PX)) as writer:
        while tally.stored < wanted:
            before = time.process_time()
            result = simulate_shard(SimShard(config, number * SIM_SHARD, SIM_SHARD))
            for episode in result.episodes:
                writer.write(episode)
            tally.add(result, time.process_time() - before)
            del result
            tally.read_memory()
            number += 1
    cpu, wall = time.process_time() - started, time.perf_counter() - wall
    tally.casting = [casting_lights(config, i) for i in range(number * SIM_SHARD)]
    return row_of(tally, config, number * SIM_SHARD, cpu, wall) | {"start_cpu_s": started - began}


def row_of(
    tally: Tally, config: SimConfig, attempts: int, cpu: float, wall: float
) -> dict[str, Any]:
    """The figures of a row; steps, images and rays are means of one stored demonstration."""
    steps = tally.control_steps / tally.stored
    substeps = round(1 / (RATE_HZ * scene_of("lift", config.form, None).physics.opt.timestep))
    return {
        "stored": tally.stored,
        "attempts": attempts,
        "failed": dict(tally.failed),
        "cpu_s": round(cpu, 2),
        "wall_s": round(wall, 2),
        "per_hour_cpu": round(3600 * tally.stored / cpu),
        "per_hour_wall": round(3600 * tally.stored / wall),
        "per_hour_cpu_of_shards": [round(min(tally.shard_rates)), round(max(tally.shard_rates))],
        "control_steps": round(steps, 1),
        "physics_steps": round(steps * substeps),
        "images": round(2 * steps, 1),
        "rays": round(2 * steps * SIZE_PX**2),
        "shadow_lights": round(float(np.mean(tally.casting)), 2),
        "play_wall_s": round(tally.seconds["play"], 2),
        "render_wall_s": round(tally.seconds["render"], 2),
        "memory_mb": tally.memory_mb,
    }


def in_process(form: str, shadows: str, wanted: int, seed: int) -> dict[str, Any]:
    """One row, in a process of its own."""
    single = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    words = ["--row", f"{form} {shadows}", "--demonstrations", str(wanted), "--seed", str(seed)]
    done = subprocess.run(
        [sys.executable, __file__, *words],
        env=os.environ | single,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def show(rows: dict[str, dict[str, Any]]) -> None:
    heads = ("an hour a core", "goal", "shards", "by wall", "stored", "failed")
    heads += ("steps", "physics", "images", "rays", "lights")
    print(f"{'form, shadows':14}" + "".join(f"{head:>15}" for head in heads))
    for name, row in rows.items():
        low, high = row["per_hour_cpu_of_shards"]
        cells = (row["per_hour_cpu"], GOALS[name], f"{low}-{high}", row["per_hour_wall"])
        cells += (row["stored"], sum(row["failed"].values()), row["control_steps"])
        cells += (row["physics_steps"], row["images"], row["rays"], row["shadow_lights"])
        print(f"{name:14}" + "".join(f"{cell:>15}" for cell in cells))
    print("steps, physics, images, rays: control steps, physics steps, images and primary rays of")
    print("one demonstration; lights: those that cast shadows, one more ray a pixel for each")
    marks = sorted({int(mark) for row in rows.values() for mark in row["memory_mb"]})
    print(f"\n{'MB in use after':16}" + "".join(f"{mark:>8}" for mark in marks))
    for name, row in rows.items():
        memory = {int(mark): value for mark, value in row["memory_mb"].items()}
        print(f"{name:16}" + "".join(f"{memory.get(mark, float('nan')):8.0f}" for mark in marks))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--demonstrations", type=int, default=400, metavar="N")
    parser.add_argument("--forms", nargs="+", choices=FORMS, default=FORMS)
    parser.add_argument("--shadows", nargs="+", choices=SHADOWS, default=SHADOWS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=RESULTS, help="JSON file to write")
    parser.add_argument("--row", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.demonstrations < 1:
        parser.error(f"--demonstrations {options.demonstrations}; at least 1.")
    if options.row:
        form, shadows = options.row.split()
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder, "data")
            row = measure(form, shadows, options.demonstrations, options.seed, root)
        print(json.dumps(row))
        return
    names = [(form, shadows) for form in options.forms for shadows in options.shadows]
    rows = {}
    for form, shadows in names:
        print(f"measuring {form}, shadows {shadows} ...", file=sys.stderr)
        rows[f"{form} {shadows}"] = in_process(form, shadows, options.demonstrations, options.seed)
    write_json(options.out, {"seed": options.seed, "rows": rows})
    show(rows)


if __name__ == "__main__":
    main()
