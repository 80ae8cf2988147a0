"""Laws that stand between a commanded tool and a peg in its hole, at work in a world's physics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from simreal.worlds import pegfields, ur5e
from simreal.worlds.names import OBJECT
from simreal.worlds.peghole import FIXTURE, HOLE
from simreal.worlds.physics import Physics

Array = npt.NDArray[np.float64]

#: MuJoCo's least friction: of two geoms in contact the larger counts, so the peg's alone decides.
_LEAST_FRICTION = 1e-5


class PegLaws(Protocol):
    """Laws of N worlds (used by twins). Factors are of the value that the settings gave."""

    every: int

    def reset(self, seeds: Sequence[int]) -> None:
        """Start N episodes."""
        ...

    def command(self, target: Array, held: Array) -> Array:
        """The tool pose (N, 6) to hold next, from the commanded one and the one held now."""
        ...

    def friction(self, tip: Array, velocity: Array) -> Array:
        """Factors (N,) for peg on hole, from place and velocity (N, 3) of the peg's end in the
        hole's frame, m and m/s.
        """
        ...

    def joint_friction(self, speed: Array) -> Array:
        """Factors (N, 6) for the arm's joints, from their speed (N, 6), rad/s."""
        ...

    def fixture(self, shift: Array) -> Array:
        """Factors (N, 2) for the fixture's sideways stiffness, from its shift (N, 2), m."""
        ...


class PegDrive:
    """`PegLaws` in a world: a `Drive` that sets the controls and rewrites, tick by tick, friction
    of peg and joints and the fixture's stiffness. All of these are restored at every reset.
    """

    def __init__(self, laws: PegLaws) -> None:
        """Drive the tool through `laws`."""
        self._laws, self.every = laws, laws.every
        self._begun = False
        self._last: Array = np.zeros((0, 3))
        self._held: Array = np.zeros((0, 6))

    def reset(self, seeds: Sequence[int]) -> None:
        """Start N episodes."""
        self._laws.reset(seeds)
        self._begun = False

    def substep(self, physics: Physics, target: Array) -> None:
        """Set what holds for the next `every` physics steps."""
        if not self._begun:
            self._begin(physics)
        data = physics.data
        tip = self._tip(physics)
        velocity = (tip - self._last) / self._tick_s
        self._last = tip
        moving = np.array([d.qvel[self._arm] for d in data])
        shift = np.array([d.qpos[self._fixture] for d in data])
        self._held = self._laws.command(target, self._held)
        friction = self._base_friction * self._laws.friction(tip, velocity)
        loss = self._base_loss * self._laws.joint_friction(moving)
        stiffness = self._base_stiffness * self._laws.fixture(shift)
        for i in physics.live():
            model = physics.models[i]
            data[i].ctrl[:] = self._held[i]
            model.geom_friction[self._peg, 0] = friction[i]
            model.dof_frictionloss[self._arm] = loss[i]
            model.jnt_stiffness[self._springs] = stiffness[i]

    def _tip(self, physics: Physics) -> Array:
        """Middle of the peg's end in the hole's frame, (N, 3) m."""
        place = np.array([d.xpos[self._bodies] for d in physics.data])
        turn = np.array([d.xmat[self._bodies[1]] for d in physics.data]).reshape(-1, 3, 3)
        away = place[:, 0] - place[:, 1]
        tip: Array = (turn * away[:, :, None]).sum(axis=1)
        return tip

    def _begin(self, physics: Physics) -> None:
        """Rows to read and write, and the values that the settings gave."""
        model, self._begun = physics.models[0], True
        self._tick_s = float(model.opt.timestep) * self.every
        self._bodies = [int(model.body(OBJECT).id), int(model.body(HOLE).id)]
        joints = [model.joint(name) for name in FIXTURE[:2]]
        self._fixture = [int(j.qposadr[0]) for j in joints]
        self._springs = [int(j.id) for j in joints]
        _, self._arm = ur5e.joint_rows(model)
        self._peg, *walls = pegfields.contact_geoms(model)
        models = physics.models
        self._base_friction = np.array([m.geom_friction[self._peg, 0] for m in models])
        self._base_loss = np.array([m.dof_frictionloss[self._arm] for m in models])
        self._base_stiffness = np.array([m.jnt_stiffness[self._springs] for m in models])
        for m in models:
            m.geom_friction[walls, 0] = _LEAST_FRICTION
        self._held = np.array([d.ctrl for d in physics.data])
        self._last = self._tip(physics)
