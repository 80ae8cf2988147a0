"""The one episode loop: who is called when, and when it ends."""

import numpy as np
import pytest

from simreal.core.loop import run_episodes
from simreal.core.types import Condition, Observation, Outcome

CONDITIONS = [Condition(i, "nominal", {}, i) for i in range(3)]


class Counting:
    """A target whose world i is done after `ends[i]` steps; it writes down every call."""

    def __init__(self, ends: tuple[int, ...]) -> None:
        self.ends, self.calls, self.time = np.array(ends), [], 0

    def reset(self, conditions) -> None:
        self.calls.append("reset")
        self.time = 0

    def observe(self, images=True) -> Observation:
        self.calls.append("look" if images else "feel")
        return Observation(np.full((3, 6), self.time, np.float32), {}, self.time / 20)

    def act(self, actions) -> None:
        assert actions.dtype == np.float32
        self.calls.append("act")
        self.time += 1

    def outcome(self) -> Outcome:
        done = self.time >= self.ends
        n = len(done)
        return Outcome(
            success=done,
            done=done,
            score=done.astype(np.float32),
            failure=tuple(None if d else "late" for d in done),
            steps=np.minimum(self.time, self.ends),
            collisions=np.zeros(n, np.int64),
            peak_force_n=np.zeros(n, np.float32),
        )


class Blinking:
    """Looks at every other step; its action is the number of its step, as float64."""

    def reset(self, n) -> None:
        self.n, self.step = n, 0

    def looks(self) -> bool:
        return self.step % 2 == 0

    def act(self, observation):
        self.step += 1
        return np.full((self.n, 6), self.step - 1.0)


class Diary:
    """Writes down what it is told."""

    def on_reset(self, conditions) -> None:
        self.pages: list[object] = [len(conditions)]

    def on_step(self, step, observation, actions) -> None:
        self.pages.append((step, float(observation.joint_pos[0, 0]), float(actions[0, 0])))

    def on_end(self, outcome) -> None:
        self.pages.append(outcome)


def run(ends: tuple[int, ...], horizon: int, tail: int = 0):
    target, diary = Counting(ends), Diary()
    outcome = run_episodes(target, Blinking(), CONDITIONS, horizon, [diary], tail)
    return outcome, target, diary


def test_it_ends_when_all_are_done():
    outcome, target, diary = run((2, 4, 3), horizon=50)
    assert outcome.success.all()
    assert target.time == 4
    assert target.calls == ["reset", *["look", "act", "feel", "act"] * 2]
    assert diary.pages[:-1] == [3, *[(t, t, t) for t in range(4)]]
    assert diary.pages[-1] is outcome


def test_it_ends_at_the_horizon():
    outcome, target, _ = run((2, 99, 3), horizon=5)
    assert outcome.success.tolist() == [True, False, True]
    assert outcome.failure == (None, "late", None)
    assert target.time == 5


@pytest.mark.parametrize(("ends", "horizon"), [((2, 4, 3), 50), ((2, 7, 3), 5)])
def test_a_tail_is_seen_by_observers_and_changes_no_outcome(ends, horizon):
    plain, _, _ = run(ends, horizon)
    outcome, target, diary = run(ends, horizon, tail=3)
    assert np.array_equal(outcome.success, plain.success)
    assert np.array_equal(outcome.steps, plain.steps)
    played = min(max(ends), horizon) + 3
    assert target.time == played
    assert diary.pages[1:-1] == [(t, t, t) for t in range(played)]
