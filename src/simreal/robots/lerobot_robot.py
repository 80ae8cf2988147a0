"""A robot that LeRobot drives, as a target of one world (N = 1).

It keeps the policy's rate and counts the control periods that came late. Between episodes it goes
slowly to its rest pose, and a person (or a hook) puts the object in place and says how it went.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from simreal.core.errors import BadDataError, InterruptedRunError, UsageError
from simreal.core.types import RATE_HZ, Action, Condition, Floats, Observation, Outcome, TargetSpec
from simreal.robots.arm import Arm, RobotTask, fitted, rest_pose, robot_spec
from simreal.robots.asking import Asker, Hook, Person, Verdict
from simreal.robots.lerobot_connect import connect, keep_torque
from simreal.robots.robotfile import RobotFile, read_robot

#: How near to a pose counts as there, degrees or gripper units: the real arm sags by about 3
#: degrees. How long it may take after the last command, s.
ARRIVED, SETTLE_S = 10.0, 1.5


@dataclass(frozen=True)
class Clock:
    """Time, so that tests need not wait. now: seconds. sleep: waits so many."""

    now: Callable[[], float] = time.perf_counter
    sleep: Callable[[float], None] = time.sleep


class RobotTarget:
    """Keeps the `Target` contract over one connected arm; see `open_robot`."""

    def __init__(
        self,
        arm: Arm,
        file: RobotFile,
        task: RobotTask,
        asker: Asker,
        clock: Clock = Clock(),
        keep_torque: Callable[[], None] = lambda: None,
    ) -> None:
        """keep_torque: called when contact is lost, so that disconnecting lets no arm fall."""
        self._arm, self._file, self._task = arm, file, task
        self._asker, self._clock, self._keep_torque = asker, clock, keep_torque
        self._spec = robot_spec(arm, file, task)
        self._rest = rest_pose(self._spec.joint_names, file)
        self._park: Floats | None = None
        self._begun = self._lost = self._closed = False
        self._start()

    def _start(self) -> None:
        self._steps = self._overruns = 0
        self._due: float | None = None
        self._verdict: Verdict | None = None

    @property
    def spec(self) -> TargetSpec:
        """What this robot is."""
        return self._spec

    def reset(self, conditions: Sequence[Condition]) -> None:
        """Go slowly to the rest pose, then have the table set up."""
        if len(conditions) != 1:
            raise ValueError(f"{len(conditions)} conditions; a robot takes 1.")
        if self._park is None:
            self._park = self._joints(self._read())
        self._move(self._rest, "rest pose")
        self._asker.place(conditions[0])
        self._start()
        self._begun = True

    def observe(self, images: bool = True) -> Observation:
        """Measured positions (1, J), and each camera's latest picture."""
        self._begin_period()
        seen = self._read()
        pictures = {
            name: fitted(seen[name], size[0], self._file.fit)[None]
            for name, size in self._spec.cameras.items()
            if images
        }
        return Observation(self._joints(seen)[None], pictures, self._steps / RATE_HZ)

    def act(self, actions: Action) -> None:
        """Command absolute targets (1, J) and wait for the end of the control period."""
        if not self._begun:
            raise RuntimeError("reset() comes first.")
        actions = np.asarray(actions, dtype=np.float32)
        expected = (1, len(self._spec.joint_names))
        if actions.shape != expected or not np.isfinite(actions).all():
            raise ValueError(f"Actions must be finite and of shape {expected}, got {actions}.")
        due = self._begin_period()
        self._send(actions[0])
        late = self._clock.now() - due
        if late > 0:
            self._overruns += 1
        else:
            self._clock.sleep(-late)
        self._due = max(due, due + late) + 1 / RATE_HZ
        self._steps += 1

    def outcome(self) -> Outcome:
        """How the episode stands; asks once when time is up or the person ended it."""
        if self._verdict is None and self._steps:
            over = self._steps >= self._task.horizon or self._asker.ended()
            self._verdict = self._asker.verdict(self._task.failures) if over else None
        verdict = self._verdict or Verdict(False, "still running")
        return Outcome(
            success=np.array([verdict.success]),
            done=np.array([self._verdict is not None]),
            score=np.array([verdict.success], dtype=np.float32),
            failure=(verdict.failure,),
            steps=np.array([self._steps]),
            collisions=np.zeros(1, dtype=np.int64),
            peak_force_n=np.full(1, np.nan, dtype=np.float32),
            overruns=self._overruns,
        )

    def close(self) -> None:
        """Bring the arm back to where it was found, then disconnect."""
        if self._closed:
            return
        self._closed = True
        try:
            if self._park is not None and not self._lost:
                self._move(self._park, "place it was found in")
        except InterruptedRunError:
            self._keep_torque()
            raise
        finally:
            with suppress(OSError, RuntimeError):
                self._arm.disconnect()

    def _begin_period(self) -> float:
        """When the present control period ends; the first begins with the first look or act."""
        if self._due is None:
            self._due = self._clock.now() + 1 / RATE_HZ
        return self._due

    def _joints(self, seen: Mapping[str, Any]) -> Floats:
        values = [float(seen[f"{name}.pos"]) for name in self._spec.joint_names]
        return np.array(values, dtype=np.float32)

    def _read(self) -> Mapping[str, Any]:
        try:
            seen = self._arm.get_observation()
        except (OSError, RuntimeError) as error:
            raise self._hold(error) from error
        wanted = [*(f"{name}.pos" for name in self._spec.joint_names), *self._spec.cameras]
        missing = [name for name in wanted if name not in seen]
        if missing:
            raise BadDataError(f"{self._spec.name} gave no {missing[0]} in its observation.")
        return seen

    def _send(self, goal: Floats) -> None:
        names = self._spec.joint_names
        command = {f"{name}.pos": float(value) for name, value in zip(names, goal, strict=True)}
        try:
            self._arm.send_action(command)
        except (OSError, RuntimeError) as error:
            raise self._hold(error) from error

    def _hold(self, error: Exception) -> InterruptedRunError:
        """Stop where the arm is, as far as it still listens; says what to do."""
        self._lost = True
        self._keep_torque()
        with suppress(OSError, RuntimeError, KeyError):
            seen = self._arm.get_observation()
            names = [f"{name}.pos" for name in self._spec.joint_names]
            self._arm.send_action({name: float(seen[name]) for name in names})
        return InterruptedRunError(
            f"{self._spec.name} stopped answering at step {self._steps} "
            f"({' '.join(str(error).split()) or type(error).__name__}); the arm holds its position "
            "under torque: support it, check power and cables, then run the same command again. "
            "This trial is not recorded."
        )

    def _move(self, goal: Floats, where: str) -> None:
        """Go straight to `goal` in joint space, the farthest joint at the file's speed."""
        start, period = self._joints(self._read()), 1 / RATE_HZ
        far = float(np.abs(goal - start).max())
        steps = max(1, math.ceil(far / self._file.speed_deg_s * RATE_HZ))
        for step in range(1, steps + 1 + round(SETTLE_S * RATE_HZ)):
            self._send(start + (goal - start) * np.float32(min(1.0, step / steps)))
            self._clock.sleep(period)
            if step < steps:
                continue
            away = np.abs(self._joints(self._read()) - goal)
            if away.max() <= ARRIVED:
                return
        worst = int(away.argmax())
        raise InterruptedRunError(
            f"{self._spec.name} did not reach its {where}: {self._spec.joint_names[worst]} is "
            f"{away[worst]:.0f} away; clear the way, then run the same command again."
        )


def open_robot(
    path: str,
    task: str,
    *,
    size_px: int = 64,
    horizon: int = 120,
    failures: Sequence[str] = (),
    asker: Asker | None = None,
) -> RobotTarget:
    """Connect to the robot of a robot file (see `robotfile`) for episodes of `task`.

    size_px: the policy's pictures. horizon: control steps after which the outcome is asked.
    failures: kinds to choose from. asker: in place of the file's.

    Raises:
        UsageError: for a bad file, an unknown type, a missing camera, or a failed connection.
    """
    file = read_robot(Path(path))
    robot = connect(file)
    asked = asker or (Hook(file.command) if file.command else Person())
    settings = RobotTask(task, horizon, tuple(failures), size_px)
    try:
        return RobotTarget(
            robot, file, settings, asked, keep_torque=lambda: keep_torque(robot.config)
        )
    except UsageError:
        robot.disconnect()
        raise
