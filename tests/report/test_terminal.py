from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simreal.core.files import read_json
from simreal.report.terminal import terminal_summary

NAMES = ("demo", "edges", "bare")


def summary(folder: Path) -> dict[str, Any]:
    return dict(read_json(folder / "summary.json"))


@pytest.mark.parametrize("name", NAMES)
def test_no_line_is_wider_than_80_columns(studies: dict[str, Path], name: str) -> None:
    text = terminal_summary(summary(studies[name]))
    assert max(len(line) for line in text.splitlines()) <= 80
    assert text.endswith("\n")
    assert "\x1b" not in text


@settings(max_examples=25)
@given(name=st.text(st.characters(codec="utf-8", exclude_categories=("C",)), max_size=120))
def test_any_name_of_an_arm_fits(demo_study: Path, name: str) -> None:
    content = summary(demo_study)
    content["arms"][0]["name"] = name
    lines = terminal_summary(content).splitlines()
    assert max(len(line) for line in lines) <= 80


def test_counts_intervals_gap_and_cost_stand_in_the_row_of_their_arm(demo_study: Path) -> None:
    text = terminal_summary(summary(demo_study))
    row = text[text.index("hybrid") :]
    for part in ("95/100", "93/100", "77/100", "93 (86-97)", "+2.0", "$16.47"):
        assert part in row


def test_advice_next_step_and_label_follow(demo_study: Path) -> None:
    text = terminal_summary(summary(demo_study))
    assert "Take hybrid: train on 600 simulated and 20 real demonstrations." in text
    assert "Next: Trials on a robot." in text
    assert "Target, unseen and gap: stand-in (simulated)." in text


def test_what_was_not_measured_says_so(edge_study: Path, bare_study: Path) -> None:
    text = terminal_summary(summary(edge_study))
    for part in ("no data", "too few", "not tried", "unknown", "86/120, mean", "of 2 targets"):
        assert part in text
    assert "stand-in" not in terminal_summary(summary(bare_study))


def test_markup_in_names_is_text(demo_study: Path) -> None:
    content = summary(demo_study)
    content["arms"][0]["name"] = "[red]x[/red]"
    assert "[red]x" in terminal_summary(content)
