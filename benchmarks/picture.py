"""Pictures of the lift beside MuJoCo's own OpenGL renderer, and their structural similarity.

    .venv/bin/python benchmarks/picture.py [--scenes N] [--gl osmesa] [--picture PNG]

Full-mesh SO-101, nominal scene and scenarios of profile full (without camera noise and exposure,
which come after rendering), before, in and after a grasp, both cameras, multisampling off, same
version of MuJoCo. Similarity (SSIM, windows of 7 x 7 pixels, colour) is 1 for equal pictures.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from PIL import Image
from skimage.metrics import structural_similarity

from simreal.core.files import write_json
from simreal.core.loop import run_episodes
from simreal.demos.experts import EXPERT, ScriptedOperator
from simreal.demos.record import conditions_for
from simreal.worlds.names import CAMERAS
from simreal.worlds.randomize import profile
from simreal.worlds.render import Look, Renderer
from simreal.worlds.simulated import SimConfig, simulated_world
from simreal.worlds.so101_rig import SO101
from simreal.worlds.tasks import task as find_task
from simreal.worlds.world import World

HERE = Path(__file__).parent
RESULTS = HERE / "results"
SIZES_PX = (64, 256)
#: Control steps at which pictures are taken.
STEPS = (0, 14, 28)
#: Side of a tile of the contact sheet, and the space between tiles, pixels.
TILE, GAP = 160, 4


@dataclass
class Moments:
    """An `Observer` that keeps where everything is at some control steps of N worlds."""

    world: World
    qpos: list[np.ndarray] = field(default_factory=list)
    poses: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)

    def on_reset(self, conditions: Sequence[Any]) -> None:
        """Nothing is kept from before."""

    def on_step(self, step: int, observation: Any, actions: Any) -> None:
        if step in STEPS:
            self.qpos.append(self.world.physics.qpos())
            self.poses.append(self.world.physics.body_poses())

    def on_end(self, outcome: Any) -> None:
        """Nothing is left to do."""


@dataclass(frozen=True)
class Stage:
    """Moments to draw: n = worlds x steps."""

    model: mujoco.MjModel
    qpos: np.ndarray
    body_pos: np.ndarray
    body_rot: np.ndarray
    looks: list[Look]


def stage(name: str, scenes: int) -> Stage:
    """Play `scenes` demonstrations under a profile and keep the moments."""
    config = SimConfig("lift", "mesh", profile=profile(name, SO101), batch=scenes)
    world, task = simulated_world(config), find_task("lift")
    moments = Moments(world)
    operator = ScriptedOperator(task, world.privileged, EXPERT, config.seed)
    conditions = conditions_for(config, 0, scenes)
    run_episodes(world, operator, conditions, max(STEPS) + 1, [moments])
    looks = [world.views.look_of(settings) for settings in world.settings] * len(STEPS)
    positions, rotations = zip(*moments.poses, strict=True)
    arrays = (np.concatenate(x) for x in (moments.qpos, positions, rotations))
    return Stage(world.scene.look, *arrays, looks)


def by_simreal(stage: Stage, size: int, shadows: bool) -> dict[str, np.ndarray]:
    renderer = Renderer(stage.model, CAMERAS, size, shadows)
    index = np.arange(len(stage.looks))
    return renderer.render(stage.body_pos, stage.body_rot, stage.looks, index)


def by_mujoco(stage: Stage, size: int, shadows: bool, gl: str) -> dict[str, np.ndarray]:
    """The same moments in a process of its own, which needs OpenGL."""
    looks = {
        f"look.{f.name}": np.stack([getattr(x, f.name) for x in stage.looks]) for f in fields(Look)
    }
    with tempfile.TemporaryDirectory() as folder:
        mujoco.mj_saveModel(stage.model, str(Path(folder, "model.mjb")), None)
        settings = {"size_px": size, "shadows": shadows, "cameras": np.array(CAMERAS)}
        np.savez(Path(folder, "moments.npz"), qpos=stage.qpos, **settings, **looks)
        done = subprocess.run(
            [sys.executable, str(HERE / "peer" / "draw.py"), folder],
            env=os.environ | {"MUJOCO_GL": gl, "PYOPENGL_PLATFORM": gl},
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        if done.returncode:
            sys.exit(f"MuJoCo's renderer does not run with MUJOCO_GL={gl}:\n{done.stderr}")
        with np.load(Path(folder, "drawn.npz")) as drawn:
            return dict(drawn)


def similarity(ours: np.ndarray, theirs: np.ndarray) -> list[float]:
    pairs = zip(ours, theirs, strict=True)
    return [float(structural_similarity(a, b, channel_axis=2, data_range=255)) for a, b in pairs]


def sheet(columns: list[tuple[np.ndarray, np.ndarray]]) -> Image.Image:
    """Ours above MuJoCo's above their difference (white: none), a column for each pair."""
    step = TILE + GAP
    canvas = Image.new("RGB", (len(columns) * step - GAP, 3 * step - GAP), "white")
    for i, (ours, theirs) in enumerate(columns):
        apart = 255 - np.abs(ours.astype(int) - theirs).max(-1, keepdims=True).repeat(3, -1)
        for j, tile in enumerate((ours, theirs, apart.astype(np.uint8))):
            small = Image.fromarray(tile).resize((TILE, TILE), Image.Resampling.LANCZOS)
            canvas.paste(small, (i * step, j * step))
    return canvas


