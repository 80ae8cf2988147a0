"""Every randomization term writes what it declares and nothing else, from nominal each time."""

from types import SimpleNamespace

import mujoco
import numpy as np
import pytest
from tests.worlds import kit

from simreal.worlds import so101
from simreal.worlds.randomize import draw, profile
from simreal.worlds.scene import CLUTTER, HIDDEN, LIGHTS
from simreal.worlds.settings import CONTROL, IMAGE, Settings
from simreal.worlds.so101_rig import SO101
from simreal.worlds.terms import DYNAMICS
from simreal.worlds.terms_visual import VISUAL
from simreal.worlds.variation import OPERATIONS

#: An operation and values for the terms that scaling by 0.8 would leave as they are.
STRONG = {
    "object_position": ("add", 0.004),
    "object_yaw": ("add", 0.2),
    "table_height": ("add", 0.005),
    "table_tilt": ("add", 1.0),
    "joint_offset": ("add", 1.5),
    "action_latency": ("set", 0.04),
    "observation_delay": ("set", 2),
    "encoder_noise": ("set", 0.2),
    "scene_camera_position": ("add", 0.02),
    "scene_camera_rotation": ("add", 4.0),
    "wrist_camera_position": ("add", 0.005),
    "wrist_camera_rotation": ("add", 4.0),
    "exposure": ("add", 0.6),
    "image_noise": ("set", 0.03),
    "light_count": ("set", 1),
    "light_direction": ("add", 20.0),
    "light_shadow": ("set", 0),
    "table_texture": ("set", 3),
    "background_texture": ("set", 5),
    "object_texture": ("set", 1),
    "clutter_count": ("set", 3),
    "clutter_place": ("set", 0.9),
}
#: Terms that show only on something that other terms bring: clutter, textures.
STAGE = {
    "clutter_count": ("set", 4),
    "table_texture": ("set", 1),
    "background_texture": ("set", 2),
}
#: What MuJoCo derives from the fields above when a scenario is applied.
DERIVED = {
    "actuator_acc0",
    "body_invweight0",
    "body_subtreemass",
    "bvh_aabb",
    "dof_M0",
    "dof_invweight0",
    "dof_length",
    "light_dir0",
    "light_pos0",
    "light_poscom0",
    "cam_mat0",
    "cam_pos0",
    "cam_poscom0",
}

names = pytest.mark.parametrize("name", sorted(SO101.terms))


def strong(name: str) -> tuple[str, float]:
    return STRONG.get(name, ("scale", 0.8))


def staged(name: str) -> Settings:
    """Settings on which the term shows; nominal where the term needs nothing."""
    wanted = {}
    if name.startswith("clutter_") and name != "clutter_count":
        wanted = {"clutter_count": STAGE["clutter_count"]}
    if name == "texture_repeat":
        wanted = {k: STAGE[k] for k in ("table_texture", "background_texture")}
    return kit.settings_with(**wanted)


@names
def test_a_term_changes_exactly_the_fields_it_declares(name):
    settings = staged(name)
    opened = settings.edited
    before = kit.every_field(settings)
    nominal = kit.every_field(Settings(settings.scene))
    constants = dict(CONTROL), dict(IMAGE)
    kit.applied(settings, **{name: strong(name)})
    assert kit.changed(before, kit.every_field(settings)) == set(SO101.terms[name].writes)
    assert settings.edited - opened <= set(SO101.terms[name].writes)
    # What is nominal stayed nominal: neither the compiled models nor the constants were written to.
    assert kit.changed(nominal, kit.every_field(Settings(settings.scene))) == set()
    assert constants == (dict(CONTROL), dict(IMAGE))


@names
def test_the_declared_fields_exist(name):
    settings = Settings(kit.scene())
    term = SO101.terms[name]
    assert term.size >= 1
    assert term.unit
    for field in term.writes:
        assert settings.nominal(field).size
    spaces = {field.split(".")[0] for field in term.writes}
    assert spaces <= ({"look", "image"} if term in VISUAL else {"physics", "control", "look"})


@names
def test_a_term_starts_from_nominal(name):
    """Made twice, a scenario is the same: nothing of the first remains."""
    first = kit.every_field(kit.applied(staged(name), **{name: strong(name)}))
    again = kit.every_field(kit.applied(staged(name), **{name: strong(name)}))
    assert kit.changed(first, again) == set()


