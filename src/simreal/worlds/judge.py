"""Follows N episodes of a task: stages reached, success held, failures named."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from simreal.core.types import Bools, Floats, Outcome
from simreal.worlds.task import Task

Ints = npt.NDArray[np.int64]

#: A trial that failed before it touched the object, and pressed the table harder than this, failed
#: by that, newtons (assumed: four times the press that counts as a collision).
COLLIDED_N = 20.0


class Judge[State]:
    """Latches what happened to N episodes; a decided episode no longer changes."""

    def __init__(self, task: Task[State], n: int) -> None:
        self.task, self.n = task, n
        self._names = tuple(task.judge)

    def start(self, state: State) -> None:
        """Begin N episodes at `state`."""
        self._reached: Ints = np.zeros(self.n, dtype=np.int64)
        self._held: Ints = np.zeros(self.n, dtype=np.int64)
        self._success = np.zeros(self.n, dtype=bool)
        self._diverged = np.zeros(self.n, dtype=bool)
        self._stopped: list[str | None] = [None] * self.n
        self._showing = {kind: np.zeros(self.n, dtype=np.int64) for kind in self.task.symptoms}
        self._steps = np.zeros(self.n, dtype=np.int64)
        self._collisions = np.zeros(self.n, dtype=np.int64)
        self._pressing: Bools = np.zeros(self.n, dtype=bool)
        self._peak: Floats = np.zeros(self.n, dtype=np.float32)

    def update(self, state: State, diverged: Bools, hit_n: npt.NDArray[np.float64]) -> None:
        """Take in the state after one more control step."""
        live: Bools = np.logical_not(self.done)
        self._steps[live] += 1
        self._diverged |= live & diverged
        live = live & ~diverged
        self._feel(live, hit_n)
        live = live & ~self._stop(state, live)
        stages = self.task.stages(state)
        furthest = np.max(stages * np.arange(1, len(stages) + 1)[:, None], axis=0)
        self._reached = np.where(live, np.maximum(self._reached, furthest), self._reached)
        self._held = np.where(live & stages[-1], self._held + 1, np.where(live, 0, self._held))
        self._success |= live & (self._held >= self.task.hold_steps)
        for kind, shows in self.task.symptoms.items():
            counts = self._showing[kind]
            counts[live] = np.where(shows(state), counts + 1, 0)[live]

    def _feel(self, live: Bools, hit_n: npt.NDArray[np.float64]) -> None:
        """Count collisions and remember the hardest."""
        pressing = live & (hit_n > self.task.collision_n)
        self._collisions += pressing & ~self._pressing
        self._pressing = pressing
        self._peak = np.where(live, np.maximum(self._peak, hit_n), self._peak).astype(np.float32)

    def _stop(self, state: State, live: Bools) -> Bools:
        """End the live episodes in which something happened that ends them; which did, (N,)."""
        ended = np.zeros(self.n, dtype=bool)
        for kind, happened in self.task.stops.items():
            for i in np.flatnonzero(live & ~ended & happened(state)):
                self._stopped[i] = kind
                ended[i] = True
        return ended

    @property
    def done(self) -> Bools:
        """Which episodes are over, (N,)."""
        stopped = [kind is not None for kind in self._stopped]
        return np.asarray(self._success | self._diverged | np.array(stopped, dtype=bool))

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
        if self._stopped[i] is not None:
            return self._stopped[i]
        for kind, counts in self._showing.items():
            if counts[i] >= self.task.hold_steps:
                return kind
        furthest = self._names[self._reached[i] - 1] if self._reached[i] else None
        if self._peak[i] > COLLIDED_N and furthest in self.task.untouched:
            return "collided"
        return self.task.failures[furthest]
