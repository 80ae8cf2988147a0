"""The batched world keeps the `Target` contract, and its sensing and actuation settings mean what
they say."""

import dataclasses
import itertools

import numpy as np
import pytest
from tests.contract.target_kit import check_target
from tests.worlds import kit

from simreal.core.errors import UsageError
from simreal.core.loop import run_episodes
from simreal.worlds import so101
from simreal.worlds.names import OBJECT, TABLE
from simreal.worlds.placing import initial_qpos, table_height
from simreal.worlds.randomize import Profile, draw, profile
from simreal.worlds.settings import Settings
from simreal.worlds.simulated import SimConfig, scene_of, sim_spec, simulated_world
from simreal.worlds.so101_rig import SO101
from simreal.worlds.tasks import task as find_task
from simreal.worlds.variation import Axis, Uniform
from simreal.worlds.world import Extras, World

HOME = so101.to_lerobot(so101.HOME_RAD)


def play(world: World, conditions, steps: int = 15) -> np.ndarray:
    """Measured joints (steps, N, 6) under targets that differ from world to world."""
    world.reset(conditions)
    seen = []
    for step in range(steps):
        seen.append(world.observe(images=False).joint_pos)
        index = [c.index for c in conditions]
        world.act(so101.to_lerobot(kit.wave(step, max(index) + 1)[index]))
    return np.stack(seen)


def test_a_world_keeps_the_target_contract():
    check_target(lambda: kit.world("full", batch=4), kit.conditions(4))


def test_the_spec_says_what_the_world_is():
    spec = kit.world("full", seed=3, batch=7, size_px=32).spec
    assert spec.name == "simulation (full)"
    assert (spec.kind, spec.label, spec.task) == ("sim", "simulation", "lift")
    assert (spec.batch, spec.seed, spec.rate_hz) == (7, 3, 20.0)
    assert spec.joint_names == so101.JOINTS
    assert spec.cameras == {"scene": (32, 32), "wrist": (32, 32)}


def test_observations_have_their_shapes_and_units():
    world = kit.world()
    world.reset(kit.conditions(3))
    seen = world.observe()
    assert seen.joint_pos.shape == (3, 6)
    assert seen.joint_pos.dtype == np.float32
    assert seen.joint_pos == pytest.approx(np.tile(HOME, (3, 1)), abs=1e-4)
    assert set(seen.images) == {"scene", "wrist"}
    for pictures in seen.images.values():
        assert pictures.shape == (3, 64, 64, 3)
        assert pictures.dtype == np.uint8
    assert seen.time_s == 0.0
    world.act(seen.joint_pos)
    assert world.observe(images=False).time_s == pytest.approx(0.05)


def test_pictures_are_taken_only_when_asked_for():
    world = kit.world()
    world.reset(kit.conditions(2))

    def forbidden(*args):
        raise AssertionError("rendered although nobody looks")

    world.views._render = forbidden  # type: ignore[method-assign]
    for _ in range(3):
        assert world.observe(images=False).images == {}
        world.act(np.tile(HOME, (2, 1)))
    assert world.outcome().steps.tolist() == [3, 3]
    with pytest.raises(AssertionError, match="nobody looks"):
        world.observe()


def test_a_world_without_cameras_never_renders():
    config = SimConfig()
    spec = dataclasses.replace(sim_spec(config), cameras={})
    world = World(find_task("lift"), kit.scene(), spec, lambda _: Settings(kit.scene()))
    world.reset(kit.conditions(1))
    assert world.observe(images=True).images == {}


def test_pictures_depend_on_their_world_alone():
    conditions = kit.conditions(4)
    together, alone = kit.world("full"), kit.world("full")
    together.reset(conditions)
    whole = together.observe().images
    for i in (2, 0):
        alone.reset(conditions[i : i + 1])
        for camera, pictures in alone.observe().images.items():
            assert np.array_equal(pictures[0], whole[camera][i])
    assert not np.array_equal(whole["scene"][0], whole["scene"][1])


def test_looking_twice_shows_the_same():
    world = kit.world(Profile("noisy", (Axis("encoder_noise", "set", Uniform(0.5, 0.5)),)))
    world.reset(kit.conditions(2))
    one, two = world.observe(), world.observe()
    assert np.array_equal(one.joint_pos, two.joint_pos)
    assert all(np.array_equal(one.images[c], two.images[c]) for c in one.images)


