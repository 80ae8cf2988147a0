"""Target profiles: one factor for each thing that can be said, files, and what is refused."""

import dataclasses
import re
import tomllib
from pathlib import Path

import pytest

from simreal.core.errors import UsageError
from simreal.robots.effects import CameraParameters
from simreal.robots.hidden import TwinParameters
from simreal.robots.servo import ServoParameters
from simreal.robots.twinfile import TwinFile
from simreal.study.profile import AXES, EXTRAS, FACTORS, NOMINAL_SERVO, Setting, TargetProfile
from simreal.study.profilefile import profile_from, profile_text, read_profile
from simreal.study.variants import KNOWN, Stage, described_settings, profile_of, subsets
from simreal.verdicts.taxonomy import KINDS
from simreal.worlds.so101_rig import SO101

#: Where each quantity belongs, spelled out: a new axis has to be put somewhere on purpose.
SENSING = {"joint_offset", "observation_delay", "encoder_noise"}
ACTUATION = {"actuator_gain", "joint_damping", "joint_friction", "action_latency"}
DYNAMICS = {
    "object_size",
    "object_mass",
    "object_inertia",
    "object_friction",
    "gripper_friction",
    "table_friction",
    "object_position",
    "object_yaw",
    "table_height",
    "table_tilt",
}


def full() -> TargetProfile:
    """Something said in every factor, extras included."""
    return TargetProfile(
        name="full",
        seed=3,
        axes=(
            Setting("exposure", "add", (0.2,)),
            Setting("object_mass", "scale", (1.5,)),
            Setting("joint_offset", "add", (1.0,) * 6),
            Setting("joint_damping", "scale", (1.1,) * 6),
        ),
        textures="twin",
        clutter_shapes="unseen",
        scene_camera=CameraParameters(k1=0.1, exposure_target=0.4),
        wrist_camera=CameraParameters(noise_std=0.01, subsampling=True),
        encoder_counts=True,
        servo=dataclasses.replace(NOMINAL_SERVO, latency_s=0.02),
    )


def test_everything_that_can_be_said_belongs_to_exactly_one_factor():
    assert set(AXES) == set(SO101.terms)
    assert {a for a, f in AXES.items() if f == "sensing"} == SENSING
    assert {a for a, f in AXES.items() if f == "actuation"} == ACTUATION
    assert {a for a, f in AXES.items() if f == "dynamics"} == DYNAMICS
    about = {"name", "source", "task", "seed", "axes"}
    assert set(EXTRAS) == {f.name for f in dataclasses.fields(TargetProfile)} - about
    assert set(AXES.values()) | set(EXTRAS.values()) == set(FACTORS)


def test_only_keeps_its_factors_and_the_parts_add_up_to_the_whole():
    whole = full()
    assert whole.said == FACTORS
    nothing = whole.only(())
    assert not nothing.said
    assert nothing == TargetProfile("full", seed=3)
    assert whole.only(FACTORS) == whole
    for factor in FACTORS:
        part = whole.only([factor])
        assert part.said == (factor,)
        rest = whole.only([f for f in FACTORS if f != factor])
        for name in EXTRAS:
            kept, other = (part, rest) if EXTRAS[name] == factor else (rest, part)
            assert getattr(kept, name) == getattr(whole, name)
            assert getattr(other, name) == getattr(nothing, name)
        assert set(part.axes) | set(rest.axes) == set(whole.axes)
        assert not set(part.axes) & set(rest.axes)


def test_there_are_sixteen_variants_in_the_order_of_their_bits():
    found = list(subsets())
    assert len(set(found)) == 16
    assert found[0] == ()
    assert found[0b0101] == ("visual", "sensing")
    assert found[-1] == FACTORS


@pytest.mark.parametrize("severity", ["mild", "harsh"])
def test_the_profile_of_a_twin_holds_all_its_hidden_parameters(severity):
    profile = profile_of(TwinFile(5, severity), "bench")
    assert (profile.source, profile.task, profile.said) == (KNOWN, "lift", FACTORS)
    assert len(profile.axes) == len({s.axis for s in profile.axes})
    not_axes = {"seed", "severity", "servo", "scene_camera", "wrist_camera"}
    assert len(profile.axes) == len(dataclasses.fields(TwinParameters)) - len(not_axes)


@pytest.mark.parametrize(
    "profile",
    [full(), TargetProfile('quo"te\\d\nname'), profile_of(TwinFile(9), "t")],
    ids=["full", "nominal", "twin"],
)
def test_a_file_comes_back_equal(tmp_path, profile):
    path = tmp_path / "profile.toml"
    path.write_text(profile_text(profile))
    again = read_profile(path)
    assert again.content() == profile.only(FACTORS).content() | {"axes": again.content()["axes"]}
    assert sorted(again.axes, key=lambda s: s.axis) == sorted(profile.axes, key=lambda s: s.axis)
    assert (again.name, again.source, again.task) == (profile.name, profile.source, profile.task)
    assert profile_text(again) == profile_text(again)


