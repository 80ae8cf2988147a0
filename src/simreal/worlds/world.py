"""A batched simulated world: a `Target` over N copies of a task, each with settings of its own.

What the robot is, its rig knows. It is also what a twin's server runs: a drive and camera effects
plug in without the world knowing what they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from simreal.core.seeds import generator
from simreal.core.types import (
    Action,
    Condition,
    Floats,
    Images,
    Observation,
    Outcome,
    TargetSpec,
)
from simreal.worlds.felt import Feel, ForceSensor
from simreal.worlds.judge import Judge
from simreal.worlds.physics import Array, Drive, Physics
from simreal.worlds.scene import Scene
from simreal.worlds.settings import Settings
from simreal.worlds.task import Task
from simreal.worlds.views import Optics, Taken, Views

#: Control steps after which the world of an episode that is over stands still, to save time.
REST = 8

#: Turns a condition into the settings of the world that plays it.
Prepare = Callable[[Condition], Settings]


@dataclass(frozen=True)
class Extras:
    """What a twin adds to a world. encoder: what is read for true positions (N, J), SI units."""

    drive: Drive | None = None
    feel: Feel | None = None
    optics: Optics | None = None
    encoder: Callable[[Array], Array] | None = None


class World:
    """N <= spec.batch copies of a task in lockstep. Keeps the `Target` contract."""

    def __init__(
        self,
        task: Task[Any],
        scene: Scene,
        spec: TargetSpec,
        prepare: Prepare,
        *,
        shadows: bool = False,
        device: str = "cpu",
        extras: Extras = Extras(),
    ) -> None:
        self.task, self.scene, self._spec = task, scene, spec
        self.robot = task.robot
        self.rig = self.robot.rig(task, scene)
        self._prepare, self._extras = prepare, extras
        self.views = Views(scene, spec.cameras, shadows, device)
        self._sensor = ForceSensor()
        self._physics: Physics | None = None
        self._conditions: tuple[Condition, ...] = ()

    @property
    def spec(self) -> TargetSpec:
        """What this world is."""
        return self._spec

    def reset(self, conditions: Sequence[Condition]) -> None:
        """Place N worlds at their conditions under the settings `prepare` gives.

        A suite of the task's own replaces initial values of the condition.
        """
        n = len(conditions)
        if not 1 <= n <= self._spec.batch:
            raise ValueError(f"{n} conditions; a batch takes 1 to {self._spec.batch}.")
        if self._physics is None or self._physics.n != n:
            self._physics = Physics(
                self.scene.physics, n, self.robot.joints, self.robot.writes, self._spec.rate_hz
            )
        suites = self.task.suites
        self._conditions = tuple(
            replace(c, reset={**c.reset, **suites.get(c.suite, {})}) for c in conditions
        )
        self.settings = [self._prepare(c) for c in self._conditions]
        self._step = 0
        self.rig.start(self.physics, self.settings, self._conditions)
        self._read_settings()
        seeds = [c.seed for c in conditions]
        self.views.reset(self.settings, seeds)
        self._sensor.reset(self.settings, seeds)
        for part in (self._extras.drive, self._extras.feel, self._extras.optics):
            if part is not None:
                part.reset(seeds)
        self._history = [self._snapshot()]
        self._felt = self._feel()
        self.judge: Judge[Any] = Judge(self.task, n)
        self.judge.start(self.state())
        self._over: npt.NDArray[np.int64] = np.zeros(n, dtype=np.int64)

    @property
    def physics(self) -> Physics:
        """The N worlds' physics, for privileged users (experts, recorders)."""
        if self._physics is None:
            raise RuntimeError("reset() comes first.")
        return self._physics

    def _read_settings(self) -> None:
        self._offset_deg = _column(self.settings, "control.joint_offset_deg")
        self._delay = _column(self.settings, "control.observation_delay_steps")[:, 0].astype(int)
        self._encoder_deg = _column(self.settings, "control.encoder_noise_deg")[:, 0]

    def _snapshot(self) -> tuple[Array, Array, Array]:
        position, matrix = self.physics.body_poses()
        return self.rig.positions(), position, matrix

    def _delayed(self, part: int) -> Array:
        """Row i of history entry `delay[i]` back (or the oldest there is)."""
        last = len(self._history) - 1
        return np.stack(
            [self._history[last - min(d, last)][part][i] for i, d in enumerate(self._delay)]
        )

    def observe(self, images: bool = True) -> Observation:
        """Measured positions, the force/torque window, and pictures if asked for."""
        angles = self._delayed(0)
        if self._extras.encoder is not None:
            angles = self._extras.encoder(angles)
        measured = self.robot.to_boundary(angles) + self._offset_deg + self._encoder_noise()
        pictures: Images = {}
        if images and self._spec.cameras:
            pictures = self.views.take(self.seen(), self.physics.resting)
            if self._extras.optics is not None:
                pictures = self._extras.optics.apply(pictures, self._step)
        return Observation(
            measured.astype(np.float32),
            pictures,
            self._step / self._spec.rate_hz,
            None if self._felt is None else self._felt.copy(),
        )

    def _feel(self) -> Floats | None:
        """What the force/torque sensor gives now: once a step, since sensors remember."""
        true = self.rig.wrench()
        if true is None:
            return None
        given = self._sensor.read(true, self._step)
        return given if self._extras.feel is None else self._extras.feel.apply(given, self._step)

    def _encoder_noise(self) -> Array:
        noise = np.zeros((len(self._conditions), len(self.robot.channels)))
        for i, condition in enumerate(self._conditions):
            if self._encoder_deg[i] > 0:
                rng = generator(condition.seed, "encoder", self._step)
                noise[i] = self._encoder_deg[i] * rng.standard_normal(noise.shape[1])
        return noise

    def seen(self) -> Taken:
        """What the cameras see now, not yet rendered."""
        return Taken(self._delayed(1), self._delayed(2), self._step)

    def photograph(self, moments: Sequence[Taken], settings: Settings, seed: int) -> Images:
        """Render T moments of one world under the looks of `settings`: camera -> (T, H, W, 3)."""
        return self.views.photograph(moments, settings, seed)

    def act(self, actions: Action) -> None:
        """One control period towards absolute targets (N, J) in the boundary's units."""
        actions = np.asarray(actions)
        expected = (len(self._conditions), len(self.robot.channels))
        if actions.shape != expected:
            raise ValueError(f"Actions have shape {actions.shape}, expected {expected}.")
        if not np.isfinite(actions).all():
            rows = np.flatnonzero(~np.isfinite(actions).all(axis=1))
            raise ValueError(f"Actions of worlds {rows.tolist()} are not finite.")
        target = self.robot.to_si(actions - self._offset_deg)
        self.physics.step(target, self._extras.drive)
        self._step += 1
        self.rig.stepped()
        self._felt = self._feel()
        self._history = [*self._history, self._snapshot()][-1 - int(self._delay.max()) :]
        self.judge.update(self.state(), self.physics.diverged, self.rig.hit_n())
        self._over = np.where(self.judge.done, self._over + 1, 0)
        self.physics.resting[:] = self._over > REST

    def state(self) -> Any:
        """Exact values that the task judges by."""
        return self.rig.state()

    def privileged(self) -> Any:
        """Exact values for scripted experts."""
        return self.rig.privileged()

    def outcome(self) -> Outcome:
        """How the N episodes stand."""
        return self.judge.outcome()

    def close(self) -> None:
        """Free models and device memory."""
        self._physics = None
        self.views.close()


def _column(settings: Sequence[Settings], field: str) -> Array:
    return np.stack([np.asarray(s.value(field), dtype=float) for s in settings])