def test_what_a_world_does_depends_on_its_condition_alone():
    """Any order, any company, used world or fresh one."""
    conditions = kit.conditions(5)
    whole = play(kit.world("full"), conditions)
    assert len({whole[:, i].tobytes() for i in range(5)}) == 5
    used = kit.world("full")
    for members in ([4, 1], [2], [0, 1, 2, 3, 4], [3]):
        track = play(used, [conditions[i] for i in members])
        assert np.array_equal(track, whole[:, members])


def test_the_observation_is_late_by_whole_steps():
    """World 0 sees now; world k sees what world 0 saw k steps ago (or the start)."""
    base = kit.fixed_world(Settings(kit.scene()))
    current = play(base, kit.conditions(1))
    for delay in (1, 3, 6):
        late = kit.fixed_world(kit.settings_with(observation_delay=("set", delay)))
        track = play(late, kit.conditions(1))
        assert np.array_equal(track[delay:], current[:-delay])
        assert all(np.array_equal(track[t], current[0]) for t in range(delay))


def test_pictures_are_late_with_the_joints():
    late = kit.fixed_world(kit.settings_with(observation_delay=("set", 2)), size_px=32)
    now = kit.fixed_world(Settings(kit.scene()), size_px=32)
    shown: dict[str, list[np.ndarray]] = {"late": [], "now": []}
    for name, world in (("late", late), ("now", now)):
        world.reset(kit.conditions(1))
        for step in range(6):
            shown[name].append(world.observe().images["scene"])
            world.act(so101.to_lerobot(kit.wave(4 * step, 1)))
    assert not np.array_equal(shown["now"][0], shown["now"][3])
    for step in range(2, 6):
        assert np.array_equal(shown["late"][step], shown["now"][step - 2])


def test_encoder_noise_has_the_size_asked_for_and_is_only_seen():
    noisy = kit.fixed_world(kit.settings_with(encoder_noise=("set", 0.5)))
    clean = kit.fixed_world(Settings(kit.scene()))
    conditions = kit.conditions(4)
    difference = play(noisy, conditions, 60) - play(clean, conditions, 60)
    assert difference.std() == pytest.approx(0.5, rel=0.1)
    assert abs(difference.mean()) < 0.05
    assert np.array_equal(noisy.physics.qpos(), clean.physics.qpos())
    flat = difference.reshape(60, -1).T
    correlated = np.corrcoef(flat)[np.triu_indices(len(flat), 1)]
    assert np.abs(correlated).max() < 0.6  # no two of 24 channels share their noise
    again = play(kit.fixed_world(noisy.settings[0]), conditions, 60)
    assert np.array_equal(again, play(noisy, conditions, 60))


def test_a_joint_offset_shifts_what_is_measured_and_what_is_commanded():
    """Measured = true + offset, and commanding the measured pose keeps the arm where it is."""
    offset = np.float32([2.0, -1.0, 1.5, -2.0, 1.0, 3.0])
    world = kit.fixed_world(kit.settings_with(joint_offset=("add", offset)))
    world.reset(kit.conditions(1))
    assert world.physics.joint_rad()[0] == pytest.approx(so101.HOME_RAD)
    measured = world.observe(images=False).joint_pos
    assert measured[0] == pytest.approx(HOME + offset, abs=1e-4)
    shifted = play(world, kit.conditions(1), 20)
    assert world.privileged().offset_deg[0] == pytest.approx(offset)
    # The same commands as to a true arm, both read in their own zero, end 'offset' apart.
    true = kit.fixed_world(Settings(kit.scene()))
    true.reset(kit.conditions(1))
    for step in range(20):
        wanted = so101.to_lerobot(kit.wave(step, 1)) - offset
        assert true.observe(images=False).joint_pos + offset == pytest.approx(
            shifted[step][None][0], abs=2e-3
        )
        true.act(wanted)


def test_latency_is_between_command_and_motion():
    late = kit.fixed_world(kit.settings_with(action_latency=("set", 0.05)))
    now = kit.fixed_world(Settings(kit.scene()))
    for world in (late, now):
        world.reset(kit.conditions(1))
    target = HOME + np.float32([10, 0, 0, 0, 0, 0])
    start = late.observe(images=False).joint_pos[0, 0]
    late.act(target[None])
    now.act(target[None])
    assert abs(late.observe(images=False).joint_pos[0, 0] - start) < 0.05
    moved = now.observe(images=False).joint_pos[0, 0] - start
    assert moved > 0.5
    late.act(target[None])
    assert late.observe(images=False).joint_pos[0, 0] - start == pytest.approx(moved, rel=0.1)


