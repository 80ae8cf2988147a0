"""Looks of a robot: `mesh` (its visual meshes), `primitive` (boxes fitted to them), `physics`.

All forms have the same bodies, joints, actuators, cameras and collision shapes; only visual geoms
(group 2) differ. Boxes are fitted to the mesh files themselves, so no table of sizes is kept here.
"""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import mujoco
import numpy as np
import numpy.typing as npt

from simreal.core.errors import BadDataError, unknown
from simreal.core.seeds import generator

Form = Literal["physics", "primitive", "mesh"]
Doubles = npt.NDArray[np.float64]

#: Geom group of the visual shapes in robots' files; group 3 holds their collision shapes.
VISUAL_GROUP = 2

#: Points drawn on a mesh's surface, enough to find its outline to a millimetre or two.
_POINTS = 2000
#: A box is cut in two where that empties at least this volume.
_SPLIT_GAIN_M3 = 1e-6
#: Most boxes for one mesh: 8 follow the fingers closely enough for the wrist camera.
MOST_BOXES = 8
#: Share of a part's points that may lie outside its box on each side, and the least half-size, m.
_TRIM = 0.04
_THINNEST_M = 5e-4


@dataclass(frozen=True, eq=False)
class Box:
    """A box in the frame of a mesh file: centre (3,) m, rotation (3, 3), half-sizes (3,) m."""

    centre: Doubles
    rotation: Doubles
    half: Doubles

    @property
    def volume(self) -> float:
        """Cubic metres."""
        return float(8 * self.half.prod())


def add_robot_looks(spec: mujoco.MjSpec, form: Form, most: int = MOST_BOXES) -> None:
    """Give the robot in `spec` (visual meshes in group 2) the look `form`, in place.

    `mesh` keeps the visual meshes, `primitive` puts fitted boxes of the same material in their
    place, `most` for each; `physics` draws nothing. Meshes that no geom uses any more are removed.
    """
    if form not in get_args(Form):
        raise unknown("form", form, get_args(Form))
    visuals = [geom for geom in spec.geoms if geom.group == VISUAL_GROUP and geom.meshname]
    if form == "mesh":
        return
    if form == "primitive":
        for geom in visuals:
            add_boxes(spec, geom, most)
    for geom in visuals:
        spec.delete(geom)
    used = {geom.meshname for geom in spec.geoms}
    for mesh in list(spec.meshes):
        if mesh.name not in used:
            spec.delete(mesh)


def _mesh_path(spec: mujoco.MjSpec, name: str) -> Path:
    return Path(str(spec.modelfiledir), str(spec.meshdir), str(spec.mesh(name).file))


def add_boxes(spec: mujoco.MjSpec, geom: Any, most: int = MOST_BOXES) -> list[Any]:
    """Stand fitted boxes where a mesh geom stands: same body, material and group, no contacts."""
    origin = np.array(geom.pos)
    rotation = np.empty(9)
    mujoco.mju_quat2Mat(rotation, np.array(geom.quat))
    turn = rotation.reshape(3, 3)
    added = []
    scale = tuple(float(x) for x in spec.mesh(geom.meshname).scale)
    for box in fit_boxes(_mesh_path(spec, geom.meshname), most, scale):
        quat = np.empty(4)
        mujoco.mju_mat2Quat(quat, (turn @ box.rotation).ravel())
        added.append(
            geom.parent.add_geom(
                type=mujoco.mjtGeom.mjGEOM_BOX,
                pos=origin + turn @ box.centre,
                quat=quat,
                size=box.half,
                material=geom.material,
                group=geom.group,
                contype=0,
                conaffinity=0,
                mass=0,
            )
        )
    return added


@functools.cache
def fit_boxes(
    path: Path, most: int = MOST_BOXES, scale: tuple[float, ...] = (1.0, 1.0, 1.0)
) -> tuple[Box, ...]:
    """At most `most` boxes that together have the outline of the mesh in a file, times `scale`."""
    return fitted(surface_points(path) * np.array(scale), most)


def surface_points(path: Path) -> Doubles:
    """Points (n, 3) spread evenly over the surface of a mesh in a binary STL or OBJ file; always
    the same, in the file's unit.
    """
    corners = _obj_corners(path) if path.suffix.lower() == ".obj" else _stl_corners(path)
    a, b, c = np.moveaxis(corners, 1, 0)
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    rng = generator(0, "surface points")
    chosen = rng.choice(len(area), _POINTS, p=area / area.sum())
    u, v = rng.random((2, _POINTS, 1))
    u, v = np.where(u + v > 1, 1 - u, u), np.where(u + v > 1, 1 - v, v)
    points: Doubles = a[chosen] + u * (b - a)[chosen] + v * (c - a)[chosen]
    return points


