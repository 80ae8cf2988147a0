import copy
import tomllib
from dataclasses import asdict

import pytest

from simreal.core.errors import UsageError
from simreal.study.spec import built_in, load_study, study_from_json, study_text

TINY = {
    "name": "tiny",
    "task": "lift",
    "trials": 10,
    "simulation": {"profile": "none", "episodes": 10, "seed": 1},
    "targets": [{"name": "a", "seed": 5, "severity": "mild"}],
    "arms": [
        {
            "name": "sim-only",
            "stages": [
                {
                    "steps": 40,
                    "peak_lr": 1e-3,
                    "parts": [{"source": "sim", "weight": 1, "episodes": 10}],
                }
            ],
        },
        {
            "name": "hybrid",
            "base": "sim-only",
            "stages": [
                {
                    "steps": 20,
                    "peak_lr": 1e-3,
                    "parts": [
                        {"source": "sim", "weight": 0.5, "episodes": 4},
                        {"source": "real", "weight": 0.5, "episodes": 3},
                    ],
                }
            ],
        },
    ],
}


def changed(path, value):
    """TINY with one entry changed; `path` like "arms.1.base"; None removes it."""
    content = copy.deepcopy(TINY)
    *way, last = [int(key) if key.isdigit() else key for key in path.split(".")]
    inner = content
    for key in way:
        inner = inner[key]
    if value is None:
        del inner[last]
    else:
        inner[last] = value
    return content


def test_the_built_in_studies_load():
    assert "demo" in built_in()
    for name in built_in():
        spec = load_study(name)
        assert spec.name == name
        assert "nominal" in spec.suites


def test_a_study_comes_back_from_json_equal():
    for spec in (study_from_json(TINY), load_study("demo")):
        assert study_from_json(spec.to_json()) == spec


def test_demonstrations_behind_an_arm_include_those_of_its_base():
    spec = study_from_json(TINY)
    hybrid = spec.arm("hybrid")
    assert (spec.n(hybrid, "sim"), spec.n(hybrid, "real")) == (10, 3)
    assert hybrid.episodes("sim") == 4


