import struct

import mujoco
import numpy as np
import pytest

from simreal.core.errors import BadDataError, UsageError
from simreal.worlds.forms import add_boxes, add_robot_looks, fit_boxes, fitted, surface_points
from simreal.worlds.render import Look, Renderer
from simreal.worlds.so101 import model_path

FORMS = ("physics", "primitive", "mesh")
MESHES = model_path().parent / "assets"
BENT_RAD = [0.3, 0.2, 0.3, 1.0, 0.2, 0.8]


def spec_of(form):
    spec = mujoco.MjSpec.from_file(str(model_path()))
    add_robot_looks(spec, form)
    return spec


@pytest.fixture(scope="module")
def compiled():
    return {form: spec_of(form).compile() for form in FORMS}


# What the forms share, and where they differ.

SHARED = [
    *("body_pos", "body_quat", "body_mass", "body_inertia", "body_ipos", "body_parentid"),
    *("jnt_axis", "jnt_pos", "jnt_range", "dof_damping", "dof_frictionloss", "dof_armature"),
    *("actuator_gainprm", "actuator_biasprm", "actuator_forcerange", "site_pos"),
    *("cam_pos", "cam_quat", "cam_fovy", "cam_bodyid"),
]
COLLISION = [
    *("geom_type", "geom_pos", "geom_quat", "geom_size", "geom_bodyid"),
    *("geom_contype", "geom_conaffinity", "geom_friction"),
]


@pytest.mark.parametrize("form", ["physics", "primitive"])
def test_all_but_the_visual_geoms_is_the_same(compiled, form):
    stock = mujoco.MjModel.from_xml_path(str(model_path()))
    other = compiled[form]
    for kind, count in (
        ("body", "nbody"),
        ("joint", "njnt"),
        ("actuator", "nu"),
        ("camera", "ncam"),
    ):
        names = [
            [getattr(m, kind)(i).name for i in range(getattr(m, count))] for m in (stock, other)
        ]
        assert names[0] == names[1]
    for field in SHARED:
        assert (getattr(other, field) == getattr(stock, field)).all(), field
    for field in COLLISION:
        kept = [getattr(m, field)[m.geom_group == 3] for m in (stock, other)]
        assert (kept[0] == kept[1]).all(), field


def test_the_mesh_form_is_the_stock_model(compiled):
    stock = mujoco.MjModel.from_xml_path(str(model_path()))
    mesh = compiled["mesh"]
    for field in ("geom_type", "geom_pos", "geom_dataid", "geom_matid", "mesh_vert", "mat_rgba"):
        assert (getattr(mesh, field) == getattr(stock, field)).all()


def visible(model):
    return model.geom_group < 3


def test_physics_draws_nothing_and_primitive_no_mesh(compiled):
    kinds = {form: set(m.geom_type[visible(m)].tolist()) for form, m in compiled.items()}
    assert kinds["physics"] == set()
    assert kinds["primitive"] == {int(mujoco.mjtGeom.mjGEOM_BOX)}
    assert kinds["mesh"] == {int(mujoco.mjtGeom.mjGEOM_MESH)}


def test_boxes_touch_nothing_and_keep_the_materials_of_every_body(compiled):
    def materials(model):
        rows = np.flatnonzero(visible(model))
        return {(model.geom_bodyid[i], model.material(model.geom_matid[i]).name) for i in rows}

    primitive = compiled["primitive"]
    assert materials(primitive) == materials(compiled["mesh"])
    shown = visible(primitive)
    assert not primitive.geom_contype[shown].any()
    assert not primitive.geom_conaffinity[shown].any()


def test_meshes_of_visual_geoms_alone_are_removed(compiled):
    names = {form: {m.mesh(i).name for i in range(m.nmesh)} for form, m in compiled.items()}
    assert names["physics"] == names["primitive"] < names["mesh"]
    assert "base_so101_v2" in names["mesh"] - names["physics"]


# The fit.


def write_stl(path, triangles):
    """A binary STL file of triangles (n, 3, 3)."""
    rows = [struct.pack("<12fH", 0, 0, 0, *triangle.ravel(), 0) for triangle in triangles]
    path.write_bytes(bytes(80) + struct.pack("<I", len(rows)) + b"".join(rows))


def brick(low, high):
    """The 12 triangles of an axis-aligned box."""
    corners = np.array([[(high if i >> a & 1 else low)[a] for a in range(3)] for i in range(8)])
    faces = [(0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5)]
    return np.array([corners[[a, *pair]] for a, *rest in faces for pair in (rest[:2], rest[1:])])


