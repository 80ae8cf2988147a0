"""The kit passes a target that keeps the contract, and finds every way to break it."""

import dataclasses

import numpy as np
import pytest
from tests.contract.fake_target import FakeTarget, conditions
from tests.contract.target_kit import check_target

from simreal.core.seeds import generator
from simreal.core.types import Observation
from simreal.robots.safety import SafeTarget


def test_a_good_target_passes():
    check_target(FakeTarget, conditions())
    check_target(lambda: FakeTarget(batch=1), conditions())


def test_the_safety_layer_keeps_the_contract_but_for_holding():
    check_target(lambda: SafeTarget(FakeTarget()), conditions(), refusal="holds")
    with pytest.raises(AssertionError, match="no ValueError for nan"):
        check_target(lambda: SafeTarget(FakeTarget()), conditions())


class Radians(FakeTarget):
    def observe(self, images=True):
        seen = super().observe(images)
        return dataclasses.replace(seen, joint_pos=np.radians(seen.joint_pos))


class AlwaysLooks(FakeTarget):
    def observe(self, images=True):
        return super().observe(True)


class Wide(FakeTarget):
    def observe(self, images=True):
        seen = super().observe(images)
        return dataclasses.replace(seen, joint_pos=seen.joint_pos.astype(float))


class FloatPictures(FakeTarget):
    def observe(self, images=True):
        seen = super().observe(images)
        pictures = {k: v / np.float32(255) for k, v in seen.images.items()}
        return Observation(seen.joint_pos, pictures, seen.time_s)


class StoppedClock(FakeTarget):
    def observe(self, images=True):
        return dataclasses.replace(super().observe(images), time_s=0.0)


class Careless(FakeTarget):
    """Moves first and complains afterwards."""

    def act(self, actions):
        self.position = self.position + 1
        super().act(actions)


class TakesNan(FakeTarget):
    def act(self, actions):
        super().act(np.nan_to_num(actions, posinf=0.0))


class Broadcasts(FakeTarget):
    def act(self, actions):
        super().act(np.broadcast_to(actions, self.position.shape))


class GlobalNoise(FakeTarget):
    """Noise that no condition decides."""

    made = 0

    def reset(self, conditions):
        GlobalNoise.made += 1
        super().reset(conditions)
        self.position = self.position + np.float32(GlobalNoise.made * 1e-3)


class SharedNoise(FakeTarget):
    """World i's start depends on how many worlds there are."""

    def reset(self, conditions):
        super().reset(conditions)
        self.position = self.position + np.float32(1e-3 * len(conditions))


class Blinks(FakeTarget):
    """Looking moves the arm."""

    def observe(self, images=True):
        self.position = self.position + np.float32(1e-4)
        return super().observe(images)


class Aliased(FakeTarget):
    def observe(self, images=True):
        return dataclasses.replace(super().observe(images), joint_pos=self.position)


class KeepsActions(FakeTarget):
    """Acts one step late on an array that its caller may have changed meanwhile."""

    waiting = None

    def reset(self, conditions):
        super().reset(conditions)
        self.waiting = None

    def act(self, actions):
        late, self.waiting = self.waiting, actions
        super().act(actions)
        if late is not None:
            self.position = self.position + 0.1 * (np.asarray(late) - self.position)


class AnyBatch(FakeTarget):
    def reset(self, conditions):
        spec, self.spec = self.spec, dataclasses.replace(self.spec, batch=10**6)
        super().reset(conditions)
        self.spec = spec


class EmptyBatch(FakeTarget):
    def reset(self, conditions):
        super().reset(conditions or [None])


class NoKind(FakeTarget):
    def outcome(self):
        n = len(self.success)
        late = self.step > 2
        return dataclasses.replace(super().outcome(), done=np.full(n, late), failure=(None,) * n)


class TakesBack(FakeTarget):
    def outcome(self):
        n = len(self.success)
        return dataclasses.replace(
            super().outcome(), done=np.full(n, self.step == 2), failure=("late",) * n
        )


class CountsWrong(FakeTarget):
    def outcome(self):
        return dataclasses.replace(super().outcome(), steps=np.full(len(self.success), 7))


class ScoreInPercent(FakeTarget):
    def outcome(self):
        return dataclasses.replace(
            super().outcome(), score=np.full(len(self.success), 40, dtype=np.float32)
        )


class ClosesOnce(FakeTarget):
    closed = False

    def close(self):
        if self.closed:
            raise RuntimeError("closed already")
        self.closed = True


class QuietTwin(FakeTarget):
    """A twin whose numbers would look like a robot's."""

    def __init__(self):
        super().__init__()
        self.spec = dataclasses.replace(self.spec, kind="twin", label="robot")


class Feels(FakeTarget):
    """A robot with a force/torque sensor at rest."""

    def __init__(self):
        super().__init__()
        self.spec = dataclasses.replace(self.spec, wrench=True)

    def felt(self):
        noise = [generator(s, "fake wrench", self.step).normal(0, 0.1, (25, 6)) for s in self.seeds]
        return 0.1 * np.array(noise, dtype=np.float32)

    def observe(self, images=True):
        return dataclasses.replace(super().observe(images), wrench=self.felt())


class FeelsNothing(Feels):
    def felt(self):
        return None


class HalfWindow(Feels):
    def felt(self):
        return super().felt()[:, ::2]


class WideForces(Feels):
    def felt(self):
        return super().felt().astype(float)


class Untared(Feels):
    def felt(self):
        return super().felt() + np.float32(9.81)


class DriftsWhenLooking(Feels):
    """Its filter goes on whenever it is read."""

    looks = 0

    def reset(self, conditions):
        super().reset(conditions)
        self.looks = 0

    def felt(self):
        self.looks += 1
        return super().felt() + np.float32(1e-3 * self.looks)


class SecretForces(FakeTarget):
    def observe(self, images=True):
        seen = super().observe(images)
        return dataclasses.replace(seen, wrench=np.zeros((len(seen.joint_pos), 25, 6), np.float32))


def test_a_target_with_a_force_sensor_passes():
    check_target(Feels, conditions())


BROKEN = {
    FeelsNothing: "the observation no window",
    HalfWindow: r"wrench is \(\d, 13, 6\), not",
    WideForces: "wrench is float64",
    Untared: "N are felt where nothing is touched",
    DriftsWhenLooking: "observing",
    SecretForces: "although the spec has none",
    Radians: "joint 0 moved",
    AlwaysLooks: "although none were asked for",
    Wide: "joint_pos is float64",
    FloatPictures: "scene gave float32",
    StoppedClock: "time is 0.0",
    Careless: "refused actions moved",
    TakesNan: "no ValueError for nan",
    Broadcasts: "no ValueError for",
    GlobalNoise: "after a reset",
    SharedNoise: "depends on the others",
    Blinks: "observing",
    Aliased: "observing",
    KeepsActions: "changing what was given",
    AnyBatch: "no ValueError for 9 conditions",
    NoKind: "a failure has no kind",
    TakesBack: "is not any more",
    CountsWrong: "before the first action",
    ScoreInPercent: "outside 0 to 1",
    QuietTwin: "a twin's label",
}


@pytest.mark.parametrize("broken", BROKEN, ids=lambda c: c.__name__)
def test_a_broken_promise_is_found(broken):
    with pytest.raises(AssertionError, match=BROKEN[broken]):
        check_target(broken, conditions())


def test_errors_of_the_target_itself_come_through():
    with pytest.raises(RuntimeError, match="closed already"):
        check_target(ClosesOnce, conditions())
    with pytest.raises(AttributeError):
        check_target(EmptyBatch, conditions())
