import json
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simreal.core.errors import BadDataError, UsageError
from simreal.core.types import Trial
from simreal.verdicts.compare import compare
from simreal.verdicts.keys import keyed, outcomes
from simreal.verdicts.records import TrialRow, read_trials


def csv(tmp_path, text, name="trials.csv"):
    path = tmp_path / name
    path.write_text(text)
    return path


def jsonl(tmp_path, records, name="trials.jsonl"):
    return csv(tmp_path, "".join(json.dumps(r) + "\n" for r in records), name)


def test_a_spreadsheet_with_two_columns(tmp_path):
    table = read_trials(csv(tmp_path, "condition,success\n1,1\n2,0\n3,yes\n4,No\n5,TRUE\n"))
    assert [row.success for row in table.rows] == [True, False, True, False, True]
    assert [row.condition for row in table.rows] == ["1", "2", "3", "4", "5"]
    assert table.notes == ()


def test_all_optional_columns(tmp_path):
    text = (
        "arm,condition,success,seed,score,failure,n_real,n_sim\nhybrid,c1,0,3,0.5,slipped,20,600\n"
    )
    row = read_trials(csv(tmp_path, text)).rows[0]
    assert row == TrialRow(
        "c1", False, "hybrid", None, "nominal", 3, 0.5, "slipped", 20, 600, None, None
    )


@pytest.mark.parametrize("text", ["condition;success\n1;1\n", "condition\tsuccess\n1\t1\n"])
def test_other_separators(tmp_path, text):
    assert read_trials(csv(tmp_path, text)).rows[0].success is True


def test_a_byte_order_mark_and_blank_lines_do_not_matter(tmp_path):
    path = tmp_path / "excel.csv"
    path.write_bytes(b"\xef\xbb\xbfCondition , Success\r\n1,1\r\n,\r\n2,0\r\n")
    assert [row.success for row in read_trials(path).rows] == [True, False]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "condition,result\n1,1\n",
            "lacks the column 'success'; its columns are condition, result",
        ),
        ("a,b\n1,1\n", "'condition' and 'success'"),
        ("condition,success\n", "holds no trials"),
        ("", "its columns are none"),
        ("condition,success\n1,1\n2,maybe\n", "line 3: success is 'maybe'"),
        ("condition,success\n,1\n", "line 2: condition is ''"),
        ("condition,success\n1,1,1\n", "line 2: 3 cells under 2 columns"),
        ("condition,success,success\n1,1,1\n", "'success' twice"),
        ("condition,success,seed\n1,1,x\n", "seed is 'x', not a number"),
        ("condition,success,seed\n1,1,1.5\n", "seed is '1.5', not a whole number"),
        ("condition,success,n_real\n1,1,-5\n", "n_real is '-5'"),
        ("condition,success,score\n1,1,7\n", "score is '7', not a score between 0 and 1"),
        ("condition,success,score\n1,1,inf\n", "not a finite number"),
    ],
)
def test_a_bad_spreadsheet_is_refused_with_line_and_value(tmp_path, text, message):
    with pytest.raises(BadDataError, match=message):
        read_trials(csv(tmp_path, text))


def test_a_missing_file_and_a_strange_one_are_refused(tmp_path):
    with pytest.raises(UsageError, match=r"No trials file .*none\.csv"):
        read_trials(tmp_path / "none.csv")
    with pytest.raises(UsageError, match=r"neither \.csv nor \.jsonl"):
        read_trials(csv(tmp_path, "x", "trials.xlsx"))
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(BadDataError, match="not UTF-8"):
        read_trials(tmp_path / "binary.csv")


def trial(**change):
    base = Trial("abc", "hybrid", 0, "twin", "nominal", 7, True, 1.0, None, 90, 4.5, 0, None, 0)
    return {**asdict(base), **change}


def test_a_studys_trials_are_read_back(tmp_path):
    rows = read_trials(jsonl(tmp_path, [trial(), trial(condition=8, success=False)])).rows
    assert rows[0] == TrialRow.of(Trial(**trial()))
    assert [row.success for row in rows] == [True, False]