def test_each_world_has_settings_of_its_own():
    world = kit.world("full", seed=5)
    conditions = kit.conditions(3, first=7)
    world.reset(conditions)
    for i, condition in enumerate(conditions):
        expected = draw(kit.scene(), profile("full", SO101), 5, condition.index)[1]
        found = kit.every_field(world.settings[i])
        assert kit.changed(found, kit.every_field(expected)) == set()
        mass = world.physics.models[i].body_mass
        assert np.array_equal(mass, expected.value("physics.body_mass"))


@pytest.mark.parametrize("tilt", [(0.0, 0.0), (2.0, -1.0)])
def test_the_object_rests_on_the_table_wherever_it_is(tilt):
    settings = kit.settings_with(
        table_tilt=("add", tilt),
        table_height=("add", 0.006),
        object_size=("scale", 1.1),
        object_position=("add", (0.004, -0.003)),
        object_yaw=("add", 0.3),
    )
    reset = {"object_x_m": 0.2, "object_y_m": 0.05, "object_yaw_rad": 0.1}
    qpos = initial_qpos(kit.scene(), settings, reset)
    start = int(kit.scene().physics.joint(OBJECT).qposadr[0])
    x, y, z = qpos[start : start + 3]
    assert (x, y) == pytest.approx((0.204, 0.047))
    assert z == pytest.approx(table_height(settings, x, y) + 0.0125 * 1.1)
    assert table_height(settings, 0.25, 0.0) == pytest.approx(0.006)
    w, _, _, turn = qpos[start + 3 : start + 7]
    assert 2 * np.arctan2(turn, w) == pytest.approx(0.4, abs=1e-3)
    # It neither hangs in the air nor stands in the table: its lowest corner is at the surface.
    _, data = kit.physics_at_home([settings], reset).info(0)
    table, thing = (int(kit.scene().physics.body(b).id) for b in (TABLE, OBJECT))
    signs = np.array(list(itertools.product((-1, 1), repeat=3)))
    corners = data.xpos[thing] + 0.0125 * 1.1 * signs @ data.xmat[thing].reshape(3, 3).T
    above = (corners - data.xpos[table]) @ data.xmat[table].reshape(3, 3)[:, 2]
    assert above.min() == pytest.approx(0.0, abs=2e-5)


def test_a_goal_lies_on_the_table_where_the_condition_says():
    raised = kit.applied(
        Settings(kit.scene("push")), table_height=("add", 0.005), table_tilt=("add", (1.0, 0.5))
    )
    world = kit.fixed_world(raised, task="push")
    conditions = kit.conditions(3, "push")
    world.reset(conditions)
    row = int(world.scene.physics.body("goal").id)
    place = world.seen().position[:, row]
    for i, condition in enumerate(conditions):
        x, y = condition.reset["goal_x_m"], condition.reset["goal_y_m"]
        expected = (x, y, table_height(raised, x, y) + 0.0005)
        assert place[i] == pytest.approx(expected, abs=1e-9)
    assert world.state().goal_xy == pytest.approx(place[:, :2], abs=1e-6)
    kit_world = kit.world()
    kit_world.reset(kit.conditions(1))
    assert np.isnan(kit_world.state().goal_xy).all()


def test_a_diverged_world_is_a_failure_and_the_others_go_on():
    calm = kit.world("full")
    conditions = kit.conditions(3)
    expected = play(calm, conditions, 12)
    world = kit.world("full")
    world.reset(conditions)
    for step in range(12):
        if step == 4:
            world.physics.data[1].qvel[:] = np.nan
        seen = world.observe(images=False).joint_pos
        assert np.array_equal(seen[[0, 2]], expected[step][[0, 2]])
        assert np.isfinite(seen).all()
        world.act(so101.to_lerobot(kit.wave(step, 3)))
    outcome = world.outcome()
    assert outcome.failure[1] == "diverged"
    assert outcome.done.tolist() == [False, True, False]
    assert outcome.steps.tolist() == [12, 5, 12]
    assert not outcome.success.any()


def test_pressing_the_table_is_a_collision():
    world = kit.world()
    world.reset(kit.conditions(1))
    down = HOME + np.float32([0, 60, 0, 0, 0, -50])
    for _ in range(25):
        world.act(down[None])
    assert world.outcome().collisions[0] >= 1
    assert world.outcome().peak_force_n[0] > 5
    resting = kit.world()
    resting.reset(kit.conditions(1))
    for _ in range(25):
        resting.act(HOME[None])
    assert resting.outcome().collisions[0] == 0


class Still:
    """A policy that stays at home and never looks."""

    def reset(self, n: int) -> None:
        self.n = n

    def looks(self) -> bool:
        return False

    def act(self, observation):
        return np.tile(HOME, (self.n, 1))