@pytest.mark.parametrize("name", [t.name for t in DYNAMICS])
def test_the_compiled_model_changes_as_declared(name):
    settings = kit.settings_with(**{name: strong(name)})
    nominal = kit.arrays(kit.physics_at_home([Settings(kit.scene())]).models[0])
    physics = kit.physics_at_home([settings])
    after = kit.arrays(physics.models[0])
    declared = {f.split(".", 1)[1] for f in SO101.terms[name].writes if f.startswith("physics.")}
    found = kit.changed(nominal, after)
    assert declared <= found
    assert found - declared <= DERIVED
    for field in declared:  # read back after application, derived values computed
        assert np.array_equal(after[field], settings.value(f"physics.{field}"))


@pytest.mark.parametrize("name", ["object_mass", "object_size", "table_height"])
def test_derived_values_follow(name):
    """MuJoCo's constants (inverse weights, start poses) are those of the changed model."""
    physics = kit.physics_at_home([kit.settings_with(**{name: strong(name)})])
    model, _ = physics.info(0)
    before = kit.arrays(model)
    mujoco.mj_setConst(model, mujoco.MjData(model))
    assert kit.changed(before, kit.arrays(model)) == set()
    nominal = kit.physics_at_home([Settings(kit.scene())]).models[0]
    body = int(model.body("object").id)
    ratio = model.body_invweight0[body] / nominal.body_invweight0[body]
    assert (ratio != 1).any() == (name != "table_height")


def test_what_the_model_does_not_take_is_an_error():
    settings = kit.settings_with(object_mass=("scale", 2.0))
    mass = settings.nominal("physics.body_mass")

    class Deaf:
        @property
        def body_mass(self):
            return mass.copy()

        body_inertia = settings.nominal("physics.body_inertia")

    with pytest.raises(ValueError, match=r"physics.body_mass was not taken"):
        settings.apply("physics", Deaf(), ())
    hearing = SimpleNamespace(
        body_mass=mass.copy(), body_inertia=settings.nominal("physics.body_inertia")
    )
    settings.apply("physics", hearing, ())
    assert np.array_equal(hearing.body_mass, settings.value("physics.body_mass"))


def test_two_scenarios_in_sequence_equal_the_second_alone():
    full = profile("full", SO101)
    drawn = [draw(kit.scene(), full, 1, i)[1] for i in range(2)]
    used = kit.physics_at_home([drawn[0]])
    for step in range(8):
        used.step(kit.wave(step, 1))
    fresh = kit.physics_at_home([drawn[1]])
    reused_qpos = fresh.qpos()
    used.reset([drawn[1]], reused_qpos, reused_qpos[:, used.joint_q])
    assert kit.changed(kit.arrays(fresh.models[0]), kit.arrays(used.models[0])) == set()
    for step in range(20):
        fresh.step(kit.wave(step, 1))
        used.step(kit.wave(step, 1))
    assert np.array_equal(fresh.qpos(), used.qpos())


def test_nominal_after_a_scenario_is_nominal_again():
    nominal = Settings(kit.scene())
    untouched = kit.physics_at_home([nominal])
    used = kit.physics_at_home([draw(kit.scene(), profile("full", SO101), 4, 0)[1]])
    used.reset([nominal], untouched.qpos(), untouched.joint_rad())
    assert kit.changed(kit.arrays(untouched.models[0]), kit.arrays(used.models[0])) == set()


def test_all_physics_fields_of_terms_are_restored():
    declared = {f for t in SO101.terms.values() for f in t.writes if f.startswith("physics.")}
    assert declared == SO101.writes


def rows(field: str, settings: Settings) -> list[int]:
    """First indices at which a field is not nominal."""
    difference = settings.value(field) != settings.nominal(field)
    return sorted(set(np.nonzero(difference)[0].tolist()))


@pytest.mark.parametrize(
    ("term", "geoms"),
    [
        ("object_friction", ["object"]),
        ("gripper_friction", [so101.FIXED_PAD, so101.MOVING_PAD]),
        ("table_friction", ["table_plane"]),
    ],
)
def test_a_friction_is_that_of_its_part(term, geoms):
    settings = kit.settings_with(**{term: ("set", 0.33)})
    ids = sorted(settings.geom("physics", g) for g in geoms)
    assert rows("physics.geom_friction", settings) == ids
    friction = settings.value("physics.geom_friction")
    assert (friction[ids, 0] == 0.33).all()
    assert np.array_equal(friction[:, 1:], settings.nominal("physics.geom_friction")[:, 1:])


@pytest.mark.parametrize("term", ["joint_damping", "joint_friction"])
def test_joints_take_one_value_each(term):
    factors = np.array([0.5, 0.6, 0.7, 0.8, 0.9, 1.1])
    settings = kit.settings_with(**{term: ("scale", factors)})
    (field,) = SO101.terms[term].writes
    dofs = settings.arm_dofs
    assert rows(field, settings) == sorted(dofs)
    expected = settings.nominal(field)[dofs] * factors
    assert np.array_equal(settings.value(field)[dofs], expected)


