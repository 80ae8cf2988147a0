"""Named random generators.

Every random draw in simreal comes from `generator(seed, purpose, index)`. Two draws with
different purposes or indices are independent, and none depends on how work is spread over workers.
"""

from __future__ import annotations

import hashlib

import numpy as np

from simreal.core.errors import UsageError


def check_seed(seed: int) -> None:
    """Refuse what is no seed.

    Raises:
        UsageError: for a negative number.
    """
    if seed < 0:
        raise UsageError(f"Seed {seed}; give a whole number, 0 or more.")


def _words(purpose: str) -> list[int]:
    digest = hashlib.sha256(purpose.encode()).digest()
    return [int.from_bytes(digest[i : i + 4], "little") for i in range(0, 16, 4)]


def generator(seed: int, purpose: str, index: int = 0) -> np.random.Generator:
    """A Philox generator that depends on all three arguments and on nothing else.

    Raises:
        UsageError: for a negative seed.
    """
    check_seed(seed)
    sequence = np.random.SeedSequence([int(seed), int(index), *_words(purpose)])
    return np.random.Generator(np.random.Philox(sequence))


def integer(seed: int, purpose: str, index: int = 0) -> int:
    """A non-negative 31-bit integer for libraries that take a seed and no generator."""
    return int(generator(seed, purpose, index).integers(0, 2**31 - 1))
