"""Peg and hole: what is refused, that clearances hold, and that each quantity does what it says."""

from dataclasses import replace

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.worlds.insertion import World, arm_model, push_aside, tilt

from simreal.core.errors import UsageError
from simreal.worlds import pegfields, peghole, wrench
from simreal.worlds.mouth import Contact
from simreal.worlds.names import OBJECT
from simreal.worlds.peghole import HOLE, Fixture, Grasp, PegHole

SHAPES = ("round", "square")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"shape": "rund"}, r"Unknown shape of a peg 'rund'; allowed: round, square\. Did you"),
        (
            {"clearance_m": 0.00003},
            r"clearance of 0\.03 mm is under what the contact solver .* 0\.05",
        ),
        (
            {"clearance_m": 0.0},
            r"peg \(8 mm\) is not smaller than the hole \(8 mm\); make the hole",
        ),
        ({"clearance_m": -0.001}, r"not smaller than the hole \(7 mm\).* wider .* by 1\.05 mm"),
        ({"clearance_m": float("nan")}, r"is not smaller than the hole"),
        ({"clearance_m": 0.2}, r"clearance of 200 mm is more than half of the peg's width"),
        ({"chamfer_m": 0.01}, r"chamfer of 10 mm .* choose 0 to 2 mm"),
        ({"depth_m": 0.05}, r"hole 50 mm deep .* sticks out 40 mm; choose 2 to 30 mm"),
    ],
)
def test_what_cannot_be_simulated_is_refused(wrong, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        PegHole(**wrong)


def test_a_chamfer_too_wide_for_the_block_is_refused() -> None:
    peg = PegHole()
    model = arm_model(peg)
    into = pegfields.of(model, pegfields.MOUTH_FIELDS)
    with pytest.raises(UsageError, match=r"chamfer of 5 mm does not fit .* choose 0 to 3.1 mm, or"):
        pegfields.write_mouth(into, model, peg, 0.0002, 0.005)
    with pytest.raises(UsageError, match=r"under what the contact solver resolves"):
        pegfields.write_mouth(into, model, peg, 0.00001)
    with pytest.raises(UsageError, match=r"gives way only 1 um .* choose 4 um or more"):
        pegfields.write_contact(pegfields.of(model, pegfields.CONTACT_FIELDS), model, 1e-6)


@pytest.mark.parametrize("shape", SHAPES)
@settings(max_examples=15, deadline=None)
@given(
    clearance=st.sampled_from([0.0005, 0.0002, 0.0001]),
    chamfer=st.sampled_from([0.0, 0.0001, 0.0005]),
)
def test_a_rewritten_mouth_is_the_one_that_would_be_built(shape, clearance, chamfer) -> None:
    """Faces, heights and bounds are those that the compiler makes of the same sizes; the boxes
    behind the faces may be thicker.
    """
    start = PegHole(shape=shape, clearance_m=0.0003, chamfer_m=0.0005)
    model = arm_model(start)
    into = pegfields.of(model, pegfields.MOUTH_FIELDS)
    pegfields.write_mouth(into, model, start, clearance, chamfer)
    wanted = arm_model(replace(start, clearance_m=clearance, chamfer_m=chamfer))
    for name in ("lip_0", "wall_3", "bevel_2", "plate_1", "hole_mouth"):
        here, there = model.geom(name), wanted.geom(name)
        np.testing.assert_allclose(face(model, name), face(wanted, name), atol=1e-12)
        np.testing.assert_allclose(here.size[2], there.size[2])
    lip = model.geom("lip_0")
    assert lip.pos[0] - lip.size[0] == pytest.approx((0.008 + clearance) / 2 + chamfer, abs=1e-12)
    for row in range(model.ngeom):
        if model.geom_type[row] == mujoco.mjtGeom.mjGEOM_BOX and "bevel" in model.geom(row).name:
            assert model.geom_rbound[row] == pytest.approx(np.linalg.norm(model.geom_size[row]))
    _check_tree(model)


def face(model: mujoco.MjModel, name: str) -> np.ndarray:
    """Middle of a box's face towards the hole (of the drawn mouth: its middle), hole's frame."""
    geom, turn = model.geom(name), np.empty(9)
    mujoco.mju_quat2Mat(turn, geom.quat)
    behind = 0.0 if name == "hole_mouth" else geom.size[0]
    return geom.pos - behind * turn.reshape(3, 3)[:, 0]


def _check_tree(model: mujoco.MjModel) -> None:
    """Each geom of the hole lies within its leaf of the tree, each node within its parent."""
    body = model.body(HOLE).id
    first, count = int(model.body_bvhadr[body]), int(model.body_bvhnum[body])
    for row in range(first, first + count):
        centre, half = model.bvh_aabb[row, :3], model.bvh_aabb[row, 3:]
        geom = int(model.bvh_nodeid[row])
        if geom >= 0:
            turn = np.empty(9)
            mujoco.mju_quat2Mat(turn, model.geom_quat[geom])
            reach = np.abs(turn.reshape(3, 3)) @ model.geom_aabb[geom, 3:]
            assert np.all(np.abs(model.geom_pos[geom] - centre) + reach <= half + 1e-12)
        for child in model.bvh_child[row]:
            if child >= 0:
                inner = model.bvh_aabb[first + child]
                assert np.all(np.abs(inner[:3] - centre) + inner[3:] <= half + 1e-12)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("clearance", [0.0005, 0.0002, 0.0001])
def test_twenty_newtons_press_less_than_a_tenth_of_the_clearance(shape, clearance) -> None:
    for direction in (0.0, 11.25, 37.0) if shape == "round" else (0.0, 90.0):
        world = World(PegHole(shape=shape, clearance_m=clearance))
        assert 0.0 < push_aside(world, direction) < 0.1 * clearance
        assert world.warnings() == 0


def test_the_stretch_clearance_holds_at_its_limit() -> None:
    """0.05 mm: at 20 N contact gives way about a tenth of it, no more than 5.5 um."""
    assert 0.0 < push_aside(World(PegHole(clearance_m=0.00005)), 11.25) < 5.5e-6


@pytest.mark.parametrize("shape", SHAPES)
def test_a_peg_on_target_seats(shape) -> None:
    """Straight in, at every clearance, through the mouth and with a chamfer."""
    peg = PegHole(shape=shape, chamfer_m=0.0)
    world = World(peg, joint_friction=False)
    into = pegfields.of(world.model, pegfields.MOUTH_FIELDS)
    for clearance, chamfer in ((0.0005, 0.0), (0.0001, 0.0), (0.0002, 0.0003)):
        pegfields.write_mouth(into, world.model, peg, clearance, chamfer)
        world.start([0, 0, 0.003, 0, 0, 0])
        for k in range(60):
            world.command([0, 0, max(0.003 - 0.0006 * k, -0.022), 0, 0, 0])
        assert world.tip()[2] == pytest.approx(-peg.depth_m, abs=0.0002)
        assert tilt(world.data) < 1.2 * clearance / peg.depth_m
        assert np.hypot(*world.tip()[:2]) < 0.6 * clearance
        assert 1.0 < world.contact_n()[2] < 5.0
        assert world.warnings() == 0


def test_a_chamfer_takes_a_peg_that_a_sharp_mouth_stops() -> None:
    peg = PegHole(chamfer_m=0.0005)
    world = World(peg)
    into = pegfields.of(world.model, pegfields.MOUTH_FIELDS)
    reached = {}
    for chamfer in (0.0, 0.0005):
        pegfields.write_mouth(into, world.model, peg, 0.0002, chamfer)
        world.start([0.0004, 0, 0.003, 0, 0, 0])
        for k in range(50):
            world.command([0.0004, 0, max(0.003 - 0.0006 * k, -0.022), 0, 0, 0])
        reached[chamfer] = -world.tip()[2]
    assert reached[0.0] < 0.001
    assert reached[0.0005] > 0.019


def test_a_flat_peg_rests_on_several_points_and_its_moment_tells_where_the_hole_is() -> None:
    world = World(PegHole())
    seen = {}
    for x in (0.020, 0.0035, -0.0035):
        world.start([x, 0, 0.001, 0, 0, 0])
        world.command([x, 0, -0.003, 0, 0, 0], 30)
        seen[x] = wrench.window(world.model, world.data)[:, 4].mean()
        assert world.data.ncon >= 2
    about = {x: seen[x] - seen[0.020] for x in (0.0035, -0.0035)}
    assert about[0.0035] < -0.002
    assert about[-0.0035] > 0.002


def test_the_peg_slips_at_the_grip_s_limit_and_not_before() -> None:
    world = World(PegHole(grasp=Grasp(slip_n=8.0)))
    world.start([0, 0, 0.03, 0, 0, 0])
    for force, moves in ((6.0, False), (12.0, True)):
        before = float(world.data.joint(peghole.SLIP_SLIDE).qpos[0])
        for _ in range(6):
            world.push(OBJECT, [0, 0, force], np.array(world.data.body(OBJECT).xpos))
            world.command([0, 0, 0.03, 0, 0, 0])
        world.data.xfrc_applied[:] = 0
        moved = float(world.data.joint(peghole.SLIP_SLIDE).qpos[0]) - before
        assert (moved > 0.001) if moves else (abs(moved) < 2e-5)


def test_the_grasp_has_its_stiffness() -> None:
    world = World(PegHole())
    world.start([0, 0, 0.03, 0, 0, 0])
    rows = [int(world.model.joint(name).qposadr[0]) for name in peghole.GIVE]
    lever = peghole.GRIP_M
    for _ in range(20):
        world.push(OBJECT, [4.0, 0, 0], np.array(world.data.body(OBJECT).xpos))
        world.command([0, 0, 0.03, 0, 0, 0])
    gave = world.data.qpos[rows]
    assert gave[0] == pytest.approx(4.0 / 8000, rel=0.05)
    assert gave[4] == pytest.approx(-4.0 * lever / 20, rel=0.05)


def test_a_grasp_offset_moves_and_tilts_the_peg_as_asked() -> None:
    world = World(PegHole())
    world.start([0, 0, 0.03, 0, 0, 0], (np.array([0.002, 0.0, 0.003]), (0.0, 0.08)))
    lever = peghole.GRIP_M
    np.testing.assert_allclose(
        world.tip() - [0, 0, 0.03],
        [0.002 - lever * np.sin(0.08), 0.0, 0.003 + lever * (1 - np.cos(0.08))],
        atol=1e-5,
    )
    assert tilt(world.data) == pytest.approx(0.08, abs=1e-5)


def test_the_hole_stands_where_it_is_put() -> None:
    world = World(PegHole())
    into = pegfields.of(world.model, pegfields.POSE_FIELDS)
    place = np.array([0.41, 0.03, 0.02])
    pegfields.write_hole_pose(into, world.model, place, 0.2, (0.01, -0.02))
    mujoco.mj_forward(world.model, world.data)
    hole = world.data.body(HOLE)
    np.testing.assert_allclose(hole.xpos, place)
    axis = hole.xmat.reshape(3, 3)[:, 2]
    np.testing.assert_allclose(axis, [-0.02, -0.01, 1], atol=1e-3)


def test_each_writer_changes_only_its_rows() -> None:
    peg = PegHole()
    model, plain = arm_model(peg), arm_model(peg)
    pegfields.write_friction(pegfields.of(model, pegfields.FRICTION_FIELDS), model, 0.35)
    pegfields.write_contact(pegfields.of(model, pegfields.CONTACT_FIELDS), model, 8e-6)
    springs = pegfields.of(model, pegfields.SPRING_FIELDS)
    pegfields.scale_grasp(springs, model, 0.5)
    pegfields.scale_fixture(springs, model, 2.0)
    pegfields.write_slip(pegfields.of(model, pegfields.SLIP_FIELDS), model, 20.0, 0.4)
    rows = pegfields.contact_geoms(model)
    assert model.geom(rows[0]).name == OBJECT
    assert np.all(model.geom_friction[rows, 0] == 0.35)
    assert np.all(model.geom_solimp[rows, 2] == 8e-6)
    others = np.setdiff1d(np.arange(model.ngeom), rows)
    np.testing.assert_array_equal(model.geom_friction[others], plain.geom_friction[others])
    give = [model.joint(name).id for name in peghole.GIVE]
    feet = [model.joint(name).id for name in peghole.FIXTURE]
    np.testing.assert_allclose(model.jnt_stiffness[give], 0.5 * plain.jnt_stiffness[give])
    np.testing.assert_allclose(model.jnt_stiffness[feet], 2.0 * plain.jnt_stiffness[feet])
    slips = [int(model.joint(n).dofadr[0]) for n in (peghole.SLIP_SLIDE, peghole.SLIP_TURN)]
    np.testing.assert_allclose(model.dof_frictionloss[slips], [20.0, 0.4])


def test_defaults_are_the_ones_the_docs_name() -> None:
    assert Contact().timestep_s == 0.001
    assert Contact().resolves_m == 0.00005
    assert Grasp().stiffness == (8000.0, 20.0)
    assert Fixture().stiffness == (100_000.0, 1000.0)
