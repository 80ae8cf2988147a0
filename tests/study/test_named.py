"""The test that counts: targets that differ in one factor, or in two that act together, are named.

Real worlds, and a policy that looks, reads its joints and grasps (`seeing.py`). Every target also
deviates in all other factors, by too little to hurt, so that all 16 variants are different worlds.
"""

import pytest
from tests.study.seeing import SIZE_PX, SeeingPolicy, square

from simreal.compute.executor import make_executor
from simreal.core.files import append_jsonl
from simreal.core.types import STAND_IN
from simreal.report.waterfall import headline
from simreal.study import explain
from simreal.study.explain import Asked, Explaining
from simreal.study.profile import FACTORS
from simreal.study.run import Study
from simreal.study.spec import load_study, study_from_json
from simreal.trials.plan import Plan

N = 16
HARMLESS = {
    "visual": "[visual]\nexposure = { add = -0.2 }\n",
    "dynamics": "[dynamics]\nobject_mass = { scale = 1.2 }\n",
    "sensing": "[sensing]\nencoder_noise = { set = 0.05 }\n",
    "actuation": "[actuation.servo]\nlatency_s = 0.01\n",
}
#: The camera 25 mm to the side; slippery fingers and a heavy cube; a pan that reads 7 degrees off;
#: commands that come 0.4 s late.
HARMFUL = {
    "visual": "[visual]\nscene_camera_position = { add = [0, 0.025, 0] }\n",
    "dynamics": ("[dynamics]\ngripper_friction = { set = 0.03 }\nobject_mass = { scale = 6 }\n"),
    "sensing": "[sensing]\njoint_offset = { add = [7, 0, 0, 0, 0, 0] }\n",
    "actuation": "[actuation.servo]\nlatency_s = 0.4\n",
}
#: Camera and pan off in ways that add up: the hand misses only with both.
TOGETHER = {
    "visual": "[visual]\nscene_camera_position = { add = [0, 0.014, 0] }\n",
    "sensing": "[sensing]\njoint_offset = { add = [-4, 0, 0, 0, 0, 0] }\n",
}


@pytest.fixture
def study(tmp_path, checkpoint, monkeypatch):
    """A study whose conditions have the cube square to the arm, with the policy that sees."""
    spec = load_study("demo").to_json() | {"size_px": SIZE_PX, "trials": N}
    made = Study(study_from_json(spec), tmp_path / "study")
    conditions = [square(i).to_json() for i in range(N)]
    Plan({**made.plan.content, "conditions": conditions}).save(made.out / "plan.json")
    there = made.out / "runs" / "sim-only" / "any" / "0" / "checkpoint"
    there.parent.mkdir(parents=True)
    there.symlink_to(checkpoint)
    monkeypatch.setattr(explain, "policy_of", lambda checkpoint: SeeingPolicy())
    return made.out


def asked(study, tables):
    path = study.parent / "profile.toml"
    path.write_text("".join(tables.values()))
    return Explaining(Asked(study, str(path), conditions=N))


def try_target(study, tables):
    """The study's trials on a target that is what these tables say."""
    found = asked(study, tables)
    whole = found.jobs()[-1]
    assert whole.profile == found.profile
    target = {"plan_sha": found._plan.sha, "target": found.target.name}
    lines = [explain.record(t) | target for t in explain.variant_job(whole).trials]
    append_jsonl(study / "trials.jsonl", lines)


def explained(study, tables):
    found = asked(study, tables)
    with make_executor("inline") as pool:
        found.play(pool)
    return found.conclude()


def named(found):
    """The factors whose share is shown to be a loss."""
    return {f["name"] for f in found["factors"] if f["ci"][0] > 0}


@pytest.mark.slow
@pytest.mark.parametrize("factor", FACTORS)
def test_the_one_factor_that_hurts_is_named(study, factor):
    tables = HARMLESS | {factor: HARMFUL[factor]}
    try_target(study, tables)
    found = explained(study, tables)
    shares = {f["name"]: f for f in found["factors"]}
    assert found["sim"]["k"] >= N - 1
    assert found["calibrated"]["k"] <= 2
    assert named(found) == {factor}
    assert shares[factor]["share"] > 0.85
    assert shares[factor]["first_in"] > 0.8
    assert shares[factor]["last_in"] > 0.8
    assert all(abs(f["share"]) < 0.08 for name, f in shares.items() if name != factor)
    assert found["unexplained"]["points"] == 0  # the profile is the target
    assert f" go with {factor}" in headline(found).split(",")[1]
    assert found["label"] == STAND_IN
    if factor == "dynamics":
        assert found["failures"]["real"].keys() == {"slipped"}


@pytest.mark.slow
def test_two_factors_that_hurt_only_together_are_named_as_a_pair(study):
    tables = HARMLESS | TOGETHER
    try_target(study, tables)
    found = explained(study, tables)
    shares = {f["name"]: f for f in found["factors"]}
    assert named(found) == {"visual", "sensing"}
    for name in ("visual", "sensing"):
        assert abs(shares[name]["share"] - 0.5) < 0.1
        assert shares[name]["first_in"] < 0.1  # alone each is harmless
        assert shares[name]["last_in"] > 0.8  # with the other, all is lost
    pairs = [p["factors"] for p in found["interactions"] if p["ci"][0] > 0]
    assert pairs == [["visual", "sensing"]]


@pytest.mark.slow
def test_what_the_profile_leaves_out_stays_unexplained(study):
    """The target's pan is off; the profile knows of everything but that."""
    try_target(study, HARMLESS | {"sensing": HARMFUL["sensing"]})
    found = explained(study, {f: HARMLESS[f] for f in FACTORS if f != "sensing"})
    assert named(found) == set()
    assert found["unexplained"]["ci"][0] > 0.5
    assert not next(f for f in found["factors"] if f["name"] == "sensing")["described"]
