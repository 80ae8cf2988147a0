"""The scripted operator of insertions: eyes that err, hands that feel, `insertion_moves`.

What it means to do is a function of what can be seen and felt at that moment, so that a policy can
learn it from single moments. Remembered are errors of sight (each try is aimed with a new one), how
far and fast this episode's hand leans and moves, and a human-like hand's tremor and pauses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.spatial.transform import Rotation

from simreal.core.errors import unknown
from simreal.core.seeds import generator
from simreal.core.types import Action, Bools, Observation
from simreal.demos.insertion_moves import DEG, Array, Felt, Move, choose
from simreal.demos.straying import Straying
from simreal.worlds.peg_rig import to_boundary
from simreal.worlds.peg_state import PegPrivileged, PegState
from simreal.worlds.task import Task

#: Numbers of an error of sight: the mouth (3), the peg's axis (2), the hole's heading (1).
_SIGHT = 6


@dataclass(frozen=True)
class Hand:
    """How an operator inserts.

    lean_rad: of the peg when it looks for the mouth (low, high; drawn once an episode). speed:
    share of each lead that is asked for until it is over the mouth (drawn too). sight_m, sight_rad:
    standard deviation of where the mouth seems to be, and of how the peg seems to stand to it.
    noise_m, noise_rad: deviation of executed from intended targets (which are the labels).
    tremor_m: slow deviation that is part of the labels. pause: probability a step to stop for 3-9
    steps. spiral: probability that the first try is a spiral with an upright peg. astray:
    probability a step to be led astray while the labels say what to do about it (`straying`). No
    number of these is measured on people.
    """

    lean_rad: tuple[float, float] = (7 * DEG, 7 * DEG)
    speed: tuple[float, float] = (1.0, 1.0)
    sight_m: float = 0.0005
    sight_rad: float = 0.7 * DEG
    noise_m: float = 0.0
    noise_rad: float = 0.0
    tremor_m: float = 0.0
    pause: float = 0.0
    spiral: float = 0.0
    astray: float = 0.0


#: Control steps after which a spiral is given up.
PATIENCE = 50

HANDS = {
    "expert": Hand(noise_m=0.0004, noise_rad=0.3 * DEG, astray=0.02),
    "steady": Hand(),
    "human": Hand(
        lean_rad=(5 * DEG, 9 * DEG),
        speed=(0.45, 0.8),
        sight_m=0.0007,
        sight_rad=1.0 * DEG,
        tremor_m=0.0003,
        pause=0.02,
        spiral=0.15,
    ),
}


def hand(style: str) -> Hand:
    """The hand of a style, by its name."""
    if style not in HANDS:
        raise unknown("style of an operator who inserts", style, HANDS)
    return HANDS[style]


class InsertingOperator:
    """A `Policy` with privileged eyes. `labels` are the targets it meant in the last `act`."""

    def __init__(
        self, task: Task[PegState], privileged: Callable[[], PegPrivileged], style: str, seed: int
    ) -> None:
        self.task, self.style, self.seed, self.hand = task, style, seed, hand(style)
        self._privileged = privileged
        self._first = 0
        self.labels: Action = np.zeros((0, len(task.robot.channels)), dtype=np.float32)

    def start_at(self, first_index: int) -> None:
        """Episode numbers of the coming batch begin here; they select the random streams."""
        self._first = first_index

    def reset(self, n: int) -> None:
        """Begin N episodes, numbered from `start_at`."""
        self._rngs = [
            generator(self.seed, f"operator/inserting/{self.style}", self._first + i)
            for i in range(n)
        ]
        self._theta = np.array([r.uniform(*self.hand.lean_rad) for r in self._rngs])
        self._speed = np.array([r.uniform(*self.hand.speed) for r in self._rngs])
        first = np.array([r.random() < self.hand.spiral for r in self._rngs])
        self._lean = np.where(first, 0.0, self._theta)
        self._glance = np.stack([self._look(r) for r in self._rngs])
        self._tremor: Array = np.zeros((n, 3))
        self.labels = self.labels[:0]
        self._searched: npt.NDArray[np.int64] = np.zeros(n, dtype=np.int64)
        self._pausing = np.zeros(n, dtype=int)
        self._touched: Bools = np.zeros(n, dtype=bool)
        self._straying = Straying(self.hand.astray, self._rngs)
        self.retries = np.zeros(n, dtype=int)
        self.phases = [""] * n

    def _look(self, rng: np.random.Generator) -> Array:
        """An error of sight, m and rad; no more than twice its standard deviation."""
        scale = np.repeat([self.hand.sight_m, self.hand.sight_rad], _SIGHT // 2)
        error: Array = scale * np.clip(rng.standard_normal(_SIGHT), -2, 2)
        return error

    def looks(self) -> bool:
        """Operators never need images."""
        return False

    def act(self, observation: Observation) -> Action:
        """Absolute targets (N, 6), mm and degrees; `labels` holds the intended ones."""
        known = self._privileged()
        axes = self._axes(known)
        felt = self._feel(known, observation, axes)
        move = choose(felt)
        self._look_again(move)
        self.phases = [str(phase) for phase in move.phase]
        tremor = self._trembling()
        lead, turn = self._leads(move, (move.lead, move.turn), axes, tremor)
        meant = executed = _target(known, lead, turn)
        if self.hand.astray:
            led = self._straying.mislead(felt, move)
            lead, turn = self._leads(move, led, axes, tremor)
        if self.hand.noise_m or self.hand.astray:
            off = np.stack([r.standard_normal(6) for r in self._rngs])
            off *= np.repeat([self.hand.noise_m, self.hand.noise_rad], 3)
            executed = _target(known, lead + off[:, :3], turn + off[:, 3:])
        resting = self._rests()[:, None]
        if resting.any() and len(self.labels) == len(meant):
            meant = np.where(resting, self.labels, meant)
            executed = np.where(resting, self.labels, executed)
        self.labels = meant
        return executed

    def _leads(
        self, move: Move, led: tuple[Array, Array], axes: Array, tremor: Array
    ) -> tuple[Array, Array]:
        """Leads (N, 3) m and turns (N, 3) rad in the base frame; `led`: along (u, p, z)."""
        slow = np.where(move.phase == "above", self._speed, 1.0)[:, None]
        lead = np.einsum("nij,ni->nj", axes, led[0]) * slow + tremor
        return lead, np.einsum("nij,ni->nj", axes, led[1]) * slow

    def _look_again(self, move: Move) -> None:
        """A try that ended beside the mouth: the next one is aimed afresh."""
        searches = (self._lean == 0.0) & (move.phase == "spiral")
        self._searched = np.where(searches, self._searched + 1, 0)
        for i in np.flatnonzero((self._touched & move.away) | (self._searched > PATIENCE)):
            self._glance[i] = self._look(self._rngs[i])
            self._lean[i] = self._theta[i]
            self.retries[i] += 1
        self._touched = (self._touched | move.touching) & ~move.away

    def _trembling(self) -> Array:
        if self.hand.tremor_m:
            kick = np.stack([r.standard_normal(3) for r in self._rngs])
            self._tremor = 0.85 * self._tremor + 0.5 * self.hand.tremor_m * kick
        return self._tremor

    def _rests(self) -> Bools:
        """Which worlds pause: their target stays as it was, (N,) bool."""
        if self.hand.pause:
            for i, rng in enumerate(self._rngs):
                if self._pausing[i]:
                    self._pausing[i] -= 1
                elif rng.random() < self.hand.pause:
                    self._pausing[i] = int(rng.integers(3, 10))
        return np.asarray(self._pausing > 0)

    def _axes(self, known: PegPrivileged) -> Array:
        """Unit vectors (u, p, z) in the base frame as rows, (N, 3, 3).

        A peg leans aslant to the wrist camera's view, where the mouth shows beside it; that is over
        a corner of a square one.
        """
        way = known.yaw + self._glance[:, 5] + np.pi / 4
        c, s, o = np.cos(way), np.sin(way), np.zeros_like(way)
        return np.stack([c, s, o, -s, c, o, o, o, o + 1.0], axis=1).reshape(-1, 3, 3)

    def _feel(self, known: PegPrivileged, observation: Observation, axes: Array) -> Felt:
        """What is seen, with its error, and felt, of the last control step."""
        wrench = known.wrench
        if observation.wrench is not None:
            wrench = observation.wrench.mean(axis=1).astype(float)
        hand = Rotation.from_rotvec(known.tool[:, 3:])
        force = hand.apply(wrench[:, :3])
        lever = known.tool[:, :3] - known.tip
        torque = hand.apply(wrench[:, 3:]) + np.cross(lever, force)
        along = _in(axes, known.axis)
        ahead = hand.apply(np.array([1.0, 0.0, 0.0]))
        heading = known.yaw + self._glance[:, 5] - np.arctan2(ahead[:, 1], ahead[:, 0])
        radius = known.reach
        down = axes[:, 0] - along[:, :1] * known.axis
        down /= np.linalg.norm(down, axis=1, keepdims=True)
        end = known.tip - known.mouth - self._glance[:, :3]
        return Felt(
            rim=_in(axes, end + radius[:, None] * down),
            tip=_in(axes, end),
            lean=np.arctan2(along[:, 0], along[:, 2]) + self._glance[:, 3],
            askew=np.arctan2(along[:, 1], along[:, 2]) + self._glance[:, 4],
            heading=(heading + np.pi) % (2 * np.pi) - np.pi,
            force=_in(axes, force),
            torque=_in(axes, torque),
            radius=radius,
            theta=self._lean,
        )


def _in(axes: Array, vectors: Array) -> Array:
    """Vectors (N, 3) of the base frame in coordinates along `axes`."""
    turned: Array = np.einsum("nij,nj->ni", axes, vectors)
    return turned


def _target(known: PegPrivileged, lead: Array, turn: Array) -> Action:
    """The pose `lead` (N, 3) m and `turn` (N, 3) rad beyond the measured one, at the boundary."""
    now = Rotation.from_rotvec(known.tool[:, 3:])
    vector = (Rotation.from_rotvec(turn) * now).as_rotvec()
    pose = np.concatenate([known.tool[:, :3] + lead, vector], axis=1)
    return (to_boundary(pose) + known.offset).astype(np.float32)
