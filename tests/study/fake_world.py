"""A fake world for explorations: episodes end at once, and fail as factors say."""

import numpy as np
from tests.contract.fake_target import FakeTarget

from simreal.core.seeds import generator
from simreal.core.types import Outcome


class Still:
    """A policy that stays where it is."""

    def reset(self, n):
        pass

    def looks(self):
        return True

    def act(self, observation):
        return observation.joint_pos


class Breaking(FakeTarget):
    """rate: (values of the scenario, initial values) -> (chance of failure, failure kind)."""

    def __init__(self, rate):
        super().__init__(batch=64)
        self.rate, self.stage, self.played = rate, None, 0

    def reset(self, conditions):
        super().reset(conditions)
        self.played += len(conditions)
        self.kinds = []
        for c in conditions:
            chance, kind = self.rate(self.stage.scenarios[c.index].values, c.reset)
            lost = generator(c.seed, "breaking").random() < chance
            self.kinds.append(kind if lost else None)

    def outcome(self):
        n = len(self.kinds)
        success = np.array([kind is None for kind in self.kinds])
        return Outcome(
            success,
            np.ones(n, bool),
            success.astype(np.float32),
            tuple(self.kinds),
            np.ones(n, np.int64),
            np.zeros(n, np.int64),
            np.full(n, np.nan, np.float32),
        )
