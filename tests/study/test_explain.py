"""An explanation from the folder of a study: who is asked, what is played, resumed and concluded.

The world is a fake one whose trials fail as factors say; `test_named.py` plays real ones.
"""

import json

import numpy as np
import pytest
from tests.contract.fake_target import FakeTarget

from simreal.compute.executor import make_executor
from simreal.core.errors import BadDataError, InterruptedRunError, UsageError
from simreal.core.files import append_jsonl, read_jsonl
from simreal.core.seeds import generator
from simreal.core.types import Outcome, Trial
from simreal.study import explain
from simreal.study.explain import Asked, Explaining
from simreal.study.ledger import read_charges
from simreal.study.profile import FACTORS
from simreal.study.run import Study
from simreal.study.spec import load_study, study_from_json
from simreal.trials.run import record

PROFILE = """
[visual]
exposure = { add = -0.5 }
[sensing]
joint_offset = { add = 1 }
[actuation.servo]
latency_s = 0.05
"""
#: Chance that a trial fails for one factor; "sensing" and "actuation" fail it only together.
VISUAL, TOGETHER = 0.3, 0.4


class Breaking(FakeTarget):
    """Ends at once; which conditions fail depends on the factors alone."""

    def __init__(self, said):
        super().__init__(batch=64)
        self.said, self.resets = said, 0

    def reset(self, conditions):
        super().reset(conditions)
        self.resets += 1
        level = np.array([generator(c.index, "breaking").random(2) for c in conditions])
        lost = (level[:, 0] < VISUAL) & ("visual" in self.said)
        lost |= (level[:, 1] < TOGETHER) & ({"sensing", "actuation"} <= set(self.said))
        self.lost = lost

    def outcome(self):
        n = len(self.lost)
        return Outcome(
            ~self.lost,
            np.ones(n, bool),
            (~self.lost).astype(np.float32),
            tuple("missed" if x else None for x in self.lost),
            np.ones(n, np.int64),
            np.zeros(n, np.int64),
            np.full(n, np.nan, np.float32),
        )


class Still:
    def reset(self, n):
        pass

    def looks(self):
        return False

    def act(self, observation):
        return observation.joint_pos


@pytest.fixture
def study(tmp_path, checkpoint, monkeypatch):
    """A study's folder with a plan, one trained arm and no trials."""
    spec = load_study("demo").to_json() | {"trials": 60, "size_px": 16, "seeds": [0, 1]}
    made = Study(study_from_json(spec), tmp_path / "study")
    made.open("")
    there = made.out / "runs" / "sim-only" / "any" / "0" / "checkpoint"
    there.parent.mkdir(parents=True)
    there.symlink_to(checkpoint)
    targets = {}
    monkeypatch.setattr(explain, "policy_of", lambda checkpoint: Still())
    monkeypatch.setattr(
        explain,
        "variant_target",
        lambda profile, stage: targets.setdefault(profile.said, Breaking(profile.said)),
    )
    made.played = targets
    (tmp_path / "profile.toml").write_text(PROFILE)
    return made


def asked(study, **changes):
    profile = str(study.out.parent / "profile.toml")
    return Asked(**{"folder": study.out, "profile": profile, "conditions": 120} | changes)


def try_target(study, factors, name=None, arm="sim-only", n=60, suite="nominal", seed=0):
    """Record the study's trials on its target, which behaves as some factors say."""
    target = Breaking(factors)
    name = name or study.spec.targets[0].name
    conditions = study.plan.conditions[:n]
    target.reset(conditions)
    won = target.outcome().success
    append_jsonl(
        study.out / "trials.jsonl",
        [
            record(
                Trial(
                    study.plan.sha, arm, seed, name, suite, c.index, bool(won[i]), float(won[i]),
                    None if won[i] else "slipped", 9, 0.45, 0, None, 0,
                )
            )
            for i, c in enumerate(conditions)
        ],
    )  # fmt: skip


def explained(study, **changes):
    found = Explaining(asked(study, **changes))
    with make_executor("inline") as pool:
        found.play(pool)
    return found.conclude()


def test_it_names_what_breaks_trials_and_pairs_the_remainder(study):
    try_target(study, FACTORS)
    try_target(study, (), name="simulation")
    try_target(study, (), suite="backgrounds")
    try_target(study, (), seed=1)
    found = explained(study)
    assert json.loads((study.out / "explain.json").read_text()) == found
    shares = {f["name"]: f for f in found["factors"]}
    assert shares["visual"]["ci"][0] > 0.1
    assert shares["dynamics"]["share"] == 0
    assert not shares["dynamics"]["described"]
    assert shares["sensing"]["share"] == pytest.approx(shares["actuation"]["share"])
    assert shares["sensing"]["first_in"] == 0
    assert shares["sensing"]["last_in"] > 0.2
    strong = [p["factors"] for p in found["interactions"] if p["ci"][0] > 0]
    assert strong == [["sensing", "actuation"]]
    assert (found["conditions"], found["real"]["n"]) == (120, 60)
    assert found["unexplained"]["points"] == 0  # the fake target is just what the profile says
    assert (found["unexplained"]["paired"], found["unexplained"]["n"]) == (True, 60)
    assert found["recorded"] == {"n": 60, "differ": 0}
    assert found["failures"]["real"].keys() == {"slipped"}
    assert found["label"] == "stand-in (simulated)"
    assert found["profile"] == "profile (by hand)"


