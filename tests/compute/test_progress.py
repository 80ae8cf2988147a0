import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from simreal.compute.progress import Estimate, Progress, Step, duration


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


def run(steps, started, *, terminal=False, seconds_each=1.0, width=80):
    """Run every started (title, total) to its end, one unit a `seconds_each`; what was shown."""
    clock, out = Clock(), io.StringIO()
    console = Console(file=out, force_terminal=terminal, width=width, color_system=None)
    with Progress(steps, console=console, clock=clock) as progress:
        for title, total in started:
            progress.start(title, total, "episodes")
            for _ in range(total):
                clock.now += seconds_each
                progress.advance()
        last = progress.line()
    return out.getvalue(), last


def test_lines_come_at_most_every_ten_seconds():
    shown, _ = run([], [("Collect", 65)])
    assert len(shown.splitlines()) == 7  # at 0, 10, ... 60 s
    quick, _ = run([], [(f"step {i}", 3) for i in range(5)])
    assert len(quick.splitlines()) == 2


def test_a_line_says_what_how_far_how_long_and_what_is_left():
    shown, _ = run([Step("Collect", 100), Step("Train", 300)], [("Collect", 40)])
    assert shown.splitlines()[1] == (
        "1/2 Collect  10/40 episodes  25%  10 s  about 2 min 30 s left"
    )


def test_lines_fit_80_columns_and_hold_no_control_characters():
    shown, last = run([Step("a very long title " * 9, 1e6)], [("a very long title " * 9, 200_000)])
    lines = shown.splitlines()
    assert max(map(len, [*lines, last])) <= 80
    assert "\x1b" not in shown
    assert "left" in lines[5]


def test_a_terminal_gets_a_bar_that_fits_80_columns():
    title = "Collect randomized demonstrations in the simulator"
    shown, _ = run([Step(title, 1e4)], [(title, 30_000)], terminal=True)
    assert "\x1b" in shown
    out = io.StringIO()
    progress = Progress([Step(title, 1e4)], console=Console(file=out, width=80))
    progress.start(title, 30_000, "episodes")
    progress.advance(3_000)
    out.truncate(out.seek(0))
    progress._console.print(progress._bar())
    (drawn,) = out.getvalue().rstrip("\n").splitlines()
    assert len(drawn) <= 80
    assert drawn.startswith("1/1 Collect randomized")
    assert "━" in drawn
    assert "3,000/30,000 episodes about" in drawn


def test_the_first_line_already_estimates_from_the_guesses():
    estimate = Estimate([Step("a", 60), Step("b", 240)])
    assert estimate.left_s("a", 0.0, 0.0) == 300


def test_a_machine_half_as_fast_doubles_the_guesses():
    estimate = Estimate([Step("a", 60), Step("b", 240)])
    assert estimate.left_s("a", 60.0, 0.5) == pytest.approx(60 + 480)
    estimate.finish("a", 120.0)
    assert estimate.left_s("b", 0.0, 0.0) == pytest.approx(480)
    assert estimate.left_s("b", 100.0, 0.5) == pytest.approx(100)


def test_a_step_without_a_guess_goes_by_its_rate():
    estimate = Estimate([])
    assert estimate.left_s("x", 1.0, 0.01) is None
    assert estimate.left_s("x", 10.0, 0.25) == pytest.approx(30)


def test_a_step_of_nothing_is_finished():
    _, last = run([], [("Nothing to do", 0)])
    assert "100%" in last


@given(
    guesses=st.lists(st.floats(0.1, 1e4), min_size=1, max_size=5),
    seconds=st.floats(0, 1e5),
    fraction=st.floats(0, 1),
)
def test_what_is_left_is_never_negative_nor_nan(guesses, seconds, fraction):
    estimate = Estimate([Step(str(i), guess) for i, guess in enumerate(guesses)])
    left = estimate.left_s("0", seconds, fraction)
    assert left is not None
    assert left >= 0


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "0 s"), (59.4, "59 s"), (59.6, "1 min 00 s"), (200, "3 min 20 s"), (7500, "2 h 05 min")],
)
def test_durations_read_naturally(seconds, text):
    assert duration(seconds) == text
