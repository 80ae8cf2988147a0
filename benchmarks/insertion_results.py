"""The head-to-head's tables for docs/insertion.md, from the summary of a finished study.

    .venv/bin/python benchmarks/insertion_results.py docs/results/insert.json

Rates are over all twins and training seeds, with the interval that the study's summary gives (over
targets); forces and times are of all trials on twins. Everything is *stand-in (simulated)*.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

CLEARANCES = {"wide": "0.5 mm", "nominal": "0.2 mm", "tight": "0.1 mm"}


def percent(rate: float) -> str:
    """A fraction in whole percent."""
    return f"{100 * rate:.0f}"


def interval(ends: list[float]) -> str:
    """Two fractions in whole percent."""
    return f"{percent(max(0.0, ends[0]))}-{percent(min(1.0, ends[1]))} %"


def counted(rate: dict[str, Any] | None) -> str:
    """Successes of trials with the rate's interval; a dash where there are none."""
    if rate is None:
        return "-"
    low, high = rate["ci"]
    return f"{rate['k']}/{rate['n']}: {percent(rate['rate'])} % ({percent(low)}-{percent(high)})"


def points(found: dict[str, Any] | None) -> str:
    """A difference of two rates in points with its interval."""
    if found is None or found.get("points") is None:
        return "-"
    low, high = found["ci"]
    return f"{100 * found['points']:+.1f} ({100 * low:+.1f} to {100 * high:+.1f})"


def success(summary: dict[str, Any]) -> None:
    """A row an arm and clearance: all twins together, and each of them; simulation and gap."""
    names = [target["name"] for target in summary["targets"]]
    heads = ["clearance", "arm", "these twins", "twins like these", *names, "simulation"]
    print(f"\n| {' | '.join(heads)} | gap, points |")
    print("|---" * (len(heads) + 1) + "|")
    for suite, clearance in CLEARANCES.items():
        for row in (row for row in summary["by_suite"] if row["suite"] == suite):
            each = {rate["name"]: percent(rate["rate"]) for rate in row["targets"]}
            cells = [each.get(name, "-") for name in names]
            mean = row["over_targets"]
            spread = "-" if mean is None or mean["ci"] is None else interval(mean["ci"])
            print(
                f"| {clearance} | {row['arm']} | {counted(row['target'])} | {spread} | "
                f"{' | '.join(cells)} | "
                f"{counted(row['sim'])} | {points(row['gap'])} |"
            )


def felt(summary: dict[str, Any]) -> None:
    """A row a cell on twins: share within the force limit, peak force, seconds of a success."""
    print("\n| clearance | arm | within the limit | peak force, N: 10, 50, 90 % | seconds |")
    print("|---|---|---|---|---|")
    for cell in summary["force"]["cells"]:
        if cell["place"] == "simulation":
            continue
        peak, cycle = cell["peak_n"], cell["cycle_s"]
        print(
            f"| {CLEARANCES[cell['suite']]} | {cell['arm']} | {counted(cell['within'])} | "
            f"{', '.join(f'{peak[key]:.0f}' for key in ('p10', 'p50', 'p90'))} | "
            + (", ".join(f"{cycle[key]:.1f}" for key in ("p10", "p50", "p90")) if cycle else "-")
            + " |"
        )


def verdicts(summary: dict[str, Any]) -> None:
    """The declared comparisons and goals."""
    print("\n| arm | against | clearance | difference, points | state |\n|---|---|---|---|---|")
    for test in summary["verdicts"]:
        print(
            f"| {test['a']} | {test['b']} | {CLEARANCES[test['suite']]} | {points(test)} | "
            f"{test['state']} |"
        )
    print()
    for goal in summary["goals"]:
        print(json.dumps(goal))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("summary", type=Path)
    summary = json.loads(parser.parse_args().summary.read_text())
    success(summary)
    felt(summary)
    verdicts(summary)


if __name__ == "__main__":
    main()
