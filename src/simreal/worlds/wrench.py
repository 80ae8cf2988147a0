"""The force/torque window of one world: what `ur5e`'s sensor measured since the last control step.

MuJoCo keeps the samples itself (500 Hz, in C). Force on the tool and torque about its nominal tip,
in the tool's frame; what the gripper's own inertia contributes is part of it, as on a real arm.
"""

from __future__ import annotations

import mujoco
import numpy as np
import numpy.typing as npt

from simreal.core.types import WRENCH_SAMPLES
from simreal.worlds.gripper import TOOL_SITE, WRENCH_SITE
from simreal.worlds.ur5e import FORCE, TORQUE

Array = npt.NDArray[np.float64]


def window(model: mujoco.MjModel, data: mujoco.MjData) -> Array:
    """The last `WRENCH_SAMPLES` samples, oldest first, (S, 6) N and Nm; zero before the first.

    The sensor gives what the tool does to the arm, so signs are turned.
    """
    force, torque = -_samples(model, data, FORCE), -_samples(model, data, TORQUE)
    lever = model.site(WRENCH_SITE).pos - model.site(TOOL_SITE).pos
    return np.concatenate([force, torque + np.cross(lever, force)], axis=1)


def _samples(model: mujoco.MjModel, data: mujoco.MjData, name: str) -> Array:
    """A sensor's history (S, 3), oldest first. Its buffer: a slot, a cursor, times, values."""
    row = model.sensor(name).id
    start, count = int(model.sensor_historyadr[row]), int(model.sensor_history[row, 0])
    buffer = data.history[start : start + 2 + 4 * count]
    newest = int(buffer[1])
    values = buffer[2 + count :].reshape(count, 3)
    return np.roll(values, -newest - 1, axis=0)[-WRENCH_SAMPLES:]