def _stl_corners(path: Path) -> Doubles:
    """Triangles (n, 3, 3) of a binary STL file."""
    record = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("extra", "<u2")])
    content = path.read_bytes()
    if (len(content) - 84) % record.itemsize or len(content) <= 84:
        raise BadDataError(f"{path} is not a binary STL mesh.")
    corners: Doubles = np.frombuffer(content, record, offset=84)["corners"].astype(np.float64)
    return corners


def _obj_corners(path: Path) -> Doubles:
    """Triangles (n, 3, 3) of a Wavefront OBJ file; faces of more corners become fans."""
    points: list[list[float]] = []
    triangles: list[tuple[int, int, int]] = []
    for line in path.read_text().splitlines():
        kind, *words = line.split() or [""]
        if kind == "v":
            points.append([float(word) for word in words[:3]])
        elif kind == "f":
            corners = [int(word.split("/")[0]) for word in words]
            rows = [i - 1 if i > 0 else len(points) + i for i in corners]
            triangles += [(rows[0], b, c) for b, c in itertools.pairwise(rows[1:])]
    if not triangles:
        raise BadDataError(f"{path} holds no faces: it is not an OBJ mesh.")
    found: Doubles = np.array(points)[np.array(triangles)]
    return found


def fitted(points: Doubles, most: int = MOST_BOXES) -> tuple[Box, ...]:
    """Boxes around `points` (n, 3): the smallest box, cut in two as long as that empties enough."""
    whole = smallest_box(points)
    done: list[Box] = []
    open_cuts = [_best_cut(points, whole)]
    while open_cuts:
        open_cuts.sort(key=lambda cut: cut.gain)
        cut = open_cuts.pop()
        if cut.gain < _SPLIT_GAIN_M3 or len(done) + len(open_cuts) + 2 > most:
            done.append(_trimmed(cut.points, cut.whole))
        else:
            open_cuts += [_best_cut(part, box) for part, box in cut.halves]
    return tuple(done)


@dataclass(frozen=True, eq=False)
class _Cut:
    """A box around points, the best two halves in its place, and the volume (m^3) they save."""

    points: Doubles
    whole: Box
    halves: tuple[tuple[Doubles, Box], ...]
    gain: float


def _best_cut(points: Doubles, box: Box) -> _Cut:
    """The cut across an axis of `box` that saves most volume."""
    local = (points - box.centre) @ box.rotation
    best, saved = None, -np.inf
    for axis, share in itertools.product(range(3), np.linspace(-0.8, 0.8, 17)):
        below = local[:, axis] < share * box.half[axis]
        if not 10 < below.sum() < len(points) - 10:
            continue
        left = np.ptp(local[below], 0).prod() + np.ptp(local[~below], 0).prod()
        if box.volume - left > saved:
            best, saved = below, box.volume - left
    if best is None:
        return _Cut(points, box, (), -np.inf)
    halves = [(part, smallest_box(part)) for part in (points[best], points[~best])]
    gain = box.volume - sum(half.volume for _, half in halves)
    return _Cut(points, box, tuple(halves), gain)


def _trimmed(points: Doubles, box: Box) -> Box:
    """`box` without the few points that stick out on each side: nearer to the outline seen."""
    local = (points - box.centre) @ box.rotation
    low, high = np.quantile(local, [_TRIM, 1 - _TRIM], axis=0)
    centre = box.centre + box.rotation @ ((low + high) / 2)
    return Box(centre, box.rotation, np.maximum((high - low) / 2, _THINNEST_M))


@functools.cache
def _frames() -> Doubles:
    """Candidate orientations (k, 3, 3): the file's axes turned about each in steps of 3 degrees."""
    turns = []
    for axis, angle in itertools.product(np.eye(3), np.deg2rad(np.arange(0, 90, 3))):
        quat, matrix = np.empty(4), np.empty(9)
        mujoco.mju_axisAngle2Quat(quat, axis, angle)
        mujoco.mju_quat2Mat(matrix, quat)
        turns.append(matrix.reshape(3, 3))
    return np.array(turns)


def smallest_box(points: Doubles) -> Box:
    """The box of least volume around `points` (n, 3) among the candidate orientations."""
    frames = _frames()
    local = (points @ np.moveaxis(frames, 0, 1).reshape(3, -1)).reshape(
        len(points), *frames.shape[:2]
    )
    low, high = local.min(0), local.max(0)
    best = int((high - low).prod(1).argmin())
    rotation = frames[best]
    return Box(rotation @ ((low + high) / 2)[best], rotation, ((high - low) / 2)[best])
