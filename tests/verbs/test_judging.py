"""Tables of trials as a lab writes them: compare and validate, text and JSON, and bad input."""

import json

import jsonschema
import pytest

from simreal.cli import main
from simreal.verdicts.schemas import schema


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    """Runs a command in an empty folder; (exit code, standard output, standard error)."""
    monkeypatch.chdir(tmp_path)

    def go(*words):
        code = 0
        try:
            main(list(words))
        except SystemExit as end:
            code = end.code or 0
        return code, *capsys.readouterr()

    return go


@pytest.fixture
def write(tmp_path):
    def put(name, rows, header="condition,success"):
        (tmp_path / name).write_text("\n".join([header, *rows]) + "\n")

    return put


def outcomes(k, n, *more):
    return [",".join([str(i), str(int(i < k)), *more]) for i in range(n)]


def arms(**successes):
    return [row for name, k in successes.items() for row in outcomes(k, 60, name)]


ARM = "condition,success,arm"


def valid(name, text):
    content = json.loads(text)
    jsonschema.validate(content, schema(name))
    return content


def test_two_tables_are_compared_in_a_plain_sentence(run, write):
    write("a.csv", outcomes(55, 60))
    write("b.csv", outcomes(30, 60))
    code, out, _ = run("compare", "a.csv", "b.csv")
    lines = out.splitlines()
    assert code == 0
    assert lines[0].startswith("a did better than b: +41.7 points (")
    assert "a: 55/60 = 92 % (82 to 96); b: 30/60 = 50 % (38 to 62)." in lines
    assert any(line.startswith("Method: paired: Tango score interval") for line in lines)
    assert "in 4 of 5 studies." in out
    assert all(len(line) <= 80 for line in lines)
    assert valid("compare", run("compare", "a.csv", "b.csv", "--json")[1])["paired"]


def test_what_was_noticed_is_said(run, write):
    write("a.csv", [*outcomes(9, 10), "11,", "12,1"])
    write("b.csv", outcomes(5, 10))
    out = run("compare", "a.csv", "b.csv")[1]
    assert "Note: a.csv: 1 trial has no outcome" in out
    assert "Note: a.csv: Conditions 10 are missing between 0 and 12." in out


def test_one_table_of_several_arms_is_ranked(run, write):
    write("lab.csv", arms(poor=20, good=51, best=55), ARM)
    out = run("compare", "lab.csv")[1]
    assert out.startswith("By success: best (a), good (a), poor (b).")
    assert "good: 51/60 = 85 % (74 to 92)." in out
    assert "Holm over 3" in out
    content = valid("ranking", run("compare", "lab.csv", "--json")[1])
    assert [(a["arm"], a["letters"]) for a in content["arms"]] == [
        ("best", "a"),
        ("good", "a"),
        ("poor", "b"),
    ]


def test_two_arms_of_one_table_are_compared(run, write):
    write("lab.csv", arms(poor=20, good=51, best=55), ARM)
    out = run("compare", "lab.csv", "--arm", "best", "--against", "poor")[1]
    assert out.startswith("best did better than poor: +58.3 points")
    write("two.csv", arms(good=51, poor=20), ARM)
    assert run("compare", "two.csv")[1].startswith("good did better than poor")
    write("other.csv", outcomes(58, 60))
    out = run("compare", "lab.csv", "other.csv", "--arm", "poor")[1]
    assert out.startswith("poor did worse than other")


