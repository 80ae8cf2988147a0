"""Random generators by name."""

import pytest

from simreal.core.errors import UsageError
from simreal.core.seeds import generator, integer


@pytest.mark.parametrize("draw", [generator, integer])
def test_a_negative_seed_is_refused_with_a_sentence(draw):
    with pytest.raises(UsageError, match="Seed -1; give a whole number, 0 or more"):
        draw(-1, "test")


def test_draws_depend_on_seed_purpose_and_index():
    drawn = {integer(s, p, i) for s in (0, 1) for p in ("a", "b") for i in (0, 1)}
    assert len(drawn) == 8
    assert integer(2**70, "a") == integer(2**70, "a")
