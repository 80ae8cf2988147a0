"""What an operator records on a target: successes, what they cost, and where they come from."""

import numpy as np
from tests.contract.fake_target import FakeTarget, conditions

from simreal.core.types import Observation
from simreal.demos.live import TAIL, LiveTape, record_live


class Pans:
    """Turns world i by 9 (i + 1) degrees; success on the fake target is a pan beyond 20."""

    def reset(self, n):
        self.n = n

    def looks(self):
        return False

    def act(self, observation):
        assert observation.images, "every frame is stored, so every frame is looked at"
        goal = observation.joint_pos.copy()
        goal[:, 0] = 9.0 * (np.arange(self.n) + 1)
        return goal


def test_successes_become_episodes_that_name_their_target():
    target = FakeTarget()
    attempts = record_live(target, Pans(), conditions(5), 12, "Pan.")
    assert [a.success for a in attempts] == [False, False, True, True, True]
    for attempt in attempts:
        if not attempt.success:
            assert attempt.episode is None
            assert attempt.failure == "never panned"
            continue
        episode = attempt.episode
        assert len(episode) == round(attempt.seconds * target.spec.rate_hz) + TAIL
        assert (episode.task, episode.success, episode.source) == ("Pan.", True, "real")
        assert episode.provenance["condition"]["index"] == attempt.condition
        assert episode.provenance["target"] == target.spec.name
        assert episode.provenance["label"] == target.spec.label
        assert episode.wrench is None


def test_a_tape_keeps_the_force_torque_windows_of_each_world():
    tape = LiveTape()
    tape.on_reset([])
    wrench = np.arange(4 * 3 * 150, dtype=np.float32).reshape(4, 3, 25, 6)
    pose = np.zeros((3, 2), np.float32)
    for step in range(4):
        tape.on_step(step, Observation(pose, {}, step / 20, wrench[step]), pose)
    np.testing.assert_array_equal(tape.episode(2, 3, "Feel.", {}).wrench, wrench[:3, 2])
