"""The other end of the pipe: a process that does one job after another until the pipe closes.

It is sent one initializer (or None), then pickled `(job, payload)` pairs, and answers each pair
with `Done` or `Failed`. Both ends belong to one run of simreal; no file is ever unpickled.
"""

from __future__ import annotations

import os
import pickle
import threading
import time
import traceback
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any


@dataclass(frozen=True)
class Done:
    """A job's result, and the CPU seconds it took in the worker."""

    result: Any
    cpu_s: float


@dataclass(frozen=True)
class Failed:
    """The exception a job ended with; its traceback rides along as a note."""

    error: Exception


def _die_with_parent(lifeline: int) -> None:
    """End this process at once when the parent is gone, whatever it is computing."""

    def watch() -> None:
        os.read(lifeline, 1)  # nothing is ever written: it returns when the parent's end closes
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _failed(error: Exception) -> bytes:
    """The answer for `error`; one that does not survive pickling becomes a RuntimeError."""
    note = f"In a worker process:\n{''.join(traceback.format_exception(error))}"
    error.add_note(note)
    try:
        answer = pickle.dumps(Failed(error))
        pickle.loads(answer)
    except (pickle.PicklingError, TypeError, AttributeError):
        plain = RuntimeError(f"{type(error).__name__}: {error}")
        plain.add_note(note)
        return pickle.dumps(Failed(plain))
    return answer


def _answer(message: bytes) -> bytes:
    """Do one job and pickle the answer."""
    start = time.process_time()
    try:
        job, payload = pickle.loads(message)
        result = job(payload)
        return pickle.dumps(Done(result, time.process_time() - start), protocol=5)
    except Exception as error:  # handed to the parent, which raises it
        return _failed(error)


def _initialize(initializer: Any) -> None:
    if initializer is not None:
        initializer()


def serve(pipe: int, lifeline: int) -> None:
    """Answer jobs until the parent closes its end of the pipe (file descriptors of both)."""
    _die_with_parent(lifeline)
    connection = Connection(pipe)
    initialized = _answer(pickle.dumps((_initialize, pickle.loads(connection.recv_bytes()))))
    if isinstance(pickle.loads(initialized), Failed):
        connection.send_bytes(initialized)
        return
    with suppress(EOFError, ConnectionError):  # the parent closed its end, or is gone
        while True:
            connection.send_bytes(_answer(connection.recv_bytes()))