def test_a_file_is_read_as_it_stands(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(study_text("demo").replace('name = "demo"', 'name = "mine"'))
    assert load_study(str(path)).name == "mine"
    assert tomllib.loads(study_text(str(path)))["name"] == "mine"


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("trails", 10, "Unknown key of the study 'trails'.*Did you mean 'trials'"),
        ("simulation.episode", 3, r"Unknown key of \[simulation\] 'episode'.*'episodes'"),
        ("targets.0.kind", "twin", "Unknown key of a target 'kind'"),
        ("arms.0.stage", [], "Unknown key of arm 'sim-only' 'stage'.*'stages'"),
        (
            "arms.0.stages.0.lr",
            1e-3,
            "Unknown key of a stage of arm 'sim-only' 'lr'; allowed: parts, peak_lr",
        ),
        ("arms.0.stages.0.parts.0.wieght", 1, "a part of arm 'sim-only' 'wieght'.*'weight'"),
        ("name", None, "the study lacks name"),
        ("simulation", None, r"\[simulation\] lacks profile, episodes, seed"),
        ("simulation.seed", None, r"\[simulation\] lacks seed"),
        ("arms.0.stages.0.steps", None, "a stage of arm 'sim-only' lacks steps"),
        ("arms.0.name", None, "arm '\\?' lacks name"),
        ("trials", "10", "the study: trials = '10'; give a whole number"),
        ("trials", 10.0, "trials = 10.0; give a whole number"),
        ("trials", True, "trials = True; give a whole number"),
        ("shadows", 1, "shadows = 1; give true or false"),
        ("seeds", 3, "seeds = 3; give a list, each a whole number"),
        ("seeds", [0, "1"], "give a list, each a whole number"),
        ("margin", float("nan"), "margin = nan; give a finite number"),
        ("simulation", [1], r"\[simulation\] must be a table"),
        ("targets", [1], "targets must be tables"),
        ("arms", 3, "arms must be tables"),
        ("arms.0.stages", "x", "stages of arm 'sim-only' must be tables"),
        ("arms.0.stages.0.parts", [3], "parts of arm 'sim-only' must be tables"),
        ("arms.1.base", 3, "base = 3; give a text"),
        ("arms", [], "at least one arm, one target and one training seed"),
        ("targets", [], "at least one arm, one target and one training seed"),
        ("seeds", [], "at least one arm, one target and one training seed"),
        ("arms.1.base", "hybrid", r"base of arm 'hybrid' \(it must come earlier\).*: sim-only"),
        ("arms.0.base", "hybrid", "base of arm 'sim-only'"),
        ("arms.1.base", "simonly", "Did you mean 'sim-only'"),
        ("arms.1.name", "sim-only", "Names of arms must differ; got sim-only, sim-only"),
        ("arms.0.name", "sim/only", "Name of arm 'sim/only'; allowed: letters"),
        ("arms.0.name", "..", "Name of arm"),
        ("arms.0.name", "a+b", "Name of arm"),
        ("targets.0.name", "simulation", "Name of target 'simulation'; .*none of any, shared"),
        ("targets", [TINY["targets"][0]] * 2, "Names of targets must differ"),
        ("targets.0.severity", "hard", "severity of target 'a' 'hard'; allowed: harsh"),
        ("targets.0.ref", "robot:a.toml", "is a robot, .*evaluate CHECKPOINT --on robot:a.toml"),
        ("targets.0.ref", "bench:1", "cannot give real demonstrations"),
        ("arms.0.stages", [], "Arm 'sim-only' needs stages, each with parts"),
        ("arms.0.stages.0.parts", [], "Arm 'sim-only' needs stages, each with parts"),
        ("arms.0.stages.0.parts.0.source", "robot", "source in arm 'sim-only' 'robot'.*real, sim"),
        ("arms.0.stages.0.parts.0.episodes", 0, "episodes and weights must be positive"),
        ("arms.0.stages.0.parts.0.weight", 0.0, "episodes and weights must be positive"),
        ("arms.0.stages.0.parts.0.episodes", 11, r"asks for 11 simulated .*\[simulation\] makes"),
        ("arms.0.stages.0.steps", 0, "steps must be 1 or more"),
        ("arms.0.stages.0.peak_lr", 1.5, "peak_lr between 0 and 1; got 40 and 1.5"),
        ("trials", 4, "trials = 4; allowed: 5 to 10000"),
        ("seeds", [-1], "Seeds must be 0 or more"),
        ("seeds", [1, 1], "those of training different"),
        ("simulation.seed", -2, "Seeds must be 0 or more"),
        ("margin", 1.0, "margin = 1; give a fraction"),
        ("size_px", 40, "size_px = 40; allowed: multiples of 16 from 16 to 512"),
        ("size_px", 8, "size_px = 8"),
        ("simulation.episodes", 0, "episodes and appearances must be 1 or more"),
        ("simulation.appearances", 0, "episodes and appearances must be 1 or more"),
        ("suites", ["nominal", "night"], "Unknown suite 'night'; allowed: backgrounds, nominal"),
        ("suites", ["backgrounds"], "name each once, nominal among them"),
        ("suites", ["nominal", "nominal"], "name each once"),
    ],
)
def test_a_bad_study_is_refused_in_one_sentence(path, value, message):
    with pytest.raises(UsageError, match=message) as caught:
        study_from_json(changed(path, value))
    assert "\n" not in str(caught.value)


def test_a_plug_in_target_may_be_played_on_where_no_arm_reads_real_data():
    content = changed("targets.0.ref", "bench:1")
    del content["arms"][1]
    assert study_from_json(content).targets[0].ref == "bench:1"


