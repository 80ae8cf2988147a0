"""Commands that arrive late and unevenly, in the order in which they were given."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from simreal.core.errors import UsageError
from simreal.robots.draws import EpisodeDraws

Array = npt.NDArray[np.float64]


class LateCommands:
    """A command takes effect after latency + U(0, jitter), drawn per command and world.

    tick_s: time between two calls of `advance`, period_s: between two commands. purpose and
    twin_seed feed the jitter together with each episode's condition seed.
    """

    def __init__(
        self,
        twin_seed: int,
        purpose: str,
        latency_s: float,
        jitter_s: float,
        tick_s: float,
        period_s: float,
    ) -> None:
        self._latency_s, self._jitter_s, self._tick_s = latency_s, jitter_s, tick_s
        self._per_command = round(period_s / tick_s)
        if self._per_command < 1 or abs(self._per_command * tick_s - period_s) > 1e-9:
            raise UsageError(
                f"A command period of {period_s} s is not a whole number of {tick_s} s."
            )
        self._depth = int(np.ceil((latency_s + jitter_s) / period_s)) + 2
        self._jitter = EpisodeDraws(twin_seed, purpose, 1)

    def reset(self, seeds: Sequence[int]) -> None:
        """Start N episodes; nothing has been commanded."""
        self._jitter.reset(seeds)
        self._tick = 0
        self._pending: list[tuple[Array, Array]] = []  # (tick of arrival (N, 1), target (N, J))

    def advance(self, target: Array, applied: Array) -> None:
        """One tick: `applied` (N, J) becomes what has arrived by now. target: the newest command,
        taken in at the first tick of its period.
        """
        if self._tick == 0:
            self._arrival = np.zeros((len(target), 1))
        if self._tick % self._per_command == 0:
            late = self._jitter.uniform(self._tick // self._per_command)
            delay = self._latency_s + self._jitter_s * late
            arrival = self._tick + np.rint(delay / self._tick_s)
            self._arrival = np.maximum(self._arrival, arrival)
            self._pending = [*self._pending, (self._arrival, np.array(target))][-self._depth :]
        for arrival, command in self._pending:
            np.copyto(applied, command, where=arrival <= self._tick)
        self._tick += 1
