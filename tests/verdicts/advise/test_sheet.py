import json

import pytest

from simreal.cli import main
from simreal.core.errors import BadDataError
from simreal.verdicts.advise import evidence_of_table
from simreal.verdicts.cost.prices import prices_from
from simreal.verdicts.records import read_trials

HEADER = "condition,success,arm,n_real,n_sim"
PILOT = (("real-10", 10, 10, 0), ("real-50", 27, 50, 0), ("sim", 28, 0, 600), ("both", 41, 50, 600))


def table(path, arms=PILOT, header=HEADER, extra=()):
    lines = [
        f"{i},{int(i < k)},{arm},{n_real},{n_sim}"
        for arm, k, n_real, n_sim in arms
        for i in range(50)
    ]
    path.write_text("\n".join([header, *lines, *extra]) + "\n")
    return path


def test_a_table_is_evidence(tmp_path):
    evidence = evidence_of_table(read_trials(table(tmp_path / "t.csv")).rows, prices_from({}))
    assert [(a.name, a.n_real, a.n_sim) for a in evidence.arms] == [
        (arm, n_real, n_sim) for arm, _, n_real, n_sim in PILOT
    ]
    assert evidence.targets == ("target",)
    assert evidence.pooled_rate("both").k == 41


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["0,1,none,0,0"], "n_real 0 and n_sim 0"),
        (["0,1,both,20,600"], "several amounts of data"),
        (["0,1,new,,600"], "lacks n_real or n_sim"),
        (["0,1,,10,600"], "names no arm"),
    ],
)
def test_what_does_not_make_evidence_is_refused_in_a_sentence(tmp_path, lines, said):
    path = table(tmp_path / "t.csv", extra=lines)
    with pytest.raises(BadDataError, match=said):
        evidence_of_table(read_trials(path).rows, prices_from({}))


def test_trials_in_simulation_alone_say_nothing_of_a_target(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(f"{HEADER},target\n" + "".join(f"{i},1,a,0,600,sim\n" for i in range(9)))
    with pytest.raises(BadDataError, match="simulation only"):
        evidence_of_table(read_trials(path).rows, prices_from({}))


def run(capsys, *words):
    code = 0
    try:
        main(["advise", *map(str, words)])
    except SystemExit as end:
        code = end.code or 0
    shown = capsys.readouterr()
    return code, shown.out, shown.err


def test_the_verb_answers_from_a_table(tmp_path, capsys):
    path = table(tmp_path / "t.csv")
    code, out, _ = run(capsys, path, "--target", "0.85", "--built")
    assert code == 0
    lines = out.splitlines()
    assert lines[0] == "Advice: hybrid (from both)."
    assert max(map(len, lines)) <= 80
    order = [out.index(part) for part in ("Next:", "Roads to 85 %", "What would", "Taken for")]
    assert order == sorted(order)


def test_a_simulator_that_made_demonstrations_is_there(tmp_path, capsys):
    path = table(tmp_path / "t.csv")
    _, there, _ = run(capsys, path, "--target", "0.85")
    assert there == run(capsys, path, "--target", "0.85", "--built")[1]
    assert "The simulator is there and costs nothing more to build" in there
    _, anew, _ = run(capsys, path, "--target", "0.85", "--to-build")
    assert "Building the simulator costs USD 3,000 to 24,000" in anew
    code, _, error = run(capsys, path, "--built", "--to-build")
    assert code == 2
    assert "not both" in error


def test_the_verb_prints_one_object(tmp_path, capsys):
    code, out, err = run(capsys, table(tmp_path / "t.csv"), "--target", "0.85", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["state"] == "do not build a simulator" or json.loads(out)["roads"]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--target", "85"), 2, "between 0 and 1"),
        (("--target", "0.8", "--confidence", "80"), 2, "confidence"),
        (("--budget", "-3"), 2, "budget"),
        (("--tolerance-mm", "1"), 2, "all three"),
        (("--collision-limit", "2"), 2, "rate between 0 and 1"),
        (("--stage-days", "3"), 2, "give --deadline too"),
        (("--prices", "no.toml"), 2, "No price file"),
        (("--deadline", "0"), 2, "until the deadline are a number above 0"),
        (("--deadline", "9" * 400), 2, "1,000,000 days at most"),
    ],
)
def test_wrong_requests_are_one_sentence(tmp_path, capsys, words, code, said):
    done, out, err = run(capsys, table(tmp_path / "t.csv"), *words)
    assert (done, out) == (code, "")
    assert said in err
    assert "Traceback" not in err


def test_a_missing_table_is_said(tmp_path, capsys):
    code, _, err = run(capsys, tmp_path / "none.csv")
    assert code == 2
    assert "none.csv" in err


def test_what_was_noticed_in_the_table_is_said(tmp_path, capsys):
    """Time-outs written down as successes count as failures, and the reader is told so."""
    lines = [
        json.dumps(
            {"condition": i, "success": i < 14, "terminated": i < 8, "truncated": i >= 8}
            | {"arm": "a", "n_real": 20, "n_sim": 0}
        )
        for i in range(20)
    ]
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join(lines) + "\n")
    noticed = "t.jsonl: 6 time-outs were recorded as success; counted as failure."
    assert noticed in " ".join(run(capsys, path, "--target", "0.8")[1].split())
    assert noticed in json.loads(run(capsys, path, "--target", "0.8", "--json")[1])["assumptions"]


@pytest.mark.parametrize(("columns", "widest"), [("0", 80), ("1", 40), ("50", 50), ("200", 80)])
def test_a_narrow_terminal_breaks_no_words(tmp_path, capsys, monkeypatch, columns, widest):
    monkeypatch.setenv("COLUMNS", columns)
    lines = run(capsys, table(tmp_path / "t.csv"), "--target", "0.85")[1].splitlines()
    prose = [line for line in lines if line.startswith(("- ", "  ", "Next"))]
    assert max(len(line) for line in prose if "  " not in line.strip()) <= widest
    assert "demonstrations" in " ".join(lines)