def test_only_the_object_has_another_mass_and_inertia():
    settings = kit.settings_with(object_mass=("scale", 2.0), object_inertia=("scale", 1.5))
    body = int(settings.scene.physics.body("object").id)
    mass, inertia = settings.value("physics.body_mass"), settings.value("physics.body_inertia")
    assert rows("physics.body_mass", settings) == rows("physics.body_inertia", settings) == [body]
    assert mass[body] == pytest.approx(0.06)
    nominal = settings.nominal("physics.body_inertia")[body]
    assert inertia[body] == pytest.approx(nominal * 3.0)


@pytest.mark.parametrize(("operation", "value"), [("scale", 1.1), ("set", 0.011), ("add", 0.002)])
def test_a_resized_object_has_the_inertia_mujoco_gives_it(operation, value):
    settings = kit.settings_with(object_size=(operation, value))
    after = OPERATIONS[operation](np.full(3, 0.0125), value)
    spec = mujoco.MjSpec()
    spec.worldbody.add_body(name="b").add_geom(
        type=mujoco.mjtGeom.mjGEOM_BOX, size=list(after), mass=0.03
    )
    model = spec.compile()
    geom, body = settings.geom("physics", "object"), settings.scene.physics.body("object").id
    assert settings.value("physics.geom_size")[geom] == pytest.approx(after)
    assert settings.value("physics.body_inertia")[body] == pytest.approx(model.body_inertia[1])
    assert settings.value("physics.geom_rbound")[geom] == pytest.approx(model.geom_rbound[0])
    assert settings.value("physics.geom_aabb")[geom] == pytest.approx(model.geom_aabb[0])
    look = settings.geom("look", "object")
    assert settings.value("look.geom_size")[look] == pytest.approx(after)


def test_a_larger_object_is_touched_at_its_larger_surface():
    """The broad and middle phases of collision know of the new size."""
    physics = kit.physics_at_home([kit.settings_with(object_size=("scale", 1.12))])
    model, data = physics.info(0)
    pad = int(model.geom(so101.FIXED_PAD).id)
    turn = data.geom_xmat[pad].reshape(3, 3).copy()
    quat = np.zeros(4)
    mujoco.mju_mat2Quat(quat, turn.ravel())
    start = int(model.joint("object").qposadr[0])
    for depth, touches in ((-0.0005, False), (0.0005, True)):
        away = model.geom_size[pad, 0] + 1.12 * 0.0125 - depth
        data.qpos[start : start + 3] = data.geom_xpos[pad] + turn[:, 0] * away
        data.qpos[start + 3 : start + 7] = quat
        mujoco.mj_forward(model, data)
        met = [c for c in data.contact if pad in (c.geom1, c.geom2)]
        assert bool(met) == touches
        assert all(c.dist == pytest.approx(-depth, abs=1e-6) for c in met)


@pytest.mark.parametrize(
    ("operation", "values"),
    [("scale", np.linspace(0.8, 1.25, 6)), ("add", np.arange(6.0)), ("set", np.full(6, 30.0))],
)
def test_gain_and_bias_change_together(operation, values):
    settings = kit.settings_with(actuator_gain=(operation, values))
    gain = settings.value("physics.actuator_gainprm")
    bias = settings.value("physics.actuator_biasprm")
    expected = OPERATIONS[operation](settings.nominal("physics.actuator_gainprm")[:, 0], values)
    assert np.array_equal(gain[:, 0], expected)
    assert np.array_equal(bias[:, 1], -gain[:, 0])
    for prm, first in ((gain, 0), (bias, 1)):
        other = np.delete(prm, first, axis=1)
        name = "gainprm" if prm is gain else "biasprm"
        nominal = settings.nominal(f"physics.actuator_{name}")
        assert np.array_equal(other, np.delete(nominal, first, axis=1))


def test_a_gain_does_not_move_the_set_point():
    physics = kit.physics_at_home([kit.settings_with(actuator_gain=("scale", 1.6))])
    force = physics.info(0)[1].actuator_force
    assert np.abs(force).max() < 1e-9  # commanded to where it is


def test_materials_are_recoloured_by_name():
    look = kit.scene().look
    for term, material in (
        ("table_colour", "table"),
        ("background_colour", "background"),
        ("object_colour", "object"),
    ):
        settings = kit.settings_with(**{term: ("set", (0.2, 0.3, 0.4))})
        row = int(look.material(material).id)
        assert rows("look.mat_rgba", settings) == [row]
        assert settings.value("look.mat_rgba")[row] == pytest.approx([0.2, 0.3, 0.4, 1.0])


