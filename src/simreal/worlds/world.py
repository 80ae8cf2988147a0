"""A batched simulated world: a `Target` over N copies of a task, each with settings of its own.

It is also what a twin's server runs: a servo model and camera effects plug in without the world
knowing what they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
import numpy.typing as npt

from simreal.core.seeds import generator
from simreal.core.types import Action, Condition, Images, Observation, Outcome, TargetSpec
from simreal.worlds import so101
from simreal.worlds.judge import Judge
from simreal.worlds.physics import Array, Physics, Servo
from simreal.worlds.placing import initial_qpos, table_height
from simreal.worlds.scene import Scene
from simreal.worlds.settings import Settings
from simreal.worlds.task import OBJECT, TABLE, Privileged, Task, TaskState
from simreal.worlds.views import Optics, Taken, Views

#: Control steps after which the world of an episode that is over stands still, to save time.
REST = 8

#: Turns a condition into the settings of the world that plays it.
Prepare = Callable[[Condition], Settings]


@dataclass(frozen=True)
class Extras:
    """What a twin adds to a world. encoder: what is read for true joint angles, rad."""

    servo: Servo | None = None
    optics: Optics | None = None
    encoder: Callable[[Array], Array] | None = None


class World:
    """N <= spec.batch copies of a task in lockstep. Keeps the `Target` contract."""

    def __init__(
        self,
        task: Task,
        scene: Scene,
        spec: TargetSpec,
        prepare: Prepare,
        *,
        shadows: bool = False,
        device: str = "cpu",
        extras: Extras = Extras(),
    ) -> None:
        self.task, self.scene, self._spec = task, scene, spec
        self._prepare, self._extras = prepare, extras
        self.views = Views(scene, spec.cameras, shadows, device)
        self._physics: Physics | None = None
        self._conditions: tuple[Condition, ...] = ()

    @property
    def spec(self) -> TargetSpec:
        """What this world is."""
        return self._spec

    def reset(self, conditions: Sequence[Condition]) -> None:
        """Place N worlds at their conditions under the settings `prepare` gives."""
        n = len(conditions)
        if not 1 <= n <= self._spec.batch:
            raise ValueError(f"{n} conditions; a batch takes 1 to {self._spec.batch}.")
        if self._physics is None or self._physics.n != n:
            self._physics = Physics(self.scene.physics, n, self._spec.rate_hz)
        self._conditions = tuple(conditions)
        self.settings = [self._prepare(c) for c in conditions]
        self._step = 0
        self._place()
        self._read_settings()
        seeds = [c.seed for c in conditions]
        self.views.reset(self.settings, seeds)
        for part in (self._extras.servo, self._extras.optics):
            if part is not None:
                part.reset(seeds)
        self._history = [self._snapshot()]
        object_body = int(self.scene.physics.body(OBJECT).id)
        self._object_start = self.physics.body_poses()[0][:, object_body]
        geom = self.scene.physics.geom(OBJECT).id
        half = [s.value("physics.geom_size")[geom] for s in self.settings]
        starts = zip(self.settings, self._object_start, strict=True)
        height = [table_height(s, x, y) for s, (x, y, _) in starts]
        self._object_half = np.stack(half).astype(np.float32)
        self._table_z = np.array(height).astype(np.float32)
        self.judge = Judge(self.task, n)
        self.judge.start(self.state())
        self._over: npt.NDArray[np.int64] = np.zeros(n, dtype=np.int64)

    @property
    def physics(self) -> Physics:
        """The N worlds' physics, for privileged users (experts, recorders)."""
        if self._physics is None:
            raise RuntimeError("reset() comes first.")
        return self._physics

    def _place(self) -> None:
        qpos = np.tile(self.scene.physics.qpos0, (len(self._conditions), 1))
        for i, condition in enumerate(self._conditions):
            qpos[i] = initial_qpos(self.scene, self.settings[i], condition.reset)
        latency = np.array([float(s.value("control.action_latency_s")[0]) for s in self.settings])
        self.physics.reset(self.settings, qpos, latency)
        self._place_goals()

    def _place_goals(self) -> None:
        """Move the goal marker, where the task has one; its pose is no part of qpos."""
        goal = [
            b for b in range(self.scene.physics.nbody) if self.scene.physics.body(b).name == "goal"
        ]
        self._goal_xy = np.full((len(self._conditions), 2), np.nan, dtype=np.float32)
        if not goal:
            return
        for i, condition in enumerate(self._conditions):
            model, data = self.physics.info(i)
            x, y = condition.reset["goal_x_m"], condition.reset["goal_y_m"]
            data.mocap_pos[0] = (x, y, table_height(self.settings[i], x, y) + 0.0005)
            data.mocap_quat[0] = self.settings[i].value("physics.body_quat")[model.body(TABLE).id]
            mujoco.mj_forward(model, data)
            self._goal_xy[i] = (x, y)

    def _read_settings(self) -> None:
        self._offset_deg = _column(self.settings, "control.joint_offset_deg")
        self._delay = _column(self.settings, "control.observation_delay_steps")[:, 0].astype(int)
        self._encoder_deg = _column(self.settings, "control.encoder_noise_deg")[:, 0]

    def _snapshot(self) -> tuple[Array, Array, Array]:
        position, matrix = self.physics.body_poses()
        return self.physics.joint_rad(), position, matrix

    def _delayed(self, part: int) -> Array:
        """Row i of history entry `delay[i]` back (or the oldest there is)."""
        last = len(self._history) - 1
        return np.stack(
            [self._history[last - min(d, last)][part][i] for i, d in enumerate(self._delay)]
        )

    def observe(self, images: bool = True) -> Observation:
        """Measured joints, and pictures of both cameras if asked for."""
        angles = self._delayed(0)
        if self._extras.encoder is not None:
            angles = self._extras.encoder(angles)
        measured = so101.to_lerobot(angles) + self._offset_deg + self._encoder_noise()
        pictures: Images = {}
        if images and self._spec.cameras:
            pictures = self.views.take(self.seen(), self.physics.resting)
            if self._extras.optics is not None:
                pictures = self._extras.optics.apply(pictures, self._step)
        return Observation(measured.astype(np.float32), pictures, self._step / self._spec.rate_hz)

    def _encoder_noise(self) -> Array:
        noise = np.zeros((len(self._conditions), len(so101.JOINTS)))
        for i, condition in enumerate(self._conditions):
            if self._encoder_deg[i] > 0:
                rng = generator(condition.seed, "encoder", self._step)
                noise[i] = self._encoder_deg[i] * rng.standard_normal(len(so101.JOINTS))
        return noise

    def seen(self) -> Taken:
        """What the cameras see now, not yet rendered."""
        return Taken(self._delayed(1), self._delayed(2), self._step)

    def photograph(self, moments: Sequence[Taken], settings: Settings, seed: int) -> Images:
        """Render T moments of one world under the looks of `settings`: camera -> (T, H, W, 3)."""
        return self.views.photograph(moments, settings, seed)

    def act(self, actions: Action) -> None:
        """One control period towards absolute targets (N, 6) in LeRobot units."""
        actions = np.asarray(actions)
        expected = (len(self._conditions), len(so101.JOINTS))
        if actions.shape != expected:
            raise ValueError(f"Actions have shape {actions.shape}, expected {expected}.")
        if not np.isfinite(actions).all():
            rows = np.flatnonzero(~np.isfinite(actions).all(axis=1))
            raise ValueError(f"Actions of worlds {rows.tolist()} are not finite.")
        target = so101.to_radians(actions - self._offset_deg)
        self.physics.step(target, self._extras.servo)
        self._step += 1
        self._history = [*self._history, self._snapshot()][-1 - int(self._delay.max()) :]
        self.judge.update(self.state(), self.physics.diverged, self._table_force())
        self._over = np.where(self.judge.done, self._over + 1, 0)
        self.physics.resting[:] = self._over > REST

    def _table_force(self) -> npt.NDArray[np.float64]:
        return np.asarray(np.linalg.norm(self.physics.sensor("hand_table")[:, 1:4], axis=1))

    def state(self) -> TaskState:
        """Exact values that tasks judge and experts act by."""
        physics = self.physics
        object_body = int(self.scene.physics.body(OBJECT).id)
        position = physics.body_poses()[0][:, object_body]
        return TaskState(
            object_pos=position.astype(np.float32),
            object_start=self._object_start.astype(np.float32),
            object_half=self._object_half,
            tool_pos=physics.site(so101.TOOL_SITE).astype(np.float32),
            goal_xy=self._goal_xy,
            on_fixed=physics.sensor("fixed_touch")[:, 0] > 0,
            on_moving=physics.sensor("moving_touch")[:, 0] > 0,
            table_z=self._table_z,
        )

    def privileged(self) -> Privileged:
        """Exact values for scripted experts."""
        physics, n = self.physics, len(self._conditions)
        gravity, friction = np.zeros((n, 6)), np.zeros((n, 6))
        dofs = self.settings[0].arm_dofs
        for i in range(n):
            model, data = physics.info(i)
            gain = model.actuator_gainprm[:, 0]
            gravity[i] = data.qfrc_bias[dofs] / gain
            friction[i] = model.dof_frictionloss[dofs] / gain
        matrix = physics.body_poses()[1][:, int(self.scene.physics.body(OBJECT).id)]
        return Privileged(
            state=self.state(),
            joint_rad=physics.joint_rad(),
            object_yaw=np.arctan2(matrix[:, 1, 0], matrix[:, 0, 0]),
            gravity_rad=gravity,
            friction_rad=friction,
            offset_deg=self._offset_deg,
        )

    def outcome(self) -> Outcome:
        """How the N episodes stand."""
        return self.judge.outcome()

    def close(self) -> None:
        """Free models and device memory."""
        self._physics = None
        self.views.close()


def _column(settings: Sequence[Settings], field: str) -> Array:
    return np.stack([np.asarray(s.value(field), dtype=float) for s in settings])
