"""How well a twin's servos track the commands of real motion logs, beside the nominal model.

    .venv/bin/python benchmarks/servo.py [--seconds S] [--twins N]

For each type of motion: RMSE of command against position over the 5 arm joints (milliradians) of
the real arm, of the published servo alone, of the fitted arm, and of N moderate twins (mean, and
their lowest and highest ratio to the real one). Needs the logs at ../shared/real/so101_sage.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.real import replay as logged

from simreal.robots.hidden import draw
from simreal.robots.servo import REAL_ARM


def table(measured: list[logged.Log], runs: dict[str, list], twins: list[list]) -> None:
    groups = {
        **logged.TYPES,
        "development half": logged.DEVELOPMENT,
        "held-out half": logged.HELD_OUT,
        "all motions": logged.MOTIONS,
    }
    print(f"{'motions':>18} {'n':>3} {'real':>6} {'nominal':>14} {'fitted':>14} {'twins':>20}")
    for kind, names in groups.items():
        rows = [i for i, m in enumerate(measured) if m.name in names]
        real = np.mean([measured[i].rmse() for i in rows])

        def error(run: list, rows: list[int] = rows) -> float:
            return float(np.mean([measured[i].rmse(run[i]) for i in rows]))

        cells = [f"{1000 * error(r):6.1f} (x{error(r) / real:.2f})" for r in runs.values()]
        ratios = [error(twin) / real for twin in twins]
        spread = f"x{min(ratios):.2f}-{max(ratios):.2f}" if ratios else "-"
        print(f"{kind:>18} {len(rows):>3} {1000 * real:6.1f} {' '.join(cells)} {spread:>16}")


def position_error(measured: list[logged.Log], run: list) -> str:
    """Simulated against real position, development and held-out halves, mrad."""
    halves = []
    for names in (logged.DEVELOPMENT, logged.HELD_OUT):
        pairs = [(m, s) for m, s in zip(measured, run, strict=True) if m.name in names]
        square = [np.sqrt(np.mean((m.position - s)[:, logged.ARM] ** 2, 0)) for m, s in pairs]
        halves.append(f"{1000 * np.mean(square):.1f}")
    return " / ".join(halves)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, help="cut every motion to its first seconds")
    parser.add_argument("--twins", type=int, default=4, help="moderate twins, seeds from 0")
    options = parser.parse_args()
    if not logged.LOGS.is_file():
        sys.exit(f"The real motion logs are not at {logged.LOGS.resolve()}.")
    arm, measured = logged.arm(), logged.logs(logged.MOTIONS, options.seconds)
    runs = {
        "nominal": logged.replay(arm, measured),
        "fitted": logged.replay(arm, measured, logged.servo(REAL_ARM, 0)),
    }
    twins = [
        logged.replay(arm, measured, logged.servo(draw(seed, "moderate").servo, seed))
        for seed in range(options.twins)
    ]
    table(measured, runs, twins)
    print("simulated against real position, development / held-out half, mrad:")
    for name, run in runs.items():
        print(f"{name:>18} {position_error(measured, run)}")


if __name__ == "__main__":
    main()
