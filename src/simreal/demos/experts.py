"""Scripted operators: they run a task's phases with privileged state.

One controller serves two styles: `EXPERT` (fast, steady, for simulated demonstrations) and `HUMAN`
(slower, jittery, with pauses, varied approaches and missed grasps that are tried again).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simreal.core.seeds import generator
from simreal.core.types import Action, Observation
from simreal.demos.ik import ToolIk
from simreal.worlds import so101
from simreal.worlds.task import Phase, Privileged, Task, TaskState

Array = npt.NDArray[np.float64]

#: Gap left between the fixed finger and the object before closing, m: with less, a hand that is
#: one centimetre off sets its finger on top of the object.
CLEARANCE_M = 0.014
#: Commands below this close the gripper.
CLOSING = 20.0


@dataclass(frozen=True)
class Style:
    """How an operator moves.

    speed_rad: largest joint step a control period (low, high; drawn once an episode).
    gain: share of the remaining way asked for. noise_rad: deviation of executed from intended
    targets (the intended ones are the labels). tremor_rad: slow deviation that *is* part of the
    labels. pause: probability a step to stop for 3-10 steps. miss: probability that a grasp is
    first tried 14-22 mm off. height_m, yaw_rad: spread of the approach.
    """

    name: str
    speed_rad: tuple[float, float]
    gain: float
    noise_rad: float = 0.0
    tremor_rad: float = 0.0
    pause: float = 0.0
    miss: float = 0.0
    height_m: float = 0.0
    yaw_rad: float = 0.0


EXPERT = Style("expert", speed_rad=(0.15, 0.15), gain=1.3, noise_rad=0.02)
STEADY = Style("steady", speed_rad=(0.15, 0.15), gain=1.3)
HUMAN = Style(
    "human",
    speed_rad=(0.08, 0.15),
    gain=1.3,
    tremor_rad=0.005,
    pause=0.02,
    miss=0.12,
    height_m=0.02,
    yaw_rad=0.1,
)

#: Steps near the object without holding it after which a missed grasp is given up.
PATIENCE = 36
#: Steps spent going back to the first phase then.
BACK_OFF = 8


class ScriptedOperator:
    """A `Policy` with privileged eyes. `labels` are the targets it meant in the last `act`."""

    def __init__(
        self, task: Task[TaskState], privileged: Callable[[], Privileged], style: Style, seed: int
    ) -> None:
        self.task, self.style, self.seed = task, style, seed
        self._privileged = privileged
        self._ik = ToolIk()
        self._first = 0
        self.labels: Action = np.zeros((0, len(so101.JOINTS)), dtype=np.float32)

    def start_at(self, first_index: int) -> None:
        """Episode numbers of the coming batch begin here; they select the random streams."""
        self._first = first_index

    def reset(self, n: int) -> None:
        """Begin N episodes, numbered from `start_at`."""
        style = self.style
        self._rngs = [
            generator(self.seed, f"operator/{style.name}", self._first + i) for i in range(n)
        ]
        self._speed = np.array([r.uniform(*style.speed_rad) for r in self._rngs])
        self._lift = np.array([r.uniform(-0.5, 1.0) * style.height_m for r in self._rngs])
        self._yaw = np.array([r.uniform(-1, 1) * style.yaw_rad for r in self._rngs])
        self._aside = np.stack([self._draw_miss(r) for r in self._rngs])
        self._tremor = np.zeros((n, len(so101.JOINTS)))
        self._pausing = np.zeros(n, dtype=int)
        self._closing = np.zeros(n, dtype=int)
        self._back_off = np.zeros(n, dtype=int)
        self.retries = np.zeros(n, dtype=int)
        self._goals: list[dict[str, tuple[Array, Array]]] = [{} for _ in range(n)]
        self.phases = [""] * n

    def _draw_miss(self, rng: np.random.Generator) -> Array:
        """An aiming error in the table plane, m; zero most of the time."""
        misses, angle = rng.random() < self.style.miss, rng.uniform(0, 2 * np.pi)
        reach = rng.uniform(0.014, 0.022) if misses else 0.0
        return np.array([reach * np.cos(angle), reach * np.sin(angle)])

    def looks(self) -> bool:
        """Operators never need images."""
        return False

    def act(self, observation: Observation) -> Action:
        """Absolute targets (N, 6), LeRobot units; `labels` holds the intended ones."""
        known = self._privileged()
        meant = np.stack([self._target(i, known) for i in range(len(known.joint_rad))])
        noise = np.stack([r.standard_normal(len(so101.JOINTS)) for r in self._rngs])
        noise[:, so101.GRIPPER] = 0.0
        executed = meant + self.style.noise_rad * noise
        self.labels = (so101.to_lerobot(meant) + known.offset_deg).astype(np.float32)
        return (so101.to_lerobot(executed) + known.offset_deg).astype(np.float32)

    def _target(self, i: int, known: Privileged) -> Array:
        """Intended joint targets of world i, rad."""
        rng, style = self._rngs[i], self.style
        now: Array = known.joint_rad[i]
        phase = self._phase(i, known)
        self._retry(i, phase, known)
        self.phases[i] = phase.name
        goal = self._goal(i, phase, known)
        wanted = style.gain * (goal - now)[: so101.GRIPPER]
        wanted *= min(1.0, self._speed[i] / max(1e-9, float(np.abs(wanted).max())))
        if style.pause and (self._pausing[i] > 0 or rng.random() < style.pause):
            self._pausing[i] = (
                self._pausing[i] - 1 if self._pausing[i] else int(rng.integers(3, 10))
            )
            wanted[:] = 0.0
        target = now.copy()
        target[: so101.GRIPPER] += wanted
        direction = np.tanh((goal - now) / 0.02)
        target += known.gravity_rad[i] + known.friction_rad[i] * direction
        target[so101.GRIPPER] = self._finger(now[so101.GRIPPER], phase)
        if style.tremor_rad:
            kick = rng.standard_normal(len(so101.JOINTS))
            self._tremor[i] = 0.85 * self._tremor[i] + 0.5 * style.tremor_rad * kick
            target[: so101.GRIPPER] += self._tremor[i][: so101.GRIPPER]
        return target

    def _finger(self, now: float, phase: Phase) -> float:
        """The gripper closes and opens at no more than 0.25 rad ahead of where it is."""
        low, high = so101.GRIPPER_RANGE_RAD
        goal = low + (high - low) * phase.gripper / 100.0
        return float(now + np.clip(goal - now, -0.25, 0.25))

    def _retry(self, i: int, phase: Phase, known: Privileged) -> None:
        """Give up a grasp that closed on nothing or got stuck on the object, and aim better."""
        held = known.state.on_fixed[i] and known.state.on_moving[i]
        committed = phase is not self.task.phases[0]
        self._closing[i] = self._closing[i] + 1 if committed and not held else 0
        self._back_off[i] = max(0, self._back_off[i] - 1)
        if self._closing[i] > PATIENCE:
            self._aside[i] = 0.0
            self._closing[i] = 0
            self._back_off[i] = BACK_OFF
            self.retries[i] += 1

    def _phase(self, i: int, known: Privileged) -> Phase:
        """The last phase whose conditions hold; the first always does."""
        state, active = known.state, self.task.phases[0]
        if self._back_off[i]:
            return active
        for phase in self.task.phases[1:]:
            point = self._point(i, phase, known, height=0.0, entering=True)
            gap = state.tool_pos[i] - point
            near = phase.within_xy_m is None or float(np.hypot(*gap[:2])) < phase.within_xy_m
            low = phase.above_m is None or float(gap[2]) < phase.above_m
            held = not phase.held or bool(state.on_fixed[i] and state.on_moving[i])
            if near and low and held:
                active = phase
        return active

    def _grasp_yaw(self, i: int, known: Privileged) -> float:
        """Heading of the tool's x axis: square to the object, nearest to a straight wrist."""
        x, y = known.state.object_start[i][:2]
        natural = np.arctan2(y, x) + np.pi
        quarter = np.pi / 2
        turns = np.round((natural - known.object_yaw[i]) / quarter)
        return float(known.object_yaw[i] + turns * quarter + self._yaw[i])

    def _point(
        self, i: int, phase: Phase, known: Privileged, height: float, entering: bool = False
    ) -> Array:
        """Where the tool site should be for a phase's anchor, (3,) m, world frame.

        entering: the point from which the phase may begin; a push begins behind the object.
        """
        state = known.state
        centre = np.asarray(state.object_pos[i], dtype=float)
        if phase.anchor in ("behind", "goal"):
            aim = np.append(state.goal_xy[i], centre[2]).astype(float)
            way = aim - centre
            way /= max(1e-6, float(np.linalg.norm(way)))
            pushing = phase.anchor == "goal" and not entering
            behind = (aim if pushing else centre) - way * phase.back_m
            return np.array([behind[0], behind[1], centre[2] + height])
        if phase.anchor == "start":
            centre = np.asarray(state.object_start[i], dtype=float)
        yaw = self._grasp_yaw(i, known)
        across = np.array([np.cos(yaw), np.sin(yaw)])
        gap = CLEARANCE_M
        if phase.gripper < CLOSING:  # the moving finger pushes the object; the hand stays
            now = float((state.tool_pos[i][:2] - self._aside[i] - centre[:2]) @ across)
            gap = float(np.clip(now - state.object_half[i][0], 0.0, CLEARANCE_M))
        side = (float(state.object_half[i][0]) + gap) * across + self._aside[i]
        return np.array([centre[0] + side[0], centre[1] + side[1], centre[2] + height])

    def _goal(self, i: int, phase: Phase, known: Privileged) -> Array:
        """Joint goal of a phase, solved again only when its point moved by over 1.5 mm."""
        lift = self._lift[i] if phase.within_xy_m is None and phase.held is None else 0.0
        point = self._point(i, phase, known, phase.height_m + lift)
        yaw = self._grasp_yaw(i, known)
        key = np.array([*point, 0.02 * yaw])
        cached = self._goals[i].get(phase.name)
        if cached is None or np.abs(cached[0] - key).max() > 0.0015:
            solved = self._ik.solve(point, yaw, known.joint_rad[i])
            cached = (key, solved)
            self._goals[i][phase.name] = cached
        goal = cached[1].copy()
        goal[so101.GRIPPER] = known.joint_rad[i][so101.GRIPPER]
        return goal
