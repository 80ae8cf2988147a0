"""How a peg is put into a hole by sight and touch: what to command, from what is seen and felt now.

The peg leans, so that the low rim of its end finds the mouth although its place is known to a
millimetre only; it slides until the far wall holds it, is set upright against that wall, and goes
in while the hand yields to torque. A peg that is not to lean is set down upright instead, and led
round in a spiral until it falls in. Nothing here remembers anything. Commands are leads of the
target beyond the measured pose: 1 mm pushes with 1 N at rest, and moves through free space.

Coordinates (u, p, z) about the mouth as it is seen: u along the lean, p across, z out of the hole.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simreal.core.types import Bools

Array = npt.NDArray[np.float64]

#: Stiffness of the nominal impedance, N/m and Nm/rad: what makes a lead of a wanted force.
STIFFNESS, TURNING = 1000.0, 50.0
MM, DEG = 1e-3, float(np.pi / 180.0)

#: The low rim is set down so far behind where it would lie in the hole, m: it falls in although the
#: mouth is seen up to 1 mm off along the lean, and as much across.
SHORT_M = 2.5 * MM
#: How far the rim may be behind that and beyond the mouth's rim while it slides, and aside, m.
BEHIND_M, BEYOND_M, ASIDE_M = 1.0 * MM, 1.2 * MM, 0.9 * MM
#: How high the rim hovers at most, and how far for each m aside and each rad of a wrong lean.
HOVER_M, HOVER_ASIDE, HOVER_TURN = 4 * MM, 1.5, 0.5 * MM / DEG
#: Force (N) that says it touches; pushes down while it slides and is set upright; sideways drive.
TOUCH_N, SLIDE_N, UPRIGHT_N, SIDE_N = 1.8, 4.0, 6.0, 3.0
#: A wall is felt where the side force is more than friction makes of the push (coefficient, N).
WALL = (0.5, 1.2)
#: Depth of the middle of the end, m, below which the peg is in, and at which it is at the bottom.
IN_M, BOTTOM_M = 1.5 * MM, 17.5 * MM
#: Pushes inside, N: at first; at most; at most while it still leans by more than 3 degrees. Where
#: more than `RELAX_N` resists, the push is taken back for a moment, which frees a wedged peg.
ENTER_N, PUSH_N, LEANING_N, RELAX_N = 3.0, 10.0, 5.0, 8.0
#: Shares of a felt force and torque that the hand yields by inside.
YIELD, GIVE = 0.15, 4.0
#: A spiral: its lead, m; how far apart its turns lie, m; and how far out it is given up, m.
SPIRAL_LEAD_M, SPIRAL_PITCH_M, SPIRAL_OUT_M = 2.0 * MM, 0.4 * MM, 1.6 * MM
#: A peg that leans less than this and is not in has missed the mouth: one that leans so little in
#: the hole is 4 mm deep at a clearance of 0.1 mm, and deeper at others.
MISSED = 1.5 * DEG


@dataclass(frozen=True)
class Felt:
    """N pegs as they are seen and felt: m, rad, N, Nm.

    rim: (N, 3) lowest point of the leaning end; tip: (N, 3) its middle. lean, askew: (N,) angles of
    the axis along u and along p. heading: (N,) what is left to turn about z. force, torque: (N, 3)
    on the peg's end, along (u, p, z). radius: (N,) of the end. theta: (N,) how far to lean; 0:
    search in a spiral.
    """

    rim: Array
    tip: Array
    lean: Array
    askew: Array
    heading: Array
    force: Array
    torque: Array
    radius: Array
    theta: Array


@dataclass(frozen=True)
class Move:
    """Leads of the command: (N, 3) m and (N, 3) rad about (u, p, z); and which mode each is in.

    away: it has left the surface to try again. touching: it touches.
    """

    lead: Array
    turn: Array
    phase: npt.NDArray[np.str_]
    away: Bools
    touching: Bools


def choose(felt: Felt) -> Move:
    """What to do with each peg now."""
    u, p, z = felt.rim.T
    side, push = -felt.force[:, 0], felt.force[:, 2]
    end = felt.tip
    inside = (end[:, 2] < -IN_M) & (np.hypot(end[:, 0], end[:, 1]) < 4 * MM)
    pressed = np.hypot(np.maximum(push, 0.0), side) > 2.5
    touching = (push > TOUCH_N) | pressed | (z < -0.2 * MM)
    near = (u > -1.5 * MM) & (u < felt.radius + 1.5 * MM) & (np.abs(p) < 2.5 * MM) & (z < 1.0 * MM)
    lodged = ~inside & touching & near
    at_wall = side > WALL[0] * np.maximum(push, 0.0) + WALL[1]
    rising = felt.lean < felt.theta - 2.0 * DEG
    leans = felt.theta > 0.0
    missed = lodged & leans & (felt.lean <= MISSED)
    upright = lodged & leans & ~missed & (rising | at_wall)
    hover = np.where(missed, HOVER_M, _hover(felt, touching))
    along = touching & (hover == 0.0) & ~upright & ~inside
    phases = {
        "insert": inside,
        "upright": upright,
        "slide": along & leans,
        "spiral": along,
        "lower": hover == 0.0,
    }
    moves: Mapping[str, tuple[Array, Array]] = {
        "insert": _insert(felt),
        "upright": _upright(felt),
        "slide": _slide(felt),
        "spiral": _spiral(felt),
        "lower": _approach(felt, hover, touching),
    }
    above = _approach(felt, hover, touching)
    masks = [mask[:, None] for mask in phases.values()]
    return Move(
        lead=np.select(masks, [moves[name][0] for name in phases], above[0]),
        turn=np.select(masks, [moves[name][1] for name in phases], above[1]),
        phase=np.select(list(phases.values()), list(phases), "above"),
        away=~touching & (hover > 1.5 * MM),
        touching=touching,
    )


def press(felt: Felt) -> tuple[Array, Array]:
    """Down, as if the peg were in and nothing held it: leads and turns, (N, 3) each."""
    fz = np.maximum(felt.force[:, 2], 0.0)
    lead = np.stack([0 * fz, 0 * fz, -np.clip(ENTER_N + fz, 0.0, PUSH_N)], axis=1) / STIFFNESS
    return lead, np.zeros_like(lead)


def _hover(felt: Felt, touching: Bools) -> Array:
    """How high the rim should be, m: the higher the farther from where and how it should be."""
    u, p, _ = felt.rim.T
    aim = _aim(felt)
    behind = np.maximum(aim - BEHIND_M - u, 0.0)
    beyond = np.minimum(felt.radius + BEYOND_M - u, 0.0)
    off = np.where(touching, behind + beyond, 0.7 * (aim - u))
    wrong = np.hypot(felt.theta - felt.lean, felt.askew)
    aside = HOVER_ASIDE * (np.hypot(off, p) - ASIDE_M)
    hover: Array = np.clip(aside + HOVER_TURN * (wrong - 2.0 * DEG), 0.0, HOVER_M)
    out = np.hypot(felt.tip[:, 0], felt.tip[:, 1]) > SPIRAL_OUT_M
    circling = touching & (felt.theta == 0.0)
    return np.asarray(np.where(circling, np.where(out, HOVER_M, 0.0), hover))


def _aim(felt: Felt) -> Array:
    """Where along u the rim is set down, m."""
    aim: Array = felt.radius - np.where(felt.theta > 0.0, SHORT_M, 0.0)
    return aim


def _go(way: Array) -> Array:
    """The lead that covers a way in free space; a little more, to overcome friction."""
    lead: Array = np.clip(0.7 * way + 0.5 * MM * np.tanh(way / MM), -6 * MM, 6 * MM)
    return lead


def _local(lean: Array, askew: Array, heading: Array) -> Array:
    """A turn that changes lean, askew and heading so much, (N, 3) about (u, p, z)."""
    return np.stack([-askew, lean, heading], axis=1)


def _to_lean(felt: Felt) -> Array:
    six = 6 * DEG
    return _local(
        np.clip(1.2 * (felt.theta - felt.lean), -six, six),
        np.clip(-1.2 * felt.askew, -six, six),
        np.clip(felt.heading, -3 * DEG, 3 * DEG),
    )


def _approach(felt: Felt, hover: Array, touching: Bools) -> tuple[Array, Array]:
    """Over the near part of the mouth, then down."""
    u, p, z = felt.rim.T
    fall = np.clip(0.8 * z, 2.5 * MM, 5 * MM)
    push = np.clip(2 * SLIDE_N - felt.force[:, 2], 0.5, 9.0) / STIFFNESS
    down = np.where(touching, push, fall)
    height = np.clip(hover - z + 0.3 * MM, -4 * MM, 6 * MM)
    lead = [_go(_aim(felt) - u), _go(-p), np.where(hover > 0, height, -down)]
    return np.stack(lead, axis=1), _to_lean(felt)


def _slide(felt: Felt) -> tuple[Array, Array]:
    """Along the lean, harder the more resists, yielding across."""
    fu, fp, fz = felt.force.T
    lead = [
        np.clip(SIDE_N - 0.6 * fu, 2.0, 6.0),
        YIELD * fp,
        -np.clip(2 * SLIDE_N - fz, 0.5, 9.0),
    ]
    return np.stack(lead, axis=1) / STIFFNESS, _to_lean(felt)


def _spiral(felt: Felt) -> tuple[Array, Array]:
    """Round the place where the mouth seems to be, and slowly outwards."""
    out = felt.tip[:, :2]
    far = np.maximum(np.hypot(out[:, 0], out[:, 1]), 0.05 * MM)[:, None]
    round_ = np.stack([-out[:, 1], out[:, 0]], axis=1) / far
    way = round_ + out / far * np.minimum(SPIRAL_PITCH_M / (2 * np.pi * far), 1.0)
    way /= np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-9)
    push = np.clip(2 * SLIDE_N - felt.force[:, 2], 0.5, 9.0) / STIFFNESS
    return np.column_stack([SPIRAL_LEAD_M * way, -push]), _to_lean(felt)


def _upright(felt: Felt) -> tuple[Array, Array]:
    """Pressed down and lightly against the wall, the lean taken back."""
    fu, fp, fz = felt.force.T
    lead = [
        np.clip(SIDE_N + 0.7 * (2.0 + fu), -4.0, 6.0),
        np.clip(YIELD * fp, -6.0, 6.0),
        -np.clip(2 * UPRIGHT_N - fz, 1.0, 11.0),
    ]
    turn = _local(
        -np.clip(0.6 * (felt.lean + DEG), 0.6 * DEG, 2.5 * DEG),
        np.clip(-felt.askew, -DEG, DEG),
        np.clip(felt.heading, -3 * DEG, 3 * DEG),
    )
    return np.stack(lead, axis=1) / STIFFNESS, turn


def _insert(felt: Felt) -> tuple[Array, Array]:
    """Down, harder the more resists; turned as the hole wants it, or towards what looks upright."""
    fu, fp, fz = felt.force.T
    depth = -felt.tip[:, 2]
    tilted = np.hypot(felt.lean, felt.askew)
    most = np.where(tilted > 3 * DEG, LEANING_N, PUSH_N)
    push = np.clip(ENTER_N + np.maximum(fz, 0.0), -2.0, most)
    push = np.where((fz > RELAX_N) & (depth < BOTTOM_M), -2.0, push)
    lead = np.stack([YIELD * fu, YIELD * fp, -push], axis=1) / STIFFNESS
    three = 3 * DEG
    given = np.clip(GIVE * felt.torque / TURNING, -three, three)
    leans = np.clip((tilted - 0.7 * DEG) / DEG, 0.0, 1.0) * np.clip(2 - depth / (5 * MM), 0.0, 1.0)
    seen = _local(np.clip(-felt.lean, -three, three), np.clip(-felt.askew, -three, three), 0 * fz)
    share = leans[:, None] * np.array([1.0, 1.0, 0.0])
    return lead, (1 - share) * given + share * seen
