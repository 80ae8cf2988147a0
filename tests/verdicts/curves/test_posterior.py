import numpy as np
import pytest

from simreal.core.errors import UsageError
from simreal.verdicts.curves import CellCounts, fit

CELLS = (
    CellCounts(10, 0, 2, 20),
    CellCounts(50, 0, 10, 20),
    CellCounts(10, 2000, 14, 20),
    CellCounts(50, 2000, 18, 20),
)


def test_the_posterior_follows_the_cells():
    found = fit(CELLS)
    assert found.effective > 500
    assert sum(found.models.values()) == pytest.approx(1)
    rates = np.median(found.success([10, 50, 10, 50], [0, 0, 2000, 2000]), axis=0)
    assert np.abs(rates - [0.1, 0.5, 0.7, 0.9]).max() < 0.15
    assert (found.measured_real, found.measured_sim) == (50, 2000)


def test_the_order_of_cells_does_not_matter():
    one, other = fit(CELLS), fit(CELLS[::-1])
    assert np.array_equal(one.success([20], [100]), other.success([20], [100]))


def test_impossible_cells_are_refused():
    with pytest.raises(UsageError, match="successes <= trials"):
        CellCounts(10, 0, 3, 2)
    with pytest.raises(UsageError, match="demonstrations"):
        CellCounts(-1, 0, 1, 2)
