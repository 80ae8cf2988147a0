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
from simreal.worlds.settings import Settings

Array = npt.NDArray[np.float64]


class Drive(Protocol):
    """What stands between commanded targets and motors in a world (used by twins)."""

    every: int

    def reset(self, seeds: Sequence[int]) -> None:
        """Start N episodes."""
        ...

    def substep(self, physics: Physics, target: Array) -> None:
        """Called before every `every` physics steps with the commanded targets (N, J), SI units.

        Writes `ctrl`, and what else it changes, into the models and data of `physics.live()`.
        """
        ...


def _leave_to_data(message: str) -> None:
    """Instead of printing and writing MUJOCO_LOG.TXT: `Physics` reads warnings world by world."""


class Physics:
    """N worlds; `substeps` physics steps make one control step.

    joints: of the robot, for `joint_rad` and `joint_speed`. writable: fields of the physics model
    that scenarios may write; they are restored at every reset.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        n: int,
        joints: Sequence[str],
        writable: frozenset[str] = frozenset(),
        rate_hz: float = RATE_HZ,
    ) -> None:
        mujoco.set_mju_user_warning(_leave_to_data)
        self.n = n
        self.models = [copy.copy(model) for _ in range(n)]
        self.data = [mujoco.MjData(m) for m in self.models]
        self.substeps = round(1.0 / (rate_hz * model.opt.timestep))
        self._writable = writable
        self.joint_q = np.array([model.joint(j).qposadr[0] for j in joints])
        self.joint_v = np.array([model.joint(j).dofadr[0] for j in joints])
        self.diverged = np.zeros(n, dtype=bool)
        self.resting = np.zeros(n, dtype=bool)
        self._latency = np.zeros(n, dtype=int)
        self._targets: list[Array] = []

    def reset(self, settings: Sequence[Settings], qpos: Array, ctrl: Array) -> None:
        """Apply settings from nominal and place every world at `qpos` (N, nq), at rest.

        ctrl: (N, nu), the targets that hold it there. A command reaches the motors as late as
        `control.action_latency_s` of its world says.
        """
        self.diverged[:] = False
        self.resting[:] = False
        for i, (model, data) in enumerate(zip(self.models, self.data, strict=True)):
            settings[i].apply("physics", model, self._writable)
            mujoco.mj_setConst(model, data)
            mujoco.mj_resetData(model, data)
            data.qpos[:] = qpos[i]
            data.ctrl[:] = ctrl[i]
            data.act[:] = ctrl[i][: model.na]  # filters of the commands begin settled
            mujoco.mj_forward(model, data)
        latency_s = np.array([float(s.value("control.action_latency_s")[0]) for s in settings])
        self._latency = np.rint(latency_s / self.models[0].opt.timestep).astype(int)
        start = np.array(ctrl)
        depth = int(self._latency.max(initial=0)) // self.substeps + 2
        self._targets = [start.copy() for _ in range(depth)]

    def step(self, target: Array, drive: Drive | None = None) -> None:
        """One control step towards targets (N, nu), SI units.

        Diverged worlds stand still, and so do those marked `resting`.
        """
        self._targets = [np.array(target), *self._targets[:-1]]
        if drive is None:
            for i in range(self.n):
                self._step_plain(i)
        else:
            self._step_driven(drive)
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

    def _step_driven(self, drive: Drive) -> None:
        for _ in range(self.substeps // drive.every):
            drive.substep(self, self._targets[0])
            for i in self.live():
                mujoco.mj_step(self.models[i], self.data[i], drive.every)

    def live(self) -> list[int]:
        """The worlds that are stepped: neither diverged nor at rest."""
        return [int(i) for i in np.flatnonzero(~(self.diverged | self.resting))]

    def joint_rad(self) -> Array:
        """Joint angles, (N, joints) rad."""
        return np.stack([d.qpos[self.joint_q] for d in self.data])

    def joint_speed(self) -> Array:
        """Joint speeds, (N, joints) rad/s."""
        return np.stack([d.qvel[self.joint_v] for d in self.data])

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
