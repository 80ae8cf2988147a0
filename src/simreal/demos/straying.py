"""How an expert who inserts is led astray at times, so that demonstrations show the way back.

Its labels say what to do; what is executed is what somebody would do who is wrong about where the
peg is. Without it no demonstration holds the states in which a trained policy gets stuck: slid on
beyond the mouth, set upright beside it, pressed down as if the peg were in, or held in the hole by
the force that it presses on with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from simreal.demos.insertion_moves import MM, Array, Felt, Move, choose, press

#: For how many control steps it is led astray (least, and one more than most).
STEPS = (6, 26)
#: Where it takes the mouth to be: half of the times up to 10 mm off in any direction (m, and in
#: logarithms: least, most), half of the times farther along the lean (m, rad): that is where a peg
#: gets to that has slid over the mouth.
ANYWHERE_M, BEYOND_M, BEYOND_RAD = (1.2 * MM, 10 * MM), (3 * MM, 14 * MM), 0.5
LOG_ANYWHERE = (float(np.log(ANYWHERE_M[0])), float(np.log(ANYWHERE_M[1])))
#: What it does in the second half, equally often: nothing else; it feels a wall (of so many
#: newtons) and sets the peg upright; it takes the peg to be in, and presses. A peg that is in can
#: only be pressed.
SLIDING, WALL, PRESSING = range(3)
WALL_N = 6.0


class Straying:
    """Who is astray, how, and for how long, of N episodes with a generator each."""

    def __init__(self, chance: float, rngs: Sequence[np.random.Generator]) -> None:
        """chance: probability a step to begin."""
        self._chance, self._rngs = chance, rngs
        self._away: Array = np.zeros((len(rngs), 3))
        self._then = np.zeros(len(rngs), dtype=int)
        self._left = np.zeros(len(rngs), dtype=int)
        self._half = np.zeros(len(rngs), dtype=int)

    def mislead(self, felt: Felt, move: Move) -> tuple[Array, Array]:
        """What is done instead of `move` by those astray: leads (N, 3) m, turns (N, 3) rad."""
        self._draw()
        then = np.where(self._left <= self._half, self._then, SLIDING)
        wall = np.outer(np.where(then == WALL, WALL_N, 0.0), np.eye(3)[0])
        rim, tip = felt.rim - self._away, felt.tip - self._away
        wrong = choose(replace(felt, rim=rim, tip=tip, force=felt.force - wall))
        pressed = press(felt)
        presses = (self._left > 0) & (then == PRESSING)
        strays = (self._left > 0) & (move.phase != "insert")
        choice = [presses[:, None], strays[:, None]]
        lead = np.select(choice, [pressed[0], wrong.lead], move.lead)
        turn = np.select(choice, [pressed[1], wrong.turn], move.turn)
        return lead, turn

    def _draw(self) -> None:
        """One step on; every generator is drawn from alike, whether or not somebody strays."""
        for i, rng in enumerate(self._rngs):
            self._left[i] = max(0, self._left[i] - 1)
            starts, steps, then = rng.random(), int(rng.integers(*STEPS)), int(rng.integers(3))
            anywhere = np.exp(rng.uniform(*LOG_ANYWHERE)), rng.uniform(-np.pi, np.pi)
            beyond = rng.uniform(*BEYOND_M), rng.uniform(-BEYOND_RAD, BEYOND_RAD)
            far, angle = anywhere if rng.random() < 0.5 else beyond
            if self._left[i] == 0 and starts < self._chance:
                self._away[i, :2] = far * np.array([np.cos(angle), np.sin(angle)])
                self._left[i], self._half[i], self._then[i] = steps, steps // 2, then
