"""Drives the simulated SO-101 with the commands of real motion logs and compares tracking errors.

The logs are 38 motions of a real SO-101 (STS3215 12 V, P = 16) at 50 Hz, free space: see the note
beside them. Contacts are off, the physics step is 2.5 ms, each command holds for 20 ms. Before a
motion the arm travels to its first command from the side of its folded rest pose, as the real one
did: in every log the shoulder lift starts below its command's sag and the elbow above it.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np
import numpy.typing as npt

from simreal.robots.servo import ServoModel, ServoParameters, in_counts
from simreal.worlds import so101

Array = npt.NDArray[np.float64]

LOGS = Path(__file__).parents[2] / ".." / "shared" / "real" / "so101_sage" / "so101_sage_real.npz"
RATE_HZ = 50
ARM = slice(0, 5)
LEAD_IN_S = 2.0
#: Where the lead-in starts, relative to the first command, rad.
LEAD_IN_RAD = np.array([-0.1, -0.4, 0.4, -0.1, -0.1, 0.0])

#: Every motion by what it excites: steps and random binary signals; swept or mixed sines; slow
#: single movements; one joint (or one pair) at a time; positions held; paths of the whole arm.
TYPES = {
    "steps": ("prbs_excitation", "step_response", "fast_transitions", "static_holding"),
    "sweeps": ("chirp_sweep", "frequency_sweep", "multisine", "inertia_coupling"),
    "slow": (
        "backlash_detection",
        "friction_gravity",
        "oscillation_med_freq",
        "trapezoidal_profile",
        "velocity_ramp",
    ),
    "single": (
        "single_joint_rotation",
        "single_joint_wrist_pitch",
        "single_joint_wrist_roll",
        "dual_joint_elbow_wrist",
        "dual_joint_rotation_pitch",
        "sinusoidal_sweep",
        "triangle_wave",
        "wave_motion",
    ),
    "holds": ("hold_under_gravity", "perturbation_test", "gripper_cycles"),
    "paths": (
        "boundary_exploration",
        "center_workspace",
        "circular_motion",
        "coupled_joints",
        "custom_motion",
        "diagonal_sweep",
        "end_effector",
        "random_waypoints",
        "reach_and_return",
        "repetitive_motion",
        "spiral_motion",
        "square_pattern",
        "symmetric_motion",
        "workspace_sweep",
    ),
}
MOTIONS = tuple(sorted(name for names in TYPES.values() for name in names))
#: Odd and even motions within the alphabet of each type: the extra effects were fitted on
#: DEVELOPMENT and are verified on HELD_OUT.
DEVELOPMENT = tuple(n for names in TYPES.values() for n in sorted(names)[::2])
HELD_OUT = tuple(n for n in MOTIONS if n not in DEVELOPMENT)


@dataclass(frozen=True)
class Log:
    """One motion: commands and positions, (T, 6) rad, 50 Hz; the gripper in its model's range."""

    name: str
    command: Array
    position: Array

    def rmse(self, other: Array | None = None) -> Array:
        """RMSE of command against position (or `other`), for each of the 5 arm joints, rad."""
        error = self.command - (self.position if other is None else other)
        return np.sqrt(np.mean(error[:, ARM] ** 2, axis=0))


def logs(names: Sequence[str] = MOTIONS, seconds: float | None = None) -> list[Log]:
    """The named motions, each cut to its first `seconds`."""
    frames = None if seconds is None else round(seconds * RATE_HZ)
    found = []
    low, high = so101.GRIPPER_RANGE_RAD
    with np.load(LOGS) as archive:
        for name in names:
            command, position = (
                archive[f"{name}/{key}"][:frames].astype(float) for key in ("cmd", "q")
            )
            for angles in (command, position):
                angles[:, 5] = low + (high - low) * angles[:, 5]
            found.append(Log(name, command, position))
    return found


def arm() -> mujoco.MjModel:
    """The arm of our worlds without looks and contacts."""
    spec = so101.arm_spec()
    for geom in list(spec.geoms):
        spec.delete(geom)
    for mesh in list(spec.meshes):
        spec.delete(mesh)
    spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    return spec.compile()


def servo(parameters: ServoParameters, seed: int) -> ServoModel:
    """A servo model at the logs' command rate."""
    return ServoModel(parameters, seed, period_s=1 / RATE_HZ)