def test_variants_that_the_profile_cannot_tell_apart_are_played_once(study):
    found = explained(study)
    assert len(found["cells"]) == 16
    assert len(study.played) == 8
    lines = list(read_jsonl(study.out / "explain" / "trials.jsonl"))
    assert len(lines) == 8 * 120
    assert {line["target"] for line in lines} >= {"simulation", "simulation+visual+sensing"}


def test_conditions_begin_with_the_studys_own_and_only_grow(study):
    few = explained(study, conditions=40)
    assert (few["conditions"], few["cells"][0]["n"]) == (40, 40)
    found = Explaining(asked(study))
    assert found.conditions[:60] == study.plan.conditions
    assert [c.index for c in found.conditions] == list(range(120))
    explained(study)
    lines = list(read_jsonl(study.out / "explain" / "trials.jsonl"))
    assert len({(x["target"], x["condition"]) for x in lines}) == len(lines) == 8 * 120


def test_an_interrupted_one_goes_on_where_it_was(study, monkeypatch):
    whole = explained(study)
    path = study.out / "explain" / "trials.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:230]) + lines[230][:20])
    plays = []
    monkeypatch.setattr(
        explain, "variant_job", lambda job, play=explain.variant_job: plays.append(job) or play(job)
    )
    told = []
    found = Explaining(asked(study))
    with make_executor("inline") as pool:
        found.play(pool, told.append)
    assert sum(told) == 8 * 120
    charges = read_charges(study.out / "ledger.jsonl")
    assert len(charges) == len({c.work for c in charges}) == 8 * 3  # what was played again, once
    assert {(c.kind, c.arm, c.unit) for c in charges} == {("evaluate", "sim-only", "s")}
    assert charges[0].note.startswith("50 trials of sim-only in simulation, to explain its gap")
    assert len(plays) == 8 * 3 - 5  # of 3 shards a variant: a whole one, two of the second, ...
    assert found.conclude() == whole


def test_ctrl_c_leaves_what_was_played(study, monkeypatch):
    play, plays = explain.variant_job, []

    def stop(job):
        plays.append(job)
        if len(plays) == 5:
            raise KeyboardInterrupt
        return play(job)

    monkeypatch.setattr(explain, "variant_job", stop)
    found = Explaining(asked(study))
    with pytest.raises(InterruptedRunError), make_executor("inline") as pool:
        found.play(pool)
    assert len(list(read_jsonl(study.out / "explain" / "trials.jsonl"))) == 50 + 50 + 20 + 50


def test_another_profile_stands_beside_and_is_not_mixed_in(study):
    first = explained(study)
    (study.out.parent / "profile.toml").write_text("[visual]\nexposure = { add = -1 }\n")
    second = explained(study)
    assert len(list((study.out / "explain").glob("plan-*.json"))) == 2
    assert second["calibrated"] != first["calibrated"]
    assert second["explained"]["points"] == second["factors"][0]["share"]
    lines = list(read_jsonl(study.out / "explain" / "trials.jsonl"))
    assert len({line["plan_sha"] for line in lines}) == 2


def test_the_studys_own_twin_is_a_profile_only_when_asked_for(study):
    found = Explaining(asked(study, profile="twin"))
    assert found.profile.source == "known target"
    assert found.profile.said == FACTORS
    assert len(found.jobs()) == 16 * 3


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"arm": "sim-onli"}, UsageError, "Unknown arm of the study 'sim-onli'.*mean 'sim-only'"),
        ({"seed": 7}, UsageError, "Unknown training seed '7'; allowed: 0, 1"),
        ({"target": "moon"}, UsageError, "Unknown target of the study 'moon'"),
        ({"conditions": 4}, UsageError, "--conditions 4; give 5 to 10000"),
        ({"arm": "hybrid"}, BadDataError, "'hybrid' is not trained yet"),
        ({"seed": 1}, BadDataError, "is not trained yet"),
        ({"profile": "none.toml"}, UsageError, "No target profile none.toml"),
    ],
)
def test_what_cannot_be_explained_is_refused(study, changes, error, words):
    with pytest.raises(error, match=words):
        Explaining(asked(study, **changes))
    assert not (study.out / "explain").exists()


def test_profiles_that_say_nothing_or_are_for_another_task_are_refused(study):
    path = study.out.parent / "profile.toml"
    path.write_text("[visual]\n")
    with pytest.raises(UsageError, match="'profile' says nothing; give at least one entry in"):
        Explaining(asked(study))
    path.write_text("[profile]\ntask = 'push'\n[sensing]\nencoder_counts = true\n")
    with pytest.raises(UsageError, match="is for the task 'push'; this is 'lift'"):
        Explaining(asked(study))


def test_a_folder_that_is_no_study_is_refused(study, tmp_path):
    with pytest.raises(BadDataError, match=r"plan\.json is missing"):
        Explaining(asked(study, folder=tmp_path))


def test_a_robot_has_no_known_parameters(study):
    from simreal.study.explain import _twin
    from simreal.study.spec import TargetRef

    with pytest.raises(UsageError, match=r"'bench' is no twin .* nobody knows its parameters"):
        _twin(TargetRef("bench", ref="robot:bench.toml"), "lift")
