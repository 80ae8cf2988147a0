"""The explanation as text: the plain sentence first, a waterfall that adds up, 80 columns."""

import re

import numpy as np
import pytest

from simreal.core.seeds import generator
from simreal.report.waterfall import explanation_lines, headline, waterfall
from simreal.verdicts.explain import CAVEAT, Case, explanation
from simreal.verdicts.records import TrialRow

FACTORS = ("visual", "dynamics", "sensing", "actuation")


def rows(successes, failure):
    return [
        TrialRow(str(i), bool(s), failure=None if s else failure) for i, s in enumerate(successes)
    ]


def content(drops=(0.14, 0.05, 0.0, 0.03), left=0.1, n_real=100, target="twin-a", **case):
    """200 seeds on which the factors cost `drops`, and a target that costs `left` on top."""
    level = (np.arange(200) + 0.5) / 200
    level = generator(0, "waterfall").permutation(level)
    cells = [
        rows(level < 0.95 - sum(d for i, d in enumerate(drops) if s >> i & 1), "never reached")
        for s in range(16)
    ]
    real = rows(level[:n_real] < 0.95 - sum(drops) - left, "slipped")
    about = {
        "arm": "sim-only",
        "seed": 0,
        "label": "stand-in (simulated)",
        "profile": "twin-a (known target)",
        "factors": FACTORS,
        "described": FACTORS,
    } | case
    return explanation(Case(target=target, **about), cells, real)


def test_a_target_tried_on_other_conditions_has_a_gap_of_its_own():
    """Of 200 conditions the target saw 40, which were the easy ones."""
    found = content(n_real=40)
    eased = {**found, "gap": {"points": 0.15, "ci": [0.09, 0.23]}}
    said = headline(eased)
    assert said.startswith("Of the 22 points that the profile takes from simulation over 200")
    assert "On those tried on twin-a the gap is 15 (9 to 23), of which" in said


def test_the_plain_sentence_comes_first_and_adds_up():
    found = content()
    lines = explanation_lines(found)
    text = " ".join(lines[:3])
    assert text.startswith("Of the 3")
    parts = re.findall(r"(-?\d+) \(-?\d+ to -?\d+\) (?:go )?with (\w+)", headline(found))
    assert [(int(p), name) for p, name in parts] == [
        (14, "visual"),
        (5, "dynamics"),
        (3, "actuation"),
        (0, "sensing"),
    ]
    assert headline(found).endswith("stay unexplained.")


@pytest.mark.parametrize("target", ["twin-a", "the-long-name-of-a-robot-in-the-second-hall"])
def test_all_lines_fit_80_columns(target):
    for found in (content(target=target), content(n_real=0), content((0.9, 0, 0, 0), 0)):
        assert max(map(len, explanation_lines(found))) <= 80


def test_bars_of_the_waterfall_meet():
    """Each fall begins where the level before it ended."""
    bars = [line[23:47] for line in waterfall(content())]
    ends = [len(bars[0].rstrip())]
    for bar in bars[1:5]:
        if bar.strip():
            assert len(bar.rstrip()) == ends[-1]
            ends.append(len(bar) - len(bar.lstrip()))
    assert abs(len(bars[5].rstrip()) - ends[-1]) <= 1


def test_gains_are_marked_as_such():
    found = content(drops=(0.3, -0.04, 0, 0), left=0)
    assert any("+" in line[23:47] for line in waterfall(found))


def test_counts_intervals_caveat_and_label_stand_there():
    lines = explanation_lines(content())
    text = " ".join(" ".join(lines).split())
    assert "190/200 = 95 % (91 to 97)" in text
    assert CAVEAT in text
    assert "twin-a is a stand-in (simulated)." in text
    assert "200 common conditions" in text
    assert re.search(r"missed +10 +54 +0", text)
    assert re.search(r"of +200 +200 +100", text)
    robot = " ".join(explanation_lines(content(label="robot")))
    assert "stand-in" not in robot


def test_a_target_that_was_not_tried_and_a_loss_that_is_none():
    assert "was not tried, so what is left unexplained is unknown" in headline(content(n_real=0))
    none = headline(content(drops=(0, 0, 0, 0), left=-0.02))
    assert none.startswith("There is no loss to share out: simulation 190/200, as the profile says")


def test_pairs_that_do_not_add_up_and_what_was_noticed_are_said():
    good, bad = np.ones(60), np.zeros(60)
    together = [rows(bad if s & 3 == 3 else good, "missed") for s in range(16)]
    overlap = [rows(bad if s & 3 else good, "missed") for s in range(16)]
    case = Case("a", 0, "t", "", "p", FACTORS, ("visual", "dynamics", "sensing"))
    first = "\n".join(explanation_lines(explanation(case, together, [], together[3])))
    assert "Visual and dynamics act together: 100 (" in first
    assert "The profile says nothing about actuation." in first
    assert "Of 60 earlier trials in simulation 60 ended otherwise" in " ".join(first.split())
    second = "\n".join(explanation_lines(explanation(case, overlap, [])))
    assert "Visual and dynamics overlap" in second
