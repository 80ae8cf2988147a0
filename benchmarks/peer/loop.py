"""The measured side of a contestant, with the standard library and numpy only.

A contestant is a program that builds its worlds, then calls `serve` with a function that plays one
control step and returns its pictures. The other side is benchmarks/contest.py.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

#: One control step of all worlds of a process: sends actions, returns (images, one picture).
Step = Callable[[int], tuple[int, Any]]

WARM_UP = 4


def serve(step: Step, facts: dict[str, Any]) -> None:
    """Play on demand: for each line `SECONDS` on standard input, one line of JSON on output.

    facts: what stands beside the rate. An unusable picture (one colour, or of another size) ends
    the program before it says that it is ready.
    """
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever libraries print goes to standard error
    picture = None
    for number in range(WARM_UP):
        picture = np.asarray(step(number)[1])
    _check(picture, facts["size_px"])
    _say(answers, facts)
    number = WARM_UP
    for line in sys.stdin:
        seconds, images, steps = float(line), 0, 0
        cpu, wall = time.process_time(), time.perf_counter()
        while time.perf_counter() - wall < seconds:
            images += step(number)[0]
            number += 1
            steps += 1
        wall = time.perf_counter() - wall
        cpu = time.process_time() - cpu
        _say(answers, {"images": images, "steps": steps, "wall_s": wall, "cpu_s": cpu})


def _say(answers: Any, content: dict[str, Any]) -> None:
    answers.write(json.dumps(content) + "\n")
    answers.flush()


def _check(picture: Any, size: int) -> None:
    if picture is None or picture.shape[-3:] != (size, size, 3):
        raise SystemExit(f"the picture has shape {getattr(picture, 'shape', None)}")
    if float(np.std(picture)) < 5:
        raise SystemExit("the picture is of one colour")


def sway(number: int, joints: int) -> np.ndarray:
    """A slow wave in -1..1 for each joint, so that the arm moves and nothing is touched."""
    return np.sin(0.15 * number + np.arange(joints))


def triangles(model: Any, groups: Sequence[int]) -> int:
    """Triangles of the meshes in the visible geom groups of a compiled MuJoCo model."""
    mesh = 7  # mjtGeom.mjGEOM_MESH
    shown = [
        g
        for g in range(model.ngeom)
        if model.geom_type[g] == mesh
        and model.geom_group[g] in groups
        and model.geom_rgba[g, 3] > 0
    ]
    return int(sum(model.mesh_facenum[model.geom_dataid[g]] for g in shown))
