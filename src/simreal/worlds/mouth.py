"""The boxes between which a hole is left: walls, chamfer and lips around the mouth, plate, floor.

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
#: How far boxes that must not be met are drawn back behind those that are, m.
_RECESS_M = 0.001
_UP = np.array([0.0, 0.0, 1.0])


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
    opening_m: half the square opening of the plate that those boxes fill.
    """

    planes: int
    bore_m: float
    depth_m: float
    chamfer_m: float
    ring_m: float
    opening_m: float

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
        """Centres (planes, 3) of the boxes around the mouth: `wall` below the chamfer, `bevel`,
        and `lip` beyond it. Without a chamfer the lips are the wall, and the others stand back.
        """
        radius, chamfer = self.bore_m / 2, self.chamfer_m
        behind, sunk = (radius, chamfer) if chamfer else (radius + _RECESS_M, _RECESS_M)
        turns = 2 * np.pi * np.arange(self.planes) / self.planes
        out = np.stack([np.cos(turns), np.sin(turns), np.zeros(self.planes)], axis=1)
        slope = np.array([radius + chamfer / 2, -chamfer / 2])
        if chamfer == 0:
            slope += [_RECESS_M, -_RECESS_M]
        bevel = slope + np.array([np.sqrt(0.5), -np.sqrt(0.5)]) * self.ring_m / 2
        return {
            "wall": out * (behind + self.ring_m / 2) - _UP * (self._tall_m + sunk),
            "bevel": out * bevel[0] + _UP * bevel[1],
            "lip": out * (self.lip_m + self.ring_m / 2) - _UP * self._tall_m,
        }

    def boxes(self) -> list[Box]:
        """All boxes: three a plane, and the plate."""
        reach = self.bore_m / 2 + self.ring_m
        across = reach if self.planes == 4 else reach * np.tan(np.pi / self.planes)
        wall = np.array([self.ring_m / 2, across, self._tall_m])
        halves = {"wall": wall, "bevel": np.array([wall[0], across, self.bevel_half_m])}
        centres = self.centres()
        boxes = []
        for i in range(self.planes):
            turn = np.pi * i / self.planes
            flat, tilted = np.array([np.cos(turn), 0, 0, np.sin(turn)]), np.empty(4)
            down = np.array([np.cos(np.pi / 8), 0, np.sin(np.pi / 8), 0])
            mujoco.mju_mulQuat(tilted, flat, down)
            for kind, places in centres.items():
                quat = tilted if kind == "bevel" else flat
                boxes.append(Box(f"{kind}_{i}", places[i], halves.get(kind, wall), quat))
        return [*boxes, *self._plate()]

    def _plate(self) -> list[Box]:
        """Four boxes around the square opening, which the fingers may meet, and the floor."""
        opening, tall, flat = self.opening_m, self._tall_m, np.array([1.0, 0, 0, 0])
        wide = (BLOCK_M - opening) / 2
        middle = opening + wide
        along, short = np.array([wide, BLOCK_M, tall]), np.array([opening, wide, tall])
        places = ((middle, 0, along), (-middle, 0, along), (0, middle, short), (0, -middle, short))
        plate = [
            Box(f"plate_{i}", np.array([x, y, -tall]), half, flat, fingers=True)
            for i, (x, y, half) in enumerate(places)
        ]
        floor = np.array([self.bore_m, self.bore_m, FLOOR_M / 2])
        under = np.array([0, 0, -self.depth_m - FLOOR_M / 2])
        return [*plate, Box("hole_floor", under, floor, flat)]
