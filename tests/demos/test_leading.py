"""A policy that acts at times, and an operator who says what to do instead."""

import numpy as np
import pytest

from simreal.core.types import Observation
from simreal.demos.leading import Led
from simreal.demos.record import SimShard, simulate_shard
from simreal.worlds.randomize import profile
from simreal.worlds.simulated import SimConfig
from simreal.worlds.so101_rig import SO101

SEEN = Observation(joint_pos=np.zeros((3, 6), np.float32), images={}, time_s=np.zeros(3))


class Constant:
    """Acts alike for ever; an operator labels something else than it executes."""

    def __init__(self, value: float, meant: float = 0.0) -> None:
        self.value, self.meant, self.n, self.first = value, meant, 0, 0

    def start_at(self, first_index: int) -> None:
        self.first = first_index

    def reset(self, n: int) -> None:
        self.n = n

    def looks(self) -> bool:
        return self.value == 2.0

    @property
    def labels(self) -> np.ndarray:
        return np.full((self.n, 6), self.meant, np.float32)

    def act(self, observation: Observation) -> np.ndarray:
        return np.full((self.n, 6), self.value, np.float32)


def acted(first: int, n: int, steps: int, seed: int = 0) -> np.ndarray:
    """(steps, n): 2 where the policy acts, 1 where the operator does."""
    led = Led(Constant(1.0, meant=7.0), Constant(2.0), seed)
    led.start_at(first)
    led.reset(n)
    rows = []
    for _ in range(steps):
        rows.append(led.act(SEEN))
        assert (led.labels == 7.0).all()
    assert led.looks()
    taken = np.stack(rows)
    assert (taken == taken[:, :, :1]).all()
    return taken[:, :, 0]


def test_policy_and_operator_take_turns():
    turns = acted(0, 40, 2000)
    assert 0.3 < (turns == 2.0).mean() < 0.5
    changes = (turns[1:] != turns[:-1]).mean()
    assert changes == pytest.approx(2 / 100, rel=0.1)  # one stretch each in 40 + 60 steps


def test_whose_turn_it_is_depends_on_seed_and_episode_alone():
    together = acted(5, 8, 300)
    assert np.array_equal(acted(9, 1, 300)[:, 0], together[:, 4])
    assert not np.array_equal(acted(5, 8, 300, seed=1), together)


def test_episodes_hold_what_the_expert_said_on_the_policys_way():
    class Holds:
        """A policy that keeps the arm where it began."""

        def reset(self, n: int) -> None:
            self.pose = None

        def looks(self) -> bool:
            return False

        def act(self, observation: Observation) -> np.ndarray:
            if self.pose is None:
                self.pose = observation.joint_pos.copy()
            return self.pose

    config = SimConfig(profile=profile("none", SO101), size_px=16, batch=6)
    shard = SimShard(config, first=0, count=6)
    plain, led = simulate_shard(shard), simulate_shard(shard, Holds())
    assert led.episodes
    assert all(e.provenance["led"] for e in led.episodes)
    assert not any("led" in e.provenance for e in plain.episodes)

    def held(episode):  # the arm is held, and the label says to move
        still = np.abs(np.diff(episode.joint_pos, axis=0)).max(axis=1) < 0.2
        told = np.abs(episode.actions - episode.joint_pos)[:-1].max(axis=1) > 2.0
        return int((still & told).sum())

    assert sum(map(held, led.episodes)) > 3 * sum(map(held, plain.episodes))
    assert np.mean([len(e) for e in led.episodes]) > np.mean([len(e) for e in plain.episodes])
