"""Dither: a small wobble on top of what a policy commands, against friction at rest.

A policy that answers every observation alike stays wherever its answer does not move the arm. A
wobble of every channel breaks friction at rest, in joints and in contact, as in servo valves.
"""

from __future__ import annotations

import numpy as np

from simreal.core.types import Floats

#: Periods lie between these, control steps, spread by the golden ratio, so that channels never fall
#: into step; the phase of each channel, rad. All are choices.
PERIODS, GOLDEN, PHASE = (5.0, 10.0), (5**0.5 - 1) / 2, 1.7


def dither(step: int, channels: int, size: float) -> Floats:
    """What is added to the target of control step `step` of an episode, shape (channels,).

    size: root mean square of each channel's wobble, in the units of actions (degrees, millimetres).
    """
    numbers = np.arange(channels)
    low, high = PERIODS
    period = low + (high - low) * ((numbers * GOLDEN) % 1.0)
    wobble = np.sqrt(2.0) * size * np.sin(2 * np.pi * step / period + PHASE * numbers)
    return np.asarray(wobble, np.float32)