def test_an_unknown_or_broken_file_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"Unknown study \(and no such file\) 'demmo'.*'demo'"):
        load_study("demmo")
    (tmp_path / "a.toml").write_text("name = \n")
    with pytest.raises(UsageError, match=r"a\.toml is not valid TOML"):
        load_study(str(tmp_path / "a.toml"))
    (tmp_path / "b.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match=r"b\.toml is not a text file"):
        load_study(str(tmp_path / "b.toml"))


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("task", "lit", "Unknown task 'lit'; allowed: .*lift, push"),
        ("form", "boxes", "Unknown form 'boxes'; allowed: mesh, primitive"),
        ("simulation.profile", "ful", "randomization profile.*'ful'.*Did you mean 'full'"),
        ("simulation.backgrounds", "/no/such/folder", "is not a folder"),
        ("targets.0.ref", "twin:/no/such.toml", "No twin file /no/such.toml"),
        ("targets.0.ref", "sim:ful", "randomization profile.*'ful'"),
    ],
)
def test_what_only_the_worlds_know_is_refused_before_anything_is_written(
    tmp_path, path, value, message
):
    from simreal.study.run import Study

    out = tmp_path / "out"
    with pytest.raises(UsageError, match=message):
        Study(study_from_json(changed(path, value)), out)
    assert not out.exists()


def test_runs_and_trials_follow_from_the_study(tmp_path):
    from simreal.study.run import Study

    content = changed("seeds", [0, 7])
    content["targets"].append({"name": "b", "seed": 6})
    study = Study(study_from_json(content), tmp_path)
    names = [(run.arm.name, run.target, run.seed) for run in study.runs()]
    assert names == [
        ("sim-only", "any", 0),
        ("sim-only", "any", 7),
        ("hybrid", "a", 0),
        ("hybrid", "a", 7),
        ("hybrid", "b", 0),
        ("hybrid", "b", 7),
    ]
    jobs = study.trial_jobs()
    assert len(jobs) == 2 * ((1 + 2 * 2) + (2 + 2 * 2))  # hybrid has a simulation cell a target
    assert len(set().union(*(job.keys for job in jobs))) == 10 * len(jobs)
    simulated = {(j.arm, j.name, j.checkpoint) for j in jobs if j.role == "sim" and j.seed == 0}
    runs = tmp_path / "runs"
    assert simulated == {
        ("sim-only", "simulation", str(runs / "sim-only" / "any" / "0" / "checkpoint")),
        ("hybrid", "simulation@a", str(runs / "hybrid" / "a" / "0" / "checkpoint")),
        ("hybrid", "simulation@b", str(runs / "hybrid" / "b" / "0" / "checkpoint")),
    }
    assert {job.target.ref for job in jobs if job.role == "sim"} == {"sim"}
    on_b = [job for job in jobs if job.name == "b" and job.arm == "hybrid"]
    assert {job.checkpoint for job in on_b} == {
        str(tmp_path / "runs" / "hybrid" / "b" / seed / "checkpoint") for seed in ("0", "7")
    }
    based = study.train_job(study.runs()[-1])
    assert based.base == str(tmp_path / "runs" / "sim-only" / "any" / "7" / "checkpoint")


def test_every_pair_on_every_suite_is_the_default_family() -> None:
    spec = load_study("demo")
    assert len(spec.family) == 6
    assert spec.family[0] == ("sim-only", "real-only", "nominal")
    assert [suite for _, _, suite in spec.family] == ["nominal"] * 3 + ["backgrounds"] * 3


def test_a_declared_family_is_kept_as_it_is() -> None:
    spec = load_study("curve")
    assert spec.goal == 0.85
    assert spec.family == tuple(
        (a, b, suite)
        for suite in ("nominal", "backgrounds")
        for a, b in (("sim-only", "real-only"), ("hybrid", "real-only"), ("hybrid", "sim-only"))
    )


