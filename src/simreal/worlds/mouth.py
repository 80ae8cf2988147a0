"""The boxes between which a hole is left, and how contact with them is computed.

All positions are in the hole's frame (see `peghole`). A round hole is the space between tangent
planes: a cylinder meets a tangent plane exactly where it would meet the round wall, so what n
planes add to the clearance is 1/cos(pi/n) in the corners between them (16 planes: 2 %).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import mujoco
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Shape = Literal["round", "square"]
SHAPES: tuple[Shape, ...] = get_args(Shape)

#: The block around the hole: half its width, and how far it reaches below the hole's bottom, m.
BLOCK_M = 0.045
FLOOR_M = 0.008
#: Half the thickness of the plate's boxes from the mouth outwards, m.
_PLATE_M = 0.020
#: How far boxes that must not be met are drawn back behind those that are, m.
_RECESS_M = 0.010
#: A peg that lies flat meets the plate's four boxes alone: these begin so far beside the mouth, and
#: the many boxes around it lie so far below them, m.
_BESIDE_M, _BELOW_M = 3e-5, 1e-5
_UP = np.array([0.0, 0.0, 1.0])
#: 45 degrees about y, quaternion.
_SLOPE = np.array([np.cos(np.pi / 8), 0.0, np.sin(np.pi / 8), 0.0])


@dataclass(frozen=True)
class Contact:
    """How contact is computed; chosen by `benchmarks/insertion.py contact` (docs/insertion.md).

    planes: around a round hole. timestep_s: of the physics. stiffness_s, damping_ratio: MuJoCo's
    solref. impedance, width_m, power: its solimp: a contact gives way up to about `width_m` and
    hardly more, and softly at first, so that it does not open and close from one step to the next.
    friction: Coulomb's coefficient of peg on hole. resolves_m: the smallest diametral clearance
    these settings hold (they press less than a tenth of it into the wall at 20 N).
    """

    planes: int = 16
    timestep_s: float = 0.001
    stiffness_s: float = 0.003
    damping_ratio: float = 1.0
    impedance: tuple[float, float] = (0.8, 0.998)
    width_m: float = 4.5e-6
    power: float = 3.0
    friction: float = 0.2
    resolves_m: float = 0.05e-3


@dataclass(frozen=True, eq=False)
class Box:
    """A box that the peg may touch; centre (3,), half-sizes (3,), quaternion (4,).

    fingers: whether the gripper's fingers may touch it too.
    """

    name: str
    centre: Array
    half: Array
    quat: Array
    fingers: bool = False


@dataclass(frozen=True)
class Mouth:
    """A hole of diameter (edge) `bore_m` with a chamfer of 45 degrees.

    planes: around it, 4 for a square one. ring_m: radial thickness of the boxes at the mouth.
    """

    planes: int
    bore_m: float
    depth_m: float
    chamfer_m: float
    ring_m: float

    @property
    def lip_m(self) -> float:
        """Half the width of the mouth at the surface, chamfer included."""
        return self.bore_m / 2 + self.chamfer_m

    @property
    def bevel_half_m(self) -> float:
        """Half the length of the chamfer's face down the slope."""
        return max(self.chamfer_m * float(np.sqrt(0.5)), 1e-5)

    @property
    def _tall_m(self) -> float:
        """Half the height of the boxes."""
        return (self.depth_m + FLOOR_M) / 2

    def centres(self) -> dict[str, Array]:
        """Centres of the boxes around the mouth: (planes, 3) of `wall` below the chamfer, `bevel`,
        and `lip` beyond it; (4, 3) of `plate`. Without a chamfer the lips are the wall, and the
        first two stand back.
        """
        radius, chamfer = self.bore_m / 2, self.chamfer_m
        behind, sunk = (radius, chamfer) if chamfer else (radius + _RECESS_M, _RECESS_M)
        out, four = _around(self.planes), _around(4)
        slope = np.array([radius + chamfer / 2, -chamfer / 2])
        if chamfer == 0:
            slope += [_RECESS_M, -_RECESS_M]
        bevel = slope + np.array([np.sqrt(0.5), -np.sqrt(0.5)]) * self.ring_m / 2
        return {
            "wall": out * (behind + self.ring_m / 2) - _UP * (self._tall_m + sunk),
            "bevel": out * bevel[0] + _UP * bevel[1],
            "lip": out * (self.lip_m + self.ring_m / 2) - _UP * (self._tall_m + _BELOW_M),
            "plate": four * (self.lip_m + _BESIDE_M + _PLATE_M) - _UP * self._tall_m,
        }

    @property
    def most_lip_m(self) -> float:
        """The widest mouth (`lip_m`) whose boxes still fill the corners of the plate's opening."""
        return self.ring_m / float(np.sqrt(2) - 1) - 2 * _BESIDE_M

    def boxes(self) -> list[Box]:
        """All boxes: three a plane, four for the plate, which the fingers may meet, the floor."""
        reach = self.bore_m / 2 + self.ring_m
        across = reach if self.planes == 4 else reach * np.tan(np.pi / self.planes)
        wall = np.array([self.ring_m / 2, across, self._tall_m])
        halves = {"wall": wall, "bevel": np.array([wall[0], across, self.bevel_half_m])}
        halves |= {"lip": wall, "plate": np.array([_PLATE_M, BLOCK_M, self._tall_m])}
        boxes = []
        for kind, places in self.centres().items():
            for i, place in enumerate(places):
                turn = np.pi * i / len(places)
                quat = np.array([np.cos(turn), 0, 0, np.sin(turn)])
                if kind == "bevel":
                    mujoco.mju_mulQuat(quat, quat.copy(), _SLOPE)
                boxes.append(Box(f"{kind}_{i}", place, halves[kind], quat, kind == "plate"))
        floor = np.array([self.bore_m, self.bore_m, FLOOR_M / 2])
        under = np.array([0, 0, -self.depth_m - FLOOR_M / 2])
        return [*boxes, Box("hole_floor", under, floor, np.array([1.0, 0, 0, 0]))]


def _around(count: int) -> Array:
    """Unit vectors (count, 3) in the plane of the mouth, the first along x."""
    turns = 2 * np.pi * np.arange(count) / count
    return np.stack([np.cos(turns), np.sin(turns), np.zeros(count)], axis=1)
