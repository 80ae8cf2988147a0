"""Every image of simreal, drawn by batch ray tracing, on the CPU and on CUDA by the same code.

Physics first, pictures later: the renderer gets the poses of bodies and, for each image, a `Look`
(the per-world visual fields). It runs no physics and no kinematics; the world poses of geoms,
cameras and lights follow from the body poses and the look's local poses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from simreal.core.errors import UsageError, unknown
from simreal.core.types import Floats, Images
from simreal.worlds.tracer import MODEL_FIELDS, Tracer

Ints = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]
Index = npt.NDArray[np.integer[Any]]

#: Smallest and largest image height or width in pixels.
SIZE_PX = (8, 1024)


@dataclass(frozen=True, eq=False)
class Look:
    """The visual fields of one world, named and shaped as in `MjModel` (m, quaternions wxyz).

    Local poses are relative to the body that carries the geom, camera or light. G geoms, M
    materials, C cameras, L lights. `geom_rgba` wins over the material's colour unless it is exactly
    MuJoCo's default (.5, .5, .5, 1). `mat_texid` column 1 (mjTEXROLE_RGB) is the texture drawn, -1
    for none.
    """

    geom_pos: Floats  # (G, 3)
    geom_quat: Floats  # (G, 4)
    geom_size: Floats  # (G, 3), half-sizes; meshes ignore it
    geom_rgba: Floats  # (G, 4); alpha 0 hides the geom
    geom_matid: Ints  # (G,)
    mat_rgba: Floats  # (M, 4)
    mat_texid: Ints  # (M, mjNTEXROLE)
    mat_texrepeat: Floats  # (M, 2)
    mat_specular: Floats  # (M,)
    mat_shininess: Floats  # (M,)
    cam_pos: Floats  # (C, 3)
    cam_quat: Floats  # (C, 4)
    cam_fovy: Floats  # (C,), degrees
    light_pos: Floats  # (L, 3)
    light_dir: Floats  # (L, 3)
    light_diffuse: Floats  # (L, 3)
    light_ambient: Floats  # (L, 3)
    light_specular: Floats  # (L, 3)
    light_active: Flags  # (L,)
    light_castshadow: Flags  # (L,)
    light_type: Ints  # (L,), mjtLightType

    @classmethod
    def of(cls, model: mujoco.MjModel) -> Look:
        """The look a compiled model has now; later changes of the model do not reach it."""
        return cls(**{field.name: small(getattr(model, field.name)) for field in fields(cls)})


def small(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A read-only copy in 32 bits; unsigned bytes, MuJoCo's booleans, become booleans."""
    kinds = {"f": np.float32, "i": np.int32, "b": np.bool_, "u": np.bool_}
    copied: npt.NDArray[Any] = np.array(values, dtype=kinds[values.dtype.kind])
    copied.setflags(write=False)
    return copied