def test_a_profile_by_hand_needs_little():
    content = tomllib.loads(
        """
        [dynamics]
        object_friction = { set = 0.3 }
        [sensing]
        joint_offset = { add = 2 }
        [actuation.servo]
        latency_s = 0.05
        play_rad = 0.03
        [visual.wrist_camera]
        defocus_px = 1
        """
    )
    profile = profile_from(content, "bench")
    assert profile.axes == (
        Setting("object_friction", "set", (0.3,)),
        Setting("joint_offset", "add", (2.0,) * 6),
    )
    assert profile.servo == dataclasses.replace(NOMINAL_SERVO, latency_s=0.05, play_rad=(0.03,) * 6)
    assert profile.wrist_camera == CameraParameters(defocus_px=1)
    assert isinstance(profile.servo, ServoParameters)
    assert (profile.name, profile.source) == ("bench", "by hand")


REFUSED = {
    "light = 1": "Unknown table of a target profile 'light'; allowed: actuation, dynamics",
    "[profile]\nnam = 'x'": r"Unknown key of \[profile\] 'nam'.*Did you mean 'name'",
    "[profile]\nseed = -1": "seed = -1; give a whole number",
    "visual = 3": r"\[visual\] must be a table, not 3",
    "[visual]\nexposur = {set=1}": r"Unknown entry of \[visual\] 'exposur'.*mean 'exposure'",
    "[visual]\njoint_offset = {add=1}": r"joint_offset belongs into \[sensing\], not .*\[visual\]",
    "[dynamics]\nservo = {}": r"servo belongs into \[actuation\]",
    "[visual]\nexposure = 0.3": "give one operation, such as `exposure = { set = 1.0 }`",
    "[visual]\nexposure = {set=1, add=2}": "give one operation",
    "[visual]\nexposure = {multiply=2}": "Unknown operation of exposure 'multiply'; allowed: add",
    "[dynamics]\nobject_mass = {scale='x'}": r"object_mass: scale = 'x'; give 1 finite .* \(kg",
    "[visual]\ncamera_fov = {add=[1,2,3]}": r"give 2 finite numbers \(deg\)",
    "[dynamics]\nobject_mass = {scale=nan}": "give 1 finite numbers",
    "[visual]\ntextures = 4": "textures = 4; give train, twin or a folder",
    "[visual]\ntextures = '/nowhere'": "/nowhere is not a folder",
    "[visual]\nclutter_shapes = 'odd'": "Unknown clutter_shapes 'odd'; allowed: training, unseen",
    "[visual.scene_camera]\nzoom = 2": r"Unknown key of \[visual.scene_camera\] 'zoom'",
    "[visual.scene_camera]\nnoise_std = -1": r"noise_std must not be below zero",
    "[visual.scene_camera]\nwhite_balance = [1, 1]": "white_balance needs 3 gains",
    "[sensing]\nencoder_counts = 1": "encoder_counts = 1; give true or false",
    "[actuation]\nservo = 1": r"\[actuation.servo\] must be a table, not 1",
    "[actuation.servo]\nplay_rad = [1, 2]": "play_rad needs 6 numbers, got 2",
    "[actuation.servo]\nlatency_s = -1": "latency_s must be finite and >= 0",
    "[actuation]\naction_latency = {set=1}\n[actuation.servo]\nlatency_s = 0.1": (
        "replaces action_latency; give latency_s there"
    ),
    "[visual": "is not valid TOML",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_a_file_cannot_say_is_refused_in_one_sentence(tmp_path, text):
    path = tmp_path / "p.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=REFUSED[text]):
        read_profile(path)


def test_a_missing_file_says_how_to_get_one(tmp_path):
    with pytest.raises(UsageError, match=r"No target profile .*simreal twin profile TWIN.toml"):
        read_profile(tmp_path / "none.toml")


def test_an_unknown_factor_is_refused():
    with pytest.raises(UsageError, match="Unknown factor 'light'; allowed: actuation, dynamics"):
        full().only(["light"])


def page() -> str:
    return (Path(__file__).parents[2] / "docs" / "explain.md").read_text()


def test_the_example_of_the_documentation_loads():
    (block,) = re.findall(r"```toml\n(.*?)```", page(), re.S)
    profile = profile_from(tomllib.loads(block), "x")
    assert (profile.name, profile.said) == ("bench-2", FACTORS)
    assert described_settings(profile, Stage("lift"))


def test_the_documentation_lists_what_belongs_to_which_factor():
    rows = re.findall(r"^\| (\w+) \| (`.*`) \|$", page(), re.M)
    listed = {factor: re.findall(r"`(\w+)`", entries) for factor, entries in rows}
    belongs = {**AXES, **EXTRAS}
    assert listed == {f: [k for k, v in belongs.items() if v == f] for f in FACTORS}


def test_the_documentation_explains_every_kind_of_failure():
    rows = dict(re.findall(r"^\| ([a-z ]+) \| ([a-z].*) \|$", page(), re.M))
    for kind, meaning in KINDS.items():
        assert rows[kind].startswith(meaning.split(":")[0]), kind
