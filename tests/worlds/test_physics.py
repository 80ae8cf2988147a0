"""N worlds in lockstep: none depends on the others, commands come late by what was asked, and a
world that diverges stops alone."""

import copy

import mujoco
import numpy as np
import pytest
from tests.worlds import kit

from simreal.worlds import so101
from simreal.worlds.physics import Physics
from simreal.worlds.placing import initial_qpos
from simreal.worlds.randomize import draw, profile
from simreal.worlds.settings import Settings
from simreal.worlds.so101_rig import SO101, ServoDrive

STEPS = 25


@pytest.fixture(scope="module")
def scenarios() -> list[Settings]:
    return [draw(kit.scene(), profile("full", SO101), 11, i)[1] for i in range(5)]


def play(chosen: list[Settings], members: list[int]) -> dict[int, np.ndarray]:
    """Run some of the worlds together; world -> its coordinates after every control step."""
    physics = kit.physics_at_home([chosen[i] for i in members])
    track = []
    for step in range(STEPS):
        physics.step(kit.wave(step, len(chosen))[members])
        track.append(physics.qpos())
    return {world: np.stack(track)[:, k] for k, world in enumerate(members)}


def test_a_world_is_the_same_in_any_batch(scenarios):
    whole = play(scenarios, [0, 1, 2, 3, 4])
    assert len({whole[i].tobytes() for i in range(5)}) == 5
    for members in ([0], [3, 1], [4, 3, 2, 1, 0], [2, 2]):
        for world, track in play(scenarios, members).items():
            assert np.array_equal(track, whole[world])


def test_reset_forgets(scenarios):
    fresh = kit.physics_at_home(scenarios)
    used = kit.physics_at_home(scenarios[::-1])
    for step in range(5):
        used.step(kit.wave(step, 5))
    used.reset(scenarios, fresh.qpos(), fresh.joint_rad())
    for step in range(STEPS):
        for physics in (fresh, used):
            physics.step(kit.wave(step, 5))
    assert np.array_equal(fresh.qpos(), used.qpos())


@pytest.mark.parametrize("substeps", [0, 1, 7, 19, 20, 21, 45])
def test_a_command_arrives_exactly_k_substeps_late(substeps):
    settings = kit.settings_with(action_latency=("set", substeps * 0.0025))
    physics = kit.physics_at_home([settings])
    model = copy.copy(physics.models[0])
    data = mujoco.MjData(model)
    data.qpos[:] = physics.qpos()[0]
    data.ctrl[:] = start = physics.joint_rad()[0]
    mujoco.mj_forward(model, data)
    commands = [kit.wave(step, 1)[0] for step in range(STEPS)]
    for step in range(STEPS):
        physics.step(commands[step][None])
        for tick in range(20 * step, 20 * (step + 1)):
            sent = (tick - substeps) // 20
            data.ctrl[:] = commands[sent] if sent >= 0 else start
            mujoco.mj_step(model, data)
        assert np.array_equal(physics.qpos()[0], data.qpos)


def test_worlds_of_one_batch_have_latencies_of_their_own():
    late = [kit.settings_with(action_latency=("set", s)) for s in (0.0, 0.03, 0.1)]
    together = play(late, [0, 1, 2])
    for world in range(3):
        assert np.array_equal(together[world], play(late, [world])[world])
    assert not np.array_equal(together[0], together[1])


def test_a_control_step_is_a_twentieth_of_a_second():
    physics = kit.physics_at_home([Settings(kit.scene())])
    assert physics.substeps == 20
    physics.step(kit.wave(0, 1))
    assert physics.data[0].time == pytest.approx(0.05)
    assert Physics(kit.scene().physics, 1, so101.JOINTS, rate_hz=10).substeps == 40


def test_the_arm_rests_where_it_is_told_to():
    """Within what friction holds: 0.196 Nm / 22.1 Nm/rad, and gravity on lift and elbow."""
    physics = kit.physics_at_home([Settings(kit.scene())])
    target = so101.HOME_RAD[None] + [[0.3, 0.1, -0.1, -0.2, 0.4, 0.2]]
    for _ in range(60):
        physics.step(target)
    assert np.abs(physics.joint_speed()).max() < 5e-3  # MuJoCo's dry friction creeps
    error = np.abs(physics.joint_rad() - target)[0]
    assert error[[0, 4, 5]].max() <= 0.196 / 22.1 + 1e-3
    assert error.max() < 0.08


@pytest.mark.parametrize("where", ["qpos", "qvel", "qfrc_applied"])
@pytest.mark.parametrize("value", [np.nan, 1e12])
def test_a_diverged_world_stops_and_the_others_do_not_notice(scenarios, where, value):
    calm = play(scenarios, [0, 1, 2])
    physics = kit.physics_at_home(scenarios[:3])
    track = []
    for step in range(STEPS):
        if step == 6:
            getattr(physics.data[1], where)[:] = value
        physics.step(kit.wave(step, 5)[:3])
        track.append(physics.qpos())
        assert physics.diverged.tolist() == [False, step >= 6, False]
    stopped = np.stack(track)[7:, 1]
    assert (stopped == stopped[0]).all()
    assert physics.warnings()[1]
    assert physics.warnings()[0] == physics.warnings()[2] == ""
    for world in (0, 2):
        assert np.array_equal(np.stack(track)[:, world], calm[world])
    assert np.isfinite(physics.joint_rad()[[0, 2]]).all()