class Renderer:
    """Draws images of one compiled model for many body poses and looks.

    model: carries cameras, textures and meshes; all looks given to `render` have its shapes.
    cameras: names of the cameras to draw. size_px: height and width, or one number for both.
    shadows: whether lights with `light_castshadow` cast shadows. batch: moments drawn in one call
    of the ray tracer; no result depends on it. fixed_fovy: True takes every camera's field of view
    from the model and ignores `Look.cam_fovy`, about a tenth faster.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        cameras: Sequence[str],
        size_px: int | tuple[int, int],
        shadows: bool,
        batch: int = 64,
        device: str = "cpu",
        fixed_fovy: bool = False,
    ) -> None:
        self.cameras = tuple(cameras)
        self.size_px = _checked_size(size_px)
        _check_model(model, self.cameras)
        if batch < 1:
            raise UsageError(f"A render batch of {batch} is impossible; it takes 1 or more.")
        self._batch, self._nbody = batch, int(model.nbody)
        self._nominal = Look.of(model)
        self._carriers = {
            "geom": model.geom_bodyid,
            "cam": model.cam_bodyid,
            "light": model.light_bodyid,
        }
        self._tracer = Tracer(model, self.cameras, self.size_px, shadows, batch, device, fixed_fovy)

    def render(
        self,
        body_pos: npt.NDArray[Any],
        body_rot: npt.NDArray[Any],
        looks: Sequence[Look],
        look_index: Index,
    ) -> Images:
        """Draw n moments with every camera.

        body_pos: world positions of all bodies (n, nbody, 3), m, as `MjData.xpos`. body_rot: world
        orientations, quaternions (n, nbody, 4) as `MjData.xquat` or matrices (n, nbody, 3, 3).
        looks, look_index: moment i is drawn with `looks[look_index[i]]`.
        Returns camera -> (n, H, W, 3) uint8 RGB, row 0 at the top. Every image depends on its own
        row only, bit for bit, whatever else is in the batch.
        """
        positions, rotations, index = self._checked(body_pos, body_rot, looks, look_index)
        shape = (len(index), *self.size_px, 3)
        images = {camera: np.empty(shape, dtype=np.uint8) for camera in self.cameras}
        for start in range(0, len(index), self._batch):
            rows = slice(start, start + self._batch)
            chosen = [looks[i] for i in index[rows]]
            values = self._values(positions[rows], rotations[rows], chosen)
            for out, picture in zip(images.values(), self._tracer.trace(values), strict=True):
                out[rows] = picture[..., 2::-1]
        return images

    def warm(self) -> None:
        """Compile the kernels, or load them from Warp's cache."""
        pose = np.zeros((1, self._nbody, 3), np.float32)
        upright = np.tile(np.array([1, 0, 0, 0], np.float32), (1, self._nbody, 1))
        self.render(pose, upright, [self._nominal], np.zeros(1, np.int64))

    def _checked(
        self,
        body_pos: npt.NDArray[Any],
        body_rot: npt.NDArray[Any],
        looks: Sequence[Look],
        look_index: Index,
    ) -> tuple[Floats, Floats, Index]:
        index = np.asarray(look_index)
        positions = np.asarray(body_pos, dtype=np.float32)
        rotations = np.asarray(body_rot, dtype=np.float32)
        bodies = (len(index), self._nbody)
        if positions.shape != (*bodies, 3):
            raise ValueError(f"body_pos has shape {positions.shape}, expected {(*bodies, 3)}.")
        if rotations.shape == (*bodies, 4):
            rotations = rotation_matrices(rotations)
        if rotations.shape != (*bodies, 3, 3):
            wanted = f"{(*bodies, 4)} or {(*bodies, 3, 3)}"
            raise ValueError(f"body_rot has shape {rotations.shape}, expected {wanted}.")
        if len(index) and not 0 <= index.min() <= index.max() < len(looks):
            raise ValueError(f"look_index reaches outside the {len(looks)} looks given.")
        return positions, rotations, index

    def _values(
        self, body_pos: Floats, body_rot: Floats, looks: Sequence[Look]
    ) -> dict[str, npt.NDArray[Any]]:
        """What the tracer needs for k = len(looks) moments: all its fields, (k, ...)."""
        look = {f.name: np.stack([getattr(x, f.name) for x in looks]) for f in fields(Look)}
        values = {name: look[name] for name in MODEL_FIELDS}
        for kind, bodies in self._carriers.items():
            origin, turn = body_pos[:, bodies], body_rot[:, bodies]
            values[f"{kind}_xpos"] = origin + _turned(turn, look[f"{kind}_pos"])
            if kind == "light":
                direction = _turned(turn, look["light_dir"])
                direction /= np.linalg.norm(direction, axis=-1, keepdims=True)
                values["light_xdir"] = direction
            else:
                values[f"{kind}_xmat"] = turn @ rotation_matrices(look[f"{kind}_quat"])
        return values


def rotation_matrices(quat: npt.NDArray[Any]) -> Floats:
    """Rotation matrices (..., 3, 3) of quaternions (..., 4), wxyz, of any length but zero."""
    q = np.asarray(quat, dtype=np.float32)
    w, x, y, z = np.moveaxis(q / np.linalg.norm(q, axis=-1, keepdims=True), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def _turned(rotation: Floats, vectors: Floats) -> Floats:
    """Vectors (n, k, 3) turned by rotations (n, k, 3, 3)."""
    turned: Floats = (rotation @ vectors[..., None])[..., 0]
    return turned


def _checked_size(size_px: int | tuple[int, int]) -> tuple[int, int]:
    height, width = (size_px, size_px) if isinstance(size_px, int) else size_px
    low, high = SIZE_PX
    if not (low <= height <= high and low <= width <= high):
        raise UsageError(
            f"A camera image of {height}x{width} pixels cannot be drawn; "
            f"height and width must lie between {low} and {high}."
        )
    return int(height), int(width)


def _check_model(model: mujoco.MjModel, cameras: Sequence[str]) -> None:
    """Refuse what would silently be drawn otherwise than the model says."""
    present = [model.camera(i).name for i in range(model.ncam)]
    for camera in cameras:
        if camera not in present:
            raise unknown("camera", camera, present)
    if not cameras or len(set(cameras)) != len(cameras):
        raise UsageError(f"Name each camera to draw once; got {', '.join(cameras) or 'none'}.")
    if model.vis.headlight.active:
        raise UsageError(
            "The model's headlight is on, which cannot vary between worlds; set it inactive."
        )
    fixed = mujoco.mjtCamLight.mjCAMLIGHT_FIXED
    if (model.cam_mode != fixed).any() or (model.light_mode != fixed).any():
        raise UsageError("Only cameras and lights with mode 'fixed' can be drawn.")
    perspective = mujoco.mjtProjection.mjPROJ_PERSPECTIVE
    if (model.cam_projection != perspective).any():
        raise UsageError("Only perspective cameras can be drawn.")
