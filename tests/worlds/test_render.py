import dataclasses
import subprocess
import sys
from pathlib import Path

import mujoco
import numpy as np
import pytest
import warp as wp
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.worlds.stage import CAMERAS, XML, model, picture, poses

from simreal.core.errors import UsageError
from simreal.worlds.render import Look, Renderer, rotation_matrices

N = 9
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def built():
    return model()


@pytest.fixture(scope="module")
def renderer(built):
    return Renderer(built, CAMERAS, 32, shadows=True, batch=4)


@pytest.fixture(scope="module")
def look(built):
    return Look.of(built)


@pytest.fixture(scope="module")
def moments(built, look):
    """Body poses, looks and look numbers of N unequal moments."""
    moves = np.random.default_rng(0).uniform(-0.3, 0.3, (N, 3))
    looks = [
        look,
        dataclasses.replace(look, cam_fovy=look.cam_fovy * 1.3, light_dir=-look.light_dir[:, ::-1]),
        dataclasses.replace(look, mat_rgba=look.mat_rgba * 0.5, geom_pos=look.geom_pos + 0.03),
    ]
    return *poses(built, moves), looks, np.arange(N) % 3


# What one picture depends on.


@settings(max_examples=15, deadline=None)
@given(rows=st.lists(st.integers(0, N - 1), max_size=11))
def test_a_picture_does_not_depend_on_its_company(renderer, moments, rows):
    positions, quats, looks, index = moments
    alone = renderer.render(positions, quats, looks, index)
    mixed = renderer.render(positions[rows], quats[rows], looks, index[rows])
    for camera in CAMERAS:
        assert mixed[camera].shape == (len(rows), 32, 32, 3)
        assert (mixed[camera] == alone[camera][rows]).all()


@pytest.mark.parametrize("batch", [1, 2, 64])
def test_pictures_do_not_depend_on_the_batch_size(built, renderer, moments, batch):
    other = Renderer(built, CAMERAS, 32, shadows=True, batch=batch)
    expected, got = renderer.render(*moments), other.render(*moments)
    assert all((expected[camera] == got[camera]).all() for camera in CAMERAS)


def test_pictures_do_not_depend_on_which_cameras_are_drawn(built, renderer, moments):
    alone = Renderer(built, ("hand",), 32, shadows=True).render(*moments)
    assert (alone["hand"] == renderer.render(*moments)["hand"]).all()


def test_quaternions_and_matrices_say_the_same(renderer, moments):
    positions, quats, looks, index = moments
    turned = renderer.render(positions, rotation_matrices(quats), looks, index)
    expected = renderer.render(positions, quats, looks, index)
    assert all((turned[camera] == expected[camera]).all() for camera in CAMERAS)


def set_at(values, where, value):
    changed = np.array(values)
    changed[where] = value
    return changed


CHANGES = {
    "geom_pos": lambda v: v + np.float32(0.05),
    "geom_quat": lambda v: set_at(v, np.s_[:], [0.9, 0.1, 0.2, 0.4]),
    "geom_size": lambda v: v * np.float32(1.3),
    "geom_rgba": lambda v: set_at(v, np.s_[:], [0.2, 0.9, 0.9, 1]),
    "geom_matid": lambda v: v[::-1].copy(),
    "mat_rgba": lambda v: v * np.float32(0.5),
    "mat_texid": lambda v: np.where(v == 0, 1, v),
    "mat_texrepeat": lambda v: v * 3,
    "mat_specular": lambda v: v * 0,
    "mat_shininess": lambda v: v * np.float32(0.2),
    "cam_pos": lambda v: v + np.float32(0.1),
    "cam_quat": lambda v: v + np.float32(0.1),
    "cam_fovy": lambda v: v * np.float32(1.5),
    "light_pos": lambda v: v * np.float32(0.5),
    "light_dir": lambda v: v * np.array([-1, -1, 1], np.float32),
    "light_diffuse": lambda v: v * np.float32(0.5),
    "light_ambient": lambda v: v * 2,
    "light_specular": lambda v: v * 3,
    "light_active": lambda v: ~v,
    "light_castshadow": lambda v: ~v,
    "light_type": lambda v: np.where(v == 1, 2, v).astype(np.int32),
}


@pytest.mark.parametrize("field", [f.name for f in dataclasses.fields(Look)])
def test_every_field_of_a_look_takes_effect_and_leaves_with_it(built, renderer, look, field):
    before = picture(renderer, look, built)
    same = dataclasses.replace(look, **{field: np.array(getattr(look, field))})
    changed = dataclasses.replace(look, **{field: CHANGES[field](getattr(look, field))})
    after = picture(renderer, changed, built)
    again = picture(renderer, same, built)
    assert any((before[camera] != after[camera]).any() for camera in CAMERAS)
    assert all((before[camera] == again[camera]).all() for camera in CAMERAS)


