"""The only file that knows MuJoCo Warp: a batch of worlds on a device, filled and traced.

What is compiled into the ray tracer is the same for every scene with as many lights, so its kernel
is compiled once on a machine (about 3 s) and found in Warp's cache ever after.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import mujoco
import mujoco_warp as mjw
import numpy as np
import numpy.typing as npt
import warp as wp

from simreal.core.errors import unknown

wp.config.log_level = wp.LOG_WARNING

#: Geom groups that are drawn; group 3 holds collision shapes.
VISIBLE_GROUPS = (0, 1, 2)
#: Colour of pixels that hit nothing.
BACKGROUND_RGBA = (0.5, 0.5, 0.5, 1.0)
#: Share of a light's direct contribution that reaches a point in its shadow.
SHADOW_LIGHT_FRACTION = 0.3
#: Visual fields of the model that have one row per world.
MODEL_FIELDS = (
    "geom_size",
    "geom_rgba",
    "geom_matid",
    "mat_rgba",
    "mat_texid",
    "mat_texrepeat",
    "mat_specular",
    "mat_shininess",
    "cam_fovy",
    "light_type",
    "light_castshadow",
    "light_active",
    "light_ambient",
    "light_diffuse",
    "light_specular",
)
#: World poses: positions (n, k, 3), rotations (n, k, 3, 3), light directions (n, k, 3).
POSE_FIELDS = ("geom_xpos", "geom_xmat", "cam_xpos", "cam_xmat", "light_xpos", "light_xdir")

_NOTICE = b"Warp CUDA warning: Could not find or load the NVIDIA CUDA driver."
_MESH = int(mujoco.mjtGeom.mjGEOM_MESH)
_PRIMITIVES = (
    mujoco.mjtGeom.mjGEOM_PLANE,
    mujoco.mjtGeom.mjGEOM_SPHERE,
    mujoco.mjtGeom.mjGEOM_CAPSULE,
    mujoco.mjtGeom.mjGEOM_ELLIPSOID,
    mujoco.mjtGeom.mjGEOM_CYLINDER,
    mujoco.mjtGeom.mjGEOM_BOX,
)
#: Triangles in a leaf of a mesh's search tree: 8 and 16 are 12-20 % faster than 2, 64 is slower.
_MESH_LEAF = 8


class Tracer:
    """`batch` worlds of one model on one device; they share meshes and textures, nothing else."""

    def __init__(
        self,
        model: mujoco.MjModel,
        cameras: Sequence[str],
        size_px: tuple[int, int],
        shadows: bool,
        batch: int,
        device: str,
        fixed_fovy: bool,
    ) -> None:
        self._size_px, self._cameras = size_px, len(cameras)
        with wp.ScopedDevice(_device(device)):
            self._model = mjw.put_model(model, dict.fromkeys(MODEL_FIELDS, batch))
            self._data = mjw.make_data(model, nworld=batch, nconmax=1, njmax=1)
            self._context = mjw.create_render_context(
                model,
                nworld=batch,
                cam_res=[(size_px[1], size_px[0])] * len(cameras),
                render_rgb=True,
                render_depth=False,
                render_seg=False,
                use_shadows=shadows,
                enabled_geom_groups=list(VISIBLE_GROUPS),
                cam_active=list(cameras),
                background_color=BACKGROUND_RGBA,
                use_precomputed_rays=fixed_fovy,
                shadow_light_fraction=SHADOW_LIGHT_FRACTION,
                enable_emission=False,
            )
            _settle(self._context)
            _rebuild_meshes(model, self._context)

    def trace(self, values: Mapping[str, npt.NDArray[Any]]) -> npt.NDArray[np.uint8]:
        """Fill the first k worlds with `values`, (k, ...) for all fields, and draw them.

        Returns a picture per camera and world, (cameras, k, H, W, 4) uint8 in the order BGRA: a
        view that the next call overwrites. Worlds beyond k are not drawn and cost nothing.
        """
        for name in MODEL_FIELDS:
            _write(getattr(self._model, name), values[name])
        for name in POSE_FIELDS:
            _write(getattr(self._data, name), values[name])
        count = len(values[POSE_FIELDS[0]])
        self._data.nworld = count
        mjw.refit_bvh(self._model, self._data, self._context)
        mjw.render(self._model, self._data, self._context)
        packed: npt.NDArray[np.uint32] = self._context.rgb_data.numpy()[:count]
        shape = (count, self._cameras, *self._size_px, 4)
        return packed.view(np.uint8).reshape(shape).swapaxes(0, 1)


@contextlib.contextmanager
def _no_driver_notice() -> Iterator[None]:
    """Keep back the one line that native code prints to stderr where there is no CUDA driver."""
    sys.stderr.flush()
    terminal = os.dup(2)
    with tempfile.TemporaryFile() as caught:
        os.dup2(caught.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(terminal, 2)
            os.close(terminal)
            caught.seek(0)
            lines = [line for line in caught if not line.startswith(_NOTICE)]
            os.write(2, b"".join(lines))


def _device(name: str) -> wp.Device:
    """Start Warp (once a process) and find a device."""
    with _no_driver_notice():
        wp.init()
    known = [device.alias for device in wp.get_devices()]
    if name not in known:
        raise unknown("device", name, known)
    return wp.get_device(name)


def _write(target: wp.array, values: npt.NDArray[Any]) -> None:
    """Copy `values` (k, ...) into the first k rows of a Warp array of either kind of device."""
    if target.device.is_cpu:
        target.numpy()[: len(values)] = values
    else:
        target[: len(values)].assign(values)


def _settle(context: Any) -> None:
    """Fix what would be compiled in differently for each scene, at no cost in speed.

    Clipping distances (no far plane; the near one does not move a perspective ray), the geom types
    that can occur, and whether a light can be a spot.
    """
    types = [int(kind) for kind in _PRIMITIVES]
    context.geom_ray_types = tuple(types + ([_MESH] if _MESH in context.geom_ray_types else []))
    context.znear, context.zfar = 1.0, 0.0
    context.has_spot_lights = True


def _rebuild_meshes(model: mujoco.MjModel, context: Any) -> None:
    """Give visible meshes search trees with larger leaves than the context's own."""
    visible = np.isin(model.geom_group, VISIBLE_GROUPS) & (model.geom_type == _MESH)
    tree_ids = context.mesh_bvh_id.numpy().copy()
    for mesh in np.unique(model.geom_dataid[visible]):
        first = model.mesh_vertadr[mesh]
        points = model.mesh_vert[first : first + model.mesh_vertnum[mesh]]
        first = model.mesh_faceadr[mesh]
        corners = model.mesh_face[first : first + model.mesh_facenum[mesh]]
        tree = wp.Mesh(
            points=wp.array(points, dtype=wp.vec3),
            indices=wp.array(corners.ravel(), dtype=wp.int32),
            bvh_constructor="sah",
            bvh_leaf_size=_MESH_LEAF,
        )
        context.mesh_registry[tree.id] = tree
        tree_ids[mesh] = tree.id
    context.mesh_bvh_id = wp.array(tree_ids, dtype=wp.uint64)