def test_a_test_may_keep_to_one_suite() -> None:
    content = load_study("demo").to_json()
    content["tests"] = [{"arm": "hybrid", "against": "sim-only", "suites": ["nominal"]}]
    assert study_from_json(content).family == (("hybrid", "sim-only", "nominal"),)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"tests": [{"arm": "hybrid", "against": "oracle"}]}, "oracle"),
        ({"tests": [{"arm": "hybrid", "against": "hybrid"}]}, "with itself"),
        ({"tests": [{"arm": "hybrid", "against": "sim-only", "suites": ["moon"]}]}, "moon"),
        ({"goal": 1.0}, "goal = 1"),
    ],
)
def test_an_impossible_test_or_goal_is_refused(change: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        study_from_json({**load_study("demo").to_json(), **change})


def test_the_share_of_simulation_is_that_of_the_last_stage() -> None:
    spec = load_study("demo")
    assert spec.arm("sim-only").sim_share == 1.0
    assert spec.arm("real-only").sim_share == 0.0
    assert spec.arm("hybrid").sim_share == pytest.approx(0.7)


#: A study with everything that came later: senses, suites an arm, goals, a quick form.
FELT = {
    **TINY,
    "name": "felt",
    "task": "insert",
    "suites": ["nominal", "wide", "backgrounds"],
    "force_limit_n": 30,
    "goals": [
        {"text": "The best is good.", "arm": "best", "suite": "wide", "at_least": 0.9},
        {"text": "Gentle.", "arm": "sim-only", "of": "force", "at_least": 0.99},
        {"text": "As good.", "arm": "hybrid", "against": "sim-only", "less_real": 0.5},
    ],
    "arms": [
        {**TINY["arms"][0], "wrench": "full"},
        {**TINY["arms"][1], "wrench": "full"},
        {**TINY["arms"][0], "name": "blind", "wrench": "none", "suites": ["nominal"]},
    ],
}
QUICK = {"seeds": [3], "trials": 5, "suites": ["nominal"], "arms": ["sim-only", "hybrid"]}
QUICK |= {"targets": 1, "steps": 0.5, "sim": 0.5, "real": 0.1}


def test_plans_of_studies_without_later_settings_keep_their_hash(tmp_path):
    from simreal.study.run import Study

    plan = Study(load_study("demo"), tmp_path).plan
    assert plan.sha == "be72c4318514e755efa85950a8847c438fedf56fc75400264d20959c475648a8"
    assert not {"goals", "quick", "force_limit_n"} & set(plan.content["study"])
    assert study_from_json(study_from_json(FELT).to_json()) == study_from_json(FELT)


def test_an_arm_is_tried_and_compared_only_on_its_own_suites(tmp_path):
    from simreal.study.run import Study

    spec = study_from_json(FELT)
    assert spec.suites_of(spec.arm("blind")) == ("nominal",)
    blind = [test for test in spec.family if "blind" in test]
    assert {suite for *_, suite in blind} == {"nominal"}
    assert ("sim-only", "hybrid", "wide") in spec.family
    study = Study(spec, tmp_path)
    cells = {(cell.target, cell.suite): cell.arms for cell in study.plan.cells}
    assert list(cells) == [
        ("simulation", "nominal"),
        ("simulation", "wide"),  # the task's own suite; backgrounds are a target's
        ("a", "nominal"),
        ("a", "wide"),
        ("a", "backgrounds"),
    ]
    assert cells["a", "nominal"] is None
    assert cells["a", "wide"] == ("sim-only", "hybrid")
    assert {j.conditions[0].suite for j in study.trial_jobs() if j.arm == "blind"} == {"nominal"}
    wrenches = {run.arm.name: study.train_job(run).wrench for run in study.runs()}
    assert wrenches == {"sim-only": "full", "hybrid": "full", "blind": "none"}
    assert {arm["name"]: arm["wrench"] for arm in study.plan.content["arms"]} == wrenches


def test_an_arm_without_a_gap_is_not_tried_in_simulation(tmp_path):
    from simreal.study.run import Study

    arms = [*FELT["arms"][:2], {**FELT["arms"][2], "gap": False}]
    study = Study(study_from_json(felt(arms=arms)), tmp_path)
    cells = {(cell.target, cell.suite): cell.arms for cell in study.plan.cells}
    assert cells["simulation", "nominal"] == ("sim-only", "hybrid")
    assert cells["a", "nominal"] is None
    assert {job.role for job in study.trial_jobs() if job.arm == "blind"} == {"target"}
    assert study_from_json(study.spec.to_json()) == study.spec


def test_only_the_suites_whose_gap_is_wanted_are_played_in_simulation(tmp_path):
    from simreal.study.quick import quickened
    from simreal.study.run import Study

    spec = study_from_json(felt(gap_suites=["nominal"]))
    cells = [(cell.target, cell.suite) for cell in Study(spec, tmp_path).plan.cells]
    assert cells == [("simulation", "nominal"), *[("a", suite) for suite in spec.suites]]
    assert study_from_json(spec.to_json()) == spec
    both = felt(gap_suites=["nominal", "wide"])
    assert study_from_json(quickened(both, QUICK)).gap_suites == ("nominal",)
    with pytest.raises(UsageError, match="gap_suite 'backgrounds'; allowed: nominal, wide"):
        study_from_json(felt(gap_suites=["nominal", "backgrounds"]))


def test_settings_against_overfitting_reach_every_training(tmp_path):
    from simreal.study.run import Study

    spec = study_from_json(felt(training={"weight_decay": 0.05, "shift_px": 2, "wrench": 0.5}))
    assert study_from_json(spec.to_json()) == spec
    study = Study(spec, tmp_path)
    assert {study.train_job(run).training for run in study.runs()} == {spec.training}
    plain = Study(study_from_json(FELT), tmp_path)
    assert plain.plan.sha != study.plan.sha


def test_the_defaults_of_training_are_the_policys():
    from simreal.policies.augment import Augmentation
    from simreal.policies.recipe import TrainConfig
    from simreal.study.spec import TrainingSpec

    values = asdict(TrainingSpec())
    for name in ("weight_decay", "dither"):
        assert values.pop(name) == getattr(TrainConfig(), name)
    assert Augmentation(**values) == Augmentation()


def test_all_conditions_of_a_plan_are_at_the_tasks_nominal_values(tmp_path):
    from simreal.study.run import Study

    plan = Study(study_from_json(FELT), tmp_path).plan
    assert {c.reset["clearance_m"] for c in plan.conditions} == {0.0002}


def felt(**changes):
    return {**copy.deepcopy(FELT), **changes}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"suites": ["nominal", "night"]}, "suite 'night'; allowed: backgrounds, nominal, tight"),
        ({"task": "lift", "suites": ["nominal"], "goals": []}, "wrench = 'full', but the robot of"),
        ({"force_limit_n": -1}, "force_limit_n = -1; give newtons"),
        ({"force_limit_n": None}, "goal 'Gentle.' needs the study's force_limit_n"),
        ({"arms": [{**FELT["arms"][0], "wrench": "fast"}]}, "wrench of arm 'sim-only' 'fast'"),
        (
            {"arms": [FELT["arms"][0], {**FELT["arms"][1], "wrench": "slow"}]},
            "'hybrid' has wrench = 'slow' and its base 'sim-only' 'full'; give both the same",
        ),
        (
            {"arms": [{**FELT["arms"][0], "suites": ["wide"]}]},
            r"suites of arm 'sim-only' = \['wide'\]; name each once, nominal",
        ),
        (
            {"tests": [{"arm": "blind", "against": "hybrid", "suites": ["wide"]}]},
            "suite of a test of blind against hybrid 'wide'; allowed: nominal",
        ),
        (
            {"goals": [{"text": "G", "arm": "oracle", "at_least": 0.5}]},
            "arm of the goal 'G' 'oracle'",
        ),
        ({"goals": [{"text": "G", "arm": "best"}]}, "needs either at_least, a rate, or against"),
        ({"goals": [{"text": "G", "arm": "best", "at_least": 2}]}, "at_least = 2; give a rate"),
        ({"goals": [{"text": "G", "arm": "best", "of": "looks", "at_least": 0.5}]}, "of the goal"),
        ({"goals": [{"text": "G", "arm": "best", "suite": "tight", "at_least": 0.5}]}, "'tight'"),
        ({"goals": [{"text": "G", "arm": "operator", "of": "force", "at_least": 0.5}]}, "operator"),
        (
            {"goals": [{"text": "G", "arm": "blind", "suite": "wide", "at_least": 0.5}]},
            r"suite of the goal 'G' \(blind\) 'wide'; allowed: nominal",
        ),
        ({"goals": [{"text": "G", "arm": "hybrid", "against": "hybrid"}]}, "'hybrid' with itself"),
        (
            {"goals": [{"text": "G", "arm": "operator", "against": "hybrid"}]},
            "arm of the goal 'G' 'operator'",
        ),
        (
            {
                "arms": [{**FELT["arms"][2], "suites": ["nominal"]}],
                "goals": [{"text": "G", "arm": "best", "suite": "wide", "at_least": 0.5}],
            },
            "no arm is tried on the suite 'wide'",
        ),
        (
            {
                "arms": FELT["arms"][:1],
                "goals": [{"text": "G", "arm": "operator", "at_least": 0.5}],
            },
            "no arm reads real demonstrations",
        ),
        (
            {"simulation": {**FELT["simulation"], "corrections": 10}},
            "corrections = 10; they are the last of the episodes = 10",
        ),
        (
            {"simulation": {**FELT["simulation"], "corrections": 2, "leader_steps": 0}},
            "leader_steps = 0; give 1 or more",
        ),
        ({"training": {"shift_px": 9}}, "shift_px = 9; allowed: 0 to 8"),
        ({"training": {"tint": 1.0}}, "tint = 1; allowed: 0 to below 1"),
        ({"training": {"wrench": -1.0}}, "wrench = -1; give 0 or more"),
        ({"training": {"dither": -1.0}}, "dither = -1; give 0 or more"),
        ({"training": {"dropout": 0.1}}, r"key of \[training\] 'dropout'"),
    ],
)
def test_impossible_senses_suites_and_goals_are_refused(change, message):
    with pytest.raises(UsageError, match=message) as caught:
        study_from_json(felt(**change))
    assert "\n" not in str(caught.value)


