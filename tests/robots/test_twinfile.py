import tomllib

import pytest

from simreal.core.errors import UsageError
from simreal.robots.twinfile import TwinFile, read_twin, write_twin


def test_a_twin_file_comes_back_equal(tmp_path):
    twin = TwinFile(seed=2**40, severity="harsh", task="push", form="mesh")
    write_twin(tmp_path / "a.toml", twin)
    assert read_twin(tmp_path / "a.toml") == twin


def test_the_file_holds_no_parameter(tmp_path):
    write_twin(tmp_path / "a.toml", TwinFile(seed=7))
    content = tomllib.loads((tmp_path / "a.toml").read_text())
    assert content == {
        "twin": {"seed": 7, "severity": "moderate", "task": "lift", "form": "primitive"}
    }


def test_seed_alone_is_enough(tmp_path):
    (tmp_path / "a.toml").write_text("[twin]\nseed = 3\n")
    assert read_twin(tmp_path / "a.toml") == TwinFile(3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[twin]\nseed = 1\nseverity = 'hard'\n", "a.toml: Unknown severity 'hard'.*mild"),
        ("[twin]\nseed = 1\nform = 'boxes'\n", "Unknown form 'boxes'; allowed: mesh, primitive"),
        ("[twin]\nseed = -1\n", "Twin seed -1; allowed"),
        ("[twin]\nseed = 1.5\n", "Twin seed 1.5"),
        ("[twin]\nseed = true\n", "Twin seed True"),
        ("[twin]\nseed = '1'\n", "Twin seed '1'"),
        ("[twin]\nseed = 1\ntask = ''\n", "not the name of a task"),
        ("[twin]\nseed = 1\ntask = 3\n", "not the name of a task"),
        ("[twin]\nseed = 1\nseverty = 'mild'\n", "Unknown key .* 'severty'.*severity"),
        ("[twin]\nseverity = 'mild'\n", "has no seed"),
        ("seed = 1\n", r"must hold one table, \[twin\]"),
        ("[twin]\nseed = 1\n[other]\n", "must hold one table"),
        ("twin = 3\n", "must hold one table"),
        ("[twin\n", "not valid TOML"),
    ],
)
def test_a_bad_file_is_refused_in_one_sentence(tmp_path, text, message):
    path = tmp_path / "a.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=message) as caught:
        read_twin(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_or_binary_file_is_refused(tmp_path):
    with pytest.raises(UsageError, match="No twin file"):
        read_twin(tmp_path / "none.toml")
    (tmp_path / "b.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="not valid TOML"):
        read_twin(tmp_path / "b.toml")