def test_a_look_is_a_copy_that_cannot_be_written(built):
    mine = model()
    look = Look.of(mine)
    mine.mat_rgba[:] = 0
    assert (look.mat_rgba == Look.of(built).mat_rgba).all()
    with pytest.raises(ValueError, match="read-only"):
        look.mat_rgba[:] = 0


def test_fixed_fovy_takes_the_field_of_view_from_the_model(built, renderer, look):
    fixed = Renderer(built, CAMERAS, 32, shadows=True, fixed_fovy=True)
    wider = dataclasses.replace(look, cam_fovy=look.cam_fovy * 2)
    assert (picture(fixed, wider, built)["front"] == picture(fixed, look, built)["front"]).all()
    difference = picture(fixed, look, built)["front"].astype(int)
    difference -= picture(renderer, look, built)["front"]
    assert (np.abs(difference) > 2).mean() < 0.01


def test_hidden_groups_are_not_drawn(built, renderer, look):
    magenta = picture(renderer, look, built)["front"]
    assert not ((magenta[..., 0] > 100) & (magenta[..., 1] < 30) & (magenta[..., 2] > 100)).any()


# What a picture shows.


def centre_of(mask):
    """Mean row and column of a mask, as shares of the picture from the top left corner."""
    rows, columns = np.nonzero(mask)
    assert len(rows) > 4
    return rows.mean() / mask.shape[0], columns.mean() / mask.shape[1]


def red(image):
    return (image[..., 0] > 60) & (image[..., 0] > 2 * image[..., 1:].max(-1).astype(int))


@pytest.mark.parametrize(
    ("move", "up", "right"),
    [((0.35, 0, 0), None, True), ((-0.35, 0, 0), None, False), ((0, 0, 0.2), True, None)],
)
def test_right_is_right_and_up_is_up(built, look, move, up, right):
    drawn = Renderer(built, ("front",), (48, 64), shadows=False).render(
        *poses(built, np.array(move)), [look], np.zeros(1, int)
    )
    row, column = centre_of(red(drawn["front"][0]))
    if right is not None:
        assert (column > 0.6) if right else (column < 0.4)
    if up:
        assert row < 0.4


def test_a_camera_on_a_body_moves_with_it(built, renderer, look):
    """The cube stays where it was in the picture of the camera it carries; the ball does not."""
    positions, quats = poses(built, np.array([[0, 0, 0], [0.2, 0.1, 0]]))
    drawn = renderer.render(positions, quats[[0, 0]], [look], np.zeros(2, int))["hand"]
    here, there = (centre_of(red(image)) for image in drawn)
    assert np.allclose(here, there, atol=0.02)
    blue = [centre_of(image[..., 2] > 1.3 * image[..., 0] + 20) for image in drawn]
    assert blue[1][1] < blue[0][1] - 0.05


def test_world_poses_are_those_of_mujoco(built, renderer, look):
    data = mujoco.MjData(built)
    data.qpos[3:7] = [0.5, 0.1, -0.4, 0.3]
    mujoco.mj_kinematics(built, data)
    mujoco.mj_camlight(built, data)
    body_rot = rotation_matrices(data.xquat)[None]
    values = renderer._values(data.xpos[None].astype(np.float32), body_rot, [look])
    for name in ("geom_xpos", "geom_xmat", "cam_xpos", "cam_xmat", "light_xpos", "light_xdir"):
        expected = getattr(data, name).reshape(values[name][0].shape)
        assert np.allclose(values[name][0], expected, atol=1e-5), name


LAMP = """
<mujoco>
  <visual><headlight active="0"/></visual>
  <worldbody>
    <light type="directional" dir="0 -.6 -.8" diffuse=".5 .5 .5" ambient=".2 .2 .2"
      specular="0 0 0"/>
    <light type="directional" dir="0 0 -1" diffuse="0 0 0" ambient="0 0 0" specular="0 0 0"/>
    <light type="directional" dir="0 0 -1" diffuse="0 0 0" ambient="0 0 0" specular="0 0 0"/>
    <geom name="floor" type="plane" size="1 1 1" rgba="1 .5 .25 1"/>
    <camera name="down" pos="0 0 2" fovy="70"/>
  </worldbody>
</mujoco>
"""