def test_a_quick_form_is_shorter_says_so_and_drops_what_it_cannot_ask():
    from simreal.study.quick import quickened

    short = study_from_json(quickened(FELT, QUICK))
    assert (short.name, short.quick, short.seeds, short.trials) == ("felt-quick", True, (3,), 5)
    assert [arm.name for arm in short.arms] == ["sim-only", "hybrid"]
    assert [s.steps for arm in short.arms for s in arm.stages] == [20, 10]
    assert short.simulation.episodes == 5
    assert short.n(short.arm("hybrid"), "real") == 1
    assert [goal.text for goal in short.goals] == ["Gentle.", "As good."]
    assert short.to_json()["quick"] is True
    led = {**FELT["simulation"], "corrections": 4, "leader_steps": 10}
    simulation = study_from_json(quickened(felt(simulation=led), QUICK)).simulation
    assert (simulation.corrections, simulation.leader_steps) == (2, 5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"step": 1}, r"key of \[quick\] 'step'.*'steps'"),
        ({"sim": 0.0}, r"\[quick\]: sim = 0; give a share"),
        ({"targets": 0}, "targets = 0; keep 1 or more"),
        ({"arms": ["oracle"]}, r"arm of \[quick\] 'oracle'"),
    ],
)
def test_a_bad_quick_form_is_refused(change, message):
    from simreal.study.quick import quickened

    with pytest.raises(UsageError, match=message):
        quickened(FELT, {**QUICK, **change})


