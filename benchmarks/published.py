"""Published studies replayed: do small cells foretell the larger ones of the same study?

    python benchmarks/published.py [--table FILE]

Each cell of a study is foretold from its smaller cells (no more real and no more simulated
demonstrations, fewer of one). The band is the central 80 % of what one training, tried as often as
the study tried, would give. Cells without a smaller one are not foretold, and cells that vary the
training mixture are left out. Where a study gives rates without counts, the smallest and the
largest number of trials that it states are taken in turn; the two that state none (RCS, RLinf-Co)
are taken like the one that does (10 and 36).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from simreal.verdicts.curves import CellCounts, fit

HERE = Path(__file__).parent
TABLE = HERE.parent / ".." / "shared" / "published" / "cotraining.json"
RESULTS = HERE / "results" / "published.json"
#: Trials a cell, where a study gives rates only.
FEW, MANY = 10, 36


@dataclass(frozen=True)
class Foretold:
    """One cell: what was seen, the band of rates foretold, from how many smaller cells."""

    study: str
    n_real: int
    n_sim: int
    k: int
    n: int
    low: float
    middle: float
    high: float
    smaller: int

    @property
    def inside(self) -> bool:
        return self.low <= self.k / self.n <= self.high


def counts(study: Mapping[str, Any], trials: int) -> list[CellCounts]:
    """A study's cells; rates become counts of `trials` trials."""
    found = []
    for cell in study["cells"]:
        n = cell.get("n", trials)
        k = cell["k"] if "k" in cell else round(cell["rate"] * n)
        found.append(CellCounts(cell["n_real"], cell["n_sim"], k, n))
    return found


def smaller(cells: Sequence[CellCounts], than: CellCounts) -> list[CellCounts]:
    return [
        c
        for c in cells
        if c.n_real <= than.n_real
        and c.n_sim <= than.n_sim
        and (c.n_real, c.n_sim) != (than.n_real, than.n_sim)
    ]


def foretell(name: str, cells: Sequence[CellCounts], cell: CellCounts) -> Foretold | None:
    known = smaller(cells, cell)
    if not known:
        return None
    seen = fit(known, draws=4000).outcomes([cell.n_real], [cell.n_sim], cell.n)[:, 0]
    low, middle, high = np.quantile(seen / cell.n, [0.1, 0.5, 0.9], method="inverted_cdf")
    place = (cell.n_real, cell.n_sim, cell.k, cell.n)
    return Foretold(name, *place, float(low), float(middle), float(high), len(known))


def replay(studies: Sequence[Mapping[str, Any]], trials: int) -> list[Foretold]:
    """Every cell that has smaller ones, of every study."""
    rows = []
    for study in studies:
        cells = counts(study, trials)
        found = (foretell(study["study"].split(",")[0], cells, cell) for cell in cells)
        rows += [row for row in found if row is not None]
    return rows


def shown(rows: Sequence[Foretold]) -> str:
    lines = [f"{'study':26}{'real':>5}{'sim':>6}{'seen':>7}{'80 % band':>13}{'from':>6}  inside"]
    for row in rows:
        band = f"{row.low:.2f}-{row.high:.2f}"
        seen = f"{row.k}/{row.n}"
        inside = "yes" if row.inside else "no"
        lines.append(
            f"{row.study:26}{row.n_real:5}{row.n_sim:6}{seen:>7}{band:>13}{row.smaller:6}  {inside}"
        )
    lines.append(f"inside: {sum(r.inside for r in rows)} of {len(rows)}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", type=Path, default=TABLE, help="the studies' cells (JSON)")
    table = parser.parse_args().table
    if not table.exists():
        parser.error(f"no file {table}")
    studies = json.loads(table.read_text())
    results = {}
    for trials in (FEW, MANY):
        rows = replay(studies, trials)
        print(f"Rates without counts taken as {trials} trials a cell\n{shown(rows)}\n")
        results[str(trials)] = [{**asdict(row), "inside": row.inside} for row in rows]
    RESULTS.write_text(json.dumps({"trials_where_unstated": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
