"""An SO-101 without hardware: joints that follow, two cameras, and ways to fail."""

from __future__ import annotations

from typing import Any

import numpy as np

from simreal.robots.arm import RobotTask
from simreal.robots.asking import Verdict
from simreal.robots.lerobot_robot import Clock, RobotTarget
from simreal.robots.robotfile import RobotFile

#: LeRobot's order differs on purpose from that of simreal.
ORDER = ("gripper", "wrist_roll", "wrist_flex", "elbow_flex", "shoulder_lift", "shoulder_pan")
TASK = RobotTask("lift", 10, ("missed", "dropped"), 16)
FILE = RobotFile("my.toml", {"type": "so101_follower", "id": "me"})


class FakeTime:
    """A clock that jumps ahead where one sleeps."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self.slept: list[float] = []

    def now(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        assert seconds >= 0
        self.slept.append(seconds)
        self.now_s += seconds

    @property
    def clock(self) -> Clock:
        return Clock(self.now, self.sleep)


class FakeArm:
    """Each command moves the joints half of the way. fail_after: commands until contact is lost."""

    def __init__(self, cameras: tuple[str, ...] = ("scene", "wrist"), fail_after: int = 10**9):
        self.position = {f"{name}.pos": 20.0 for name in ORDER}
        self.cameras, self.fail_after = cameras, fail_after
        self.commands: list[dict[str, float]] = []
        self.calls: list[str] = []
        self.half = 0.5

    @property
    def observation_features(self) -> dict[str, Any]:
        shapes = dict.fromkeys(self.cameras, (12, 20, 3))
        return {**dict.fromkeys(self.position, float), **shapes, "scene_depth": (12, 20, 1)}

    @property
    def action_features(self) -> dict[str, Any]:
        return dict.fromkeys(self.position, float)

    def get_observation(self) -> dict[str, Any]:
        picture = np.zeros((12, 20, 3), dtype=np.uint8)
        picture[:, 4:16, 0] = 200
        return {**self.position, **dict.fromkeys(self.cameras, picture)}

    def send_action(self, action: dict[str, float]) -> dict[str, float]:
        if len(self.commands) >= self.fail_after:
            self.calls.append("refused")
            raise ConnectionError("no status packet")
        self.commands.append(action)
        for name, value in action.items():
            assert type(value) is float
            self.position[name] += self.half * (value - self.position[name])
        return action

    def disconnect(self) -> None:
        self.calls.append("disconnect")


class FakeAsker:
    """Answers at once. end_at: the control step at which the person ends the episode."""

    def __init__(self, verdict: Verdict | None = None, end_at: int | None = None):
        self.answer, self.end_at = verdict or Verdict(True, None), end_at
        self.placed: list[int] = []
        self.asked = 0
        self.polled = 0

    def place(self, condition: Any) -> None:
        self.placed.append(condition.index)
        self.polled = 0

    def ended(self) -> bool:
        self.polled += 1
        return self.polled == self.end_at

    def verdict(self, failures: Any) -> Verdict:
        assert failures == TASK.failures
        self.asked += 1
        return self.answer


def target_of(arm: Any = None, asker: Any = None, time: Any = None, file: RobotFile = FILE) -> Any:
    """A target over fakes."""
    time = time or FakeTime()
    return RobotTarget(arm or FakeArm(), file, TASK, asker or FakeAsker(), time.clock)