def volumes(boxes):
    return sorted(box.volume for box in boxes)


def test_a_turned_box_is_found(tmp_path):
    c, s = np.cos(np.pi / 6), np.sin(np.pi / 6)
    turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    write_stl(tmp_path / "box.stl", brick((0, 0, 0), (0.1, 0.05, 0.02)) @ turn.T)
    (box,) = fit_boxes(tmp_path / "box.stl")
    assert box.volume == pytest.approx(1e-4, rel=0.03)
    assert np.allclose(box.centre, turn @ [0.05, 0.025, 0.01], atol=1e-3)


def test_an_angle_becomes_two_boxes(tmp_path):
    parts = brick((0, 0, 0), (0.1, 0.02, 0.02)), brick((0, 0.02, 0), (0.02, 0.1, 0.02))
    write_stl(tmp_path / "angle.stl", np.concatenate(parts))
    boxes = fit_boxes(tmp_path / "angle.stl")
    assert len(boxes) == 2
    assert volumes(boxes) == pytest.approx([3.2e-5, 4e-5], rel=0.1)
    assert len(fit_boxes(tmp_path / "angle.stl", most=1)) == 1


@pytest.mark.parametrize("path", sorted(MESHES.glob("*.stl")), ids=lambda path: path.stem)
def test_boxes_hold_the_part_and_little_else(path):
    points = surface_points(path)
    boxes = fit_boxes(path)
    outside = np.min([outside_m(points, box) for box in boxes], axis=0)
    assert (outside < 0.001).mean() > 0.85
    assert np.quantile(outside, 0.99) < 0.008
    assert 1 <= len(boxes) <= 8
    assert sum(volumes(boxes)) <= fitted(points, most=1)[0].volume + 1e-12


def outside_m(points, box):
    """How far each point is outside a box, m."""
    beyond = np.abs((points - box.centre) @ box.rotation) - box.half - 1e-9
    return np.linalg.norm(beyond.clip(0), axis=1)


def test_fits_are_the_same_every_time():
    path = MESHES / "moving_jaw_so101_v1.stl"
    first = fit_boxes(path)
    fit_boxes.cache_clear()
    again = fit_boxes(path)
    assert all(
        (a.half == b.half).all() and (a.centre == b.centre).all()
        for a, b in zip(first, again, strict=True)
    )


def test_boxes_stand_where_the_mesh_stands():
    """The corners of the boxes reach as far as the mesh does, in the body's frame."""
    spec = mujoco.MjSpec.from_file(str(model_path()))
    geom = next(g for g in spec.geoms if g.meshname == "moving_jaw_so101_v1" and g.group == 2)
    boxes = add_boxes(spec, geom)
    model = spec.compile()
    mesh = model.geom_dataid[geom.id]
    first, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
    corners = model.mesh_vert[first : first + count]
    points = corners @ matrix(model.geom_quat[geom.id]).T + model.geom_pos[geom.id]
    signs = np.array([[1 if i >> a & 1 else -1 for a in range(3)] for i in range(8)])
    ends = np.concatenate([(signs * b.size) @ matrix(b.quat).T + b.pos for b in boxes])
    assert np.allclose(ends.min(0), points.min(0), atol=0.006)
    assert np.allclose(ends.max(0), points.max(0), atol=0.006)


def matrix(quat):
    out = np.empty(9)
    mujoco.mju_quat2Mat(out, np.array(quat, dtype=float))
    return out.reshape(3, 3)


# What it looks like.


def stage(form):
    """The arm over a green table with a small blue cube between the fingers."""
    spec = spec_of(form)
    spec.visual.headlight.active = 0
    world = spec.worldbody
    for x in (-1, 0, 1):
        world.add_light(
            type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL,
            dir=[x, 0.3, -1],
            diffuse=[0.3] * 3,
            ambient=[0.1] * 3,
        )
    box = mujoco.mjtGeom.mjGEOM_BOX
    world.add_geom(type=box, size=[2, 2, 0.02], pos=[0, 0, -0.02], rgba=[0, 0.6, 0, 1])
    cube = spec.body("gripper").add_geom(type=box, size=[0.0125] * 3, rgba=[0, 0, 1, 1])
    cube.pos = [0.012, 0, -0.092]
    cube.mass = 0
    right, up = [0.51, 0.86, 0], [-0.5, 0.3, 0.81]
    world.add_camera(name="scene", pos=[0.46, -0.24, 0.30], xyaxes=[*right, *up], fovy=55)
    return spec.compile()


