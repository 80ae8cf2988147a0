"""How long a run takes, how fast it goes, and how it is asked to stop."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import torch

#: First steps of a process that its speed leaves out.
SPEED_AFTER = 5


class Clock:
    """Wall time, speed and the share of time spent on assembling batches."""

    def __init__(self, before_s: float) -> None:
        self.before_s, self.began = before_s, time.monotonic()
        self.count, self.data_s, self.steady_s, self.all_s = 0, 0.0, 0.0, 0.0

    def tick(self, data_s: float, step_s: float) -> None:
        """Count one step of `step_s` seconds, `data_s` of them for its batch."""
        self.count += 1
        self.data_s += data_s
        self.all_s += step_s
        if self.count > SPEED_AFTER:
            self.steady_s += step_s

    def seconds(self) -> float:
        """Wall time of the run over all its pieces."""
        return self.before_s + time.monotonic() - self.began

    def steps_per_s(self) -> float:
        """Speed of this process, without its first steps."""
        if self.count > SPEED_AFTER:
            return (self.count - SPEED_AFTER) / self.steady_s
        return self.count / self.all_s if self.count else 0.0

    def data_share(self) -> float:
        """Share of the time that went into assembling batches, 0 to 1."""
        return self.data_s / self.all_s if self.count else 0.0


@contextmanager
def torch_threads(count: int) -> Iterator[None]:
    """Run torch on `count` threads for a while."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def stop_request() -> Iterator[Callable[[], bool]]:
    """Turn SIGINT into a flag that is looked at between steps (in the main thread only)."""
    requested = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield requested.is_set
        return

    def note(_number: int, _frame: FrameType | None) -> None:
        requested.set()

    before = signal.signal(signal.SIGINT, note)
    try:
        yield requested.is_set
    finally:
        signal.signal(signal.SIGINT, before)
