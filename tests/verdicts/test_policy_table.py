import pytest

from simreal.core.errors import BadDataError, UsageError
from simreal.verdicts.agreement import Measured
from simreal.verdicts.policy_table import sides_of_table, sides_of_trials
from simreal.verdicts.records import TrialRow


def written(tmp_path, text, name="policies.csv"):
    path = tmp_path / name
    path.write_text(text)
    return path


def test_fractions_and_counts(tmp_path):
    sim, real = sides_of_table(
        written(tmp_path, "arm,sim,real\na,0.9,17/20\nb, 12 / 20 ,0.5\n\nc,1,0/5\n")
    )
    assert sim == {"a": Measured(0.9), "b": Measured(0.6, 12, 20), "c": Measured(1.0)}
    assert real == {"a": Measured(0.85, 17, 20), "b": Measured(0.5), "c": Measured(0.0, 0, 5)}


def test_other_separators_and_columns(tmp_path):
    sim, _ = sides_of_table(written(tmp_path, "note;Real;Sim;ARM\nx;0.5;0.9;a\n"))
    assert sim == {"a": Measured(0.9)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("arm,sim\na,0.5\n", "lacks the column 'real'; its columns are arm, sim. One file needs"),
        ("arm,sim,real\na,85,0.5\n", "line 2: sim is '85', not a fraction between 0 and 1 or"),
        ("arm,sim,real\na,0.5,21/20\n", "line 2: real is '21/20', not a fraction"),
        ("arm,sim,real\na,0.5,0/0\n", "line 2: real is '0/0'"),
        ("arm,sim,real\na,0.5,\n", "line 2: real is ''"),
        ("arm,sim,real\na,0.5,nan\n", "line 2: real is 'nan'"),
        ("arm,sim,real\n,0.5,0.5\n", "line 2: arm is empty"),
        ("arm,sim,real\na,1,1\na,0,0\n", "line 3: the policy 'a' stands there twice"),
        ("arm,sim,real\na,1\n", "line 2: 2 cells under 3 columns"),
    ],
)
def test_a_bad_table_is_refused_with_line_and_value(tmp_path, text, message):
    with pytest.raises(BadDataError) as error:
        sides_of_table(written(tmp_path, text))
    assert message in str(error.value)


def test_what_is_no_csv_is_refused(tmp_path):
    with pytest.raises(UsageError, match="No file"):
        sides_of_table(tmp_path / "nowhere.csv")
    with pytest.raises(UsageError, match="two files of trials"):
        sides_of_table(written(tmp_path, "{}", "trials.jsonl"))
    (tmp_path / "latin.csv").write_bytes("arm,sim,real\nä,1,1\n".encode("latin-1"))
    with pytest.raises(BadDataError, match="not UTF-8"):
        sides_of_table(tmp_path / "latin.csv")


def trials(arm, k, n, seed=0):
    return [TrialRow(str(i), i < k, arm, seed=seed) for i in range(n)]


def test_policies_are_arms_and_with_several_seeds_arms_and_seeds():
    sim = [*trials("a", 4, 5), *trials("b", 2, 5)]
    found, real = sides_of_trials(sim, [*trials("a", 3, 5)], ("sim", "real"))
    assert found["a"] == Measured(0.8, 4, 5, (4, 5))
    assert set(found) == {"a", "b"}
    assert set(real) == {"a"}
    more = [*trials("a", 4, 5), *trials("a", 5, 5, seed=1)]
    found, real = sides_of_trials(more, trials("a", 3, 5), ("sim", "real"))
    assert set(found) == {"a, seed 0", "a, seed 1"}
    assert set(real) == {"a, seed 0"}


def test_repeats_count_once_and_policies_without_a_seen_trial_are_none():
    found, real = sides_of_trials(
        trials("a", 4, 5) * 3, [TrialRow("0", None, "b")], ("sim", "real")
    )
    assert (found["a"].k, found["a"].n, found["a"].effective) == (12, 15, (4, 5))
    assert real == {}


def test_trials_without_an_arm_are_refused():
    with pytest.raises(BadDataError, match=r"real\.csv has trials without an arm"):
        sides_of_trials(trials("a", 1, 2), trials(None, 1, 2), ("sim.csv", "real.csv"))
