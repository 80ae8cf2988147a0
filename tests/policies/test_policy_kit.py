"""The test-kit notices each promise that a policy can break."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from tests.contract.policy_kit import check_policy

from simreal.core.types import Observation

CAMERAS = {"scene": (16, 16)}
CHUNK = 3


@dataclass
class Honest:
    """Holds the pose measured at its last look, plus the picture's mean and the step since."""

    n: int = 0
    cursor: int = 0
    plan: np.ndarray = field(default_factory=lambda: np.zeros(0))

    def reset(self, n: int) -> None:
        self.n, self.cursor = n, 0

    def looks(self) -> bool:
        return self.cursor == 0

    def act(self, observation: Observation) -> np.ndarray:
        if self.cursor == 0:
            means = observation.images["scene"].mean(axis=(1, 2, 3))
            self.plan = observation.joint_pos + means[:, None]
        action = (self.plan + self.cursor).astype(np.float32)
        self.cursor = (self.cursor + 1) % CHUNK
        return action


class Narrow(Honest):
    def act(self, observation: Observation) -> np.ndarray:
        return super().act(observation)[:, :1]


class Double(Honest):
    def act(self, observation: Observation) -> np.ndarray:
        return super().act(observation).astype(np.float64)


class Infinite(Honest):
    def act(self, observation: Observation) -> np.ndarray:
        return super().act(observation) / np.float32(self.cursor != 2)


class Remembering(Honest):
    steps = 0

    def act(self, observation: Observation) -> np.ndarray:
        self.steps += 1
        return super().act(observation) + np.float32(self.steps)


class Peeking(Honest):
    def act(self, observation: Observation) -> np.ndarray:
        seen = observation.images.get("scene", np.zeros((self.n, 1)))
        return super().act(observation) + np.float32(seen.mean())


class Mixing(Honest):
    def act(self, observation: Observation) -> np.ndarray:
        action = super().act(observation)
        return action + action.mean(axis=0)


class Ordering(Honest):
    def act(self, observation: Observation) -> np.ndarray:
        action = super().act(observation)
        return action + np.arange(len(action), dtype=np.float32)[:, None]


class Meddling(Honest):
    def act(self, observation: Observation) -> np.ndarray:
        action = super().act(observation)
        observation.joint_pos[:] = 0
        return action


class Lending(Honest):
    kept: np.ndarray | None = None

    def act(self, observation: Observation) -> np.ndarray:
        fresh = super().act(observation)
        if self.kept is None or self.kept.shape != fresh.shape or self.cursor == 1:
            self.kept = fresh
        else:
            self.kept += 1
        return self.kept


class Random(Honest):
    def act(self, observation: Observation) -> np.ndarray:
        return super().act(observation) + np.float32(id(self) % 1009)


def test_an_honest_policy_passes():
    check_policy(Honest, ("a", "b"), CAMERAS)


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        (Narrow, "promised"),
        (Double, "promised float32"),
        (Remembering, "does not forget"),
        (Peeking, "although looks"),
        (Mixing, "differently alone"),
        (Ordering, "reordering"),
        (Meddling, "changes its observation"),
        (Lending, "changed result"),
    ],
)
def test_broken_promises_are_noticed(policy, said):
    with pytest.raises(AssertionError, match=said):
        check_policy(policy, ("a", "b"), CAMERAS)


def test_chance_and_infinity_are_noticed():
    alive = []  # keeps ids apart

    def make() -> Random:
        alive.append(Random())
        return alive[-1]

    with pytest.raises(AssertionError, match="two fresh policies"):
        check_policy(make, ("a", "b"), CAMERAS)
    with np.errstate(divide="ignore"), pytest.raises(AssertionError, match="non-finite"):
        check_policy(Infinite, ("a", "b"), CAMERAS)
