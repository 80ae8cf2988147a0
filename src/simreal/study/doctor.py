"""What this machine has: versions, cores, memory, a renderer that draws, kinds of targets."""

from __future__ import annotations

import platform
from importlib.metadata import version

import numpy as np

from simreal.compute.machine import available_bytes, cores
from simreal.study.conclude import PACKAGES
from simreal.study.targets import factories
from simreal.trials.plan import draw_conditions
from simreal.worlds.simulated import SimConfig, simulated_world
from simreal.worlds.tasks import task as find_task


def diagnose() -> list[str]:
    """What this machine has, and whether a picture can be rendered on it."""
    lines = [f"python {platform.python_version()} on {platform.machine()}"]
    lines += [f"{package} {version(package)}" for package in PACKAGES]
    lines.append(f"{cores()} cores, {available_bytes() / 2**30:.1f} GiB of memory free")
    world = simulated_world(SimConfig(batch=1))
    world.reset(draw_conditions(find_task("lift").draw, 1, 0))
    spread = float(np.std(world.observe().images["scene"]))
    lines.append(f"renderer: {'ok' if spread > 1 else 'draws nothing'} (MuJoCo Warp, cpu)")
    lines.append(f"targets: {', '.join(factories())}")
    return lines
