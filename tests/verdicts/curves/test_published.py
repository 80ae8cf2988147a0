"""From the small cells of published real results the 80 % band contains most of the larger ones."""

import json

import numpy as np
import pytest
from benchmarks.published import FEW, MANY, TABLE, counts, replay, smaller

from simreal.verdicts.curves import CellCounts, fit

pytestmark = pytest.mark.skipif(not TABLE.exists(), reason="no published results beside the tree")


@pytest.fixture(scope="module")
def studies():
    return json.loads(TABLE.read_text())


@pytest.mark.parametrize("trials", [FEW, MANY])
def test_most_larger_cells_lie_in_the_band(studies, trials):
    rows = replay(studies, trials)
    assert len(rows) == 13
    inside = sum(row.inside for row in rows)
    assert inside >= 0.65 * len(rows), [row for row in rows if not row.inside]
    # A band that holds everything would say nothing.
    assert np.mean([row.high - row.low for row in rows]) < 0.6


def test_the_prior_covers_every_published_cell(studies):
    prior = fit([], draws=8000)
    for study in studies:
        for cell in counts(study, MANY):
            rates = prior.success([cell.n_real], [cell.n_sim])
            low, high = np.quantile(rates, [0.025, 0.975])
            assert low < cell.k / cell.n < high, (study["study"], cell)


def test_cells_are_foretold_from_smaller_ones_only():
    cells = [CellCounts(r, s, 1, 2) for r, s in ((10, 0), (50, 0), (10, 100), (50, 100))]
    assert smaller(cells, cells[3]) == cells[:3]
    assert smaller(cells, cells[1]) == cells[:1]
    assert smaller(cells, cells[0]) == []
