"""Inverse kinematics of the arm by mink: a tool position, approach from above, a heading."""

from __future__ import annotations

import mink
import numpy as np
import numpy.typing as npt

from simreal.worlds import so101

Array = npt.NDArray[np.float64]

#: Weight of orientation against position: high enough to point down, low enough to let go of it
#: where the wrist cannot (the arm reaches 11 cm high only with the hand tilted).
ORIENTATION_COST = 0.03
ITERATIONS = 12
POSITION_M = 5e-4


class ToolIk:
    """Solves for the six joints; the gripper joint is left as it is."""

    def __init__(self) -> None:
        self._configuration = mink.Configuration(so101.arm_spec().compile())
        self._task = mink.FrameTask(
            so101.TOOL_SITE, "site", position_cost=1.0, orientation_cost=ORIENTATION_COST
        )
        model = self._configuration.model
        self._limits = [mink.ConfigurationLimit(model)]
        self._range = model.jnt_range[: len(so101.JOINTS)]

    def solve(self, point: Array, yaw: float, start_rad: Array) -> Array:
        """Joint angles (6,) rad that bring the tool site near `point` (3,) m, world frame.

        yaw: heading of the tool's x axis, rad. start_rad: (6,) where the search begins.
        The nearest pose is returned where the point is out of reach.
        """
        approach = np.array([0.0, 0.0, -1.0])
        x = np.array([np.cos(yaw), np.sin(yaw), 0.0])
        rotation = mink.SO3.from_matrix(np.stack([x, np.cross(approach, x), approach], axis=1))
        self._task.set_target(mink.SE3.from_rotation_and_translation(rotation, point))
        margin = 1e-3
        start = np.clip(start_rad, self._range[:, 0] + margin, self._range[:, 1] - margin)
        self._configuration.update(start)
        for _ in range(ITERATIONS):
            velocity = mink.solve_ik(
                self._configuration, [self._task], 1.0, "daqp", damping=1e-4, limits=self._limits
            )
            self._configuration.integrate_inplace(velocity, 1.0)
            error = self._task.compute_error(self._configuration)
            if np.linalg.norm(error[:3]) < POSITION_M and np.abs(velocity).max() < 0.02:
                break
        return np.array(self._configuration.q, dtype=np.float64)
