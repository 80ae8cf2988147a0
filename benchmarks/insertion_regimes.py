"""Contact of a peg with its hole against Whitney's model: force against depth, and jamming.

    .venv/bin/python benchmarks/insertion_regimes.py [--figure docs/images/insertion.png]

The table and the figure stand in docs/insertion.md.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.worlds import whitney
from tests.worlds.insertion import Loose, World, sink

from simreal.worlds import ur5e
from simreal.worlds.gripper import GRIP_M
from simreal.worlds.peghole import PegHole

#: Clearance (m), friction, and the commanded offset (m) and tilt (rad) of each curve.
CURVES = ((0.0005, 0.2, 0.001, 0.03), (0.0002, 0.2, 0.001, 0.03), (0.0002, 0.1, -0.001, 0.02))


def _peg(clearance: float, friction: float) -> PegHole:
    plain = PegHole(clearance_m=clearance)
    return replace(plain, contact=replace(plain.contact, friction=friction))


def regimes(path: Path) -> None:
    """Insertion force against depth beside Whitney's model, and the jamming diagram."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    _curves(left)
    _jamming(right)
    figure.savefig(path, dpi=110)


def _curves(axes) -> None:
    """Insertion force against depth, simulated and as the model has it."""
    impedance, plain = ur5e.Impedance(), PegHole()
    held = whitney.series(
        (impedance.stiffness[0], impedance.stiffness[3], 0.0),
        (*plain.grasp.stiffness, GRIP_M),
        (*plain.fixture.stiffness, 0.0),
    )
    print("clearance friction offset tilt   two points at  (model)   force there-on (model)")
    for clearance, friction, offset, angle in CURVES:
        world = World(_peg(clearance, friction), joint_friction=False)
        rows = sink(world, offset, angle, to_m=0.018)
        sizes = (world.peg.width_m, clearance)
        told = [whitney.insert(d, (offset, angle), held, sizes, friction) for d in rows[:, 0]]
        axial = np.array([t.axial for t in told])
        two = np.array([t.points == 2 for t in told])
        jumped = rows[:, 1] > np.median(axial[~two]) + 0.15
        print(
            f"{1e3 * clearance:6g} mm {friction:6g} {1e3 * offset:6g} mm {angle:5g} rad"
            f" {1e3 * rows[jumped][0, 0]:9.2f} mm ({1e3 * rows[two][0, 0]:.2f})"
            f" {rows[two, 1].mean():9.2f} N ({axial[two].mean():.2f})"
        )
        (line,) = axes.plot(1e3 * rows[:, 0], axial, lw=1)
        label = f"{1e3 * clearance:g} mm, friction {friction:g}, {angle:g} rad"
        axes.plot(1e3 * rows[:, 0], rows[:, 1], ".", ms=3, color=line.get_color(), label=label)
    axes.set(xlabel="depth, mm", ylabel="insertion force, N", title="simulated (dots), model")
    axes.legend(fontsize=7)


def _jamming(axes, depth: float = 0.008, friction: float = 0.2) -> None:
    """Which wrenches (side force and moment over push) move a peg with two points of contact."""
    loose = Loose(_peg(0.0001, friction))
    ratio, push = depth / (0.008 * friction), 5.0
    right = wrong = 0
    for side in np.linspace(-5.5, 5.5, 12):
        for share in (-1.4, -1.15, -0.85, -0.6, -0.3, 0.0, 0.3, 0.6, 0.85, 1.15, 1.4):
            moment = ratio * share + friction * (1 + ratio) * side
            loose.lean(side, share, depth)
            for _ in range(2):
                before = loose.depth()
                loose.press(side * push, push, moment * 0.004 * push, seconds=0.1)
            slides = loose.depth() - before > 5e-6
            agrees = slides == (whitney.jams(depth, 0.008, friction, side, moment) < 1)
            right, wrong = right + agrees, wrong + (not agrees)
            axes.plot(side, moment, "o" if slides else "x", ms=4, color="C0" if slides else "C3")
    corners = np.array([(-1, -1), (-1, 1), (1, 1), (1, -1), (-1, -1)]) * [1 / friction, ratio]
    axes.plot(corners[:, 0], corners[:, 1] + friction * (1 + ratio) * corners[:, 0], "k-", lw=1)
    axes.set(xlabel="side force / push", ylabel="moment / (radius x push)")
    axes.set_title("slides (dots), sticks (crosses), model")
    print(f"jamming diagram at {1e3 * depth:g} mm: {right} of {right + wrong} wrenches as told")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--figure", type=Path, default=Path("docs/images/insertion.png"))
    regimes(parser.parse_args().figure)


if __name__ == "__main__":
    main()