def test_targets_suites_and_seeds_are_told_apart_and_pooling_is_said(run, write):
    rows = [
        f"{i},{int(i < k)},{arm},{seed},{target}"
        for arm, k in (("x", 25), ("y", 10))
        for seed in (0, 1)
        for target in ("twin-7", "robot")
        for i in range(30)
    ]
    write("study.csv", rows, "condition,success,arm,seed,target")
    out = run("compare", "study.csv")[1]
    joined = " ".join(out.split())
    assert "x: 100/120" in joined
    assert "2 targets pooled: these targets only" in joined
    assert "2 training seeds pooled: not the recipe" in joined
    assert "twin-7 is stand-in (simulated)" in joined
    robot = run("compare", "study.csv", "--target", "robot")[1]
    assert "x: 50/60" in robot
    assert "stand-in" not in robot


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("compare", "a.csv"), 2, "must name two arms or more; or give a second table"),
        (("compare", "lab.csv", "--arm", "x"), 2, "--arm and --against go together"),
        (("compare", "lab.csv", "--arm", "x", "--against", "x"), 2, "compared with itself"),
        (("compare", "lab.csv", "--arm", "x", "--against", "q"), 2, "Unknown arm in lab.csv"),
        (("compare", "lab.csv", "a.csv"), 2, "holds the arms x, y, z; choose one with --arm ARM"),
        (("compare", "a.csv", "lab.csv"), 2, "choose one with --against ARM"),
        (("compare", "a.csv", "a.csv", "--target", "t"), 2, "names no target; leave --target out"),
        (("compare", "lab.csv", "--suite", "nomnal"), 2, "Did you mean 'nominal'"),
        (("compare", "bad.csv", "a.csv"), 1, "bad.csv, line 2: success is 'perhaps'"),
        (("compare", "lab.csv", "--margin", "5"), 2, "5 points = 0.05"),
        (("validate", "a.csv", "a.csv"), 1, "trials without an arm"),
        (("validate", "a.csv"), 1, "'arm' and 'sim' and 'real'"),
        (("validate", "lab.csv", "lab.csv"), 2, "at least 4 policies"),
        (("validate", "nowhere.csv"), 2, "No file nowhere.csv"),
    ],
)
def test_a_wrong_request_is_one_sentence(run, write, words, code, said):
    write("a.csv", outcomes(5, 10))
    write("bad.csv", ["0,perhaps"])
    write("lab.csv", arms(x=20, y=30, z=40), ARM)
    found, out, err = run(*words)
    assert (found, out) == (code, "")
    assert said in err
    assert len(err.splitlines()) == 1


def test_policies_from_one_table(run, write):
    rows = ["a,18/20,15/20", "b,12/20,10/20", "c,14/20,8/20", "d,4/20,2/20", "e,0.1,1/20"]
    write("policies.csv", rows, "arm,sim,real")
    out = run("validate", "policies.csv")[1]
    assert out.startswith("Where simulation rates a policy high, so does the target: Pearson +0.97")
    assert "a: simulation 18/20 = 90 % (70 to 97), target 15/20 = 75 % (53 to 89)." in out
    assert "e: simulation 10 % (no counts), target 1/20" in out
    assert all(len(line) <= 80 for line in out.splitlines())
    content = valid("validate", run("validate", "policies.csv", "--json")[1])
    assert content["state"] == "agrees"
    assert content["mmrv"]["value"] == pytest.approx(0.04)


def test_policies_from_trials_of_both_sides(run, write):
    write("sim.csv", arms(p=54, q=36, r=42, s=12), ARM)
    write("real.csv", arms(p=42, q=30, r=24, s=6, t=60), ARM)
    out = run("validate", "sim.csv", "real.csv")[1]
    assert "over 4 policies" in " ".join(out.split())
    assert "Note: left out, tried on one side only: t." in out
    content = valid("validate", run("validate", "sim.csv", "real.csv", "--json")[1])
    assert content["mmrv"]["value"] == pytest.approx(0.05)
    assert content["pearson"]["value"] == pytest.approx(0.9511, abs=5e-5)
    assert content["pearson"]["ci"] is not None


def test_training_seeds_are_policies_of_their_own_and_not_pooled(run, write):
    for name, successes in (("sim.csv", (54, 36)), ("real.csv", (42, 30))):
        rows = [
            row
            for arm in ("p", "q")
            for seed, k in enumerate(successes)
            for row in outcomes(k, 60, arm, str(seed))
        ]
        write(name, rows, f"{ARM},seed")
    out = run("validate", "sim.csv", "real.csv")[1]
    assert "p, seed 1: simulation 36/60" in out
    assert "over 4 policies" in " ".join(out.split())
    assert "pooled" not in out


def test_policies_that_disagree_show_no_p_of_agreeing(run, write):
    write("v.csv", ["a,.1,.9", "b,.2,.8", "c,.5,.5", "d,.8,.2", "e,.9,.1"], "arm,sim,real")
    code, out, _ = run("validate", "v.csv")
    assert code == 0
    assert "the target rates it low: Pearson -1.00, over 5 policies." in " ".join(out.split())
    write("w.csv", ["a,.1,.1", "b,.2,.2", "c,.5,.5", "d,.8,.8", "e,.9,.9"], "arm,sim,real")
    assert "Pearson +1.00, p = .008, over" in " ".join(run("validate", "w.csv")[1].split())


