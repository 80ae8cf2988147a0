"""Jobs for the executor's tests: they stand in a module so that workers can import them."""

import os
import signal
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

from simreal.core.errors import UsageError
from simreal.core.seeds import generator


def draw(shard: int) -> np.ndarray:
    """Seeded numbers of one shard."""
    return generator(7, "executor test", shard).normal(size=1000)


def slow_first(shard: int) -> int:
    """Shard 0 is the slowest."""
    time.sleep(0.6 if shard == 0 else 0.01)
    return shard


def die_once(payload: tuple[str, int]) -> int:
    """Shard 2 kills its worker the first time it is tried."""
    folder, shard = payload
    mark = Path(folder) / "died"
    if shard == 2 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return shard


def always_die(shard: int) -> int:
    """Shard 3 always kills its worker."""
    if shard == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return shard


def exit_quietly(shard: int) -> int:
    """Leaves without an answer, exit code 5."""
    sys.exit(5)


def misuse(shard: int) -> int:
    """Raises an error made for the user."""
    raise UsageError(f"shard {shard} asks for the impossible")


class _NotPicklableError(Exception):
    def __init__(self, function: Callable[[], None]) -> None:
        super().__init__("holds a function")
        self.function = function


def raise_not_picklable(shard: int) -> int:
    """Raises an exception that cannot cross a pipe as it is."""
    raise _NotPicklableError(lambda: None)


def return_not_picklable(shard: int) -> Callable[[], None]:
    """Returns what cannot cross a pipe."""
    return lambda: None


def chatter(shard: int) -> int:
    """Prints as libraries do."""
    print("a banner of some library")
    return shard


@cache
def heavy_state() -> int:
    """Stands for a renderer: built once a process."""
    return time.monotonic_ns()


def use_heavy_state(shard: int) -> tuple[int, int]:
    """The worker and its state."""
    return os.getpid(), heavy_state()


def warm(folder: str) -> None:
    """An initializer that leaves a trace a process."""
    (Path(folder) / f"warm-{os.getpid()}").touch()


def fail_to_start() -> None:
    """An initializer that cannot work here."""
    raise UsageError("no such device")


def environment(shard: int) -> dict[str, str]:
    """The worker's environment, and what it has imported."""
    return {**os.environ, "modules": " ".join(sys.modules)}


def burn(seconds: float) -> float:
    """Uses CPU for about `seconds` of its own CPU time."""
    start = time.process_time()
    while time.process_time() - start < seconds:
        np.sqrt(np.arange(20_000.0)).sum()
    return seconds


def sleep_long(shard: int) -> int:
    """Works for a minute without listening."""
    time.sleep(60)
    return shard


def matrix_work(size: int) -> float:
    """A fixed amount of single-threaded work."""
    matrix = generator(1, "work").normal(size=(size, size))
    for _ in range(60):
        matrix = np.tanh(matrix @ matrix / size)
    return float(matrix.sum())
