"""Runs shards of work in this process or over worker processes: `job(payload) -> result`.

A job is a function of an importable module whose result depends on its payload alone; then results
do not depend on how many workers there are, who does what, or who dies. Heavy state (a renderer, a
model) lives as long as its worker: build it in the initializer, or in a cached function of the
job's module.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from multiprocessing import Pipe, connection
from types import TracebackType
from typing import Protocol, Self

from simreal.compute.machine import ONE_THREAD
from simreal.compute.worker import Done, Failed
from simreal.core.errors import InterruptedRunError, SimrealError, unknown

Initializer = Callable[[], object]

_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[3]); "
    "from simreal.compute.worker import serve; serve(int(sys.argv[1]), int(sys.argv[2]))"
)


class WorkerDiedError(SimrealError):
    """A shard ended its worker process twice."""


class Executor(Protocol):
    """Runs jobs over payloads. A context manager: leaving it ends its workers."""

    def run[P, R](self, job: Callable[[P], R], payloads: Sequence[P]) -> Iterator[tuple[int, R]]:
        """Yield (index into `payloads`, result) as jobs complete; see `in_order`.

        An exception of a job is raised here. Ctrl-C becomes `InterruptedRunError`.
        """
        ...

    @property
    def worker_cpu_s(self) -> float:
        """CPU seconds that finished jobs took outside this process."""
        ...

    def close(self) -> None:
        """End the workers. Calling it twice is allowed."""
        ...

    def __enter__(self) -> Self:
        """Enter: nothing is started yet."""
        ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        """Close; Ctrl-C becomes `InterruptedRunError`."""
        ...


def make_executor(kind: str, workers: int = 1, initializer: Initializer | None = None) -> Executor:
    """`inline` (this process, one job after another) or `processes` (`workers` of them)."""
    if kind == "inline":
        return Inline(initializer)
    if kind == "processes":
        return Processes(workers, initializer)
    raise unknown("executor", kind, ["inline", "processes"])


def in_order[R](completed: Iterator[tuple[int, R]]) -> Iterator[R]:
    """Results in the order of their payloads, each as soon as those before it are there."""
    early: dict[int, R] = {}
    due = 0
    for index, result in completed:
        early[index] = result
        while due in early:
            yield early.pop(due)
            due += 1


def _interrupted(done: int, total: int) -> InterruptedRunError:
    return InterruptedRunError(f"Interrupted after {done} of {total} shards; it can be resumed.")


class _Closing:
    """What both executors do on leaving a `with` block."""

    def close(self) -> None:
        """End the workers."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self.close()
        if isinstance(error, KeyboardInterrupt):
            raise InterruptedRunError("Interrupted; it can be resumed.") from error


class Inline(_Closing):
    """Jobs run here, one after another: for small work, tests and debuggers."""

    worker_cpu_s = 0.0

    def __init__(self, initializer: Initializer | None = None) -> None:
        self._initializer = initializer

    def run[P, R](self, job: Callable[[P], R], payloads: Sequence[P]) -> Iterator[tuple[int, R]]:
        """See `Executor.run`."""
        done = 0
        try:
            if self._initializer is not None:
                self._initializer()
                self._initializer = None
            for index, payload in enumerate(payloads):
                result = job(payload)
                done += 1
                yield index, result
        except KeyboardInterrupt as error:
            raise _interrupted(done, len(payloads)) from error