def test_a_torn_last_line_is_left_out_and_a_torn_middle_refused(tmp_path):
    path = jsonl(tmp_path, [trial(), trial(condition=8)])
    path.write_text(path.read_text() + '{"condition": 9, "succ')
    assert len(read_trials(path).rows) == 2
    path.write_text('{"condition"\n' + json.dumps(trial()) + "\n")
    with pytest.raises(BadDataError, match="line 1, is not valid JSON"):
        read_trials(path)


@pytest.mark.parametrize("text", ["[1]\n", '{"condition": 1}\n', '{"success": true}\n'])
def test_lines_that_are_no_trials_are_refused(tmp_path, text):
    with pytest.raises(BadDataError, match="line 1"):
        read_trials(csv(tmp_path, text, "trials.jsonl"))


def test_lost_trials_are_kept_and_noted(tmp_path):
    table = read_trials(csv(tmp_path, "condition,success\n1,1\n2,\n3,NA\n"))
    assert [row.success for row in table.rows] == [True, None, None]
    assert "2 trials have no outcome" in table.notes[0]


def episodes(k, n, **more):
    """Logs as evaluation scripts write them: k of n succeed."""
    return [
        {"seed": i, "success": i < k, "terminated": i < k, "truncated": i >= k, **more}
        for i in range(n)
    ]


def test_time_outs_are_no_successes(tmp_path):
    """Case C067: 8 of 20, six time-outs recorded as successes."""
    rows = episodes(8, 20)
    for row in rows[8:14]:
        row["success"] = True
    table = read_trials(jsonl(tmp_path, rows))
    assert sum(row.success for row in table.rows) == 8
    assert "6 time-outs" in table.notes[0]
    assert {row.failure for row in table.rows[8:14]} == {"timed out"}


def test_trials_solved_at_reset_are_left_out(tmp_path):
    """Case C067: 12 of 20, five of them solved at reset."""
    rows = episodes(12, 20)
    for row in rows[:5]:
        row["success_at_reset"] = True
    table = read_trials(jsonl(tmp_path, rows))
    assert (sum(row.success for row in table.rows), len(table.rows)) == (7, 15)
    assert "5 trials were solved at reset" in table.notes[0]


def test_holes_in_numbered_conditions_are_noted(tmp_path):
    """Case C106: 20 planned, 16 there."""
    rows = episodes(10, 20)
    table = read_trials(jsonl(tmp_path, rows[:13] + rows[17:]))
    assert len(table.rows) == 16
    assert "13, 14, 15, 16" in table.notes[0]


def test_repeated_seeds_count_once(tmp_path):
    """Case C069: 20 episodes on 4 seeds are 4 trials, too few for a verdict."""
    rows = [{**row, "seed": row["seed"] % 4} for row in episodes(10, 20)]
    table = read_trials(jsonl(tmp_path, rows))
    a, b = keyed(table.rows, table.rows)
    found = compare(a, b)
    assert (found.a.k, found.a.n) == (10, 20)
    assert "4.0 effective" in found.a.method
    assert found.state == "cannot tell"


def row(condition, success=True, **more):
    return TrialRow(condition, success, **more)


def test_keys_name_as_little_as_tells_trials_apart():
    a = [row("1"), row("2")]
    b = [row("1", seed=4), row("2", seed=5)]
    keys_a, keys_b = keyed(a, b)
    assert keys_a.keys() == keys_b.keys() == {("nominal", "1"), ("nominal", "2")}


def test_training_seeds_and_targets_tell_repeated_conditions_apart():
    rows = [row("1", seed=s, target=t) for s in (0, 1) for t in ("x", "y")]
    keys, _ = keyed(rows, rows)
    assert len(keys) == 4
    assert not any(isinstance(value, tuple) for value in keys.values())