def test_a_table_is_not_compared_with_itself(run, write):
    write("a.csv", outcomes(17, 20))
    for verb in ("compare", "gap"):
        code, out, error = run(verb, "a.csv", "./a.csv")
        assert (code, out) == (2, "")
        assert "a.csv is compared with itself" in error


def both_sides(**successes):
    """Rows of one table: each arm's successes of 60 in simulation and on the bench."""
    return [
        ",".join((row, arm, target))
        for arm, ks in successes.items()
        for target, k in zip(("sim", "bench"), ks, strict=True)
        for row in outcomes(k, 60)
    ]


POLICIES = both_sides(p=(54, 42), q=(36, 30), r=(42, 24), s=(12, 6))


def test_agreement_keeps_the_sides_of_one_table_apart(run, write):
    """Once both sides held all trials, and simulation agreed with itself."""
    write("one.csv", POLICIES, f"{ARM},target")
    code, out, _ = run("validate", "one.csv", "one.csv")
    assert code == 0
    assert "p: simulation 54/60 = 90 % (80 to 95), target 42/60" in " ".join(out.split())
    write("same.csv", arms(p=54, q=36, r=42, s=12), ARM)
    code, _, error = run("validate", "same.csv", "same.csv")
    assert code == 2
    assert "is compared with itself" in error


def test_simulation_and_target_are_not_pooled(run, write):
    write("one.csv", POLICIES, f"{ARM},target")
    code, _, error = run("compare", "one.csv")
    assert code == 2
    assert "simulation and target are not pooled; choose with --target" in error
    assert "q: 30/60" in run("compare", "one.csv", "--target", "bench")[1]


def test_the_nominal_suite_counts_where_none_is_asked_for(run, write):
    rows = [
        f"{row},{suite}"
        for suite, shift in (("nominal", 0), ("backgrounds", 20))
        for row in arms(x=50 - shift, y=30)
    ]
    write("suites.csv", rows, f"{ARM},suite")
    out = " ".join(run("compare", "suites.csv")[1].split())
    assert "x: 50/60" in out
    assert "the suite nominal alone counts; left out: backgrounds." in out
    assert "x: 30/60" in run("compare", "suites.csv", "--suite", "backgrounds")[1]


def test_trials_that_a_rule_stopped_carry_a_warning(run, write, tmp_path):
    write("a.csv", outcomes(9, 10))
    write("b.csv", outcomes(3, 10))
    assert "stopped" not in run("compare", "a.csv", "b.csv")[1]
    (tmp_path / "a.plan.json").write_text("{}")
    assert "stopped by the rule of the plan beside it" in " ".join(
        run("compare", "a.csv", "b.csv")[1].split()
    )


def test_one_table_holds_both_sides_of_a_gap(run, write):
    """Once all its trials stood on both sides, and there was no gap."""
    outcome = [(1, 1)] * 27 + [(1, 0)] * 11 + [(0, 1)] * 2 + [(0, 0)] * 10
    rows = [f"{i},{a},sim" for i, (a, _) in enumerate(outcome)]
    rows += [f"{i},{b},real" for i, (_, b) in enumerate(outcome)]
    write("both.csv", rows, "condition,success,target")
    code, out, _ = run("gap", "both.csv", "both.csv", "--json")
    found = json.loads(out)
    assert (code, found["points"], found["paired"]) == (0, pytest.approx(0.18), True)
    assert (found["sim"]["k"], found["real"]["k"], found["sim"]["n"]) == (38, 29, 50)
    assert json.loads(run("gap", "both.csv", "both.csv", "--target", "real", "--json")[1]) == found


def test_one_file_twice_is_judged_as_one_table(run, write):
    rows = [
        f"{i},{(i * 7 + k) % 3 > 0:d},{a},{t}"
        for a in "xy"
        for k, t in enumerate("pq", 1)
        for i in range(40)
    ]
    write("t.csv", rows, "condition,success,arm,target")
    one = run("compare", "t.csv", "--json")
    assert run("compare", "t.csv", "t.csv", "--arm", "x", "--against", "y", "--json") == one


def test_pooled_arms_are_said_once(run, write):
    rows = [f"{i},{i % 2},{a},{t}" for a in "xy" for t in ("sim", "real") for i in range(9)]
    write("t.csv", rows, "condition,success,arm,target")
    assert run("gap", "t.csv", "t.csv")[1].count("are pooled") == 1
