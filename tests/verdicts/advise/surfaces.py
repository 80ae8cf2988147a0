"""Surfaces to plan on: success as a plain function of the data, equal in all draws."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

DRAWS = 200


@dataclass(frozen=True)
class Plain:
    """The same rate in every draw; a high spread means no retraining noise."""

    rate: Callable[[float, float], float]
    draws: int = DRAWS
    noise: float = 1e6
    spread: np.ndarray = field(init=False)

    def __post_init__(self):
        object.__setattr__(self, "spread", np.full(self.draws, self.noise))

    def success(self, n_real, n_sim):
        pairs = zip(np.atleast_1d(n_real), np.atleast_1d(n_sim), strict=True)
        return np.tile([self.rate(*pair) for pair in pairs], (self.draws, 1))
