import dataclasses

import numpy as np
import pytest
from tests.contract.target_kit import check_target
from tests.robots.fake_arm import FILE, TASK, FakeArm, FakeAsker, FakeTime, target_of

from simreal.core.errors import BadDataError, InterruptedRunError, UsageError
from simreal.core.loop import run_episodes
from simreal.core.types import Condition
from simreal.robots.arm import SO101_REST, fitted
from simreal.robots.asking import Verdict
from simreal.robots.lerobot_robot import RobotTarget
from simreal.robots.robotfile import RobotFile
from simreal.robots.safety import SO101_LIMITS, SafeTarget
from simreal.worlds import so101

CONDITION = Condition(3, "nominal", {"object_x_m": 0.2}, seed=1)
REST = np.array(list(SO101_REST.values()), dtype=np.float32)


class Still:
    """A policy that asks for the same pose all the time; slow: seconds it thinks."""

    def __init__(self, time=None, slow=0.0):
        self.time, self.slow = time, slow

    def reset(self, n):
        pass

    def looks(self):
        return True

    def act(self, observation):
        if self.slow:
            self.time.now_s += self.slow
        return REST[None] + np.float32(1)


def test_the_robot_keeps_the_contract():
    check_target(target_of, [CONDITION])
    check_target(lambda: SafeTarget(target_of()), [CONDITION], refusal="holds")


def test_it_speaks_of_joints_in_the_order_and_units_of_the_so101():
    arm = FakeArm()
    target = target_of(arm)
    assert target.spec.joint_names == tuple(SO101_LIMITS) == so101.JOINTS
    assert (target.spec.kind, target.spec.batch, target.spec.rate_hz) == ("robot", 1, 20.0)
    target.reset([CONDITION])
    arm.half = 1.0
    target.act(np.arange(6, dtype=np.float32)[None])
    assert arm.commands[-1] == {f"{name}.pos": float(i) for i, name in enumerate(so101.JOINTS)}
    assert np.array_equal(target.observe(images=False).joint_pos, [np.arange(6)])


def test_the_rest_pose_is_where_simulated_episodes_start():
    assert np.allclose(REST, so101.to_lerobot(so101.HOME_RAD), atol=0.1)
    arm = FakeArm()
    target = target_of(arm)
    target.reset([CONDITION])
    assert np.abs(target.observe(images=False).joint_pos - REST).max() < 10


def test_it_goes_to_rest_slowly_and_only_then_asks_for_the_object():
    arm, asker = FakeArm(), FakeAsker()
    target = target_of(arm, asker)
    pose = {"shoulder_pan": 80.0, "elbow_flex": -10.0}
    target = target_of(arm, asker, file=dataclasses.replace(FILE, rest=pose, speed_deg_s=20.0))
    target.reset([CONDITION])
    path = np.array([[c[f"{name}.pos"] for name in so101.JOINTS] for c in arm.commands])
    steps = np.abs(np.diff(path, axis=0, prepend=20.0)).max(axis=0)
    assert steps.max() <= 20.0 / 20 + 1e-5
    assert path[-1][0] == 80.0
    assert path[-1][2] == -10.0
    assert path[-1][1] == pytest.approx(SO101_REST["shoulder_lift"])
    assert asker.placed == [3]


def test_a_blocked_arm_is_not_forced():
    arm = FakeArm()
    arm.half = 0.0
    asker = FakeAsker()
    with pytest.raises(InterruptedRunError, match="did not reach its rest pose: shoulder_lift is"):
        target_of(arm, asker).reset([CONDITION])
    assert not asker.placed


def test_the_outcome_is_asked_once_when_time_is_up():
    asker = FakeAsker(Verdict(False, "dropped"))
    target = target_of(asker=asker)
    outcome = run_episodes(target, Still(), [CONDITION], TASK.horizon)
    assert asker.asked == 1
    assert outcome.failure == ("dropped",)
    assert outcome.done.all()
    assert not outcome.success.any()
    assert outcome.steps.tolist() == [TASK.horizon]
    target.reset([CONDITION])
    assert target.outcome().failure == ("still running",)
    assert not target.outcome().done.any()


def test_a_person_can_end_an_episode_early():
    asker = FakeAsker(end_at=4)
    outcome = run_episodes(target_of(asker=asker), Still(), [CONDITION], TASK.horizon)
    assert outcome.steps.tolist() == [4]
    assert outcome.success.all()
    assert outcome.failure == (None,)
    assert asker.asked == 1


def test_the_rate_is_kept():
    time = FakeTime()
    target = target_of(time=time)
    policy = Still(time, slow=0.02)
    target.reset([CONDITION])
    began, time.slept = time.now_s, []
    for step in range(5):
        assert target.observe().time_s == pytest.approx(step / 20)
        target.act(policy.act(None))
    assert time.now_s - began == pytest.approx(5 / 20)
    assert np.allclose(time.slept, 0.03)
    assert target.outcome().overruns == 0


def test_periods_that_come_late_are_counted_and_not_caught_up():
    time = FakeTime()
    target = target_of(time=time)
    policy = Still(time)
    target.reset([CONDITION])
    for slow in (0.0, 0.12, 0.0, 0.051, 0.0):
        policy.slow = slow
        target.observe()
        before = time.now_s
        target.act(policy.act(None))
        assert time.now_s - before == pytest.approx(max(slow, 0.05))
    assert target.outcome().overruns == 2
    target.reset([CONDITION])
    assert target.outcome().overruns == 0


