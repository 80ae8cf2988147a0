"""Success of several policies in simulation and on the target, from files.

Either two files of trials with a column `arm` (each arm is a policy; with several training seeds
each seed is one), or one CSV with the columns `arm,sim,real`, whose cells are fractions (0.85) or
counts (17/20).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from simreal.core.errors import BadDataError, UsageError
from simreal.verdicts.agreement import Measured
from simreal.verdicts.keys import sample_of
from simreal.verdicts.records import TrialRow, csv_records, read_utf8

Side = Mapping[str, Measured]

_COUNTS = re.compile(r"(\d+)\s*/\s*(\d+)")


def sides_of_table(path: Path) -> tuple[Side, Side]:
    """(simulation, target) of a CSV with the columns arm, sim and real."""
    if not path.is_file():
        raise UsageError(f"No file {path}.")
    if path.suffix.lower() != ".csv":
        raise UsageError(
            f"{path} is no CSV; give one CSV with the columns arm,sim,real, or two files of trials."
        )
    sim: dict[str, Measured] = {}
    real: dict[str, Measured] = {}
    why = "One file needs arm,sim,real; files of trials go in pairs, simulation first."
    for line, row in csv_records(path, read_utf8(path), ("arm", "sim", "real"), why):
        where, arm = f"{path}, line {line}", row["arm"]
        if not arm:
            raise BadDataError(f"{where}: arm is empty; name the policy.")
        if arm in sim:
            raise BadDataError(f"{where}: the policy {arm!r} stands there twice.")
        sim[arm] = _measured(where, "sim", row["sim"])
        real[arm] = _measured(where, "real", row["real"])
    return sim, real


def _measured(where: str, column: str, cell: str) -> Measured:
    """`17/20` or `0.85`."""
    if counts := _COUNTS.fullmatch(cell):
        k, n = int(counts[1]), int(counts[2])
        if n > 0 and k <= n:
            return Measured.of(k, n)
    try:
        rate = float(cell)
    except ValueError:
        rate = -1.0
    if not 0 <= rate <= 1:
        raise BadDataError(
            f"{where}: {column} is {cell!r}, not a fraction between 0 and 1 or successes/trials "
            "such as 17/20."
        )
    return Measured(rate)


def sides_of_trials(
    sim: Sequence[TrialRow], real: Sequence[TrialRow], names: tuple[str, str]
) -> tuple[Side, Side]:
    """(simulation, target) by policy from the trials of two files; `names` are theirs."""
    for rows, name in zip((sim, real), names, strict=True):
        if any(row.arm is None for row in rows):
            raise BadDataError(
                f"{name} has trials without an arm; each policy needs a name in the column arm."
            )
    several = any(
        len({row.seed for row in rows if row.arm == arm}) > 1
        for rows in (sim, real)
        for arm in {row.arm for row in rows}
    )
    return _by_policy(sim, several), _by_policy(real, several)


def _by_policy(rows: Sequence[TrialRow], several: bool) -> dict[str, Measured]:
    grouped: dict[str, list[TrialRow]] = {}
    for row in rows:
        name = f"{row.arm}, seed {row.seed}" if several else str(row.arm)
        grouped.setdefault(name, []).append(row)
    found = {}
    for name, own in grouped.items():
        sample = sample_of(own)
        seen = [t for t in sample.tallies if t.n]
        k, n = sum(t.k for t in seen), sum(t.n for t in seen)
        if n:
            effective = (sample.effective_k, float(sample.effective_n))
            found[name] = Measured(k / n, k, n, effective)
    return found