class _Arms:
    """M arms in lockstep."""

    def __init__(self, model: mujoco.MjModel, start: Array) -> None:
        self.models = [copy.copy(model) for _ in start]
        self.data = [mujoco.MjData(m) for m in self.models]
        self.q, self.dq = start.copy(), np.zeros_like(start)
        for data, pose in zip(self.data, start, strict=True):
            data.qpos[:] = pose

    def step(self, command: Array, awake: Array, drive: ServoModel | None) -> None:
        """One command period of 20 ms for the arms in `awake`."""
        every = drive.every if drive else 8
        for _ in range(8 // every):
            control, friction = (
                drive.substep(command, self.q, self.dq) if drive else (command, None)
            )
            for i in awake:
                self.data[i].ctrl[:] = control[i]
                if friction is not None:
                    self.models[i].dof_frictionloss[:] = friction[i]
                mujoco.mj_step(self.models[i], self.data[i], every)
                self.q[i], self.dq[i] = self.data[i].qpos, self.data[i].qvel


def replay(
    model: mujoco.MjModel, motions: Sequence[Log], drive: ServoModel | None = None
) -> list[Array]:
    """Positions (T, 6) rad that the simulated arm reports for each motion's commands."""
    lengths = np.array([len(m.command) for m in motions])
    first = np.stack([m.command[0] for m in motions])
    arms = _Arms(model, first + LEAD_IN_RAD)
    if drive:
        drive.reset(range(len(motions)))
    everyone, lead_in = np.arange(len(motions)), round(LEAD_IN_S * RATE_HZ)
    for step in range(lead_in):
        left = max(0.0, 1 - 2 * step / lead_in)
        arms.step(first + left * LEAD_IN_RAD, everyone, drive)
    measured = np.zeros((lengths.max(), len(motions), 6))
    for step in range(lengths.max()):
        measured[step] = in_counts(arms.q)
        command = np.stack([m.command[min(step, len(m.command) - 1)] for m in motions])
        arms.step(command, everyone[lengths > step], drive)
    return [measured[:length, i] for i, length in enumerate(lengths)]


def type_ratios(motions: Sequence[Log], simulated: Sequence[Array]) -> dict[str, float]:
    """Simulated over real RMSE (mean over 5 joints, then over the motions of a type)."""
    ratios = {}
    for kind, names in TYPES.items():
        rows = [i for i, m in enumerate(motions) if m.name in names]
        if rows:
            real = np.mean([motions[i].rmse() for i in rows])
            ratios[kind] = float(np.mean([motions[i].rmse(simulated[i]) for i in rows]) / real)
    return ratios


def mean_ratio(motions: Sequence[Log], simulated: Sequence[Array]) -> float:
    """Simulated over real RMSE, mean over 5 joints and all motions."""
    pairs = list(zip(motions, simulated, strict=True))
    return float(np.mean([m.rmse(s) for m, s in pairs]) / np.mean([m.rmse() for m, _ in pairs]))


def response(model: mujoco.MjModel, joint: int, drive: ServoModel | None) -> Array:
    """Share (0 to 1) of a 0.2 rad step of one joint that is made, every 20 ms for 0.6 s.

    The arm hangs still for 1.5 s first; the final share is that after 1.5 s.
    """
    pose = np.array([[0.0, -0.9, 0.6, 1.0, 0.0, 0.9]])
    target = pose.copy()
    target[0, joint] -= 0.2
    arms = _Arms(model, pose)
    if drive:
        drive.reset([0])
    for _ in range(75):
        arms.step(pose, np.arange(1), drive)
    start, trace = arms.q[0, joint], []
    for _ in range(75):
        arms.step(target, np.arange(1), drive)
        trace.append(arms.q[0, joint])
    moved = np.array(trace) - start
    return moved[:30] / moved[-1]


def lag_s(log: Log, position: Array, joint: int) -> float:
    """Delay that explains most of a motion: the shift with the least spread of the error, s."""
    most = 25
    command = log.command[:, joint]
    spread = [
        np.std(command[most - k : len(command) - k] - position[most:, joint]) for k in range(most)
    ]
    return int(np.argmin(spread)) / RATE_HZ
