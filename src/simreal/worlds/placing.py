"""Where things stand at reset: the object on the table, wherever settings and condition put it."""

from __future__ import annotations

from collections.abc import Mapping

import mujoco
import numpy as np
import numpy.typing as npt

from simreal.worlds import so101
from simreal.worlds.names import OBJECT, TABLE
from simreal.worlds.scene import Scene
from simreal.worlds.settings import Settings


def table_height(settings: Settings, x: float, y: float) -> float:
    """Height of the (tilted) table surface under world point (x, y), m."""
    table = int(settings.scene.physics.body(TABLE).id)
    origin = settings.value("physics.body_pos")[table]
    matrix = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, settings.value("physics.body_quat")[table].astype(float))
    normal = matrix.reshape(3, 3)[:, 2]
    return float(
        origin[2] - (normal[0] * (x - origin[0]) + normal[1] * (y - origin[1])) / normal[2]
    )


def initial_qpos(
    scene: Scene, settings: Settings, reset: Mapping[str, float]
) -> npt.NDArray[np.float64]:
    """Arm at home, object resting on the table where `reset` and the settings put it."""
    qpos = np.array(scene.physics.qpos0)
    for name, value in zip(so101.JOINTS, so101.HOME_RAD, strict=True):
        qpos[scene.physics.joint(name).qposadr[0]] = value
    dx, dy = (float(v) for v in settings.value("control.object_offset_m"))
    x, y = reset["object_x_m"] + dx, reset["object_y_m"] + dy
    yaw = reset["object_yaw_rad"] + float(settings.value("control.object_yaw_rad")[0])
    half = settings.value("physics.geom_size")[scene.physics.geom(OBJECT).id][2]
    tilt = settings.value("physics.body_quat")[scene.physics.body(TABLE).id].astype(float)
    turn, quat = np.array([np.cos(yaw / 2), 0, 0, np.sin(yaw / 2)]), np.zeros(4)
    mujoco.mju_mulQuat(quat, tilt, turn)
    start = int(scene.physics.joint(OBJECT).qposadr[0])
    qpos[start : start + 3] = (x, y, table_height(settings, x, y) + half)
    qpos[start + 3 : start + 7] = quat
    return qpos
