"""Drawing training samples from several sources in exact shares, resumable at any step.

`Sampler.draw(step)` depends on nothing but its arguments and those of the constructor: a training
run that was killed goes on with the very samples that the unbroken run would have drawn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from simreal.core.errors import UsageError
from simreal.core.seeds import generator
from simreal.core.types import Mixture

Indices = npt.NDArray[np.int64]


class Draw(NamedTuple):
    """The samples of one step: sample i is frame `frame[i]` of part `part[i]`; both shape (B,)."""

    part: Indices
    frame: Indices


class Sampler:
    """Batches of B samples from the parts of a mixture.

    Shares. With share s of a part, the number of its samples in the first k batches lies within
    less than 1 of s B k, for every k and every part; between any two steps within less than 1 where
    the mixture has two parts, and less than 2 where it has more (less than 1 is impossible there
    for most shares). Samples go where a part would else fall a whole sample behind, the most urgent
    first: the chairman assignment problem (Tijdeman 1980), solved by earliest deadline (Steiner
    and Yeomans 1993), in exact fractions.

    Frames. A part's samples run through a permutation of its frames, a new one each epoch, so every
    frame comes once before any comes again.
    """

    def __init__(self, mixture: Mixture, frames: Sequence[int], batch: int, seed: int):
        """frames: number of frames of each part. batch: samples a step."""
        weights = [part.weight for part in mixture.parts]
        _check(mixture, frames, batch)
        total = sum(Fraction(weight) for weight in weights)
        self._shares = [Fraction(weight) / total for weight in weights]
        self._frames = [int(count) for count in frames]
        self._batch = int(batch)
        self._seed = seed
        self._taken: list[tuple[int, ...]] = [(0,) * len(weights)]
        self._orders: dict[int, tuple[int, Indices]] = {}

    @property
    def shares(self) -> tuple[float, ...]:
        """The share of each part; sums to 1."""
        return tuple(float(share) for share in self._shares)

    def taken(self, step: int) -> tuple[int, ...]:
        """How many samples of each part the steps before `step` took.

        The first call for a late step replays the counts of all steps before it, about 10
        microseconds each.
        """
        if step < 0:
            raise UsageError(f"step {step}; steps are numbered from 0.")
        while len(self._taken) <= step:
            self._taken.append(self._next(self._taken[-1], len(self._taken)))
        return self._taken[step]

    def draw(self, step: int) -> Draw:
        """The samples of one step, in random order."""
        before, after = self.taken(step), self.taken(step + 1)
        counts = [last - first for first, last in zip(before, after, strict=True)]
        part = np.repeat(np.arange(len(counts)), counts)
        frame = np.concatenate(
            [
                self._run(p, first, n)
                for p, (first, n) in enumerate(zip(before, counts, strict=True))
            ]
        )
        order = generator(self._seed, "mix.order", step).permutation(self._batch)
        return Draw(part[order], frame[order])

    def epochs(self, step: int) -> tuple[float, ...]:
        """How often each part's frames have been seen before `step`."""
        taken = self.taken(step)
        return tuple(
            n / count if count else 0.0 for n, count in zip(taken, self._frames, strict=True)
        )

    def _next(self, taken: tuple[int, ...], steps: int) -> tuple[int, ...]:
        """The counts after `steps` steps, from those one step earlier."""
        due = [share * self._batch * steps for share in self._shares]
        counts = [max(n, math.floor(d)) for n, d in zip(taken, due, strict=True)]
        open_parts = [p for p, d in enumerate(due) if counts[p] < math.ceil(d)]
        open_parts.sort(key=lambda p: (Fraction(counts[p] + 1) / self._shares[p], p))
        for p in open_parts[: self._batch * steps - sum(counts)]:
            counts[p] += 1
        return tuple(counts)

    def _run(self, part: int, first: int, count: int) -> Indices:
        """Frames of the samples `first` to `first + count` of one part."""
        pieces: list[Indices] = [np.empty(0, np.int64)]
        while count > 0:
            epoch, position = divmod(first, self._frames[part])
            piece = self._order(part, epoch)[position : position + count]
            pieces.append(piece)
            first, count = first + len(piece), count - len(piece)
        return np.concatenate(pieces)

    def _order(self, part: int, epoch: int) -> Indices:
        """The order of a part's frames in one epoch; the last one used is kept at hand."""
        kept = self._orders.get(part)
        if kept is None or kept[0] != epoch:
            source = generator(self._seed, f"mix.frames.{part}", epoch)
            kept = (epoch, source.permutation(self._frames[part]))
            self._orders[part] = kept
        return kept[1]


