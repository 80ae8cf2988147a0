"""What a real camera does to a picture and randomization leaves out.

In the order of the light's way: lens distortion and defocus, motion blur, vignetting, exposure that
follows the scene with a lag, mains flicker over the rows, white balance that drifts, sensor noise,
chroma subsampling as in JPEG or YUV 4:2:0. Every random number depends on (twin seed, condition
seed, control step); only the exposure also remembers earlier pictures of its episode.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from simreal.core.seeds import generator
from simreal.core.types import RATE_HZ, Images
from simreal.robots.draws import EpisodeDraws

Floats = npt.NDArray[np.float32]
Picture = npt.NDArray[np.uint8]

#: Pictures worked on at once: more fall out of the processor's cache.
CHUNK = 8
#: Weights of a resampled pixel below this are left out.
SMALL_WEIGHT = 0.01
#: Limits of the automatic gain.
GAIN_LIMITS = (0.25, 4.0)
#: Luma weights of R, G, B (ITU-R BT.601).
LUMA = np.array([0.299, 0.587, 0.114], dtype=np.float32)
#: Period of the white balance drift (assumed).
DRIFT_PERIOD_S = 20.0
#: Mains periods over the rows of a rolling shutter: 100 Hz during 15 ms.
FLICKER_CYCLES = 1.5


@dataclass(frozen=True)
class CameraParameters:
    """One camera. Lengths in pixels are of a picture 64 pixels wide and scale with the width.

    k1, k2: radial distortion, source radius = r (1 + k1 r^2 + k2 r^4), r = 1 at half the width
    (k1 > 0 bends straight lines inwards as a barrel does). defocus_px: standard deviation.
    motion_px: longest motion blur. vignette: share of light lost in the corners. exposure_target:
    mean level sought, 0 to 1, reached with time constant exposure_lag_s. flicker: amplitude of the
    rows' gain. white_balance: gains of R, G, B; drift: amplitude of their slow change. noise_std:
    of full scale. subsampling: chroma at half resolution.
    """

    k1: float = 0.0
    k2: float = 0.0
    defocus_px: float = 0.0
    motion_px: float = 0.0
    vignette: float = 0.0
    exposure_target: float | None = None
    exposure_lag_s: float = 0.3
    flicker: float = 0.0
    white_balance: tuple[float, float, float] = (1.0, 1.0, 1.0)
    drift: float = 0.0
    noise_std: float = 0.0
    subsampling: bool = False


class ImageEffects:
    """The effects of several cameras; plugs into a world as its `Optics`.

    cameras: name -> parameters; a picture of a camera not named passes unchanged.
    """

    def __init__(
        self, cameras: Mapping[str, CameraParameters], twin_seed: int, rate_hz: float = RATE_HZ
    ) -> None:
        self._cameras = {
            name: Camera(parameters, name, twin_seed, rate_hz)
            for name, parameters in cameras.items()
        }

    def reset(self, seeds: Sequence[int]) -> None:
        """Start N episodes with these condition seeds."""
        for camera in self._cameras.values():
            camera.reset(seeds)

    def apply(self, images: Images, step: int) -> Images:
        """Pictures (N, H, W, 3) of control step `step` as the real cameras would give them."""
        return {
            name: self._cameras[name].apply(pictures, step) if name in self._cameras else pictures
            for name, pictures in images.items()
        }


class Camera:
    """One camera's effects in N episodes."""

    def __init__(
        self, parameters: CameraParameters, name: str, twin_seed: int, rate_hz: float
    ) -> None:
        self.parameters = parameters
        self._name, self._twin_seed, self._rate_hz = name, twin_seed, rate_hz
        self._draws = EpisodeDraws(twin_seed, f"camera {name}", 5)
        self._phases = EpisodeDraws(twin_seed, f"camera {name} episode", 1)
        self._shape: tuple[int, int] = (0, 0)

    def reset(self, seeds: Sequence[int]) -> None:
        """Start N episodes with these condition seeds."""
        self._draws.reset(seeds)
        self._phases.reset(seeds)
        self._level: Floats | None = None
        self._last_step = 0

    def apply(self, pictures: Picture, step: int) -> Picture:
        """The altered pictures, a new array of the same shape."""
        self._prepare(pictures.shape[1], pictures.shape[2])
        draws, balance = self._draws.uniform(step), self._balance(step)
        elapsed_s, self._last_step = (step - self._last_step) / self._rate_hz, step
        first = self._level is None
        level = np.zeros(len(pictures), np.float32) if self._level is None else self._level
        self._level = level
        pieces = []
        for i in range(0, len(pictures), CHUNK):
            rows = slice(i, i + CHUNK)
            values = self._seen(pictures[rows])
            exposure = self._exposure(values, level[rows], np.inf if first else elapsed_s)
            pieces.append(self._developed(values, exposure[:, None] * balance[rows], draws[rows]))
        return np.concatenate(pieces)

    def _prepare(self, height: int, width: int) -> None:
        """Tables for this picture size."""
        if (height, width) == self._shape:
            return
        self._shape = (height, width)
        p, scale = self.parameters, width / 64
        self._remap = optics_matrix(height, width, p.k1, p.k2, p.defocus_px * scale)
        y, x = _grid(height, width)
        corner = 1 + (height / width) ** 2
        self._falloff = (1 - p.vignette * (x * x + y * y) / corner).astype(np.float32)
        noise = generator(self._twin_seed, f"sensor noise {self._name}")
        shape = (3, 2 * height, 2 * width)
        self._noise = (255 * p.noise_std * noise.standard_normal(shape)).astype(np.float32)

    def _seen(self, pictures: Picture) -> Floats:
        """Through the lens: (n, 3, H, W) float32, 0 to 255; long rows keep the rest fast."""
        n, height, width, _ = pictures.shape
        flat = pictures.reshape(n, -1, 3).transpose(1, 0, 2).reshape(height * width, -1)
        values = flat.astype(np.float32)
        if self._remap is not None:
            values = self._remap @ values
        return np.ascontiguousarray(values.T).reshape(n, 3, height, width)

    def _balance(self, step: int) -> Floats:
        """White balance gains, (N, 3)."""
        p = self.parameters
        phase = self._phases.uniform(0) + step / self._rate_hz / DRIFT_PERIOD_S
        swing = p.drift * np.sin(2 * np.pi * phase) * np.array([1.0, 0.0, -1.0])
        return np.asarray(np.array(p.white_balance) * np.exp(swing), dtype=np.float32)

    def _exposure(self, values: Floats, level: Floats, elapsed_s: float) -> Floats:
        """Automatic gain (n,), metered on a coarse grid.

        level: smoothed readings (n,), 0 to 1; moved towards the new ones by the share that the
        time since the last picture allows.
        """
        p = self.parameters
        if p.exposure_target is None:
            return np.ones(len(values), dtype=np.float32)
        reading = (values[:, :, ::4, ::4] * self._falloff[::4, ::4]).mean(axis=(1, 2, 3)) / 255
        share = -np.expm1(-elapsed_s / p.exposure_lag_s)
        level += share * (reading - level)
        gain = p.exposure_target / np.maximum(level, 1e-3)
        return np.asarray(np.clip(gain, *GAIN_LIMITS), dtype=np.float32)

    def _developed(self, values: Floats, gain: Floats, draws: npt.NDArray[np.float64]) -> Picture:
        """From light to bytes (n, H, W, 3); `values` is overwritten."""
        p, (height, width) = self.parameters, self._shape
        if p.motion_px > 0:
            for value, (angle, length) in zip(values, draws[:, :2], strict=True):
                _smear(value, 2 * np.pi * angle, length * p.motion_px * width / 64)
        field = self._falloff
        if p.flicker > 0:
            waves = np.arange(height) / height * FLICKER_CYCLES + draws[:, 2:3]
            rows = (1 + p.flicker * np.sin(2 * np.pi * waves)).astype(np.float32)
            field = (field * rows[:, :, None])[:, None]
        values *= field
        values *= gain[:, :, None, None]
        if p.noise_std > 0:
            corners = (draws[:, 3:] * (height, width)).astype(int)
            for value, (y, x) in zip(values, corners, strict=True):
                value += self._noise[:, y : y + height, x : x + width]
        if p.subsampling:
            _halve_chroma(values)
        values += 0.5
        np.clip(values, 0, 255, out=values)
        return np.ascontiguousarray(values.astype(np.uint8).transpose(0, 2, 3, 1))