def test_brightness_is_that_of_the_light_equation():
    """Ambient plus diffuse times cosine: .2 + .5 * .8 of the colour; grey where nothing is."""
    lamp = model(LAMP)
    image = Renderer(lamp, ("down",), 32, shadows=True).render(
        np.zeros((1, 1, 3)), np.array([[[1, 0, 0, 0]]]), [Look.of(lamp)], np.zeros(1, int)
    )["down"][0]
    assert np.abs(image[16, 16] - 255 * 0.6 * np.array([1, 0.5, 0.25])).max() <= 1
    assert (image[0, 0] == 127).all()


def test_shadows_darken_and_only_where_asked_for(built, renderer, look):
    without = Renderer(built, CAMERAS, 32, shadows=False)
    none = dataclasses.replace(look, light_castshadow=np.zeros(3, bool))
    lit, shadowed = (picture(r, look, built)["hand"].astype(int) for r in (without, renderer))
    assert (shadowed <= lit).all()
    assert 0.01 < (shadowed < lit - 10).any(-1).mean() < 0.4
    assert (picture(renderer, none, built)["hand"] == lit).all()


@pytest.mark.parametrize("n", [0, 1, 4, 5])
def test_any_number_of_pictures(built, renderer, look, n):
    positions, quats = (values.repeat(n, axis=0) for values in poses(built, np.zeros(3)))
    drawn = renderer.render(positions, quats, [look], np.zeros(n, int))
    assert {camera: images.shape for camera, images in drawn.items()} == dict.fromkeys(
        CAMERAS, (n, 32, 32, 3)
    )


def test_scenes_share_one_compiled_kernel(built, renderer):
    """Else every task would wait for a compiler: extent and geom types must not be compiled in."""
    renderer.warm()
    lamp = Renderer(model(LAMP), ("down",), 64, shadows=True)
    lamp.warm()
    kernels = [r._tracer._context._megakernel.module.name for r in (renderer, lamp)]
    assert kernels[0] == kernels[1]


# What is refused.


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"cameras": ("frnt",)}, "Unknown camera 'frnt'; allowed: front, hand. Did you mean"),
        ({"cameras": ()}, "Name each camera"),
        ({"cameras": ("front", "front")}, "Name each camera"),
        ({"size_px": 4}, "4x4 pixels .* between 8 and 1024"),
        ({"size_px": (64, 5000)}, "64x5000 pixels"),
        ({"batch": 0}, "batch of 0"),
        ({"device": "cuda:77"}, "Unknown device 'cuda:77'; allowed: .*cpu"),
    ],
)
def test_impossible_requests_say_what_would_work(built, arguments, message):
    usual = {"cameras": CAMERAS, "size_px": 32, "shadows": False}
    with pytest.raises(UsageError, match=message):
        Renderer(built, **{**usual, **arguments})


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('headlight active="0"', 'headlight active="1"', "headlight"),
        ('name="front"', 'name="front" mode="targetbody" target="cube"', "mode 'fixed'"),
        ('name="front"', 'name="front" projection="orthographic"', "perspective"),
    ],
)
def test_models_that_would_be_drawn_wrongly_are_refused(old, new, message):
    with pytest.raises(UsageError, match=message):
        Renderer(model(XML.replace(old, new)), CAMERAS, 32, shadows=False)


def test_wrong_shapes_are_named(renderer, moments):
    positions, quats, looks, index = moments
    with pytest.raises(ValueError, match=r"body_pos has shape \(9, 3, 2\)"):
        renderer.render(positions[..., :2], quats, looks, index)
    with pytest.raises(ValueError, match="body_rot has shape"):
        renderer.render(positions, quats[..., :3], looks, index)
    with pytest.raises(ValueError, match="outside the 3 looks"):
        renderer.render(positions, quats, looks, index + 1)


def test_drawing_says_nothing_where_there_is_no_gpu():
    code = """
import numpy as np
from tests.worlds.stage import CAMERAS, model, picture
from simreal.worlds.render import Look, Renderer
built = model()
picture(Renderer(built, CAMERAS, 32, shadows=True), Look.of(built), built)
import os
os.write(2, b"kept")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, cwd=ROOT)
    assert (done.stdout, done.stderr) == (b"", b"kept")


@pytest.mark.skipif(not wp.is_cuda_available(), reason="no CUDA device")
def test_cuda_draws_what_the_cpu_draws(built, renderer, moments):
    expected = renderer.render(*moments)
    got = Renderer(built, CAMERAS, 32, shadows=True, device="cuda:0").render(*moments)
    for camera in CAMERAS:
        difference = np.abs(expected[camera].astype(int) - got[camera])
        assert (difference > 3).mean() < 0.01
