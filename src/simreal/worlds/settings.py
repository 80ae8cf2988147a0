"""One world's settings: nominal values with edits, applied to a model from nominal each time.

Fields are named `<space>.<name>`: `physics.*` and `look.*` are arrays of the compiled models,
`control.*` and `image.*` are the sensing, actuation and camera values listed below.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from simreal.worlds.scene import Scene

Array = npt.NDArray[Any]

#: Nominal sensing and actuation, the same for every robot. Joint values are in channel order, at
#: the boundary's units; `wrench_*` are of the force/torque sensor: noise of force (N) and torque
#: (Nm), bias and drift a second of all six, and a low-pass filter (0: none); `clearance_m` and
#: `hole_*` are added to where a condition puts them.
CONTROL: dict[str, tuple[float, ...]] = {
    "action_latency_s": (0.0,),
    "observation_delay_steps": (0.0,),
    "encoder_noise_deg": (0.0,),
    "joint_offset_deg": (0.0,) * 6,
    "object_offset_m": (0.0, 0.0),
    "object_yaw_rad": (0.0,),
    "clearance_m": (0.0,),
    "chamfer_m": (0.0,),
    "hole_offset_m": (0.0, 0.0, 0.0),
    "hole_tilt_rad": (0.0, 0.0),
    "wrench_noise": (0.0, 0.0),
    "wrench_bias": (0.0,) * 6,
    "wrench_drift": (0.0,) * 6,
    "wrench_cutoff_hz": (0.0,),
}
#: Nominal camera electronics, the same for both cameras.
IMAGE: dict[str, tuple[float, ...]] = {
    "exposure_stops": (0.0,),
    "colour_gain": (1.0, 1.0, 1.0),
    "noise_std": (0.0,),
}


class Settings:
    """Nominal values of a scene plus the edits of one scenario."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self._edits: dict[str, Array] = {}

    def nominal(self, field: str) -> Array:
        """A fresh copy of the nominal array of `field`."""
        space, name = field.split(".", 1)
        if space == "control":
            return np.array(CONTROL[name])
        if space == "image":
            return np.array(IMAGE[name])
        model = self.scene.physics if space == "physics" else self.scene.look
        return np.array(getattr(model, name))

    def edit(self, field: str) -> Array:
        """The array of `field` to write into; it starts as nominal."""
        if field not in self._edits:
            self._edits[field] = self.nominal(field)
        return self._edits[field]

    def value(self, field: str) -> Array:
        """The present value of `field` (edited or nominal)."""
        return self._edits[field] if field in self._edits else self.nominal(field)

    @property
    def edited(self) -> frozenset[str]:
        """Names of the fields that were opened for writing."""
        return frozenset(self._edits)

    def apply(self, space: str, model: mujoco.MjModel, nominal: Iterable[str]) -> None:
        """Write this scenario into `model`, which may hold another one.

        nominal: fields of `space` that earlier scenarios may have written; they are restored.
        The values are read back and compared: a field that MuJoCo did not take is an error.
        """
        own = {f for f in self._edits if f.startswith(f"{space}.")}
        for field in own | {f for f in nominal if f.startswith(f"{space}.")}:
            name, value = field.split(".", 1)[1], self.value(field)
            getattr(model, name)[...] = value
            if not np.array_equal(getattr(model, name), value.astype(getattr(model, name).dtype)):
                raise ValueError(f"{field} was not taken by the model.")

    def geom(self, space: str, name: str) -> int:
        """Id of a named geom in the physics or look model."""
        model = self.scene.physics if space == "physics" else self.scene.look
        return int(model.geom(name).id)

    @property
    def arm_dofs(self) -> list[int]:
        """Degrees of freedom of the robot's joints."""
        joints = self.scene.robot.joints
        return [int(self.scene.physics.joint(name).dofadr[0]) for name in joints]
