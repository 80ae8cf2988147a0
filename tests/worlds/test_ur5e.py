"""The arm: its impedance, its reach, its force/torque sensor, and arms that are refused."""

from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest
from tests.worlds.insertion import World

from simreal.core.errors import UsageError
from simreal.core.types import WRENCH_HZ, WRENCH_SAMPLES
from simreal.worlds import ur5e, wrench
from simreal.worlds.forms import add_robot_looks
from simreal.worlds.peghole import GRIPPER, PegHole

ABOVE = [0.0, 0.0, 0.05, 0.0, 0.0, 0.0]
CORNERS = ((0.0, 0.0), (0.05, 0.05), (-0.05, -0.05))


@pytest.fixture(scope="module")
def world() -> World:
    return World(PegHole())


@pytest.fixture(scope="module")
def smooth() -> World:
    """Without joint friction, whose dead zone hides the springs."""
    return World(PegHole(), joint_friction=False)


def settle(world: World, pose: list[float], steps: int = 40) -> np.ndarray:
    world.command(pose, steps)
    return world.tool()


@pytest.mark.parametrize("corner", CORNERS)
@pytest.mark.parametrize("channel", range(6))
def test_springs_have_their_stiffness(smooth: World, channel: int, corner) -> None:
    impedance = ur5e.Impedance()
    pose = [*corner, *ABOVE[2:]]
    smooth.start(pose)
    load = np.zeros(6)
    load[channel] = 5.0 if channel < 3 else 1.0
    for _ in range(40):
        smooth.push(GRIPPER, load[:3], np.array(smooth.data.site("tool").xpos), load[3:])
        smooth.command(pose)
    moved = (smooth.tool() - pose)[channel]
    smooth.data.xfrc_applied[:] = 0
    assert load[channel] / moved == pytest.approx(impedance.stiffness[channel], rel=0.05)


@pytest.mark.parametrize("channel", range(6))
def test_a_step_overshoots_by_less_than_a_fifth(world: World, channel: int) -> None:
    size = 0.005 if channel < 3 else np.deg2rad(5)
    pose = np.array(ABOVE)
    world.start(pose)
    pose[channel] += size
    path = []
    for _ in range(30):
        world.command(pose)
        path.append((world.tool() - ABOVE)[channel] / size)
    assert max(path) < 1.2
    assert path[-1] == pytest.approx(1.0, abs=0.15)
    assert np.argmax(np.array(path) > 0.63) * 0.05 < 0.4


def test_friction_leaves_a_dead_zone_under_a_fifth_of_a_millimetre(world: World) -> None:
    world.start(ABOVE)
    for offset in (0.003, -0.003):
        pose = [offset, *ABOVE[1:]]
        assert settle(world, pose)[0] == pytest.approx(offset, abs=0.0002)


def test_the_force_is_clipped(world: World) -> None:
    impedance = ur5e.Impedance()
    limit = np.multiply(impedance.stiffness, impedance.clip)
    world.start(ABOVE)
    world.data.ctrl[:] = world.in_base([0.2, -0.2, 0.2, 1.0, -1.0, 1.0])
    seen = np.zeros(6)
    for _ in range(300):
        mujoco.mj_step(world.model, world.data)
        seen = np.maximum(seen, np.abs(world.data.actuator_force))
    np.testing.assert_allclose(seen, limit, rtol=1e-6)


def test_the_tool_points_down_at_home() -> None:
    model = World(PegHole()).model
    data = mujoco.MjData(model)
    data.qpos[ur5e.joint_rows(model)[0]] = ur5e.ur5e().home_rad
    mujoco.mj_forward(model, data)
    np.testing.assert_allclose(ur5e.tool_pose(model, data)[3:], 0.0, atol=0.01)


@pytest.mark.parametrize(
    "pose",
    [
        (0.45, 0.0, 0.05, 0, 0, 0),
        (0.39, 0.07, 0.04, 0.09, -0.09, 0.3),
        (0.52, -0.08, 0.06, -0.15, 0.1, -0.4),
    ],
)
def test_the_start_pose_is_reached_and_always_by_the_same_joints(world: World, pose) -> None:
    data = mujoco.MjData(world.model)
    first = ur5e.start_joints(world.model, data, np.array(pose))
    mujoco.mj_forward(world.model, data)
    np.testing.assert_allclose(ur5e.tool_pose(world.model, data), pose, atol=2e-5)
    again = ur5e.start_joints(world.model, mujoco.MjData(world.model), np.array(pose))
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - ur5e.ur5e().home_rad).max() < 1.0


@pytest.mark.parametrize("place", [(1.5, 0.0, 0.05), (0.0, 0.0, 0.05), (0.45, 0.0, 1.5)])
def test_an_unreachable_hole_is_refused(world: World, place) -> None:
    with pytest.raises(UsageError, match=r"cannot bring its tool to .* mm .*; put the hole within"):
        ur5e.start_joints(world.model, mujoco.MjData(world.model), np.array([*place, 0, 0, 0]))


