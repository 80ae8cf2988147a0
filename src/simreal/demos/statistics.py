"""Statistics of a feature over an episode and over a data set, as LeRobot 0.6.1 computes them.

Follows `lerobot/datasets/compute_stats.py`: minimum, maximum, mean, standard deviation, count and
five quantiles read off a histogram of 5000 bins; pictures per channel, in [0, 1], shape (3, 1, 1),
from at most `_sampled` frames. Pictures are counted per value (there are only 256) instead of being
sorted, which gives the same histogram a hundred times faster.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Stats = dict[str, npt.NDArray[np.float64]]

QUANTILES = {"q01": 0.01, "q10": 0.10, "q50": 0.50, "q90": 0.90, "q99": 0.99}
NAMES = ("min", "max", "mean", "std", "count", *QUANTILES)

_BINS = 5000
_VALUES = np.arange(256, dtype=np.float32)


def of_vectors(values: npt.NDArray[np.number[Any]]) -> Stats:
    """Statistics of (T,) or (T, D) numbers: arrays of shape (1,) or (D,); `count` is T."""
    precision = np.result_type(values.dtype, np.float32)
    rows: npt.NDArray[np.floating] = values.reshape(len(values), -1).astype(precision, copy=False)
    mean = rows.mean(axis=0)
    variance = np.maximum((rows**2).mean(axis=0) - mean**2, 0) if len(rows) > 1 else 0 * mean
    stats: Stats = {
        "min": rows.min(axis=0),
        "max": rows.max(axis=0),
        "mean": mean,
        "std": np.sqrt(variance),
        "count": np.array([len(rows)]),
    }
    if len(rows) == 1:
        return stats | dict.fromkeys(QUANTILES, mean)
    columns = [_quantiles(column, None) for column in rows.T]
    return stats | dict(zip(QUANTILES, np.array(columns).T, strict=True))


def of_images(images: npt.NDArray[np.uint8]) -> Stats:
    """Statistics of (T, H, W, 3) pictures per channel: shape (3, 1, 1), in [0, 1]."""
    sample = _shrunk(images[_sampled(len(images))]).reshape(-1, 3)
    counts = np.stack([np.bincount(channel, minlength=256) for channel in sample.T]).astype(float)
    mean = counts @ _VALUES / len(sample)
    variance = np.maximum(counts @ _VALUES.astype(float) ** 2 / len(sample) - mean**2, 0)
    present = [np.flatnonzero(row) for row in counts]
    stats: Stats = {
        "min": np.array([values[0] for values in present]),
        "max": np.array([values[-1] for values in present]),
        "mean": mean,
        "std": np.sqrt(variance),
    }
    columns = [_quantiles(_VALUES[v], row[v]) for v, row in zip(present, counts, strict=True)]
    stats |= dict(zip(QUANTILES, np.array(columns).T, strict=True))
    scaled = {name: (value / 255.0).reshape(3, 1, 1) for name, value in stats.items()}
    return scaled | {"count": np.array([len(_sampled(len(images)))])}


def merge(parts: Sequence[Stats]) -> Stats:
    """The statistics of all rows together; quantiles are LeRobot's count-weighted means."""
    counts = np.stack([part["count"] for part in parts]).astype(float)
    total = counts.sum(axis=0)
    shape = (-1,) + (1,) * parts[0]["mean"].ndim
    weights = (counts / total).reshape(shape)
    means = np.stack([part["mean"] for part in parts])
    mean = (weights * means).sum(axis=0)
    variances = np.stack([part["std"] for part in parts]) ** 2 + (means - mean) ** 2
    merged: Stats = {
        "min": np.min([part["min"] for part in parts], axis=0),
        "max": np.max([part["max"] for part in parts], axis=0),
        "mean": mean,
        "std": np.sqrt((weights * variances).sum(axis=0)),
        "count": total,
    }
    quantiles = {
        name: (weights * np.stack([part[name] for part in parts])).sum(axis=0) for name in QUANTILES
    }
    return merged | quantiles


def _sampled(frames: int) -> npt.NDArray[np.int64]:
    """The frames whose pictures are counted: all up to 100, then frames^0.75 spread evenly."""
    number = max(min(100, frames), min(int(frames**0.75), 10_000))
    return np.round(np.linspace(0, frames - 1, number)).astype(np.int64)


def _shrunk(images: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Every k-th pixel where a side has 300 or more, so that about 150 remain."""
    height, width = images.shape[1:3]
    if max(height, width) < 300:
        return images
    factor = int(width / 150) if width > height else int(height / 150)
    return images[:, ::factor, ::factor]


def _quantiles(values: npt.NDArray[np.floating], weights: Array | None) -> Array:
    """The `QUANTILES` of one column, interpolated within the bins of its histogram."""
    edges = np.linspace(values.min() - 1e-10, values.max() + 1e-10, _BINS + 1)
    cumulative = np.cumsum(np.histogram(values, bins=edges, weights=weights)[0])
    wanted = np.array(list(QUANTILES.values())) * cumulative[-1]
    index = np.searchsorted(cumulative, wanted)
    before = np.where(index == 0, 0.0, cumulative[index - 1])
    inside = cumulative[index] - before
    share = np.where(index == 0, 0.0, (wanted - before) / inside)
    return np.asarray(edges[index] + share * (edges[index + 1] - edges[index]), dtype=float)
