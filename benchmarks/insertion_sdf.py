"""A hole as a signed distance field instead of boxes: does it hold the peg, and what does it cost?

    .venv/bin/python benchmarks/insertion_sdf.py [--depths 6 8]

For each depth of MuJoCo's octree: how far a push of 20 N presses the peg into the ideal hole, time
to compile, and time of a step.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import mujoco
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.worlds.insertion import World, arm_spec, push_aside

from simreal.worlds.mouth import FLOOR_M
from simreal.worlds.peghole import HOLE, PegHole

#: Half the width of the block, m, and how many corners stand for its bore.
HALF_M, CORNERS = 0.012, 96


def block(radius: float, depth: float) -> tuple[np.ndarray, np.ndarray]:
    """A square block with a bore through it: points (4 n, 3), triangles."""
    angle = 2 * np.pi * np.arange(CORNERS) / CORNERS
    way = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    outline = HALF_M / np.abs(way).max(1, keepdims=True)
    rings = [(radius, 0.0), (radius, -depth), (outline, 0.0), (outline, -depth)]
    points = [np.column_stack([way * r, np.full(CORNERS, z)]) for r, z in rings]
    here, after = np.arange(CORNERS), (np.arange(CORNERS) + 1) % CORNERS
    inner, under, outer, below = ((here + k * CORNERS, after + k * CORNERS) for k in range(4))
    faces = []
    for a, b in ((inner, under), (outer, inner), (below, outer), (under, below)):
        faces += [np.column_stack([a[0], a[1], b[0]]), np.column_stack([a[1], b[1], b[0]])]
    return np.concatenate(points), np.concatenate(faces)


def bored(peg: PegHole, octree: int) -> mujoco.MjModel:
    """The arm above a hole whose boxes are replaced by a distance field."""
    spec = arm_spec(peg)
    for geom in list(spec.geoms):
        if geom.name.split("_")[0] in ("lip", "wall", "bevel", "plate"):
            spec.delete(geom)
    points, faces = block(peg.mouth.bore_m / 2, peg.depth_m + FLOOR_M)
    mesh = spec.add_mesh(name="bore", uservert=points.ravel(), userface=faces.ravel())
    mesh.octree_maxdepth = octree
    contact, plain = peg.contact, spec.geom("hole_floor")
    geom = spec.body(HOLE).add_geom(
        name="bore", type=mujoco.mjtGeom.mjGEOM_SDF, meshname="bore", mass=0
    )
    geom.contype, geom.conaffinity, geom.condim = 0, 4, 3
    geom.friction[0] = contact.friction
    geom.solref, geom.solimp = plain.solref, plain.solimp
    return spec.compile()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--depths", type=int, nargs="+", default=[6, 8])
    for octree in parser.parse_args().depths:
        for clearance in (0.0005, 0.0002):
            peg, begin = PegHole(clearance_m=clearance), time.process_time()
            model = bored(peg, octree)
            built, world = time.process_time() - begin, World(peg, model)
            begin = time.process_time()
            deepest = max(push_aside(world, direction) for direction in (0.0, 37.0))
            step = (time.process_time() - begin) / (2 * 25 * world.substeps)
            print(
                f"octree {octree}, {1e3 * clearance:g} mm: overlap {1e6 * deepest:.0f} um"
                f" ({100 * deepest / clearance:.0f} % of the clearance), compiled in {built:.0f} s,"
                f" {1e6 * step:.0f} us a step",
                flush=True,
            )


if __name__ == "__main__":
    main()
