"""Families of procedural patterns, in three kinds that share none.

A family takes a generator and returns a picture (TEXTURE_PX, TEXTURE_PX, 3) of colours 0..1
that may overshoot.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
import numpy.typing as npt

Kind = Literal["train", "twin", "unseen"]
Doubles = npt.NDArray[np.float64]
Rng = np.random.Generator

#: Height and width of every texture. Cameras of 64-96 px see no more of it.
TEXTURE_PX = 96

_V, _U = np.mgrid[0:TEXTURE_PX, 0:TEXTURE_PX] / TEXTURE_PX


# Pieces. A field is (TEXTURE_PX, TEXTURE_PX) in 0..1 or a phase; a picture has a last axis RGB.


def _colours(rng: Rng, n: int) -> Doubles:
    """`n` colours (n, 3) of any hue, the first two at least .35 apart."""
    while True:
        drawn = rng.random((n, 3))
        if n < 2 or np.abs(drawn[0] - drawn[1]).max() > 0.35:
            return drawn


def _mix(field: Doubles, low: Doubles, high: Doubles) -> Doubles:
    """A picture that goes from colour `low` where `field` is 0 to `high` where it is 1."""
    weight = field[..., None]
    mixed: Doubles = (1 - weight) * low + weight * high
    return mixed


def _turned(rng: Rng) -> Doubles:
    """A coordinate that grows along a random direction."""
    angle = rng.uniform(0, np.pi)
    turned: Doubles = np.cos(angle) * _U + np.sin(angle) * _V
    return turned


def _noise(rng: Rng, cells: int, octaves: int = 3) -> Doubles:
    """Value noise in 0..1: random values on a grid, smoothly blended, finer octaves added."""
    total, weight = np.zeros_like(_U), 0.0
    for octave in range(octaves):
        count = cells * 2**octave
        grid = rng.random((count + 1, count + 1))
        u, v = _U * count, _V * count
        i, j = u.astype(int), v.astype(int)
        a, b = u - i, v - j
        a, b = a * a * (3 - 2 * a), b * b * (3 - 2 * b)
        top = grid[j, i] * (1 - a) + grid[j, i + 1] * a
        bottom = grid[j + 1, i] * (1 - a) + grid[j + 1, i + 1] * a
        total += (top * (1 - b) + bottom * b) / 2**octave
        weight += 1 / 2**octave
    noise: Doubles = total / weight
    return noise


def _cells(rng: Rng, n: int) -> tuple[npt.NDArray[np.int64], Doubles]:
    """Nearest of `n` random sites for each pixel, and how much nearer it is than the second."""
    sites = rng.random((n, 2))
    distance = np.hypot(_U[..., None] - sites[:, 0], _V[..., None] - sites[:, 1])
    nearest = distance.argmin(-1)
    two = np.partition(distance, 1, axis=-1)
    return nearest, two[..., 1] - two[..., 0]


# Families of `train`.


def checker(rng: Rng) -> Doubles:
    """Squares in two colours."""
    low, high = _colours(rng, 2)
    n = rng.integers(2, 10)
    return _mix(((_U * n).astype(int) + (_V * n).astype(int)) % 2 * 1.0, low, high)


def stripes(rng: Rng) -> Doubles:
    """Parallel bands in two colours, any direction, soft or hard."""
    low, high = _colours(rng, 2)
    wave = np.sin(2 * np.pi * rng.uniform(2, 9) * _turned(rng))
    return _mix((0.5 + wave * rng.uniform(0.5, 4)).clip(0, 1), low, high)


def gradient(rng: Rng) -> Doubles:
    """A slow change from one colour to another."""
    low, high = _colours(rng, 2)
    field = _turned(rng)
    return _mix((field - field.min()) / np.ptp(field), low, high)


def clouds(rng: Rng) -> Doubles:
    """Value noise between two colours."""
    low, high = _colours(rng, 2)
    return _mix(((_noise(rng, int(rng.integers(2, 9))) - 0.2) / 0.6).clip(0, 1), low, high)


def dots(rng: Rng) -> Doubles:
    """A grid of round dots."""
    low, high = _colours(rng, 2)
    n, radius = rng.integers(3, 10), rng.uniform(0.2, 0.45)
    return _mix((np.hypot(_U * n % 1 - 0.5, _V * n % 1 - 0.5) < radius) * 1.0, low, high)


def speckle(rng: Rng) -> Doubles:
    """Independent pixels around one colour."""
    colour, spread = _colours(rng, 1)[0], rng.uniform(0.05, 0.25)
    speckled: Doubles = colour + rng.normal(0, spread, _U.shape)[..., None]
    return speckled


def plain(rng: Rng) -> Doubles:
    """One colour."""
    return np.broadcast_to(_colours(rng, 1)[0], (*_U.shape, 3))


# Families of `twin`.


def wood(rng: Rng) -> Doubles:
    """Long grain: rings seen from the side, bent by noise."""
    dark = np.array([0.35, 0.2, 0.1]) + rng.uniform(-0.08, 0.08, 3)
    light = dark + rng.uniform(0.15, 0.4) * np.array([1, 0.85, 0.6])
    rings = rng.uniform(4, 9) * (_V + 0.25 * _noise(rng, 2)) + 0.3 * _noise(rng, 24, 1)
    return _mix(0.5 + 0.5 * np.sin(2 * np.pi * rings), dark, light)


def marble(rng: Rng) -> Doubles:
    """A pale ground with thin dark veins."""
    ground = rng.uniform(0.65, 0.95) + rng.uniform(-0.06, 0.06, 3)
    vein = ground * rng.uniform(0.25, 0.6)
    bend = _turned(rng) * rng.uniform(2, 5) + rng.uniform(1, 3) * _noise(rng, 4, 4)
    return _mix(np.abs(np.sin(np.pi * bend)) ** 0.35, vein, ground)


def terrazzo(rng: Rng) -> Doubles:
    """Chips of stone in cement."""
    cement = rng.uniform(0.5, 0.85) + rng.uniform(-0.05, 0.05, 3)
    nearest, margin = _cells(rng, int(rng.integers(60, 140)))
    chips = cement + rng.uniform(-0.45, 0.25, (nearest.max() + 1, 1))
    chips = chips + rng.uniform(-0.08, 0.08, (nearest.max() + 1, 3))
    return np.where((margin > rng.uniform(0.015, 0.035))[..., None], chips[nearest], cement)


def cloth(rng: Rng) -> Doubles:
    """A weave of two threads."""
    warp, weft = 0.2 + 0.5 * _colours(rng, 2)
    n = int(rng.integers(10, 22))
    over = ((_U * n).astype(int) + (_V * n).astype(int)) % 2 == 0
    shade = np.where(over, np.sin(np.pi * (_V * n % 1)), np.sin(np.pi * (_U * n % 1)))
    shade = 0.55 + 0.45 * shade + rng.normal(0, 0.04, _U.shape)
    woven: Doubles = np.where(over[..., None], warp, weft) * shade[..., None]
    return woven


def concrete(rng: Rng) -> Doubles:
    """Grey with stains and pores."""
    grey = rng.uniform(0.35, 0.7) + rng.uniform(-0.03, 0.03, 3)
    stain = 0.3 * (_noise(rng, 3, 5) - 0.5)
    pores = 0.25 * (_noise(rng, 32, 1) > 0.85)
    stained: Doubles = grey + (stain - pores)[..., None]
    return stained


# Families of `unseen`.


def voronoi(rng: Rng) -> Doubles:
    """Cells of many colours with dark borders."""
    nearest, margin = _cells(rng, int(rng.integers(8, 40)))
    return _colours(rng, 40)[nearest] * (0.2 + 0.8 * (margin > 0.012))[..., None]


def camouflage(rng: Rng) -> Doubles:
    """Large blots in four colours."""
    levels = np.digitize(_noise(rng, int(rng.integers(3, 6)), 2), [0.4, 0.5, 0.6])
    return _colours(rng, 4)[levels]


def brick(rng: Rng) -> Doubles:
    """Bricks in rows, each of its own shade, with mortar."""
    stone, mortar = _colours(rng, 2)
    rows, across = int(rng.integers(5, 11)), int(rng.integers(2, 5))
    row = (_V * rows).astype(int)
    along = _U * across + 0.5 * (row % 2)
    shade = 1 + 0.2 * rng.standard_normal((rows, across + 1))[row, along.astype(int)]
    joint = (_V * rows % 1 < 0.14) | (along % 1 < 0.07)
    return np.where(joint[..., None], mortar, stone * shade[..., None])


def writing(rng: Rng) -> Doubles:
    """Rows of small random signs, like a printed page."""
    ink, paper = _colours(rng, 2)
    rows = int(rng.integers(6, 13))
    signs = rng.random((rows * 6, rows * 5)) < 0.55
    y, x = (_V * rows * 6).astype(int), (_U * rows * 5).astype(int)
    gap = (y % 6 == 0) | (x % 5 == 0) | (rng.random((rows, rows)) < 0.15)[y // 6, x // 5]
    return np.where((signs[y, x] & ~gap)[..., None], ink, paper)


def rays(rng: Rng) -> Doubles:
    """Spokes out of one point."""
    low, high = _colours(rng, 2)
    u, v = rng.uniform(0.2, 0.8, 2)
    spokes = np.sin(int(rng.integers(5, 14)) * np.arctan2(_V - v, _U - u))
    return _mix((spokes > 0) * 1.0, low, high)


FAMILIES: dict[Kind, tuple[Callable[[Rng], Doubles], ...]] = {
    "train": (checker, stripes, gradient, clouds, dots, speckle, plain),
    "twin": (wood, marble, terrazzo, cloth, concrete),
    "unseen": (voronoi, camouflage, brick, writing, rays),
}
