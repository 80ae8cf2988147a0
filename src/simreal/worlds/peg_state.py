"""What a peg-in-hole task is judged by, and what its scripted operators may know."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simreal.core.types import Bools

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class PegState:
    """N worlds at one moment, exact values; SI units.

    tip: (N, 3) middle of the peg's end face in the hole's frame (origin in the middle of the mouth,
    z out of the hole). tilt: (N,) angle between the axes of peg and hole, rad. width, bore: (N,)
    diameters (edges) of peg and hole; goal_depth: (N,) of the hole.
    slip, slip_turn: (N,) how far the peg moved and turned in the hand since reset, m and rad.
    peak_n: (N,) largest force at the wrist (between flange and gripper, the gripper's inertia
    included) over the last control step; pressed_n: (N,) the least over the last 0.2 s. push_n:
    (N,) mean force along the tool's axis over the last control step, positive when it presses.
    gained: (N,) depth won over the last half second (since reset, before that), m. sides: (N,) the
    peg touches the hole's wall on two sides, at different depths. friction: (N,) Coulomb's
    coefficient between peg and hole that the settings gave (a twin's laws multiply it).
    """

    tip: Array
    tilt: Array
    width: Array
    bore: Array
    goal_depth: Array
    slip: Array
    slip_turn: Array
    peak_n: Array
    pressed_n: Array
    push_n: Array
    gained: Array
    sides: Bools
    friction: Array

    @property
    def depth(self) -> Array:
        """How far the peg's end is below the mouth, (N,) m; 0 where it is beside the hole."""
        away = np.hypot(self.tip[:, 0], self.tip[:, 1])
        inside = away < self.bore / 2
        return np.where(inside, np.maximum(-self.tip[:, 2], 0.0), 0.0)


@dataclass(frozen=True)
class PegPrivileged:
    """What a scripted operator knows; it adds its own errors of sight. SI units, base frame.

    tool: (N, 6) true pose in the robot's channels, m and rad. tip: (N, 3) the peg's end; axis:
    (N, 3) unit vector from the peg's end to the hand; reach: (N,) m, from the middle of the end to
    the point of its rim (a corner, of a square one) that a leaning peg sets down. mouth: (N, 3)
    middle of the hole's mouth; normal: (N, 3) unit vector out of the hole; yaw: (N,) rad, of the
    hole about the base's z. wrench: (N, 6) true mean over the last control step, N and Nm in the
    tool's frame. offset: (N, 6) calibration error of the channels at the boundary, which is
    added to the true pose.
    """

    state: PegState
    tool: Array
    tip: Array
    axis: Array
    reach: Array
    mouth: Array
    normal: Array
    yaw: Array
    wrench: Array
    offset: Array