@pytest.fixture(scope="module")
def pictures():
    drawn = {}
    for form in FORMS:
        model = stage(form)
        data = mujoco.MjData(model)
        data.qpos[:6] = BENT_RAD
        mujoco.mj_kinematics(model, data)
        renderer = Renderer(model, ("scene", "wrist_cam"), 64, shadows=False)
        images = renderer.render(
            data.xpos[None], data.xquat[None], [Look.of(model)], np.zeros(1, int)
        )
        drawn[form] = {camera: image[0].astype(int) for camera, image in images.items()}
    return drawn


def arm(pictures, form, camera):
    """Where the arm is: pixels that differ from the picture without it."""
    return (np.abs(pictures[form][camera] - pictures["physics"][camera]) > 8).any(-1)


@pytest.mark.parametrize(("camera", "overlap"), [("scene", 0.87), ("wrist_cam", 0.7)])
def test_boxes_have_the_outline_of_the_meshes(pictures, camera, overlap):
    mesh, primitive = (arm(pictures, form, camera) for form in ("mesh", "primitive"))
    assert mesh.mean() > 0.05
    assert (mesh & primitive).sum() / (mesh | primitive).sum() > overlap
    assert (mesh & ~primitive).sum() < 0.05 * mesh.sum()


def test_printed_parts_are_yellow_and_servos_black(pictures):
    for form in ("mesh", "primitive"):
        image, where = pictures[form]["scene"], arm(pictures, form, "scene")
        yellow = (image[..., 0] > 60) & (image[..., 2] < 0.5 * image[..., 0])
        black = image.max(-1) < 40
        assert (yellow & where).sum() > 0.5 * where.sum()
        assert (black & where).sum() > 0.03 * where.sum()


def test_the_wrist_camera_sees_the_object_between_the_fingers(pictures):
    def cube(form):
        image = pictures[form]["wrist_cam"]
        return (image[..., 2] > 1.5 * image[..., 1]).sum()

    assert cube("physics") > 100
    assert cube("mesh") > 0.9 * cube("physics")
    assert cube("primitive") > 0.8 * cube("physics")


# What is refused.


def test_an_unknown_form_is_refused():
    with pytest.raises(
        UsageError, match="Unknown form 'meshes'; allowed: mesh, physics, primitive"
    ):
        spec_of("meshes")


def test_a_file_that_is_no_stl_is_named(tmp_path):
    (tmp_path / "part.stl").write_text("solid ascii")
    with pytest.raises(BadDataError, match=r"part\.stl is not a binary STL mesh"):
        fit_boxes(tmp_path / "part.stl")


def test_an_obj_mesh_of_quads_gives_the_same_box_as_an_stl_in_millimetres(tmp_path):
    corners = [[(0.1, 0.05, 0.02)[a] * (i >> a & 1) for a in range(3)] for i in range(8)]
    quads = [(1, 2, 4, 3), (5, 6, 8, 7), (1, 2, 6, 5), (3, 4, 8, 7), (1, 3, 7, 5), (-7, -5, -1, -3)]
    lines = ["# a brick", *(f"v {x} {y} {z}" for x, y, z in corners), "vn 0 0 1"]
    lines += ["f " + " ".join(f"{i}//1" for i in quad) for quad in quads]
    (tmp_path / "box.obj").write_text("\n".join(lines))
    write_stl(tmp_path / "box.stl", brick((0, 0, 0), (100, 50, 20)))
    (box,) = fit_boxes(tmp_path / "box.obj")
    (other,) = fit_boxes(tmp_path / "box.stl", scale=(0.001, 0.001, 0.001))
    assert box.volume == pytest.approx(1e-4, rel=0.03)
    assert other.volume == pytest.approx(1e-4, rel=0.03)
    assert np.allclose(box.centre, [0.05, 0.025, 0.01], atol=1e-3)
    assert np.allclose(other.centre, box.centre, atol=1e-3)


def test_an_obj_without_faces_is_named(tmp_path):
    (tmp_path / "part.obj").write_text("v 0 0 0\n")
    with pytest.raises(BadDataError, match=r"part\.obj holds no faces"):
        fit_boxes(tmp_path / "part.obj")