def compare(scenes: int, gl: str) -> tuple[dict[str, Any], Image.Image]:
    rows: dict[str, Any] = {}
    columns = []
    for name in ("none", "full"):
        taken = stage(name, scenes)
        for size in SIZES_PX:
            for shadows in (False, True):
                ours = by_simreal(taken, size, shadows)
                theirs = by_mujoco(taken, size, shadows, gl)
                for camera in CAMERAS:
                    values = similarity(ours[camera], theirs[camera])
                    low, middle, high = np.quantile(values, [0.1, 0.5, 0.9])
                    label = f"{name}, {size} px, shadows {'on' if shadows else 'off'}, {camera}"
                    apart = float(np.abs(ours[camera].astype(int) - theirs[camera]).mean())
                    row = {"median": middle, "tenth": low, "ninetieth": high, "apart": apart}
                    rows[label] = {k: round(float(v), 3) for k, v in row.items()}
                    rows[label]["pictures"] = len(values)
                if shadows and size == max(SIZES_PX):
                    middle_step = scenes * (len(STEPS) // 2)
                    columns += [(ours[c][middle_step], theirs[c][middle_step]) for c in CAMERAS]
                    columns += [(ours[c][-1], theirs[c][-1]) for c in CAMERAS]
    return rows, sheet(columns)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scenes", type=int, default=16, help="demonstrations a profile")
    parser.add_argument("--gl", choices=("osmesa", "egl"), default="osmesa")
    parser.add_argument("--out", type=Path, default=RESULTS / "picture.json")
    parser.add_argument("--picture", type=Path, default=RESULTS / "picture.png")
    options = parser.parse_args()
    if options.scenes < 1:
        parser.error(f"--scenes {options.scenes}; at least 1.")
    rows, image = compare(options.scenes, options.gl)
    write_json(options.out, {"gl": options.gl, "steps": STEPS, "similarity": rows})
    image.quantize(128).save(options.picture, optimize=True)
    print(f"{'structural similarity':36}{'median':>8}{'10 %':>8}{'90 %':>8}{'apart':>8}")
    for label, row in rows.items():
        cells = (row["median"], row["tenth"], row["ninetieth"], row["apart"])
        print(f"{label:36}" + "".join(f"{cell:8.3f}" for cell in cells))
    print(f"apart: mean absolute difference, of 255; side by side in {options.picture}")


if __name__ == "__main__":
    main()
