"""Follows N episodes of a task: stages reached, success held, failures named."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from simreal.core.types import Bools, Floats, Outcome
from simreal.worlds.task import Task, TaskState

Ints = npt.NDArray[np.int64]

#: A press on the table above this counts as a collision, newtons.
COLLISION_N = 5.0
#: A trial that failed before it touched the object, and pressed the table harder than this, failed
#: by that, newtons (assumed: four times the press that counts as a collision).
COLLIDED_N = 20.0


class Judge:
    """Latches what happened to N episodes; a decided episode no longer changes."""

    def __init__(self, task: Task, n: int) -> None:
        self.task, self.n = task, n
        self._names = tuple(task.judge)

    def start(self, state: TaskState) -> None:
        """Begin N episodes at `state`."""
        self._reached: Ints = np.zeros(self.n, dtype=np.int64)
        self._held: Ints = np.zeros(self.n, dtype=np.int64)
        self._success = np.zeros(self.n, dtype=bool)
        self._diverged = np.zeros(self.n, dtype=bool)
        self._steps = np.zeros(self.n, dtype=np.int64)
        self._collisions = np.zeros(self.n, dtype=np.int64)
        self._pressing = np.zeros(self.n, dtype=bool)
        self._peak: Floats = np.zeros(self.n, dtype=np.float32)

    def update(
        self, state: TaskState, diverged: Bools, table_force_n: npt.NDArray[np.float64]
    ) -> None:
        """Take in the state after one more control step."""
        live = ~(self._success | self._diverged)
        self._steps[live] += 1
        self._diverged |= live & diverged
        live &= ~diverged
        stages = self.task.stages(state)
        furthest = np.max(stages * np.arange(1, len(stages) + 1)[:, None], axis=0)
        self._reached = np.where(live, np.maximum(self._reached, furthest), self._reached)
        self._held = np.where(live & stages[-1], self._held + 1, np.where(live, 0, self._held))
        self._success |= live & (self._held >= self.task.hold_steps)
        pressing = live & (table_force_n > COLLISION_N)
        self._collisions += pressing & ~self._pressing
        self._pressing = pressing
        self._peak = np.where(live, np.maximum(self._peak, table_force_n), self._peak).astype(
            np.float32
        )

    @property
    def done(self) -> Bools:
        """Which episodes are over, (N,)."""
        return np.asarray(self._success | self._diverged)

    def outcome(self) -> Outcome:
        """How the N episodes stand."""
        return Outcome(
            success=self._success.copy(),
            done=self.done,
            score=np.where(self._success, 1.0, self._share()).astype(np.float32),
            failure=tuple(self._failure(i) for i in range(self.n)),
            steps=self._steps.copy(),
            collisions=self._collisions.copy(),
            peak_force_n=self._peak.copy(),
        )

    def _share(self) -> npt.NDArray[np.float64]:
        """Share of stages reached; the last one counts only when it was held (success)."""
        share: npt.NDArray[np.float64] = np.minimum(self._reached, len(self._names) - 1) / len(
            self._names
        )
        return share

    def _failure(self, i: int) -> str | None:
        if self._success[i]:
            return None
        if self._diverged[i]:
            return "diverged"
        furthest = self._names[self._reached[i] - 1] if self._reached[i] else None
        if self._peak[i] > COLLIDED_N and furthest in self.task.untouched:
            return "collided"
        return self.task.failures[furthest]
