"""What this machine has: versions, cores, memory, a renderer that draws, kinds of targets."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from importlib.metadata import version

import numpy as np

from simreal.compute.machine import available_bytes, cores
from simreal.study.conclude import PACKAGES
from simreal.study.targets import factories
from simreal.trials.plan import draw_conditions
from simreal.worlds.simulated import SimConfig, simulated_world
from simreal.worlds.tasks import task as find_task

#: A worker's own memory and the machine's; with less, not even one study worker fits.
LEAST_MEMORY = 4 * 2**30


@dataclass(frozen=True)
class Diagnosis:
    """What a machine has (`lines`), and what keeps simreal from running on it (`problems`)."""

    lines: tuple[str, ...]
    problems: tuple[str, ...]


def diagnose() -> Diagnosis:
    """What this machine has, and whether a picture can be rendered on it."""
    lines = [f"python {platform.python_version()} on {platform.machine()}"]
    lines += [f"{package} {version(package)}" for package in PACKAGES]
    memory = available_bytes()
    lines.append(f"{cores()} cores, {memory / 2**30:.1f} GiB of memory free")
    world = simulated_world(SimConfig(batch=1))
    world.reset(draw_conditions(find_task("lift").draw, 1, 0))
    spread = float(np.std(world.observe().images["scene"]))
    lines.append(f"renderer: {'ok' if spread > 1 else 'draws nothing'} (MuJoCo Warp, cpu)")
    lines.append(f"targets: {', '.join(factories())}")
    return Diagnosis(tuple(lines), tuple(_problems(memory, spread > 1)))


def _problems(memory: int, draws: bool) -> list[str]:
    """One sentence for each thing that is missing."""
    found = []
    if memory < LEAST_MEMORY:
        found.append(f"A study's worker needs {LEAST_MEMORY / 2**30:.0f} GiB of free memory.")
    if not draws:
        found.append("The renderer draws a picture of one colour; reinstall warp-lang.")
    return found