def test_textures_are_those_of_the_bank():
    built = kit.scene()
    for number in (1, 7, len(built.textures), len(built.textures) + 1):
        settings = kit.settings_with(table_texture=("set", number))
        row = int(built.look.material("table").id)
        chosen = int(
            settings.value("look.mat_texid")[row, int(mujoco.mjtTextureRole.mjTEXROLE_RGB)]
        )
        texture = built.textures[(number - 1) % len(built.textures)]
        assert built.look.texture(chosen).name == texture.name
        assert settings.value("look.mat_rgba")[row, :3].tolist() == [1.0, 1.0, 1.0]


def test_the_robot_changes_colour_and_the_rest_does_not():
    settings = kit.settings_with(robot_colour=("add", (-0.1, -0.1, -0.1, 0.1, 0.1, 0.1)))
    look = settings.scene.look
    moved = {look.material(row).name for row in rows("look.mat_rgba", settings)}
    assert moved
    assert all("so101" in name or "sts3215" in name or "wave" in name for name in moved)
    assert any("sts3215" in name for name in moved)


@pytest.mark.parametrize("count", [0, 1, 2, 4, 9])
def test_the_number_of_lights_and_distractors(count):
    settings = kit.settings_with(light_count=("set", count), clutter_count=("set", count))
    active = settings.value("look.light_active")
    assert int(active.sum()) == min(max(count, 1), LIGHTS)
    lit = settings.value("look.light_diffuse")[active.astype(bool)].sum(axis=0)
    assert lit == pytest.approx(settings.nominal("look.light_diffuse").sum(axis=0))
    look = settings.scene.look
    clutter = [i for i in range(look.ngeom) if look.geom(i).name.startswith("clutter_")]
    shown = settings.value("look.geom_pos")[clutter, 2] > HIDDEN[2]
    assert int(shown.sum()) == min(count, CLUTTER)


def test_distractors_stand_beside_the_workspace_on_the_table():
    built = kit.scene()
    for index in range(30):
        settings = draw(built, profile("visual", SO101), 0, index)[1]
        place, size = settings.value("look.geom_pos"), settings.value("look.geom_size")
        for i in range(CLUTTER):
            row = settings.geom("look", f"clutter_{i}")
            if place[row, 2] > HIDDEN[2]:
                assert abs(place[row, 1]) >= 0.17
                assert place[row, 2] == pytest.approx(size[row].max())


@pytest.fixture(scope="module")
def camera():
    """Photographs one moment under any settings, with shadows, (scene, wrist) 64 px."""
    world = kit.fixed_world(Settings(kit.scene()), shadows=True)
    world.reset(kit.conditions(1))
    moment = world.seen()

    def photograph(settings: Settings) -> dict[str, np.ndarray]:
        return {k: v[0].astype(int) for k, v in world.photograph([moment], settings, 5).items()}

    return photograph


@pytest.fixture(scope="module")
def plain(camera):
    return camera(Settings(kit.scene()))


@pytest.mark.parametrize("name", [t.name for t in VISUAL])
def test_a_visual_term_changes_the_picture(name, camera, plain):
    base = plain if staged(name).edited == frozenset() else camera(staged(name))
    pictures = camera(kit.applied(staged(name), **{name: strong(name)}))
    moved = {k for k in base if np.abs(pictures[k] - base[k]).max() > 2}
    assert moved
    for only in ("scene", "wrist"):
        if name.startswith(f"{only}_camera"):
            assert moved == {only}


@pytest.mark.parametrize("name", [t.name for t in DYNAMICS])
def test_a_dynamics_term_leaves_the_picture(name, camera, plain):
    """At one and the same pose of all bodies. The object's size is seen, of course."""
    pictures = camera(kit.settings_with(**{name: strong(name)}))
    same = all(np.array_equal(pictures[k], plain[k]) for k in plain)
    assert same == (name != "object_size")


def test_more_of_a_term_is_seen_as_more(camera, plain):
    brighter = camera(kit.settings_with(exposure=("add", 0.5)))
    brightest = camera(kit.settings_with(exposure=("add", 1.0)))
    assert plain["scene"].mean() < brighter["scene"].mean() < brightest["scene"].mean()
    red = camera(kit.settings_with(colour_cast=("scale", (1.2, 1.0, 0.8))))["scene"]
    shift = (red - plain["scene"]).mean(axis=(0, 1))
    assert shift[0] > 5 > -5 > shift[2]
    darker = camera(kit.settings_with(light_intensity=("scale", 0.5)))
    assert darker["scene"].mean() < 0.9 * plain["scene"].mean()
