import re

import pytest

from simreal.core.errors import UsageError
from simreal.robots import robotfile
from simreal.robots.lerobot_robot import open_robot
from simreal.robots.robotfile import RobotFile, read_robot

PLAIN = '[robot]\ntype = "so101_follower"\nid = "me"\nport = "/dev/null"\n'


def test_the_file_of_the_docstring_is_read(tmp_path):
    text = re.sub(r"^    ", "", robotfile.__doc__.split("\n\n", 1)[1], flags=re.M)
    (tmp_path / "a.toml").write_text(text)
    found = read_robot(tmp_path / "a.toml")
    assert found.name == "so101_follower my_arm"
    assert found.robot["cameras"]["scene"]["index_or_path"] == 0
    assert found.command == ("./judge.sh",)
    assert found.rest == {"elbow_flex": 34.4}


def test_the_rest_may_be_left_out(tmp_path):
    path = tmp_path / "a.toml"
    path.write_text(PLAIN)
    robot = {"type": "so101_follower", "id": "me", "port": "/dev/null"}
    assert read_robot(path) == RobotFile(str(path), robot)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"must hold \[robot\] with a type"),
        ("[robot]\nport = '/dev/null'\n", "with a type"),
        ("robot = 3\n", r"robot must be a table, \[robot\]"),
        (f"{PLAIN}[image]\n", "Unknown table of robot file .* 'image'.*Did you mean 'images'"),
        (f"{PLAIN}[images]\nfits = 'crop'\n", r"Unknown key of \[images\] .* 'fits'.*'fit'"),
        (f"{PLAIN}[images]\nfit = 'pad'\n", "Unknown fit .* 'pad'; allowed: crop, stretch"),
        (f"{PLAIN}[images]\ncameras = 'scene'\n", "cameras = 'scene'; give a list of texts"),
        (f"{PLAIN}[images]\ncameras = []\n", "give a list of texts"),
        (f"{PLAIN}[rest]\nelbow_flex = nan\n", "elbow_flex = nan; give a finite number"),
        (f"{PLAIN}[rest]\nelbow_flex = true\n", "give a finite number"),
        (f"{PLAIN}[move]\nspeed_deg_s = 900\n", "speed_deg_s = 900; allowed: 1 to 180"),
        (f"{PLAIN}[ask]\ncommand = 'x'\n", "give a list of texts"),
        (f"{PLAIN}[ask]\n", "needs a command"),
        ("[robot\n", "not valid TOML"),
    ],
)
def test_a_bad_file_is_refused_in_one_sentence(tmp_path, text, message):
    path = tmp_path / "a.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=message) as caught:
        read_robot(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_refused_before_lerobot_is_imported(tmp_path):
    with pytest.raises(UsageError, match="No robot file"):
        open_robot(str(tmp_path / "none.toml"), "lift")
