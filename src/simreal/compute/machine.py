"""What this machine has, and how many workers fit on it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from simreal.core.errors import UsageError

#: A worker's environment: one thread in numerical libraries, because there is one worker a core.
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "VECLIB_MAXIMUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
}


@dataclass(frozen=True)
class Workers:
    """How many workers to start, and one sentence why where that is fewer than were asked for."""

    count: int
    message: str = ""


def cores() -> int:
    """The number of cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def available_bytes() -> int:
    """Memory that can be taken now without swapping: the system's, or the container's if less."""
    return min(_system_bytes(Path("/proc/meminfo")), _container_bytes(Path("/sys/fs/cgroup")))


def _system_bytes(meminfo: Path) -> int:
    if meminfo.exists():
        for line in meminfo.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _container_bytes(cgroup: Path) -> int:
    """What a version 2 control group leaves; more than any machine has where there is no limit."""
    limit, used = cgroup / "memory.max", cgroup / "memory.current"
    if not (limit.exists() and used.exists()) or limit.read_text().strip() == "max":
        return 1 << 62
    return max(0, int(limit.read_text()) - int(used.read_text()))


def workers(
    requested: int | None,
    bytes_per_worker: int,
    *,
    available: int | None = None,
    usable_cores: int | None = None,
) -> Workers:
    """The number of workers: what was requested (None: one a core), as far as cores and memory go.

    bytes_per_worker: an estimate of one worker's peak, from one episode times the episodes it
    holds at once, plus its libraries. `available` and `usable_cores` default to this machine's.
    """
    if requested is not None and requested < 1:
        raise UsageError(f"The number of workers must be 1 or more, not {requested}.")
    if bytes_per_worker < 1:
        raise ValueError(f"bytes_per_worker must be positive, not {bytes_per_worker}")
    core_count = cores() if usable_cores is None else usable_cores
    free = available_bytes() if available is None else available
    wanted = core_count if requested is None else requested
    fitting = max(1, free // bytes_per_worker)
    count = min(wanted, core_count, fitting)
    need = f"one needs about {_gigabytes(bytes_per_worker)} and {_gigabytes(free)} are free"
    if free < bytes_per_worker:
        return Workers(1, f"Memory is short: a worker needs more than there is ({need}).")
    if count == wanted:
        return Workers(count)
    why = need if fitting < core_count else f"this machine offers {core_count} cores"
    return Workers(count, f"{wanted} workers wanted, {count} started: {why}.")


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:.1f} GB"
