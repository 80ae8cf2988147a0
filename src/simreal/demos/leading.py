"""Demonstrations of how to get back: a policy acts at times, the operator says what to do instead.

What a policy learns from good demonstrations does not hold where it gets by its own mistakes.
Labels of an expert on the states that the policy itself visits do (DAgger: Ross, Gordon and Bagnell
2011, here with one round and both taking turns).
"""

from __future__ import annotations

import numpy as np

from simreal.core.protocols import Policy
from simreal.core.seeds import generator
from simreal.core.types import Action, Bools, Observation
from simreal.demos.operators import Operator

#: Probability a control step that the policy takes over, and that the operator takes over from it.
POLICY_BEGINS, OPERATOR_BEGINS = 1 / 60, 1 / 40


class Led:
    """An `Operator` who lets `policy` act at times; `labels` are always the operator's own.

    Who begins is drawn, and at every step whether they change: policy stretches of 40 steps, others
    of 60 on average. A policy that executes chunks goes on with the chunk it is in.
    """

    def __init__(self, operator: Operator, policy: Policy, seed: int) -> None:
        """seed: of who acts when."""
        self._operator, self._policy, self._seed = operator, policy, seed
        self._first = 0
        self._leads: Bools = np.zeros(0, dtype=bool)

    @property
    def labels(self) -> Action:
        """What the operator meant in the last `act`, absolute targets (N, J)."""
        return self._operator.labels

    def start_at(self, first_index: int) -> None:
        """Episode numbers of the coming batch begin here; they select the random streams."""
        self._first = first_index
        self._operator.start_at(first_index)

    def reset(self, n: int) -> None:
        """Begin N episodes, numbered from `start_at`."""
        self._operator.reset(n)
        self._policy.reset(n)
        self._rngs = [generator(self._seed, "demonstration/led", self._first + i) for i in range(n)]
        self._leads = np.array([rng.random() < 0.5 for rng in self._rngs])

    def looks(self) -> bool:
        """Whether the policy reads images in the next `act`."""
        return self._policy.looks()

    def act(self, observation: Observation) -> Action:
        """Absolute targets (N, J): the policy's where it leads, else the operator's."""
        meant, led = self._operator.act(observation), self._policy.act(observation)
        acted: Action = np.where(self._leads[:, None], led, meant)
        draws = np.array([rng.random() for rng in self._rngs])
        change = np.where(self._leads, OPERATOR_BEGINS, POLICY_BEGINS)
        self._leads ^= draws < change
        return acted
