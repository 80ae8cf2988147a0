"""Against LeRobot itself: a robot package it discovers, one that is broken, and its SO-101."""

import sys

import pytest
from tests.contract.target_kit import check_target
from tests.robots.fake_arm import FakeAsker

from simreal.core.errors import UsageError
from simreal.core.types import Condition
from simreal.robots.lerobot_robot import Clock, open_robot

pytestmark = pytest.mark.lerobot

CONFIG = """
from dataclasses import dataclass
from lerobot.robots import RobotConfig

@RobotConfig.register_subclass("bench_arm")
@dataclass
class BenchArmConfig(RobotConfig):
    port: str = "here"
    use_degrees: bool = False
    calibrated: bool = True
    disable_torque_on_disconnect: bool = True
"""
ROBOT = """
import numpy as np
from lerobot.robots import Robot
from .config_bench_arm import BenchArmConfig

JOINTS = ("shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll", "gripper")

class BenchArm(Robot):
    config_class = BenchArmConfig
    name = "bench_arm"
    made = []

    def __init__(self, config):
        super().__init__(config)
        assert config.use_degrees
        self.config, self.connected = config, False
        self.position = {f"{name}.pos": 20.0 for name in JOINTS}
        BenchArm.made.append(self)

    @property
    def observation_features(self):
        pictures = {"scene": (24, 32, 3), "wrist": (24, 32, 3)}
        return {**dict.fromkeys(self.position, float), **pictures}

    @property
    def action_features(self):
        return dict.fromkeys(self.position, float)

    @property
    def is_connected(self):
        return self.connected

    @property
    def is_calibrated(self):
        return self.config.calibrated

    def connect(self, calibrate=True):
        assert not calibrate, "nobody may be asked to calibrate here"
        if self.config.port == "nowhere":
            raise ConnectionError("could not open port nowhere")
        self.connected = True

    def calibrate(self):
        raise AssertionError

    def configure(self):
        pass

    def get_observation(self):
        picture = np.zeros((24, 32, 3), dtype=np.uint8)
        return {**self.position, "scene": picture, "wrist": picture}

    def send_action(self, action):
        if self.config.port == "loose":
            raise ConnectionError("no status packet")
        for name, value in action.items():
            self.position[name] += 0.5 * (value - self.position[name])
        return action

    def disconnect(self):
        self.connected = False
"""
CONDITION = Condition(0, "nominal", {}, seed=0)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Two packages as pip would install them: one that works, one that cannot be imported."""
    site = tmp_path_factory.mktemp("site")
    for name, modules in (
        (
            "lerobot_robot_bench",
            {
                "__init__": "from .config_bench_arm import *\nfrom .bench_arm import *\n",
                "config_bench_arm": CONFIG,
                "bench_arm": ROBOT,
            },
        ),
        ("lerobot_robot_broken", {"__init__": "import a_driver_nobody_has\n"}),
    ):
        for module, code in modules.items():
            (site / name).mkdir(exist_ok=True)
            (site / name / f"{module}.py").write_text(code)
        info = site / f"{name}-0.1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1\n")
    sys.path.insert(0, str(site))
    yield site
    sys.path.remove(str(site))


@pytest.fixture
def opened(installed, tmp_path):
    """Opens the robot of a file with this [robot] table."""

    def run(robot, **settings):
        calibration = f"calibration_dir = {str(tmp_path / 'calibration')!r}\n"
        path = tmp_path / "robot.toml"
        path.write_text(f"[robot]\n{robot}\nid = 'one'\n{calibration}")
        return open_robot(str(path), "lift", size_px=16, asker=FakeAsker(), **settings)

    return run


def test_a_robot_of_another_package_is_found_and_keeps_the_contract(opened):
    def hurried():
        target = opened("type = 'bench_arm'")
        target._clock = Clock(sleep=lambda seconds: None)
        return target

    check_target(hurried, [CONDITION])
    made = sys.modules["lerobot_robot_bench"].BenchArm.made[-1]
    assert made.config.use_degrees
    assert not made.is_connected


def test_an_unknown_type_names_the_registered_ones_and_the_broken_package(opened, capsys):
    with pytest.raises(UsageError) as caught:
        opened("type = 'bench_arn'")
    text = str(caught.value)
    assert "Unknown robot type in" in text
    assert "bench_arm" in text
    assert "so101_follower" in text
    assert "lerobot_robot_broken cannot be imported (No module named 'a_driver_nobody_has')" in text
    assert "\n" not in text
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("robot", "message"),
    [
        ("type = 'bench_arm'\nport = 'nowhere'", "cannot be reached, .* could not open port"),
        ("type = 'bench_arm'\ncalibrated = false", "not calibrated; run lerobot-calibrate"),
        ("type = 'bench_arm'\nuse_degrees = false", "use_degrees must be true"),
        ("type = 'bench_arm'\nprot = 'x'", "LeRobot refuses .*prot"),
        ("type = 'bench_arm'\nport = 'x'\n[robot.cameras.scene]\ntype = 'opencv'", "refuses"),
        ("type = 'so101_follower'", "LeRobot refuses .*port"),
        (
            "type = 'so101_follower'\nport = '/dev/null'\ncameras = "
            "{scene = {type = 'opencv', index_or_path = 0}}",
            "LeRobot refuses .*'width' is required",
        ),
        ("type = 'so101_follower'\nport = '/dev/no-such-port'", "so101_follower one cannot be"),
    ],
)
def test_what_cannot_work_is_refused_in_one_sentence(opened, robot, message):
    with pytest.raises(UsageError, match=message) as caught:
        opened(robot)
    assert "\n" not in str(caught.value)
    assert "robot.toml" in str(caught.value)


def test_contact_lost_leaves_the_motors_on(opened):
    target = opened("type = 'bench_arm'\nport = 'loose'")
    robot = sys.modules["lerobot_robot_bench"].BenchArm.made[-1]
    assert robot.config.disable_torque_on_disconnect
    from simreal.core.errors import InterruptedRunError

    with pytest.raises(InterruptedRunError, match="the arm holds its position"):
        target.reset([CONDITION])
    target.close()
    assert not robot.config.disable_torque_on_disconnect
    assert not robot.is_connected