def test_a_known_load_reads_right_wherever_the_tool_points(smooth: World) -> None:
    """Force on the tool and torque about its tip, in the tool's frame, whatever the arm's pose."""
    load, torque = np.array([2.0, -3.0, 5.0]), np.array([0.1, 0.2, -0.05])
    for pose in (ABOVE, [0.03, -0.02, 0.05, 0.2, -0.15, 0.5]):
        smooth.start(pose)
        np.testing.assert_allclose(wrench.window(smooth.model, smooth.data), 0.0, atol=1e-9)
        for _ in range(60):
            smooth.push("object", load, np.array(smooth.data.site("tool").xpos), torque)
            smooth.command(pose)
        smooth.data.xfrc_applied[:] = 0
        turn = smooth.data.site("tool").xmat.reshape(3, 3)
        wanted = np.concatenate([turn.T @ load, turn.T @ torque])
        got = wrench.window(smooth.model, smooth.data)
        np.testing.assert_allclose(got[-1], wanted, atol=0.06)
        np.testing.assert_allclose(got[:, :3], np.tile(wanted[:3], (WRENCH_SAMPLES, 1)), atol=0.06)


def test_the_window_holds_the_samples_of_one_control_step_oldest_first(world: World) -> None:
    world.start(ABOVE)
    world.command(ABOVE)
    stamps = []
    for step in range(world.substeps):
        world.push("object", [0, 0, float(step)], np.array(world.data.site("tool").xpos))
        mujoco.mj_step(world.model, world.data)
        sensor = -np.array(world.data.sensor(ur5e.FORCE).data)
        stamps.append(sensor[2])
    world.data.xfrc_applied[:] = 0
    got = wrench.window(world.model, world.data)
    assert got.shape == (WRENCH_SAMPLES, 6)
    every = round(1 / (WRENCH_HZ * world.model.opt.timestep))
    steps = np.arange(len(stamps))
    chosen = [np.flatnonzero(np.isclose(stamps, value, atol=1e-9)) for value in got[:, 2]]
    assert all(len(c) for c in chosen)
    order = steps[[c[0] for c in chosen]]
    np.testing.assert_array_equal(np.diff(order), every)


def test_physics_has_no_meshes_and_few_degrees_of_freedom(world: World) -> None:
    assert world.model.nmesh == 0
    assert world.model.nv == 18
    touching = [
        world.model.geom(g).name
        for g in range(world.model.ngeom)
        if world.model.geom_contype[g] or world.model.geom_conaffinity[g]
    ]
    assert "fingers" in touching
    assert not [name for name in touching if not name]


def test_looks_are_meshes_or_boxes() -> None:
    counts = {}
    for form in ("mesh", "primitive"):
        spec = ur5e.arm_spec()
        add_robot_looks(spec, form, most=2)
        counts[form] = spec.compile()
    assert counts["mesh"].nmesh == 28
    assert counts["primitive"].nmesh == 0
    boxes = (counts["primitive"].geom_type == mujoco.mjtGeom.mjGEOM_BOX) & (
        counts["primitive"].geom_group == 2
    )
    assert 28 <= boxes.sum() <= 70


OTHER = """<mujoco><worldbody><body name="a"><joint name="j1" type="slide" axis="1 0 0"/>
<geom size=".1"/><body name="b"><joint name="j2" type="slide" axis="0 1 0"/><geom size=".1"/>
<body name="c"><joint name="j3" type="slide" axis="0 0 1"/><geom size=".1"/>
<body name="d"><joint name="j4" axis="1 0 0"/><geom size=".1"/>
<body name="e"><joint name="j5" axis="0 1 0"/><geom size=".1"/>
<body name="f"><joint name="j6" axis="0 0 1"/><geom size=".1"/>
<site name="flange" quat="0 1 0 0"/><site name="sensor" pos="0 0 0.02"/>
</body></body></body></body></body><site name="elsewhere"/></body></worldbody></mujoco>"""


@pytest.fixture
def gantry(tmp_path: Path) -> ur5e.Arm:
    """Another arm with a flange: three slides and three hinges."""
    path = tmp_path / "gantry.xml"
    path.write_text(OTHER)
    return ur5e.Arm(
        name="gantry",
        path=path,
        flange="flange",
        wrench_site="sensor",
        joints=tuple(f"j{i}" for i in range(1, 7)),
        home_rad=(0.4, 0.0, 0.3, 0.0, 0.0, 0.0),
        friction_nm=(0.0,) * 6,
    )


def test_any_arm_with_a_flange_goes_through_the_same_code(gantry: ur5e.Arm) -> None:
    model = ur5e.arm_spec(gantry).compile()
    data = mujoco.MjData(model)
    ur5e.start_joints(model, data, np.array([0.45, 0.01, 0.05, 0.02, 0.01, 0.1]), gantry)
    mujoco.mj_forward(model, data)
    np.testing.assert_allclose(
        ur5e.tool_pose(model, data), [0.45, 0.01, 0.05, 0.02, 0.01, 0.1], atol=2e-5
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"flange": "hand"}, r"gantry.xml has no site 'hand' .*Arm\.flange.*: elsewhere, flange"),
        ({"wrench_site": "ft"}, r"no force/torque site 'ft' on the flange's body; name a site"),
        ({"wrench_site": "elsewhere"}, r"no force/torque site 'elsewhere' on the flange's body"),
        ({"joints": ("j1", "j2", "wrist", "j4", "j5", "j6")}, r"not there: wrist\. Its joints: j1"),
        ({"joints": ("j1", "j2")}, r"needs six joints or more"),
    ],
)
def test_an_arm_without_what_is_needed_is_refused(gantry: ur5e.Arm, change, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        ur5e.arm_spec(replace(gantry, **change))