class _Worker:
    """One process with its pipe; `shard` is what it works on, None when idle."""

    def __init__(self, initializer: Initializer | None) -> None:
        self.shard: int | None = None
        self.pipe, theirs = Pipe()
        read_end, self._lifeline = os.pipe()
        descriptors = (theirs.fileno(), read_end)
        self.process = subprocess.Popen(
            [sys.executable, "-c", _START, *map(str, descriptors), json.dumps(sys.path)],
            env={**os.environ, **ONE_THREAD},
            pass_fds=descriptors,
            stdin=subprocess.DEVNULL,
            stdout=2,  # what libraries print is not for those who read our standard output
            process_group=0,  # Ctrl-C reaches this process alone, which then ends the workers
        )
        theirs.close()
        os.close(read_end)
        with suppress(OSError):  # dead already: found out when its answer is awaited
            self.pipe.send_bytes(pickle.dumps(initializer))

    def give(self, shard: int, message: bytes) -> None:
        """Start on a shard."""
        self.shard = shard
        with suppress(OSError):  # as above
            self.pipe.send_bytes(message)

    def answer(self) -> Done | Failed | None:
        """The answer to the shard in hand; None where the process died instead."""
        try:
            received = pickle.loads(self.pipe.recv_bytes())
        except (EOFError, OSError):
            return None
        assert isinstance(received, Done | Failed)
        return received

    def answered(self) -> bool:
        """Whether `answer` would return at once."""
        return self.pipe.poll() or self.process.poll() is not None

    def end(self, patience_s: float = 0.0) -> str:
        """End the process, killing it after `patience_s`; says how it ended."""
        self.pipe.close()
        try:
            self.process.wait(patience_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
        code = self.process.wait()
        if self._lifeline >= 0:
            os.close(self._lifeline)
            self._lifeline = -1
        return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


class Processes(_Closing):
    """Jobs run over worker processes of one thread each, which live until `close`.

    A worker that dies (killed, out of memory) is replaced and its shard done once more; dying on
    the same shard again raises `WorkerDiedError`.
    """

    def __init__(self, workers: int, initializer: Initializer | None = None) -> None:
        if workers < 1:
            raise ValueError(f"workers must be 1 or more, not {workers}")
        self._count = workers
        self._initializer = initializer
        self._workers: list[_Worker] = []
        self._cpu_s = 0.0

    @property
    def worker_cpu_s(self) -> float:
        """See `Executor.worker_cpu_s`."""
        return self._cpu_s

    def run[P, R](self, job: Callable[[P], R], payloads: Sequence[P]) -> Iterator[tuple[int, R]]:
        """See `Executor.run`."""
        waiting = deque(range(len(payloads)))
        redone: set[int] = set()
        done = 0
        try:
            while len(self._workers) < min(self._count, len(payloads)):
                self._workers.append(_Worker(self._initializer))
            while done < len(payloads):
                self._hand_out(job, payloads, waiting)
                worker = self._next_answering()
                shard, answer = worker.shard, worker.answer()
                assert shard is not None
                if answer is None:
                    self._replace(worker, redone, len(payloads))
                    waiting.appendleft(shard)
                elif isinstance(answer, Failed):
                    raise answer.error
                else:
                    worker.shard = None
                    done += 1
                    self._cpu_s += answer.cpu_s
                    self._hand_out(job, payloads, waiting)
                    yield shard, answer.result
        except KeyboardInterrupt as error:
            raise _interrupted(done, len(payloads)) from error
        finally:
            self._end_busy()

    def _hand_out[P, R](
        self, job: Callable[[P], R], payloads: Sequence[P], waiting: deque[int]
    ) -> None:
        for worker in self._workers:
            if worker.shard is None and waiting:
                shard = waiting.popleft()
                worker.give(shard, pickle.dumps((job, payloads[shard]), protocol=5))

    def _next_answering(self) -> _Worker:
        busy = [worker for worker in self._workers if worker.shard is not None]
        while True:
            for worker in busy:
                if worker.answered():
                    return worker
            # The time-out notices a death that leaves the pipe open in a grandchild.
            connection.wait([worker.pipe for worker in busy], timeout=1.0)

    def _replace(self, worker: _Worker, redone: set[int], total: int) -> None:
        shard = worker.shard
        assert shard is not None
        how = worker.end(patience_s=5.0)  # its pipe closed just before it ended
        self._workers.remove(worker)
        if shard in redone:
            raise WorkerDiedError(
                f"Shard {shard} of {total} (counted from 0) ended its worker process twice "
                f"({how}). If memory ran out, use fewer workers."
            )
        redone.add(shard)
        self._workers.append(_Worker(self._initializer))

    def _end_busy(self) -> None:
        for worker in [w for w in self._workers if w.shard is not None]:
            worker.end()
            self._workers.remove(worker)

    def close(self) -> None:
        """End the workers: idle ones by closing their pipes, busy ones by a kill."""
        self._end_busy()
        for worker in self._workers:
            worker.end(patience_s=2.0)
        self._workers.clear()