def test_a_warning_is_neither_printed_nor_written_to_a_file(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    physics = kit.physics_at_home([Settings(kit.scene())])
    physics.data[0].qvel[:] = np.nan
    physics.step(kit.wave(0, 1))
    assert physics.warnings() == ["mjWARN_BADQVEL"]
    assert list(tmp_path.iterdir()) == []
    assert capfd.readouterr() == ("", "")


def test_a_reset_heals_a_diverged_world(scenarios):
    physics = kit.physics_at_home(scenarios[:2])
    physics.data[0].qvel[:] = np.nan
    physics.step(kit.wave(0, 2))
    assert physics.diverged.tolist() == [True, False]
    fresh = kit.physics_at_home(scenarios[:2])
    physics.reset(scenarios[:2], fresh.qpos(), fresh.joint_rad())
    assert not physics.diverged.any()
    assert physics.warnings() == ["", ""]
    for step in range(10):
        physics.step(kit.wave(step, 2))
        fresh.step(kit.wave(step, 2))
    assert np.array_equal(physics.qpos(), fresh.qpos())


class Recorder:
    """A servo that passes targets on and writes down what it was shown."""

    def __init__(self, every: int, friction: float) -> None:
        self.every, self.friction = every, friction
        self.calls: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

    def reset(self, seeds) -> None:
        self.calls.clear()

    def substep(self, target, qpos, qvel):
        self.calls.append((target.copy(), qpos.copy(), qvel.copy()))
        return target, np.full_like(target, self.friction)


@pytest.mark.parametrize("every", [1, 4])
def test_a_servo_stands_between_commands_and_motors(every):
    nominal = Settings(kit.scene())
    served, plain = (kit.physics_at_home([nominal, nominal]) for _ in range(2))
    servo = Recorder(every, so101.FRICTION_LOSS)
    for step in range(5):
        served.step(kit.wave(step, 2), ServoDrive(servo))
        plain.step(kit.wave(step, 2))
    assert np.array_equal(served.qpos(), plain.qpos())
    assert len(servo.calls) == 5 * 20 // every
    assert np.array_equal(servo.calls[-1][0], kit.wave(4, 2))
    stiff = kit.physics_at_home([nominal, nominal])
    for step in range(5):
        stiff.step(kit.wave(step, 2), ServoDrive(Recorder(every, 50.0)))
    moved, stuck = (np.abs(p.joint_rad() - so101.HOME_RAD).max() for p in (plain, stiff))
    assert stuck < 0.2 * moved


def test_a_servo_does_not_drive_a_diverged_world():
    nominal = Settings(kit.scene())
    physics = kit.physics_at_home([nominal, nominal])
    servo = Recorder(4, so101.FRICTION_LOSS)
    physics.data[0].qvel[:] = np.nan
    physics.step(kit.wave(0, 2), ServoDrive(servo))
    at_stop = physics.qpos()[0]
    physics.step(kit.wave(1, 2), ServoDrive(servo))
    assert physics.diverged.tolist() == [True, False]
    assert np.array_equal(physics.qpos()[0], at_stop)


def test_sensors_sites_and_poses_have_a_row_a_world(scenarios):
    physics = kit.physics_at_home(scenarios[:3])
    position, matrix = physics.body_poses()
    bodies = kit.scene().physics.nbody
    assert position.shape == (3, bodies, 3)
    assert matrix.shape == (3, bodies, 3, 3)
    assert matrix @ np.swapaxes(matrix, 2, 3) == pytest.approx(
        np.broadcast_to(np.eye(3), matrix.shape), abs=1e-9
    )
    assert physics.site(so101.TOOL_SITE).shape == (3, 3)
    assert physics.sensor("hand_table").shape == (3, 4)
    assert physics.joint_speed() == pytest.approx(np.zeros((3, 6)))
    model, data = physics.info(2)
    assert data is physics.data[2]
    assert model is physics.models[2]


def test_the_start_is_at_rest_on_the_table():
    """The object does not jump, sink or slide in the first half second, tilted table included."""
    chosen = [draw(kit.scene(), profile("dynamics", SO101), 2, i)[1] for i in range(10)]
    physics = kit.physics_at_home(chosen)
    hold = physics.joint_rad()
    row = int(kit.scene().physics.body("object").id)
    before = physics.body_poses()[0][:, row]
    for _ in range(10):
        physics.step(hold)
    moved = np.linalg.norm(physics.body_poses()[0][:, row] - before, axis=1)
    assert moved.max() < 0.002
    start = initial_qpos(
        kit.scene(), chosen[0], {"object_x_m": 0.21, "object_y_m": 0.03, "object_yaw_rad": 0.2}
    )
    assert np.array_equal(start[:6], so101.HOME_RAD)