def _check(mixture: Mixture, frames: Sequence[int], batch: int) -> None:
    weights = [part.weight for part in mixture.parts]
    if len(frames) != len(weights):
        raise UsageError(f"{len(frames)} frame counts for {len(weights)} parts; give one a part.")
    if batch < 1:
        raise UsageError(f"batch is {batch}; allowed is 1 or more.")
    if not all(math.isfinite(w) and w >= 0 for w in weights) or not sum(weights) > 0:
        raise UsageError(f"weights {weights}; allowed are finite ones from 0, not all 0.")
    for part, count in zip(mixture.parts, frames, strict=True):
        if part.weight > 0 and count < 1:
            raise UsageError(f"{part.dataset} has weight {part.weight} and no frames.")


def share_bounds(n_real: int, n_sim: int, raised: float = 1.0) -> tuple[float, float]:
    """The range of P(sim), the simulated share of a batch, that is worth searching.

    n_real, n_sim: demonstrations of each kind. raised: factor on the weight of the real ones, above
    1 for a large gap between simulation and reality. With N real and M simulated demonstrations the
    weight of the real ones runs from N/(N+M) (every demonstration counts alike) to sqrt(N/M) where
    M/N > 5, else to N q / ((1 - q) M + N q) with q = 0.8; all capped at one half. (Published rule,
    docs/design.md, "Where the ranges come from".)

    It holds the flat part of what Maddukuri et al. 2025 measured with 20 real and 1,000 simulated
    demonstrations (0.95 success at P(sim) .90 and .99, 0.80 at .995, 0.85 at .50), and not the
    optimum of Wei et al. 2025 for planar pushing (3 : 1 real to simulated): a start for a search.
    """
    if n_real < 0 or n_sim < 0 or n_real + n_sim == 0:
        raise UsageError(f"{n_real} real and {n_sim} simulated demonstrations; give at least one.")
    if not (math.isfinite(raised) and raised > 0):
        raise UsageError(f"raised is {raised}; allowed is a finite number above 0.")
    if n_real == 0 or n_sim == 0:
        only = 1.0 if n_real == 0 else 0.0
        return only, only
    low, high = _real_weights(n_real, n_sim, raised)
    return 1.0 - high, 1.0 - low


def default_sim_share(n_real: int, n_sim: int, raised: float = 1.0) -> float:
    """P(sim) to begin with: the geometric mean of the real weights that `share_bounds` allows.

    For 20 real and 1,000 simulated demonstrations: .947.
    """
    least, most = share_bounds(n_real, n_sim, raised)
    return 1.0 - math.sqrt((1.0 - least) * (1.0 - most))


def _real_weights(n_real: int, n_sim: int, raised: float) -> tuple[float, float]:
    low = n_real / (n_real + n_sim)
    high = (
        math.sqrt(n_real / n_sim)
        if n_sim / n_real > 5
        else n_real * 0.8 / (0.2 * n_sim + n_real * 0.8)
    )
    return min(0.5, raised * low), min(0.5, raised * high)


def held_out_episodes(n: int, fraction: float, seed: int) -> tuple[Indices, Indices]:
    """Episodes to train on and episodes to validate on, each in ascending order.

    fraction: of the `n` episodes that is held out, rounded; at least one where `fraction` is above
    0 and n is 2 or more, and never all.
    """
    if n < 0 or not 0 <= fraction < 1:
        raise UsageError(f"fraction {fraction} of {n} episodes; allowed are 0 <= fraction < 1.")
    count = min(max(round(n * fraction), 1 if fraction > 0 else 0), max(n - 1, 0))
    order = generator(seed, "mix.held_out").permutation(n)
    return np.sort(order[count:]), np.sort(order[:count])
