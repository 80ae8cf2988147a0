"""The nouns of simreal. All are frozen; units stand in the names.

At every boundary of a world, a target, a data set or a checkpoint, joints are in LeRobot's units:
degrees for arm joints, 0-100 for the gripper (100 = open), named `<joint>.pos`. A robot that is
commanded in task space has tool channels in the place of joints: `tool_x`, `tool_y`, `tool_z` in
millimetres and `tool_rx`, `tool_ry`, `tool_rz`, a rotation vector in degrees. Radians and metres
exist only behind `simreal.worlds`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Bools = npt.NDArray[np.bool_]
Images = Mapping[str, npt.NDArray[np.uint8]]

#: Looks of a robot: fitted boxes, or its full meshes.
Form = Literal["primitive", "mesh"]
FORMS: tuple[Form, ...] = get_args(Form)

#: Control rate of every world, twin and robot.
RATE_HZ = 20.0

#: Sampling rate of every force/torque sensor, and the samples one control period brings.
WRENCH_HZ = 500.0
WRENCH_SAMPLES = round(WRENCH_HZ / RATE_HZ)
#: What one sample holds: force in newtons, torque in newton metres.
WRENCH_NAMES = ("fx", "fy", "fz", "tx", "ty", "tz")

#: What every number taken on a twin is called, wherever it appears.
STAND_IN = "stand-in (simulated)"

#: An action is an absolute target of every joint or tool channel, shape (N, J), boundary units.
Action = Floats


@dataclass(frozen=True)
class Observation:
    """What a policy may see of N worlds at one moment.

    joint_pos: measured positions, shape (N, J), LeRobot units.
    images: per camera (N, H, W, 3) uint8 RGB, row 0 at the top; empty when none were asked for.
    time_s: seconds since reset, the same for all N (lockstep).
    wrench: where the robot has a force/torque sensor, its last `WRENCH_SAMPLES` samples, oldest
    first, (N, S, 6): force (N) on the tool and torque (Nm) about the tool's tip, in the tool's
    frame, taken since the last control step at `WRENCH_HZ`.
    """

    joint_pos: Floats
    images: Images
    time_s: float
    wrench: Floats | None = None


@dataclass(frozen=True)
class Scenario:
    """One draw of a randomization profile; (profile, seed, index) reproduces it bit for bit.

    values: axis name -> the drawn numbers, as the axis' unit says.
    rejected: how many unsolvable draws came before this one.
    """

    profile: str
    seed: int
    index: int
    values: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    rejected: int = 0

    def to_json(self) -> dict[str, Any]:
        """A JSON value that `from_json` turns back into an equal scenario."""
        values = {name: list(numbers) for name, numbers in self.values.items()}
        return {
            "profile": self.profile,
            "seed": self.seed,
            "index": self.index,
            "values": values,
            "rejected": self.rejected,
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Scenario:
        """The inverse of `to_json`."""
        values = {str(k): tuple(float(x) for x in v) for k, v in content["values"].items()}
        return cls(
            profile=str(content["profile"]),
            seed=int(content["seed"]),
            index=int(content["index"]),
            values=values,
            rejected=int(content.get("rejected", 0)),
        )


@dataclass(frozen=True)
class Condition:
    """The initial condition of one trial; equal conditions make trials paired.

    index: position in the plan. suite: `nominal`, `backgrounds`, ...
    reset: the task's initial values (m, rad), e.g. {"object_x_m": .2, ...}.
    seed: feeds whatever noise the target draws during the trial.
    """

    index: int
    suite: str
    reset: Mapping[str, float]
    seed: int

    def to_json(self) -> dict[str, Any]:
        """A JSON value that `from_json` turns back into an equal condition."""
        return {
            "index": self.index,
            "suite": self.suite,
            "reset": dict(self.reset),
            "seed": self.seed,
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Condition:
        """The inverse of `to_json`."""
        reset = {str(k): float(v) for k, v in content["reset"].items()}
        return cls(int(content["index"]), str(content["suite"]), reset, int(content["seed"]))


@dataclass(frozen=True)
class Outcome:
    """How N episodes stand; every field has shape (N,) or length N.

    success: the task's condition was met (latched). done: success, or a failure that ends it.
    score: furthest stage reached, 0 to 1. failure: failure kind, None where success.
    steps: control steps used until done. collisions: how often the arm hit what it should not (in
    simulation: the hand the table; of an insertion: pressed harder than its task allows for long).
    peak_force_n: the largest force with which it did, newtons (of an insertion: the largest at the
    wrist, at any time; NaN where not measured).
    overruns: control periods since reset that took longer than they may (a number for all N; 0
    where time is simulated).
    """

    success: Bools
    done: Bools
    score: Floats
    failure: tuple[str | None, ...]
    steps: npt.NDArray[np.int64]
    collisions: npt.NDArray[np.int64]
    peak_force_n: Floats
    overruns: int = 0


@dataclass(frozen=True)
class TargetSpec:
    """What a target is and how it is spoken to.

    kind: `sim`, `twin` or `robot`. label: printed beside every number taken on it, e.g.
    `stand-in (simulated)`. batch: the largest N that `reset` accepts.
    cameras: name -> (height_px, width_px). wrench: whether observations hold a force/torque window.
    """

    name: str
    kind: str
    label: str
    batch: int
    joint_names: tuple[str, ...]
    cameras: Mapping[str, tuple[int, int]]
    rate_hz: float
    task: str
    seed: int | None = None
    severity: str | None = None
    wrench: bool = False


@dataclass(frozen=True)
class Episode:
    """One recorded demonstration or rollout of T frames.

    joint_pos, actions: (T, J) float32, LeRobot units; action t is the target commanded at frame t.
    images: camera -> (T, H, W, 3) uint8 RGB. source: `sim`, `real`, `twin`, ...
    wrench: (T, S, 6) as in `Observation`, or None where the robot has no force/torque sensor.
    scenario: the randomization it was made under, or None. provenance: seeds, versions, seconds.
    """

    joint_pos: Floats
    actions: Floats
    images: Images
    task: str
    success: bool
    source: str
    scenario: Scenario | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)
    wrench: Floats | None = None

    def __len__(self) -> int:
        """Number of frames."""
        return len(self.joint_pos)


@dataclass(frozen=True)
class Part:
    """One source of a mixture: a data set folder, its weight (share of each batch before
    normalization), and optionally only its first `episodes` episodes.
    """

    dataset: str
    weight: float
    episodes: int | None = None


@dataclass(frozen=True)
class Mixture:
    """Where the samples of a batch come from. Sim-only, real-only and hybrid are values of this."""

    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Stage:
    """A stretch of training: a mixture, a number of optimizer steps, a peak learning rate."""

    mixture: Mixture
    steps: int
    peak_lr: float


@dataclass(frozen=True)
class Trial:
    """One line of trials.jsonl: one policy, one target, one condition, one outcome."""

    plan_sha: str
    arm: str
    seed: int
    target: str
    suite: str
    condition: int
    success: bool
    score: float
    failure: str | None
    steps: int
    seconds: float
    collisions: int
    peak_force: float | None
    overruns: int
    media: str | None = None


@dataclass(frozen=True)
class Charge:
    """One line of ledger.jsonl: something was used up.

    when: ISO 8601 UTC. source: who measured it (`twin clock`, `process clock`, `user`, ...).
    arm: the arm it was spent for, or `shared`. kind: `demonstration`, `reset`, `retry`, `trial`,
    `train`, `render`, `simulate`, `engineering`, ... quantity with its unit (`s`, `h`, `count`).
    note: ends with the name of the piece of work in brackets, where the ledger gave it one.
    """

    when: str
    source: str
    arm: str
    kind: str
    quantity: float
    unit: str
    note: str = ""

    @property
    def work(self) -> str:
        """The name of the piece of work; empty where it has none."""
        return self.note[self.note.rfind("[") + 1 : -1] if self.note.endswith("]") else ""
