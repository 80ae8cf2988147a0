"""Randomization terms of an insertion write what they declare, and mean what they say."""

import numpy as np
import pytest
from tests.worlds import kit

from simreal.core.errors import UsageError
from simreal.worlds import peghole
from simreal.worlds.randomize import Profile, draw, profile
from simreal.worlds.settings import Settings
from simreal.worlds.simulated import SimConfig, draw_scenario, scene_of
from simreal.worlds.tasks import task
from simreal.worlds.terms_peg import DYNAMICS_PEG, TORQUE_ARM_M
from simreal.worlds.variation import OPERATIONS, Axis, Each, Uniform

ROBOT = task("insert").robot
ADDED = {
    "clearance": 2e-5,
    "chamfer": 1e-4,
    "hole_position": 0.002,
    "hole_tilt": 0.01,
    "tool_offset": 1.0,
    "action_latency": 0.02,
    "observation_delay": 1,
    "encoder_noise": 0.02,
    "wrench_noise": 0.5,
    "wrench_bias": 1.0,
    "wrench_drift": 0.1,
    "wrench_cutoff": 50.0,
}


def with_term(name: str, operation: str, value: object) -> Settings:
    settings = Settings(scene_of("insert", "primitive", None))
    term = ROBOT.terms[name]
    numbers = np.broadcast_to(np.asarray(value, float), (term.size,)).copy()
    term.apply(settings, OPERATIONS[operation], numbers)
    return settings


@pytest.mark.parametrize("term", DYNAMICS_PEG, ids=lambda t: t.name)
def test_a_term_changes_exactly_the_fields_it_declares(term):
    before = kit.every_field(Settings(scene_of("insert", "primitive", None)))
    added = ADDED.get(term.name)
    how = ("scale", 0.8) if added is None else ("add", added)
    after = kit.every_field(with_term(term.name, *how))
    changed = kit.changed(before, after)
    assert changed <= set(term.writes)
    assert changed
    assert {f for f in term.writes if f.startswith("physics.")} <= ROBOT.writes


def test_stiffness_moves_gain_bias_and_clip_together_and_rotation_apart():
    settings = with_term("impedance_stiffness", "scale", [1.5, 0.75])
    nominal = settings.nominal
    ratio = np.repeat([1.5, 0.75], 3)
    for field, column in (("actuator_gainprm", 0), ("actuator_biasprm", 1)):
        new = settings.value(f"physics.{field}")[:6, column]
        assert new == pytest.approx(ratio * nominal(f"physics.{field}")[:6, column])
    limits = settings.value("physics.actuator_forcerange")[:6]
    assert limits == pytest.approx(ratio[:, None] * nominal("physics.actuator_forcerange")[:6])
    damping = settings.value("physics.actuator_biasprm")[:, 2]
    assert damping == pytest.approx(nominal("physics.actuator_biasprm")[:, 2])


def test_friction_acts_on_peg_and_hole_alike():
    settings = with_term("hole_friction", "set", 0.33)
    model = settings.scene.physics
    friction = settings.value("physics.geom_friction")[:, 0]
    for name in ("object", "wall_0", "hole_floor", "plate_0"):
        assert friction[model.geom(name).id] == pytest.approx(0.33)
    assert friction[model.geom("table_plane").id] != pytest.approx(0.33)


def test_grip_scales_force_and_torque_of_the_slip():
    settings = with_term("grip", "scale", 0.5)
    model, loss = settings.scene.physics, settings.value("physics.dof_frictionloss")
    for joint in (peghole.SLIP_SLIDE, peghole.SLIP_TURN):
        row = int(model.joint(joint).dofadr[0])
        assert loss[row] == pytest.approx(0.5 * settings.nominal("physics.dof_frictionloss")[row])


def test_noise_and_bias_of_torque_follow_those_of_force():
    noise = with_term("wrench_noise", "set", 0.9).value("control.wrench_noise")
    assert noise == pytest.approx([0.9, 0.9 * TORQUE_ARM_M])
    bias = with_term("wrench_bias", "add", [1, 1, 1, 1, 1, 1]).value("control.wrench_bias")
    assert bias == pytest.approx([1, 1, 1, *[TORQUE_ARM_M] * 3])


def test_full_randomizes_what_the_twin_s_world_shares_and_leaves_the_rest():
    used = {axis.term for axis in profile("full", ROBOT).axes}
    left = set(ROBOT.terms) - used
    # Micro-chamfer and tilt are what simulators leave out; a textured peg would lose its colour.
    assert left == {"chamfer", "hole_tilt", "object_texture"}


def test_full_gives_solvable_draws_within_reach():
    scene = scene_of("insert", "primitive", None)
    chosen = profile("full", ROBOT)
    for index in range(50):
        scenario, settings = draw(scene, chosen, 1, index)
        assert scenario.rejected == 0
        assert -2e-5 <= float(settings.value("control.clearance_m")[0]) <= 2e-5


def test_axes_of_another_robot_are_refused_by_name():
    lift_only = Profile("mine", (Axis("object_mass", "scale", Uniform(0.5, 1.5)),))
    with pytest.raises(UsageError, match=r"axis of the task insert 'object_mass'"):
        SimConfig(task="insert", profile=lift_only)
    peg_only = Profile("mine", (Axis("grip", "scale", Uniform(0.5, 1.5)),))
    with pytest.raises(UsageError, match=r"axis of the task lift 'grip'"):
        SimConfig(task="lift", profile=peg_only)


@pytest.mark.parametrize(
    ("name", "operation", "value", "says"),
    [
        ("grasp_stiffness", "scale", -1.0, "jnt_stiffness below zero"),
        ("fixture_stiffness", "scale", -0.5, "jnt_stiffness below zero"),
        ("target_smoothing", "scale", -2.0, "actuator_dynprm below zero"),
        ("wrench_noise", "set", -1.0, "wrench_noise below zero"),
        ("wrench_cutoff", "set", -5.0, "wrench_cutoff_hz below zero"),
        ("wrench_noise", "set", 1e300, r"wrench_noise of 1e\+300 N or Nm, limit 1e\+06"),
        ("wrench_bias", "add", -1e39, r"wrench_bias of 1e\+39"),
        ("wrench_drift", "add", 2e6, r"wrench_drift of 2e\+06"),
        ("hole_position", "add", -0.1, "hole moved by 141 mm, limit 20 mm"),
        ("hole_tilt", "add", 1.0, "hole tilted by 81 degrees, limit 30 degrees"),
    ],
)
def test_what_no_world_can_have_is_refused_with_a_sentence(name, operation, value, says):
    chosen = Profile("mine", (Axis(name, operation, Uniform(value, value)),))
    with pytest.raises(UsageError, match=rf"Profile 'mine': no solvable draw.*{says}"):
        draw_scenario(SimConfig("insert", profile=chosen), 0)


def test_a_hole_under_the_table_is_refused():
    sunk = Each((Uniform(0, 0), Uniform(0, 0), Uniform(-0.05, -0.05)))
    chosen = Profile("mine", (Axis("hole_position", "add", sunk),))
    with pytest.raises(UsageError, match="hole sunk by 50 mm, limit 20 mm"):
        draw_scenario(SimConfig("insert", profile=chosen), 0)
