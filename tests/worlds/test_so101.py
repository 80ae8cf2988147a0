"""The arm's units, and how late it follows a step.

Definition of the lag of a step: the time from the command to the moment the joint has made 63 % of
the commanded change (for a first-order system, its time constant). The real arm's logs give 120 ms
on pan and 80-100 ms on the wrist by the same definition.
"""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from tests.worlds import kit

from simreal.worlds import so101
from simreal.worlds.names import OBJECT
from simreal.worlds.settings import Settings

LOGS = Path(__file__).parents[3] / "shared" / "real" / "so101_sage"
PAN, FLEX, ROLL = (so101.JOINTS.index(j) for j in ("shoulder_pan", "wrist_flex", "wrist_roll"))
STEP_RAD = 0.3

angles = arrays.arrays(
    np.float64, st.tuples(st.integers(1, 4), st.just(6)), elements=st.floats(-3.2, 3.2)
)


@given(angles)
def test_units_survive_a_round_trip(joint_rad):
    again = so101.to_radians(so101.to_lerobot(joint_rad))
    assert again == pytest.approx(joint_rad, abs=2e-6)  # float32 degrees


@given(angles)
def test_lerobot_units_survive_a_round_trip(joint_rad):
    lerobot = so101.to_lerobot(joint_rad)
    assert so101.to_lerobot(so101.to_radians(lerobot)) == pytest.approx(lerobot, abs=2e-4)
    assert lerobot.dtype == np.float32


@given(angles)
def test_conversion_changes_neither_its_input_nor_the_other_rows(joint_rad):
    before = joint_rad.copy()
    lerobot = so101.to_lerobot(joint_rad)
    so101.to_radians(lerobot)
    assert np.array_equal(joint_rad, before)
    assert np.array_equal(so101.to_lerobot(joint_rad[:1]), lerobot[:1])
    assert np.array_equal(so101.to_lerobot(joint_rad[0]), lerobot[0])


def test_degrees_and_the_gripper_scale():
    closed, wide = so101.GRIPPER_RANGE_RAD
    arm = [0.0, np.pi / 2, -np.pi / 2, np.pi / 4, -np.pi]
    shut, open_ = (so101.to_lerobot(np.array([*arm, g])) for g in (closed, wide))
    assert shut == pytest.approx([0, 90, -90, 45, -180, 0], abs=1e-4)
    assert open_ == pytest.approx([0, 90, -90, 45, -180, 100], abs=1e-4)
    assert so101.to_radians(np.zeros(6))[so101.GRIPPER] == pytest.approx(closed)


def test_the_model_agrees_with_the_constants():
    model = kit.scene().physics
    ranges = np.array([model.joint(j).range for j in so101.JOINTS])
    assert ranges[so101.GRIPPER] == pytest.approx(so101.GRIPPER_RANGE_RAD)
    assert (ranges[:, 0] < so101.HOME_RAD).all()
    assert (ranges[:, 1] > so101.HOME_RAD).all()
    for row, joint in enumerate(so101.JOINTS):
        dof = int(model.joint(joint).dofadr[0])
        assert model.dof_damping[dof] == so101.DAMPING
        assert model.dof_frictionloss[dof] == so101.FRICTION_LOSS
        assert model.dof_armature[dof] == so101.ARMATURE
        assert model.actuator(row).name == joint
        assert model.actuator_gainprm[row, 0] == so101.KP
        assert model.actuator_biasprm[row, 1] == -so101.KP
    assert model.opt.timestep == 0.0025


def test_the_hand_points_down_at_home_above_the_workspace():
    physics = kit.physics_at_home([Settings(kit.scene())])
    _, data = physics.info(0)
    site = kit.scene().physics.site(so101.TOOL_SITE).id
    approach = data.site_xmat[site].reshape(3, 3)[:, 2]
    assert approach[2] < -0.8
    assert 0.05 < data.site_xpos[site][2] < 0.3


def test_only_the_pads_and_the_object_meet_in_a_grasp():
    """Other parts of the hand may touch the table, and nothing else."""
    model = kit.scene().physics
    graspers = {so101.FIXED_PAD, so101.MOVING_PAD}
    thing = model.geom(OBJECT)
    for row in range(model.ngeom):
        geom = model.geom(row)
        meets = bool(geom.contype & thing.conaffinity or thing.contype & geom.conaffinity)
        assert meets == (geom.name in graspers | {OBJECT, "table_plane"}), geom.name


def step_lag_s(joint: int, change_rad: float) -> float:
    """Time to 63 % of a commanded step from rest at home, to a physics step of 2.5 ms."""
    physics = kit.physics_at_home([Settings(kit.scene())])
    physics.substeps = 1
    target = physics.joint_rad()
    for _ in range(400):
        physics.step(target)
    start = physics.joint_rad()[0, joint]
    target[0, joint] = start + change_rad
    for tick in range(1, 400):
        physics.step(target)
        if (physics.joint_rad()[0, joint] - start) / change_rad >= 0.632:
            return tick * 0.0025
    raise AssertionError("the joint never got there")


@pytest.mark.parametrize("joint", [PAN, FLEX, ROLL])
@pytest.mark.parametrize("change", [STEP_RAD, -STEP_RAD])
def test_a_step_lags_as_a_real_servo_does(joint, change):
    lag = step_lag_s(joint, change)
    print(f"{so101.JOINTS[joint]} {change:+.1f} rad: {1000 * lag:.1f} ms")
    assert 0.080 <= lag <= 0.160


def logged_lags_s(joint: int) -> list[float]:
    """63 % times of the real arm's steps of 0.14-0.35 rad in its log `static_holding`."""
    log = np.load(next(LOGS.glob("*.npz")))
    command, q = (log[f"static_holding/{name}"][:, joint] for name in ("cmd", "q"))
    sent, read = log["static_holding/t_cmd"], log["static_holding/t_state"]
    lags = []
    for row in np.flatnonzero(np.abs(np.diff(command)) > 0.14):
        change = command[row + 1] - command[row]
        share = (q[row + 1 : row + 50] - q[row]) / change
        if share.max() > 0.632 and abs(change) < 0.35:
            lags.append(float(read[row + 1 + np.argmax(share > 0.632)] - sent[row + 1]))
    return lags


@pytest.mark.skipif(not LOGS.is_dir(), reason="the real arm's logs are not here")
@pytest.mark.parametrize("joint", [PAN, ROLL])
def test_a_step_lags_as_the_logged_arm_did(joint):
    """Within 30 % of the median step in the log, which is sampled every 20 ms."""
    real = logged_lags_s(joint)
    assert len(real) >= 2
    ours = np.mean([step_lag_s(joint, change) for change in (0.25, -0.25)])
    print(f"{so101.JOINTS[joint]}: ours {1000 * ours:.0f} ms, logged {np.round(real, 3)} s")
    assert ours == pytest.approx(np.median(real), rel=0.3)
