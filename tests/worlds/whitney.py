"""Whitney's quasi-static model of a compliantly held peg in a hole, in the plane: the oracle.

D. E. Whitney, "Quasi-Static Assembly of Compliantly Supported Rigid Parts", J. Dyn. Sys. Meas.
Control 104 (1982) 65-77; jamming after S. Simunovic, "Force information in assembly processes",
1975. Frame of the hole: x to the right, z up, y into the page, so that a positive angle leans the
peg's top to the right. All values SI; forces are those on the peg.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def two_point_depth(width: float, clearance: float, angle: float) -> float:
    """Depth at which a peg leaning by `angle` touches both sides: (D - d cos a) / sin a, m."""
    return float((width + clearance - width * np.cos(angle)) / np.sin(angle))


def jams(depth: float, width: float, friction: float, side: float, moment: float) -> float:
    """Above 1: two-point contact holds a wrench; below: the peg slides in.

    side: Fx/Fz of the wrench at the tip (Fz down); moment: M/(r Fz). Inside the parallelogram
    |m - mu (1 + lambda) side| <= lambda and |side| <= 1/mu, lambda = depth / (2 r mu), it slides.
    """
    ratio = depth / (width * friction)
    return max(
        abs(moment - friction * (1 + ratio) * side) / ratio,
        abs(side) * friction,
    )


def series(*springs: tuple[float, float, float]) -> Array:
    """Compliance (2, 2) at the tip of springs in series, each (N/m, Nm/rad, m above the tip).

    It maps a side force and a moment at the tip to the tip's displacement and turn.
    """
    total = np.zeros((2, 2))
    for stiffness, turning, height in springs:
        lever = height / turning
        total += np.array([[1 / stiffness + height * lever, -lever], [-lever, 1 / turning]])
    return total


@dataclass(frozen=True)
class Equilibrium:
    """Contact forces at the mouth (right, left) and at the tip (right, left), N; angle, rad.

    axial: the force along the hole that friction and the leaning side at the mouth oppose it with
    (the latter is left out in Whitney's small angles).
    """

    forces: Array
    angle: float
    axial: float

    @property
    def points(self) -> int:
        """How many points touch."""
        return int((self.forces > 0).sum())


def insert(
    depth: float,
    commanded: tuple[float, float],
    compliance: Array,
    sizes: tuple[float, float],
    friction: float,
) -> Equilibrium:
    """Where a slowly inserted peg stands: `commanded` tip offset and angle when nothing touches.

    sizes: width of the peg and clearance. Of all sets of at most two touching points the one whose
    forces push and whose other gaps are open.
    """
    width, clearance = sizes
    arm = friction * width / 2
    gaps = np.array([[-1, -depth], [1, depth], [-1, 0.0], [1, 0.0]])
    wrench = np.array([[-1, 1, -1, 1.0], [-depth - arm, depth + arm, -arm, arm]])
    free = clearance / 2 + gaps @ commanded
    for count in range(3):
        for touching in map(list, itertools.combinations(range(4), count)):
            push = gaps[touching] @ compliance @ wrench[:, touching]
            if count and abs(np.linalg.det(push)) < 1e-30:
                continue
            some = np.linalg.solve(push, -free[touching]) if count else np.zeros(0)
            moved = compliance @ wrench[:, touching] @ some
            if (some >= 0).all() and (free + gaps @ moved > -1e-9).all():
                forces = np.zeros(4)
                forces[touching] = some
                angle = float(commanded[1] + moved[1])
                axial = friction * forces.sum() + np.sin(angle) * (forces[0] - forces[1])
                return Equilibrium(forces, angle, float(axial))
    raise ValueError("No equilibrium of at most two points.")
