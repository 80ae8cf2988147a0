"""N worlds of MuJoCo C physics in lockstep, one model and one state each.

Every world owns its MjModel and MjData, so that contacts, sensors and warnings can be read world by
world and no result depends on which worlds share a process. (`mujoco.rollout` shares MjData between
worlds and hides all three.)
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, Protocol

import mujoco
import numpy as np
import numpy.typing as npt

from simreal.core.types import RATE_HZ
from simreal.worlds import so101
from simreal.worlds.settings import Settings
from simreal.worlds.terms import DYNAMICS

Array = npt.NDArray[np.float64]

#: Fields of the physics model that scenarios may write; restored at every reset.
WRITABLE = frozenset(f for term in DYNAMICS for f in term.writes if f.startswith("physics."))


class Servo(Protocol):
    """What stands between commanded targets and motors in a world (used by twins)."""

    every: int

    def reset(self, seeds: Sequence[int]) -> None:
        """Start N episodes."""
        ...

    def substep(self, target: Array, qpos: Array, qvel: Array) -> tuple[Array, Array]:
        """Called every `every` physics steps with (N, 6) rad and rad/s: controls, friction loss."""
        ...


def _leave_to_data(message: str) -> None:
    """Instead of printing and writing MUJOCO_LOG.TXT: `Physics` reads warnings world by world."""


class Physics:
    """N worlds. `substeps` physics steps of 2.5 ms make one control step."""

    def __init__(self, model: mujoco.MjModel, n: int, rate_hz: float = RATE_HZ) -> None:
        mujoco.set_mju_user_warning(_leave_to_data)
        self.n = n
        self.models = [copy.copy(model) for _ in range(n)]
        self.data = [mujoco.MjData(m) for m in self.models]
        self.substeps = round(1.0 / (rate_hz * model.opt.timestep))
        self._joint_q = np.array([model.joint(j).qposadr[0] for j in so101.JOINTS])
        self._joint_v = np.array([model.joint(j).dofadr[0] for j in so101.JOINTS])
        self.diverged = np.zeros(n, dtype=bool)
        self.resting = np.zeros(n, dtype=bool)
        self._latency = np.zeros(n, dtype=int)
        self._targets: list[Array] = []

    def reset(self, settings: Sequence[Settings], qpos: Array, latency_s: Array) -> None:
        """Apply settings from nominal and place every world at `qpos` (N, nq), at rest.

        latency_s: (N,) delay between a command and its arrival at the servos, s.
        """
        self.diverged[:] = False
        self.resting[:] = False
        for i, (model, data) in enumerate(zip(self.models, self.data, strict=True)):
            settings[i].apply("physics", model, WRITABLE)
            mujoco.mj_setConst(model, data)
            mujoco.mj_resetData(model, data)
            data.qpos[:] = qpos[i]
            data.ctrl[:] = qpos[i][self._joint_q]
            mujoco.mj_forward(model, data)
        self._latency = np.rint(latency_s / self.models[0].opt.timestep).astype(int)
        start = self.joint_rad()
        depth = int(self._latency.max(initial=0)) // self.substeps + 2
        self._targets = [start.copy() for _ in range(depth)]

    def step(self, target_rad: Array, servo: Servo | None = None) -> None:
        """One control step towards joint targets (N, 6), rad.

        Diverged worlds stand still, and so do those marked `resting`.
        """
        self._targets = [np.array(target_rad), *self._targets[:-1]]
        if servo is None:
            for i in range(self.n):
                self._step_plain(i)
        else:
            self._step_servo(servo)
        for i, data in enumerate(self.data):
            if not self.diverged[i]:
                self.diverged[i] = (
                    any(w.number for w in data.warning) or not np.isfinite(data.qpos).all()
                )

    def _step_plain(self, i: int) -> None:
        """Command changes arrive `latency` physics steps late: an old target, then a newer one."""
        if self.diverged[i] or self.resting[i]:
            return
        whole, rest = divmod(int(self._latency[i]), self.substeps)
        for target, count in (
            (self._targets[whole + 1][i], rest),
            (self._targets[whole][i], self.substeps - rest),
        ):
            if count:
                self.data[i].ctrl[:] = target
                mujoco.mj_step(self.models[i], self.data[i], count)

    def _step_servo(self, servo: Servo) -> None:
        for _ in range(self.substeps // servo.every):
            ctrl, friction = servo.substep(self._targets[0], self.joint_rad(), self.joint_speed())
            for i, (model, data) in enumerate(zip(self.models, self.data, strict=True)):
                if not (self.diverged[i] or self.resting[i]):
                    data.ctrl[:] = ctrl[i]
                    model.dof_frictionloss[self._joint_v] = friction[i]
                    mujoco.mj_step(model, data, servo.every)

    def joint_rad(self) -> Array:
        """Joint angles, (N, 6) rad."""
        return np.stack([d.qpos[self._joint_q] for d in self.data])

    def joint_speed(self) -> Array:
        """Joint speeds, (N, 6) rad/s."""
        return np.stack([d.qvel[self._joint_v] for d in self.data])

    def qpos(self) -> Array:
        """All coordinates, (N, nq)."""
        return np.stack([d.qpos for d in self.data])

    def body_poses(self) -> tuple[Array, Array]:
        """World positions (N, nbody, 3) m and rotation matrices (N, nbody, 3, 3)."""
        position = np.stack([d.xpos for d in self.data])
        matrix = np.stack([d.xmat for d in self.data]).reshape(self.n, -1, 3, 3)
        return position, matrix

    def sensor(self, name: str) -> Array:
        """A named sensor's values, (N, dim)."""
        model = self.models[0]
        row = model.sensor(name)
        start, dim = int(row.adr[0]), int(row.dim[0])
        return np.stack([d.sensordata[start : start + dim] for d in self.data])

    def site(self, name: str) -> Array:
        """World position of a named site, (N, 3) m."""
        row = int(self.models[0].site(name).id)
        return np.stack([d.site_xpos[row] for d in self.data])

    def warnings(self) -> list[str]:
        """Per world, which MuJoCo warnings were raised since reset (empty text: none)."""
        return [
            ", ".join(str(mujoco.mjtWarning(k).name) for k, w in enumerate(d.warning) if w.number)
            for d in self.data
        ]

    def info(self, i: int) -> tuple[Any, Any]:
        """The model and data of world i, for privileged users such as experts."""
        return self.models[i], self.data[i]