def test_a_gap_ignores_the_target_and_counts_a_condition_once():
    sim = [row("1", target="sim"), row("2", target="sim")]
    real = [row("1", target="x"), row("1", False, target="y"), row("2", target="x")]
    keys_sim, keys_real = keyed(sim, real, across_targets=True)
    assert keys_sim.keys() == keys_real.keys()
    assert keys_real["nominal", "1"] == (True, False)


def test_suites_are_different_conditions():
    found = outcomes([row("1"), row("1", False, suite="backgrounds")])
    assert found == {("nominal", "1"): True, ("backgrounds", "1"): False}


def test_a_lost_repeat_leaves_the_others():
    found = outcomes([row("1", None), row("1", True), row("2", None), row("2", None)])
    assert found == {("nominal", "1"): True, ("nominal", "2"): None}


NAMES = st.text("abc123", min_size=1, max_size=3)


@given(st.lists(st.tuples(NAMES, st.booleans()), min_size=1, max_size=30))
def test_no_trial_is_lost_between_file_and_comparison(tmp_path_factory, trials):
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    path.write_text("condition,success\n" + "".join(f"{c},{int(s)}\n" for c, s in trials))
    rows = read_trials(path).rows
    found = compare(*keyed(rows, rows), paired=False)
    assert found.a.n == len(trials)
    assert found.a.k == sum(success for _, success in trials)


def test_excel_marks_its_separator_and_pads_lines(tmp_path):
    text = "sep=;\ncondition;success\n1;1;;\n2;0; ;\n"
    assert [row.success for row in read_trials(csv(tmp_path, text)).rows] == [True, False]
    with pytest.raises(BadDataError, match=r"line 3: 1 cell under 2 columns"):
        read_trials(csv(tmp_path, "sep=;\ncondition;success\n1\n"))


@pytest.mark.parametrize(
    "line",
    [
        "[" * 100_000,
        '{"condition": 1, "success": true, "seed": ' + "9" * 5000 + "}",
    ],
)
def test_json_that_no_parser_takes_is_named(tmp_path, line):
    with pytest.raises(BadDataError, match="line 1, is not valid JSON"):
        read_trials(csv(tmp_path, line + "\n", "trials.jsonl"))


def test_a_cell_without_an_end_is_named(tmp_path):
    with pytest.raises(BadDataError, match="line 2: field larger than field limit"):
        read_trials(csv(tmp_path, "condition,success\n" + "x" * 200_000 + ",1\n"))


def test_a_line_separator_inside_a_name_ends_no_line(tmp_path):
    """Such a line was once taken for torn, and all after it was left out without a word."""
    text = '{"condition": "a\u2028b", "success": true}\n{"condition": "c", "success": false}\n'
    assert [row.condition for row in read_trials(csv(tmp_path, text, "t.jsonl")).rows] == [
        "a\u2028b",
        "c",
    ]


def test_a_torn_last_line_is_said(tmp_path):
    whole = '{"condition": 1, "success": true}'
    torn = read_trials(csv(tmp_path, whole + '\n{"condition": 2, "su', "t.jsonl"))
    assert len(torn.rows) == 1
    assert "The last line is cut off" in torn.notes[0]
    assert read_trials(csv(tmp_path, whole + "\n" + whole.replace("1", "2"), "t.jsonl")).notes == ()


def test_repeats_of_a_condition_are_said(tmp_path):
    rows = "".join(f"{i % 4},1\n" for i in range(20))
    notes = read_trials(csv(tmp_path, "condition,success\n" + rows)).notes
    assert notes == ("20 trials are of 4 conditions; repeats of a condition count once.",)
    seeds = "".join(f"{i % 4},1,{i // 4}\n" for i in range(20))
    assert read_trials(csv(tmp_path, "condition,success,seed\n" + seeds)).notes == ()


def test_an_arm_may_be_called_a_policy(tmp_path):
    assert read_trials(csv(tmp_path, "condition,success,policy\n1,1,p\n")).rows[0].arm == "p"
