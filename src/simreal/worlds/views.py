"""What the cameras of N worlds show: rendered under each world's look, then through its sensor."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from simreal.core.errors import UsageError, unknown
from simreal.core.types import Bools, Images
from simreal.worlds.camera import Sensor, Stream, expose
from simreal.worlds.names import CAMERAS
from simreal.worlds.physics import Array
from simreal.worlds.render import Look, Renderer, small
from simreal.worlds.scene import Scene
from simreal.worlds.settings import Settings


class Optics(Protocol):
    """Camera effects beyond the plain pipeline (used by twins)."""

    def reset(self, seeds: Sequence[int]) -> None:
        """Start N episodes."""
        ...

    def apply(self, images: Images, step: int) -> Images:
        """Alter images of all N worlds taken at control step `step`."""
        ...


@dataclass(frozen=True)
class Taken:
    """Where all bodies were when pictures were taken: enough to render them later.

    position (N, nbody, 3) m, matrix (N, nbody, 3, 3), world frame; step: control step.
    """

    position: Array
    matrix: Array
    step: int

    def row(self, i: int) -> Taken:
        """The moment of world i alone (N = 1)."""
        return Taken(self.position[i : i + 1], self.matrix[i : i + 1], self.step)


class Views:
    """The cameras of a scene in N worlds; the renderer is made when the first picture is asked for.

    cameras: name -> (height_px, width_px), one size for all.
    """

    def __init__(
        self, scene: Scene, cameras: Mapping[str, tuple[int, int]], shadows: bool, device: str
    ) -> None:
        _check_cameras(cameras)
        self._scene, self._cameras = scene, cameras
        self._shadows, self._device = shadows, device
        self._nominal = Look.of(scene.look)
        self._renderer: Renderer | None = None

    def reset(self, settings: Sequence[Settings], seeds: Sequence[int]) -> None:
        """Start N episodes, each under its settings; seeds: of the sensors' noise."""
        self._looks = [self.look_of(s) for s in settings]
        self._sensors = [_sensor(s) for s in settings]
        self._seeds = tuple(seeds)
        self._rendered: dict[str, npt.NDArray[np.uint8]] = {}

    def take(self, seen: Taken, resting: Bools) -> Images:
        """What all N cameras see; worlds at rest are not drawn again."""
        rows = np.flatnonzero(~resting)
        if not self._rendered:
            rows = np.arange(len(self._looks))
        drawn = self._render(seen.position[rows], seen.matrix[rows], self._looks, rows)
        for camera, pictures in drawn.items():
            whole = self._rendered.setdefault(camera, pictures)
            if whole is not pictures:
                whole[rows] = pictures
        return _exposed(
            self._rendered, self._sensors, [Stream(s, 0, seen.step) for s in self._seeds]
        )

    def photograph(self, moments: Sequence[Taken], settings: Settings, seed: int) -> Images:
        """Render T moments of one world under the looks of `settings`: camera -> (T, H, W, 3)."""
        position = np.concatenate([m.position for m in moments])
        matrix = np.concatenate([m.matrix for m in moments])
        rendered = self._render(
            position, matrix, [self.look_of(settings)], np.zeros(len(moments), dtype=int)
        )
        streams = [Stream(seed, 0, moment.step) for moment in moments]
        return _exposed(rendered, [_sensor(settings)] * len(moments), streams)

    def close(self) -> None:
        """Free device memory; the next picture makes a new renderer."""
        self._renderer = None

    def look_of(self, settings: Settings) -> Look:
        """The visual fields of one world."""
        edits = {f.split(".", 1)[1]: f for f in settings.edited if f.startswith("look.")}
        changed = {k: small(settings.value(f)) for k, f in edits.items()}
        return dataclasses.replace(self._nominal, **changed)

    def _render(
        self, position: Array, matrix: Array, looks: Sequence[Look], rows: npt.NDArray[np.int64]
    ) -> Images:
        if self._renderer is None:
            self._renderer = Renderer(
                self._scene.look,
                tuple(self._cameras),
                next(iter(self._cameras.values())),
                shadows=self._shadows,
                device=self._device,
            )
        return self._renderer.render(position, matrix, looks, rows)


def _check_cameras(cameras: Mapping[str, tuple[int, int]]) -> None:
    for name in cameras:
        if name not in CAMERAS:
            raise unknown("camera", name, CAMERAS)
    if len(set(cameras.values())) > 1:
        sizes = ", ".join(f"{name} {h}x{w}" for name, (h, w) in cameras.items())
        raise UsageError(f"All cameras of a world have one size; got {sizes}.")


def _sensor(settings: Settings) -> Sensor:
    """The camera electronics of one world; noise is half read noise, half shot noise."""
    red, green, blue = (float(x) for x in settings.value("image.colour_gain"))
    level = 255 * float(settings.value("image.noise_std")[0])
    return Sensor(
        exposure_stops=float(settings.value("image.exposure_stops")[0]),
        colour_gain=(red, green, blue),
        read_noise=level,
        shot_noise=level,
    )


def _exposed(images: Images, sensors: Sequence[Sensor], streams: Sequence[Stream]) -> Images:
    return {camera: expose(images[camera], sensors, streams, camera) for camera in images}
