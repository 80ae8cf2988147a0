"""The arm with a peg as a world's robot: where things stand, what is measured and judged."""

from dataclasses import replace

import numpy as np
import pytest

from simreal.core.errors import UsageError
from simreal.core.seeds import generator
from simreal.core.types import Condition
from simreal.worlds.peg_rig import to_boundary, to_si
from simreal.worlds.randomize import profile
from simreal.worlds.simulated import SimConfig, simulated_world
from simreal.worlds.tasks import task
from simreal.worlds.world import World

INSERT = task("insert")
CENTRED = dict.fromkeys(INSERT.reset_names, 0.0) | {
    "hole_x_m": 0.45,
    "start_z_m": 0.012,
    "clearance_m": 0.0002,
}


def condition(index: int = 0, suite: str = "demonstrations", **reset: float) -> Condition:
    return Condition(index, suite, CENTRED | reset, seed=index)


def drawn(n: int, suite: str = "nominal") -> list[Condition]:
    draws = [INSERT.draw(generator(3, "test/insert", i)) for i in range(n)]
    return [Condition(i, suite, reset, i) for i, reset in enumerate(draws)]


def world(chosen: str = "none", batch: int = 16, name: str = "insert") -> World:
    picked = profile(chosen, task(name).robot)
    return simulated_world(SimConfig(task=name, profile=picked, batch=batch))


def go(played: World, target: np.ndarray, steps: int) -> None:
    for _ in range(steps):
        played.act(to_boundary(target))


def test_units_at_the_boundary_are_millimetres_and_degrees():
    si = np.array([[0.45, -0.01, 0.03, 0.0, np.pi / 2, -np.pi]])
    assert to_boundary(si)[0] == pytest.approx([450, -10, 30, 0, 90, -180])
    assert to_si(to_boundary(si)) == pytest.approx(si)


def test_everything_stands_where_the_condition_says():
    played = world()
    turned = condition(
        1, hole_x_m=0.48, hole_y_m=-0.03, hole_yaw_rad=0.2, start_x_m=0.004, start_ry_rad=0.05
    )
    shifted = condition(2, grasp_x_m=0.003, grasp_z_m=-0.002)
    tilted = condition(3, grasp_turn_rad=np.deg2rad(5))
    played.reset([condition(), turned, shifted, tilted])
    known = played.privileged()
    assert known.mouth[1] == pytest.approx([0.48, -0.03, 0.03], abs=1e-6)
    assert known.yaw == pytest.approx([0, 0.2, 0, 0], abs=1e-6)
    assert known.tool[1, :3] == pytest.approx([0.484, -0.03, 0.042], abs=1e-5)
    assert known.state.tip[0] == pytest.approx([0, 0, 0.012], abs=1e-5)
    assert known.state.tip[2] == pytest.approx([0.003, 0, 0.010], abs=1e-5)
    assert np.rad2deg(known.state.tilt) == pytest.approx([0, np.rad2deg(0.05), 0, 5], abs=0.01)
    assert played.observe(images=False).joint_pos[0] == pytest.approx(
        [450, 0, 42, 0, 0, 0], abs=0.01
    )


def test_the_start_is_at_rest_and_feels_nothing():
    played = world()
    played.reset(drawn(8))
    before = played.privileged().tool
    go(played, before, 10)
    assert np.abs(played.privileged().tool - before).max() < 2e-5
    window = played.observe(images=False).wrench
    assert window is not None
    assert window.shape == (8, 25, 6)
    assert np.abs(window).max() < 0.05


