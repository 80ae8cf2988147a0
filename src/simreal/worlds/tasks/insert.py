"""Insert: put a peg of 8 mm into a hole that is 0.1 to 0.5 mm wider, 20 mm deep, without force.

Success is to be seated within 1 mm of the depth for half a second. Force limits are those of a
careful engineer: 30 N at any moment, 20 N for 0.2 s. Wedging and jamming are told apart as by
Whitney (1982): a peg held on two sides wedges where the friction cones see each other, which can
only be at depths below friction times diameter; deeper down, or on one side, it jams.
"""

from __future__ import annotations

import mujoco
import numpy as np

from simreal.core.types import Bools
from simreal.worlds import peghole
from simreal.worlds.peg_rig import ur5e_with
from simreal.worlds.peg_state import PegState
from simreal.worlds.peghole import PegHole
from simreal.worlds.task import Task

#: Diametral clearances of demonstrations, m; trials are played at one of them.
CLEARANCES_M = (0.0005, 0.0002, 0.0001)
SEATED_M = 0.001
PEAK_N, PRESSED_N = 30.0, 20.0
#: Moved or turned in the hand farther than this is a slip; moved by more than half of the 20 mm
#: that the fingers hold, a drop (assumed).
SLIP_M, SLIP_RAD, DROP_M = 0.003, float(np.deg2rad(6.0)), 0.012
#: Depth won in half a second below which a peg stands still, and the push that says it should not
#: (both assumed).
STILL_M, PUSH_N = 0.0003, 2.0
#: Nearest and farthest distance of a drawn hole from the base, m.
REACH_M = (0.39, 0.51)
ROUND, SQUARE = PegHole("round"), PegHole("square")


def _draw(rng: np.random.Generator) -> dict[str, float]:
    """Hole within 50 mm and 15 degrees, peg in the hand within 3 mm and 5 degrees, start above."""
    five = float(np.deg2rad(5.0))
    return {
        "hole_x_m": float(0.45 + rng.uniform(-0.05, 0.05)),
        "hole_y_m": float(rng.uniform(-0.05, 0.05)),
        "hole_yaw_rad": float(rng.uniform(-np.pi / 12, np.pi / 12)),
        "grasp_x_m": float(rng.uniform(-0.003, 0.003)),
        "grasp_z_m": float(rng.uniform(-0.003, 0.003)),
        "grasp_turn_rad": float(rng.uniform(-five, five)),
        "start_x_m": float(rng.uniform(-0.01, 0.01)),
        "start_y_m": float(rng.uniform(-0.01, 0.01)),
        "start_z_m": float(rng.uniform(0.01, 0.02)),
        "start_rx_rad": float(rng.uniform(-five, five)),
        "start_ry_rad": float(rng.uniform(-five, five)),
        "start_rz_rad": float(rng.uniform(-five, five)),
        "clearance_m": float(rng.choice(CLEARANCES_M)),
    }


def _found(state: PegState) -> Bools:
    """The end of the peg is in the mouth; it could not be there beside the hole."""
    return np.asarray(state.depth > 0.0005)


def _entered(state: PegState) -> Bools:
    return np.asarray(state.depth > 0.002)


def _half(state: PegState) -> Bools:
    return np.asarray(state.depth > state.goal_depth / 2)


def _seated(state: PegState) -> Bools:
    return np.asarray(state.depth > state.goal_depth - SEATED_M)


def _dropped(state: PegState) -> Bools:
    return np.asarray(np.abs(state.slip) > DROP_M)


def _force_stop(state: PegState) -> Bools:
    return np.asarray((state.peak_n > PEAK_N) | (state.pressed_n > PRESSED_N))


def _slipped(state: PegState) -> Bools:
    return np.asarray((np.abs(state.slip) > SLIP_M) | (np.abs(state.slip_turn) > SLIP_RAD))


def _stands(state: PegState) -> Bools:
    """In the hole, pushed, and not getting deeper."""
    stuck = (state.gained < STILL_M) & (state.push_n > PUSH_N)
    return np.asarray(_found(state) & ~_seated(state) & stuck)


def _wedged(state: PegState) -> Bools:
    cones_meet = state.depth < state.friction * state.width
    return np.asarray(_stands(state) & state.sides & cones_meet)


def _jammed(state: PegState) -> Bools:
    return np.asarray(_stands(state) & ~_wedged(state))


def _task(name: str, text: str, peg: PegHole) -> Task[PegState]:
    def build(spec: mujoco.MjSpec) -> None:
        peghole.add_to(spec, peg)

    return Task(
        name=name,
        text=text,
        horizon=300,
        hold_steps=10,
        build=build,
        draw=_draw,
        judge={"found": _found, "entered": _entered, "half": _half, "seated": _seated},
        stops={"dropped": _dropped, "force stop": _force_stop},
        symptoms={"slipped in hand": _slipped, "wedged": _wedged, "jammed": _jammed},
        failures={
            None: "missed hole",
            "found": "timed out",
            "entered": "timed out",
            "half": "timed out",
            "seated": "timed out",
        },
        reset_names=tuple(_draw(np.random.default_rng(0))),
        robot=ur5e_with(peg),
        untouched=(),
        suites={
            "nominal": {"clearance_m": CLEARANCES_M[1]},
            "wide": {"clearance_m": CLEARANCES_M[0]},
            "tight": {"clearance_m": CLEARANCES_M[2]},
        },
        collision_n=PRESSED_N,
        reach_m=REACH_M,
    )


INSERT = _task("insert", "Insert the peg into the hole.", ROUND)
INSERT_SQUARE = _task("insert_square", "Insert the square peg into the square hole.", SQUARE)
