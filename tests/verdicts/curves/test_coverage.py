"""Bands hold the truth as often as they say: in worlds of the models, and nearly so in others."""

import numpy as np
import pytest

from simreal.core.seeds import generator
from simreal.verdicts.curves import DEFAULT, MODELS, CellCounts, fit

MEASURED = ((10, 0), (40, 0), (0, 500), (10, 500), (40, 500))
ASKED = ((20, 0), (20, 500), (80, 500), (160, 0), (160, 500))
TRIALS = 30

pytestmark = pytest.mark.slow


def own(random):
    """A surface of the prior with its own retraining noise."""
    model = random.integers(len(MODELS))
    one, spread = DEFAULT.surfaces(model, random.standard_normal((1, 8)))
    return lambda r, s: float(one.success(r, s)[0, 0]), spread[0]


def plateau(random):
    top, knee = random.uniform(0.3, 0.9), random.uniform(10, 80)
    lift, half = random.uniform(0, 0.4), random.uniform(50, 500)
    return lambda r, s: top * min(1, (r / knee) ** 0.7) + lift * s / (s + half) * (1 - top), 50


def threshold(random):
    middle, steep = random.uniform(5, 100), random.uniform(2, 6)
    top, worth = random.uniform(0.6, 0.98), random.uniform(0, 60)
    return lambda r, s: top / (1 + (middle / (r + worth * s / (s + 200) + 1e-3)) ** steep), 50


def harmful(random):
    scale, harm = random.uniform(10, 60), random.uniform(0.1, 0.6)
    return lambda r, s: 0.95 * (1 - (1 + r / scale) ** -0.9) * (1 - harm * s / (s + 300)), 50


def wavy(random):
    scale, height = random.uniform(10, 60), random.uniform(0.05, 0.2)

    def rate(r, s):
        smooth = 0.9 * (1 - (1 + (r + 0.05 * s) / scale) ** -0.9)
        return float(np.clip(smooth + height * np.sin(2 * np.log1p(r)), 0, 1))

    return rate, 50


def coverage(world, count):
    """The share of asked places whose true rate lies in the 80 % band, over `count` worlds."""
    inside = []
    for index in range(count):
        random = generator(index, f"coverage {world.__name__}")
        rate, spread = world(random)
        cells = []
        for place in MEASURED:
            p = float(np.clip(rate(*place), 1e-6, 1 - 1e-6))
            trained = random.beta(p * spread, (1 - p) * spread)
            cells.append(CellCounts(*place, int(random.binomial(TRIALS, trained)), TRIALS))
        found = fit(cells).success(*np.array(ASKED).T)
        low, high = np.quantile(found, [0.1, 0.9], axis=0)
        truth = np.array([rate(*place) for place in ASKED])
        inside.append((low <= truth) & (truth <= high))
    return float(np.mean(inside))


def test_bands_cover_in_worlds_of_the_models():
    assert coverage(own, 200) == pytest.approx(0.8, abs=0.05)


@pytest.mark.parametrize("world", [plateau, threshold, harmful, wavy])
def test_bands_cover_most_in_other_worlds(world):
    assert coverage(world, 60) > 0.5
