"""The textbook regimes of insertion in simulation: one and two points, jamming, wedging."""

from dataclasses import replace

import numpy as np
import pytest
from tests.worlds import whitney
from tests.worlds.insertion import Loose, World, sink

from simreal.worlds import ur5e
from simreal.worlds.gripper import GRIP_M
from simreal.worlds.peghole import PegHole


def peg(clearance_m: float, friction: float) -> PegHole:
    plain = PegHole(clearance_m=clearance_m)
    return replace(plain, contact=replace(plain.contact, friction=friction))


def held(of: PegHole) -> np.ndarray:
    """Compliance of arm, grasp and fixture as seen from the tip."""
    impedance, (soft, turning) = ur5e.Impedance(), of.grasp.stiffness
    return whitney.series(
        (impedance.stiffness[0], impedance.stiffness[3], 0.0),
        (soft, turning, GRIP_M),
        (*of.fixture.stiffness, 0.0),
    )


CASES = (
    # clearance, friction, offset, angle
    (0.0005, 0.2, 0.001, 0.03),
    (0.0002, 0.2, 0.001, 0.03),
    (0.0002, 0.1, -0.001, 0.02),
)


@pytest.fixture(scope="module")
def curves() -> list[tuple[PegHole, np.ndarray, list[whitney.Equilibrium]]]:
    found = []
    for clearance, friction, offset, angle in CASES:
        of = peg(clearance, friction)
        rows = sink(World(of, joint_friction=False), offset, angle, to_m=0.018)
        sizes = (of.width_m, clearance)
        wanted = [
            whitney.insert(depth, (offset, angle), held(of), sizes, friction)
            for depth in rows[:, 0]
        ]
        found.append((of, rows, wanted))
    return found


def test_two_points_begin_where_geometry_says(curves) -> None:
    for of, rows, wanted in curves:
        one = np.median([w.axial for w in wanted if w.points == 1])
        jumped = rows[:, 1] > one + 0.15
        onset, angle = rows[jumped][0, 0], rows[jumped][0, 2]
        told = whitney.two_point_depth(of.width_m, of.clearance_m, angle)
        assert onset == pytest.approx(told, rel=0.05)
        first = next(row[0] for row, w in zip(rows, wanted, strict=True) if w.points == 2)
        assert onset == pytest.approx(first, abs=0.0006)


def test_deeper_down_the_walls_turn_the_peg(curves) -> None:
    """Depth times angle is the clearance, but for what contact gives way: under a tenth of it."""
    for of, rows, wanted in curves:
        deep = np.array([w.points == 2 for w in wanted])
        deep[: deep.argmax() + 4] = False
        depth, _, angle = rows[deep].T
        room = of.clearance_m + of.width_m * (1 - np.cos(angle))
        assert np.all(np.abs(depth * np.sin(angle) - room) < 0.08 * of.clearance_m)


def test_insertion_force_follows_the_model(curves) -> None:
    """One point: the friction of one side force; two points: that of the moment they hold."""
    for _, rows, wanted in curves:
        force = rows[:, 1]
        told = np.array([w.axial for w in wanted])
        points = np.array([w.points for w in wanted])
        settled = rows[:, 0] > 0.0025
        assert np.median(force[(points == 1) & settled]) == pytest.approx(
            np.median(told[(points == 1) & settled]), rel=0.1, abs=0.01
        )
        deep = (points == 2) & (told > 0.3 * told.max())
        error = np.abs(force - told)[deep] / told.max()
        assert np.median(error) < 0.06
        assert error.max() < 0.25


@pytest.mark.parametrize("depth", [0.006, 0.012])
def test_it_slides_inside_the_jamming_diagram_and_sticks_outside(depth: float) -> None:
    """With the small angles that the diagram is drawn for: here a tenth of the friction angle."""
    of = peg(0.0001, 0.2)
    loose, width, push = Loose(of), of.width_m, 5.0
    ratio = depth / (width * 0.2)
    for side in (-4.0, -2.0, 0.0, 2.0, 4.0):
        for lean in (1.0, -1.0):
            for share in (0.5, 0.8, 1.1, 1.5):
                moment = lean * ratio * share + 0.2 * (1 + ratio) * side
                value = whitney.jams(depth, width, 0.2, side, moment)
                assert value == pytest.approx(max(share, abs(side) * 0.2))
                loose.lean(side, lean, depth)
                arm = moment * width / 2 * push
                loose.press(side * push, push, arm, seconds=0.1)
                before = loose.depth()
                loose.press(side * push, push, arm, seconds=0.1)
                moved = loose.depth() - before
                if value < 1:
                    assert moved > 10e-6, (side, lean, share)
                else:
                    assert moved < 3e-6, (side, lean, share)


@pytest.mark.parametrize("side", [-5.5, 5.5])
@pytest.mark.parametrize("height", [0.2, 0.5, 0.8])
def test_a_side_force_beyond_friction_holds_it_flat_on_one_wall(side: float, height: float) -> None:
    """The upright edges of the diagram; the wall carries the force at a height it covers."""
    of = peg(0.0001, 0.2)
    loose, depth, radius, push = Loose(of), 0.008, of.width_m / 2, 5.0
    moment = height * depth / radius * side + np.sign(side)
    assert whitney.jams(depth, of.width_m, 0.2, side, moment) == pytest.approx(1.1)
    loose.lean(side, moment, depth)
    loose.press(side * push, push, moment * radius * push, seconds=0.1)
    before = loose.depth()
    loose.press(side * push, push, moment * radius * push, seconds=0.1)
    assert loose.depth() - before < 3e-6


@pytest.mark.parametrize(("friction", "depth"), [(0.3, 0.0012), (0.6, 0.002), (1.0, 0.003)])
def test_a_shallow_peg_wedges_and_stays(friction: float, depth: float) -> None:
    """Below depth = friction * diameter the two contacts can hold each other without any load."""
    of = peg(0.0002, friction)
    assert depth < 0.6 * friction * of.width_m
    moved, squeezed = _wedge(of, depth)
    assert squeezed > 5.0
    assert moved < 3e-6


@pytest.mark.parametrize(("friction", "depth"), [(0.3, 0.004), (0.6, 0.008), (1.0, 0.010)])
def test_a_deep_peg_does_not_wedge(friction: float, depth: float) -> None:
    of = peg(0.0002, friction)
    assert depth > 1.2 * friction * of.width_m
    moved, squeezed = _wedge(of, depth)
    assert squeezed < 5.0
    assert moved > 50e-6


def _wedge(of: PegHole, depth: float) -> tuple[float, float]:
    """Turned hard against both sides, let go, then pushed with 3 N: how far it went (m), and the
    contact forces (N) that were left before the push.
    """
    loose = Loose(of)
    loose.place(-of.clearance_m / 2, depth, of.clearance_m / depth)
    loose.press(0.0, 0.0, 0.3, seconds=0.1)
    loose.press(0.0, 0.0, 0.0, seconds=0.1)
    left, before = loose.normal_n(), loose.depth()
    loose.press(0.0, 3.0, 0.0, seconds=0.1)
    return loose.depth() - before, left