def test_a_study_without_a_quick_form_says_so():
    with pytest.raises(UsageError, match=r"'demo' has no quick form: its file lacks .* \[quick\]"):
        load_study("demo", quick=True)
    assert load_study("insert", quick=True).name == "insert-quick"


def test_insert_compares_senses_at_one_clearance_and_roads_at_all():
    spec = load_study("insert")
    assert [t.seed for t in spec.targets] == [601, 602, 603]
    roads, senses = spec.arms[:3], spec.arms[3:]
    assert [arm.name for arm in roads] == ["sim-only", "real-only", "hybrid"]
    assert {spec.suites_of(arm) for arm in roads} == {("nominal", "wide", "tight")}
    assert {spec.suites_of(arm) for arm in senses} == {("nominal",)}
    assert {arm.wrench for arm in senses} == {"none", "slow"}
    assert not any(arm.gap for arm in senses)
    assert spec.trials * len(spec.seeds) >= 200
    less = spec.n(spec.arm("hybrid"), "real") / spec.n(spec.arm("real-only"), "real")
    assert less <= 0.1


def test_what_is_wrong_with_a_quick_form_is_said_of_it(tmp_path):
    text = study_text("insert").replace("trials = 30", "trials = 2", 1)
    (tmp_path / "s.toml").write_text(text)
    with pytest.raises(UsageError, match=r"^\[quick\]: trials = 2; allowed"):
        load_study(str(tmp_path / "s.toml"))