class Twice:
    """Camera effects that halve every picture, as a twin might."""

    def reset(self, seeds) -> None:
        self.seeds = tuple(seeds)

    def apply(self, images, step):
        return {name: (pictures // 2) for name, pictures in images.items()}


def test_optics_plug_in():
    optics, config = Twice(), SimConfig(size_px=32)
    made = [
        World(
            find_task("lift"),
            kit.scene(),
            sim_spec(config),
            lambda _: Settings(kit.scene()),
            extras=extras,
        )
        for extras in (Extras(), Extras(optics=optics))
    ]
    for world in made:
        world.reset(kit.conditions(2))
    plain, halved = (world.observe().images["scene"] for world in made)
    assert np.array_equal(halved, plain // 2)
    assert optics.seeds == tuple(c.seed for c in kit.conditions(2))


def test_an_idle_arm_fails_by_name():
    outcome = run_episodes(kit.world(), Still(), kit.conditions(2), horizon=10)
    assert outcome.failure == ("never reached",) * 2
    assert outcome.steps.tolist() == [10, 10]


@pytest.mark.parametrize("n", [0, 4])
def test_a_batch_of_the_wrong_size_is_refused(n):
    with pytest.raises(ValueError, match=f"{n} conditions; a batch takes 1 to 3"):
        kit.world(batch=3).reset(kit.conditions(n))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_actions_that_are_not_finite_move_nothing(bad):
    world = kit.world()
    world.reset(kit.conditions(3))
    before = world.physics.qpos()
    actions = np.tile(HOME, (3, 1))
    actions[2, 4] = bad
    with pytest.raises(ValueError, match=r"worlds \[2\] are not finite"):
        world.act(actions)
    assert np.array_equal(world.physics.qpos(), before)
    assert world.outcome().steps.tolist() == [0, 0, 0]


@pytest.mark.parametrize("shape", [(2, 6), (3, 5), (6,), (3, 6, 1)])
def test_actions_of_the_wrong_shape_move_nothing(shape):
    world = kit.world()
    world.reset(kit.conditions(3))
    with pytest.raises(ValueError, match=r"expected \(3, 6\)"):
        world.act(np.zeros(shape, np.float32))
    assert world.outcome().steps.tolist() == [0, 0, 0]


def test_reset_comes_first():
    with pytest.raises(RuntimeError, match="reset"):
        _ = kit.world().physics


def test_closing_twice_is_allowed():
    world = kit.world()
    world.reset(kit.conditions(1))
    world.close()
    world.close()


def test_an_unknown_camera_is_refused():
    spec = dataclasses.replace(sim_spec(SimConfig()), cameras={"scen": (64, 64)})
    with pytest.raises(UsageError, match=r"Unknown camera 'scen'.*mean 'scene'"):
        World(find_task("lift"), kit.scene(), spec, lambda _: Settings(kit.scene()))


def test_cameras_of_different_sizes_are_refused():
    spec = dataclasses.replace(
        sim_spec(SimConfig()), cameras={"scene": (64, 64), "wrist": (32, 32)}
    )
    with pytest.raises(UsageError, match=r"one size.*scene 64x64, wrist 32x32"):
        World(find_task("lift"), kit.scene(), spec, lambda _: Settings(kit.scene()))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"task": "lfit"}, "Unknown task 'lfit'; allowed: .*lift.*mean 'lift'"),
        ({"form": "meshes"}, "Unknown form 'meshes'; allowed: mesh, primitive.*mean 'mesh'"),
        ({"size_px": 8}, "Camera size 8 px; allowed: 16 to 512"),
        ({"size_px": 1024}, "Camera size 1024 px; allowed: 16 to 512"),
        ({"appearances": 0}, "at least 1"),
        ({"batch": 0}, "at least 1"),
    ],
)
def test_a_wrong_configuration_is_refused(wrong, words):
    with pytest.raises(UsageError, match=words):
        SimConfig(**wrong)


def test_an_unknown_device_is_refused_when_it_is_needed():
    world = simulated_world(SimConfig(device="cuda:7"))
    world.reset(kit.conditions(1))
    with pytest.raises(UsageError, match=r"Unknown device 'cuda:7'.*cpu"):
        world.observe()


def test_forms_share_their_physics():
    primitive, mesh = kit.scene(), scene_of("lift", "mesh", None)
    before, after = kit.arrays(primitive.physics), kit.arrays(mesh.physics)
    assert kit.changed(before, after) == set()
    tracks = [play(kit.world("dynamics", form=f), kit.conditions(1)) for f in ("primitive", "mesh")]
    assert np.array_equal(*tracks)