def test_an_arm_that_is_lost_is_held_and_the_error_says_what_to_do():
    arm, kept = FakeArm(), []
    target = RobotTarget(arm, FILE, TASK, FakeAsker(), FakeTime().clock, lambda: kept.append(1))
    target.reset([CONDITION])
    arm.fail_after = len(arm.commands) + 2
    with pytest.raises(InterruptedRunError) as caught:
        run_episodes(target, Still(), [CONDITION], TASK.horizon)
    text = str(caught.value)
    assert "stopped answering at step" in text
    assert "no status packet" in text
    assert "run the same command again" in text
    assert "\n" not in text
    assert kept == [1]
    assert arm.calls == ["refused", "refused"]  # the second one is the attempt to hold
    sent = len(arm.commands)
    target.close()
    assert len(arm.commands) == sent
    assert arm.calls[-1] == "disconnect"


def test_a_camera_that_fails_stops_the_arm_where_it_is():
    arm = FakeArm()
    target = target_of(arm)
    target.reset([CONDITION])
    target.act(REST[None] + np.float32(15))
    position = dict(arm.position)
    working, arm.get_observation = arm.get_observation, None
    answers = iter([TimeoutError("frame too old"), None])

    def fails_once():
        if (error := next(answers)) is not None:
            raise error
        return working()

    arm.get_observation = fails_once
    with pytest.raises(InterruptedRunError, match="frame too old"):
        target.observe()
    assert arm.commands[-1] == position


def test_closing_brings_the_arm_back_to_where_it_was_found_and_lets_go_once():
    arm = FakeArm()
    target = target_of(arm)
    target.reset([CONDITION])
    target.close()
    target.close()
    assert set(arm.commands[-1].values()) == {20.0}
    assert arm.calls == ["disconnect"]


def test_closing_a_robot_that_played_nothing_does_not_move_it():
    arm = FakeArm()
    target_of(arm).close()
    assert not arm.commands
    assert arm.calls == ["disconnect"]


def test_act_comes_after_reset():
    with pytest.raises(RuntimeError, match="reset"):
        target_of().act(REST[None])


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (dataclasses.replace(FILE, cameras=("scene", "front")), "no camera 'front', it has scene"),
        (dataclasses.replace(FILE, cameras=("scene_depth",)), "no camera 'scene_depth'"),
        (dataclasses.replace(FILE, rest={"elbow": 1.0}), "Unknown joint .* 'elbow'.*elbow_flex"),
    ],
)
def test_a_file_that_does_not_fit_the_robot_is_refused(file, message):
    with pytest.raises(UsageError, match=message) as caught:
        target_of(file=file)
    assert "my.toml" in str(caught.value)


def test_another_arm_needs_a_rest_pose_of_its_own():
    class Other(FakeArm):
        def __init__(self):
            super().__init__()
            self.position = {"lift.pos": 20.0, "grip.pos": 20.0}

    with pytest.raises(UsageError, match=r"\[rest\] must give all joints; lift, grip missing"):
        target_of(Other())
    file = dataclasses.replace(FILE, rest={"grip": 5.0, "lift": 25.0})
    assert target_of(Other(), file=file).spec.joint_names == ("lift", "grip")


def test_a_robot_on_wheels_is_refused():
    class Wheels(FakeArm):
        @property
        def action_features(self):
            return {"shoulder_pan.pos": float, "x.vel": float}

    with pytest.raises(UsageError, match="no plain joint positions"):
        target_of(Wheels())


def test_an_observation_that_lacks_what_was_promised_is_refused():
    arm = FakeArm()
    target = target_of(arm)
    target.reset([CONDITION])
    arm.cameras = ("scene",)
    with pytest.raises(BadDataError, match="gave no wrist"):
        target.observe()


def test_pictures_are_cropped_or_stretched_as_the_file_says():
    picture = np.zeros((12, 20, 3), dtype=np.uint8)
    picture[:, 4:16] = 200
    assert (fitted(picture, 6, "crop") == 200).all()
    stretched = fitted(picture, 10, "stretch")
    assert stretched.shape == (10, 10, 3)
    assert (stretched[:, :2] == 0).all()
    assert (stretched[:, 2:8] == 200).all()
    noise = np.random.default_rng(0).integers(0, 255, (32, 32, 3), dtype=np.uint8)
    mean = noise.reshape(8, 4, 8, 4, 3).mean(axis=(1, 3))
    assert np.abs(fitted(noise, 8, "crop") - mean).max() <= 1
    with pytest.raises(BadDataError, match="not RGB bytes"):
        fitted(picture.astype(float), 6, "crop")


def test_the_file_decides_how_pictures_are_made():
    target = target_of(file=RobotFile("my.toml", {"type": "x"}, cameras=("wrist",), fit="stretch"))
    target.reset([CONDITION])
    images = target.observe().images
    assert list(images) == ["wrist"]
    assert images["wrist"].shape == (1, 16, 16, 3)
    assert not images["wrist"][0, :, 0].any()