def _grid(height: int, width: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Coordinates of pixel centres, 0 at the centre and 1 at half the width: y, x, each (H, W)."""
    rows, columns = np.mgrid[0:height, 0:width]
    return (rows - (height - 1) / 2) / (width / 2), (columns - (width - 1) / 2) / (width / 2)


def optics_matrix(
    height: int, width: int, k1: float, k2: float, defocus_px: float
) -> sparse.csr_array | None:
    """The linear map (H*W, H*W) of pixels through lens and defocus, float32; None if identity."""
    if k1 == k2 == defocus_px == 0:
        return None
    size = height * width
    y, x = _grid(height, width)
    radius = x * x + y * y
    stretch = (1 + k1 * radius + k2 * radius**2) * (width / 2)
    row = np.clip(y * stretch + (height - 1) / 2, 0, height - 1).ravel()
    column = np.clip(x * stretch + (width - 1) / 2, 0, width - 1).ravel()
    top = np.minimum(row.astype(int), height - 2)
    left = np.minimum(column.astype(int), width - 2)
    down, right = row - top, column - left
    matrix = sparse.csr_array((size, size))
    for dy, share_y in ((0, 1 - down), (1, down)):
        for dx, share_x in ((0, 1 - right), (1, right)):
            source = (top + dy) * width + left + dx
            matrix += sparse.csr_array((share_y * share_x, (np.arange(size), source)), (size,) * 2)
    if defocus_px > 0:
        matrix = matrix @ sparse.kron(
            sparse.csr_array(_blur(height, defocus_px)), _blur(width, defocus_px)
        )
    return _pruned(matrix)


def _blur(size: int, sigma: float) -> npt.NDArray[np.float64]:
    """Gaussian blur along one axis; rows sum to 1, also at the borders."""
    distance = np.arange(size)[:, None] - np.arange(size)
    weights = np.exp(-0.5 * (distance / sigma) ** 2)
    weights[weights < SMALL_WEIGHT] = 0
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _pruned(matrix: sparse.csr_array) -> sparse.csr_array:
    """Without small weights, rows summing to 1, float32."""
    matrix = sparse.csr_array(matrix)
    matrix.data[matrix.data < SMALL_WEIGHT] = 0
    matrix.eliminate_zeros()
    total = np.asarray(matrix.sum(axis=1)).ravel()
    return sparse.csr_array(sparse.diags_array(1 / total) @ matrix, dtype=np.float32)


def _smear(value: Floats, angle: float, length_px: float) -> None:
    """Mean of a picture (3, H, W) and itself moved by whole pixels, in place; not at borders."""
    _, height, width = value.shape
    dy, dx = round(length_px * np.sin(angle)), round(length_px * np.cos(angle))
    if dy == dx == 0:
        return
    here = (slice(None), _overlap(dy, height), _overlap(dx, width))
    there = (slice(None), _overlap(-dy, height), _overlap(-dx, width))
    value[here] = 0.5 * (value[here] + value[there])


def _overlap(shift: int, size: int) -> slice:
    """The rows of an axis that have a neighbour `shift` rows before them."""
    return slice(max(shift, 0), size + min(shift, 0))


def _halve_chroma(values: Floats) -> None:
    """Replace the colour differences of 2x2 pixels by their mean, in place; an odd edge stays."""
    height, width = (size // 2 * 2 for size in values.shape[2:])
    values = values[:, :, :height, :width]
    luma = np.einsum("nchw,c->nhw", values, LUMA)[:, None]
    corners = [(..., slice(i, None, 2), slice(j, None, 2)) for i in (0, 1) for j in (0, 1)]
    chroma = sum(values[c] for c in corners) - sum(luma[c] for c in corners)
    chroma *= np.float32(0.25)
    for corner in corners:
        np.add(luma[corner], chroma, out=values[corner])
