"""Worlds with a known truth for the benchmark of the advisor: success surfaces, prices, pilots."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from simreal.core.seeds import generator
from simreal.verdicts.advise.rates import Rates

Surface = Callable[[float, float], float]


@dataclass(frozen=True)
class World:
    """One truth and one question. drift: logit by which all later trials differ from the pilot."""

    seed: int
    family: str
    inside: bool
    surface: Surface
    spread: float
    drift: float
    rates: Rates
    setup: float
    goal: float
    confidence: float
    budget: float
    pilot: tuple[tuple[tuple[int, int], int], ...]

    @property
    def known_rates(self) -> Rates:
        """The rates with the true set-up cost in place of its band."""
        return replace(self.rates, setup=(self.setup, self.setup))

    def rate(self, n_real: float, n_sim: float) -> float:
        """Mean success rate of a training, in the session of the pilot."""
        return min(1 - 1e-4, max(1e-4, self.surface(n_real, n_sim)))

    def later(self, rate: float) -> float:
        """The rate in later sessions."""
        rate = min(1 - 1e-6, max(1e-6, rate))
        return 1 / (1 + math.exp(-(math.log(rate / (1 - rate)) + self.drift)))


def _power(random: np.random.Generator) -> tuple[float, float, float, float]:
    """Floor and start of the failure rate, scale in demonstrations, exponent."""
    floor = random.uniform(0.0, 0.15)
    start = random.uniform(0.85, 1.0)
    scale = math.exp(random.normal(math.log(20), 0.8))
    return floor, start, scale, random.uniform(0.4, 1.4)


def _sign(random: np.random.Generator) -> float:
    return 1.0 if random.random() > 0.1 else -0.5


def additive(random: np.random.Generator) -> Surface:
    c, e0, tau, gamma = _power(random)
    most = tau * math.exp(random.normal(0.7, 1.0)) * _sign(random)
    half = math.exp(random.normal(math.log(300), 0.8))

    def success(n_real: float, n_sim: float) -> float:
        effective = max(0.0, n_real + most * n_sim / (n_sim + half))
        return 1 - c - (e0 - c) * (1 + effective / tau) ** -gamma

    return success


def multiplicative(random: np.random.Generator) -> Surface:
    c, e0, tau, gamma = _power(random)
    m = random.uniform(0.2, 0.95) * _sign(random)
    half = math.exp(random.normal(math.log(300), 0.8))

    def success(n_real: float, n_sim: float) -> float:
        factor = 1 - m * n_sim / (n_sim + half)
        return 1 - c - (e0 - c) * (1 + n_real / tau) ** -gamma * factor

    return success


def exchange(random: np.random.Generator) -> Surface:
    c, e0, tau, gamma = _power(random)
    beta = random.uniform(0.3, 0.9)
    alpha = tau * math.exp(random.normal(0.7, 1.0)) / 500**beta * _sign(random)

    def success(n_real: float, n_sim: float) -> float:
        effective = max(0.0, n_real + alpha * n_sim**beta)
        return 1 - c - (e0 - c) * (1 + effective / tau) ** -gamma

    return success


def plateau(random: np.random.Generator) -> Surface:
    """Nothing is gained beyond some number of real and of simulated demonstrations."""
    inner = [additive, multiplicative, exchange][random.integers(3)](random)
    real, sim = (
        math.exp(random.uniform(math.log(15), math.log(300))),
        math.exp(random.uniform(math.log(100), math.log(4000))),
    )
    return lambda n_real, n_sim: inner(min(n_real, real), min(n_sim, sim))


def threshold(random: np.random.Generator) -> Surface:
    """Hardly anything up to some amount of data, then a steep rise to a ceiling."""
    top, steep = random.uniform(0.6, 0.99), random.uniform(1.5, 4.0)
    middle = math.exp(random.uniform(math.log(10), math.log(120)))
    worth = math.exp(random.normal(math.log(0.05), 1.0))

    def success(n_real: float, n_sim: float) -> float:
        effective = max(1e-3, n_real + worth * n_sim)
        return top / (1 + (effective / middle) ** -steep)

    return success


def negative(random: np.random.Generator) -> Surface:
    """Simulation costs logits, the more of it the more, whatever the real data."""
    c, e0, tau, gamma = _power(random)
    harm = random.uniform(0.3, 2.0)
    half = math.exp(random.normal(math.log(300), 0.8))
    lift = random.uniform(0.0, 0.4)

    def success(n_real: float, n_sim: float) -> float:
        base = 1 - c - (e0 - c) * (1 + n_real / tau) ** -gamma
        base = max(base, lift * n_sim / (n_sim + half))
        logit = math.log(base / (1 - base)) if 0 < base < 1 else -9.0
        if n_real:
            logit -= harm * n_sim / (n_sim + half)
        return 1 / (1 + math.exp(-logit))

    return success


def rough(random: np.random.Generator) -> Surface:
    """A smooth surface with a logit of its own at every place: cells are not monotone."""
    inner = [additive, multiplicative, exchange][random.integers(3)](random)
    size, key = random.uniform(0.25, 0.6), int(random.integers(2**31))

    def success(n_real: float, n_sim: float) -> float:
        rate = min(1 - 1e-4, max(1e-4, inner(n_real, n_sim)))
        place = int(n_real) * 1_000_003 + int(n_sim)
        bump = size * generator(key, "rough", place).standard_normal()
        return 1 / (1 + math.exp(-(math.log(rate / (1 - rate)) + bump)))

    return success


def interacting(random: np.random.Generator) -> Surface:
    """A mix of a power law and a threshold; simulation works only beside enough real data."""
    smooth = [additive, multiplicative, exchange][random.integers(3)](random)
    steep = threshold(random)
    share = random.uniform(0.3, 0.7)
    grounding = math.exp(random.uniform(math.log(3), math.log(40)))

    def success(n_real: float, n_sim: float) -> float:
        used = n_sim * n_real / (n_real + grounding) if n_real else 0.3 * n_sim
        return share * smooth(n_real, used) + (1 - share) * steep(n_real, used)

    return success


INSIDE = {"additive": additive, "multiplicative": multiplicative, "exchange": exchange}
OUTSIDE = {
    "plateau": plateau,
    "threshold": threshold,
    "negative": negative,
    "rough": rough,
    "drift": None,
    "interacting": interacting,
}
#: Worlds come from these in turn; nine of sixteen lie outside the fitted models.
FAMILIES = (
    "additive", "plateau", "multiplicative", "threshold", "exchange", "negative", "rough", "drift",
    "additive", "interacting", "multiplicative", "plateau", "exchange", "threshold", "drift",
    "interacting",
)  # fmt: skip


def world(seed: int) -> World:
    """The world of a seed."""
    random = generator(seed, "advice world")
    family = FAMILIES[seed % len(FAMILIES)]
    inside = family in INSIDE
    drift = 0.0
    if family == "drift":
        maker = [additive, multiplicative, exchange][random.integers(3)]
        drift = random.normal(0, 0.6)
    else:
        maker = {**INSIDE, **OUTSIDE}[family]
    surface = maker(random)
    real_demo = math.exp(random.normal(math.log(3), 0.8))
    built = random.random() < 0.5
    low = 0.0 if built else real_demo * math.exp(random.uniform(math.log(20), math.log(600)))
    high = low * random.uniform(1.5, 5)
    rates = Rates(
        real_demo=real_demo,
        sim_demo=real_demo * math.exp(random.uniform(math.log(0.0005), math.log(0.05))),
        training=real_demo * random.uniform(0.3, 5),
        trial=real_demo * random.uniform(0.2, 1.0),
        setup=(low, high),
    )
    sims = int(random.choice([200, 500, 1000]))
    larger = int(random.choice([25, 50]))
    places = [(10, 0), (larger, 0), (0, sims), (10, sims)]
    if random.random() < 0.6:
        places.append((larger, sims))
    pilot = tuple((place, int(random.choice([20, 30, 50]))) for place in places)
    return World(
        seed=seed,
        family=family,
        inside=inside,
        surface=surface,
        spread=math.exp(random.normal(math.log(80), 0.8)),
        drift=drift,
        rates=rates,
        setup=random.uniform(low, high),
        goal=round(random.uniform(0.6, 0.93), 2),
        confidence=0.8,
        budget=real_demo * math.exp(random.uniform(math.log(150), math.log(2000)))
        + high * random.uniform(0.3, 1.5),
        pilot=pilot,
    )
