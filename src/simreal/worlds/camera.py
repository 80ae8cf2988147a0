"""What a camera does to a picture: exposure, colour cast, shot and read noise.

Works on rendered pictures, (n, H, W, 3) uint8 in display values (gamma 2.2 taken for granted).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simreal.core.seeds import generator
from simreal.core.types import Floats

Pixels = npt.NDArray[np.uint8]

#: Display values are light to the power 1/GAMMA, so one stop multiplies them by 2 ** (1/GAMMA).
GAMMA = 2.2
#: Numbers in the table that all noise is cut from: many times a picture's size.
_TABLE = 2**21


@dataclass(frozen=True)
class Sensor:
    """How one camera records one episode; the default changes nothing.

    exposure_stops: +1 doubles the light. colour_gain: factors of the display values of R, G, B.
    read_noise: standard deviation of noise everywhere, in levels of 255. shot_noise: standard
    deviation of noise at full white, in levels; its variance is proportional to the value.
    """

    exposure_stops: float = 0.0
    colour_gain: tuple[float, float, float] = (1.0, 1.0, 1.0)
    read_noise: float = 0.0
    shot_noise: float = 0.0

    @property
    def gain(self) -> Floats:
        """Factor of display values per channel, (3,)."""
        exposure = 2 ** (self.exposure_stops / GAMMA)
        return (exposure * np.array(self.colour_gain)).astype(np.float32)


@dataclass(frozen=True)
class Stream:
    """Names the noise of one picture: a seed, an index (of the episode) and the step in it."""

    seed: int
    index: int
    step: int


def expose(
    images: Pixels, sensors: Sequence[Sensor], streams: Sequence[Stream], camera: str
) -> Pixels:
    """`images` (n, H, W, 3) as `sensors[i]` records them, noise named by `streams[i]` and `camera`.

    Each picture depends on its own row alone, whatever else is in the batch.
    """
    if not len(images) == len(sensors) == len(streams):
        raise ValueError(
            f"{len(images)} images, {len(sensors)} sensors and {len(streams)} streams do not match."
        )
    recorded = np.empty_like(images)
    for image, sensor, stream, out in zip(images, sensors, streams, recorded, strict=True):
        out[...] = _recorded(image, sensor, stream, camera)
    return recorded


def _recorded(image: Pixels, sensor: Sensor, stream: Stream, camera: str) -> Pixels:
    """One picture (H, W, 3)."""
    noisy = sensor.read_noise > 0 or sensor.shot_noise > 0
    gain = sensor.gain
    if not noisy and (gain == 1).all():
        return image
    values = image * gain
    if noisy:
        np.minimum(values, 255, out=values)
        spread = np.sqrt(sensor.read_noise**2 + values * (sensor.shot_noise**2 / 255))
        values += spread * _noise(values.size, stream, camera).reshape(values.shape)
    values += 0.5
    return values.clip(0, 255, out=values).astype(np.uint8)


def _noise(size: int, stream: Stream, camera: str) -> Floats:
    """Standard normal numbers (size,): a stretch of a fixed table, begun where the stream says."""
    rng = generator(stream.seed, f"camera noise {camera} {stream.index}", stream.step)
    start = int(rng.integers(0, _TABLE))
    table = _table()
    if start + size <= _TABLE:
        return table[start : start + size]
    return np.take(table, np.arange(start, start + size), mode="wrap")


@functools.cache
def _table() -> Floats:
    """Standard normal numbers (_TABLE,). Drawing new ones would take longer than ray tracing."""
    table = generator(0, "camera noise table").standard_normal(_TABLE, dtype=np.float32)
    table.setflags(write=False)
    return table