def test_a_push_on_the_plate_is_felt_as_force_and_as_a_lever():
    """Beside the hole: stiffness times depth less what the pads give; a peg stands on its rim."""
    played = world()
    beside = {"start_x_m": 0.02, "start_z_m": 0.005}
    lean = np.deg2rad(3.0)
    played.reset([condition(i, **beside, grasp_turn_rad=t) for i, t in enumerate((lean, -lean))])
    target = played.privileged().tool.copy()
    target[:, 2] = 0.03 - 0.005  # 5 mm into the plate: 5 N
    go(played, target, 40)
    window = played.observe(images=False).wrench
    assert window is not None
    mean = window.mean(axis=1)
    # 5 N, and 0.1 for the rim, less 0.6 mm that the pads give and 0.1 N of the joints' friction.
    assert ((mean[:, 2] > 4.2) & (mean[:, 2] < 4.8)).all()
    # A turn about y swings the end to -x, 50 mm below the grip; it stands on its rim at +x, 4 mm.
    lever = -mean[:, 4] / mean[:, 2]
    rim = 0.004 - 0.050 * np.sin(lean)
    assert lever == pytest.approx([rim, -rim], abs=0.0004)
    state = played.state()
    assert state.push_n == pytest.approx(mean[:, 2], rel=0.02)
    assert (state.depth == 0).all()
    assert not state.sides.any()


def test_a_straight_push_over_the_hole_seats_the_peg():
    played = world()
    played.reset([condition(), condition(1, clearance_m=0.0001), condition(2, hole_yaw_rad=0.2)])
    target = played.privileged().tool.copy()
    for _ in range(80):
        target[:, 2] = np.maximum(target[:, 2] - 0.0008, 0.03 - 0.026)
        go(played, target, 1)
    assert played.state().depth == pytest.approx(0.020, abs=1e-4)
    outcome = played.outcome()
    assert outcome.success.all()
    assert (outcome.score == 1).all()
    assert (outcome.peak_force_n < 15).all()


def test_suites_of_the_task_set_the_clearance_of_the_same_condition():
    played, same = world(), drawn(1)[0]
    bores = {}
    for suite in ("nominal", "wide", "tight"):
        played.reset([replace(same, suite=suite)])
        bores[suite] = float(played.state().bore[0] - played.state().width[0])
        assert played.privileged().mouth[0, 0] == pytest.approx(same.reset["hole_x_m"])
    assert bores == pytest.approx({"nominal": 2e-4, "wide": 5e-4, "tight": 1e-4})


def test_what_one_world_is_does_not_depend_on_the_others():
    batch, alone = world("full"), world("full", batch=1)
    wanted = drawn(5)
    batch.reset(wanted)
    alone.reset(wanted[3:4])
    start = batch.privileged().tool
    for step in range(25):
        target = start - np.array([0, 0, 0.0015 * step, 0, 0, 0])
        batch.act(to_boundary(target))
        alone.act(to_boundary(target[3:4]))
    for name in ("joint_pos", "wrench"):
        ours, theirs = (getattr(w.observe(images=False), name) for w in (batch, alone))
        assert np.array_equal(ours[3], theirs[0])


def test_a_second_episode_equals_a_fresh_one():
    used, fresh = world("full"), world("full")
    first, second = drawn(2)
    for played, conditions in ((used, [first, second]), (fresh, [second])):
        for chosen in conditions:
            played.reset([chosen])
            start = played.privileged().tool
            for step in range(20):
                played.act(to_boundary(start - np.array([0, 0, 0.0015 * step, 0, 0, 0])))
    assert np.array_equal(used.physics.qpos(), fresh.physics.qpos())
    assert np.array_equal(used.state().tip, fresh.state().tip)


@pytest.mark.parametrize(
    ("reset", "words"),
    [
        ({"hole_x_m": 1.2}, "cannot bring its tool to"),
        ({"clearance_m": 0.0}, "not smaller than the hole"),
        ({"clearance_m": -0.001}, "not smaller than the hole"),
        ({"clearance_m": 1e-6}, "under what the contact solver resolves"),
    ],
)
def test_what_cannot_be_played_is_refused_in_a_sentence(reset, words):
    with pytest.raises(UsageError, match=words):
        world().reset([condition(**reset)])
