"""Numbers checked by hand and by other programs, to four digits or exactly."""

import math

import numpy as np
import pytest
from scipy import optimize, stats
from statsmodels.stats.contingency_tables import mcnemar as mcnemar_of_statsmodels
from statsmodels.stats.proportion import confint_proportions_2indep

from simreal.verdicts.advise.eligibility import collision_bound, within_tolerance
from simreal.verdicts.compare import compare
from simreal.verdicts.cost.breakeven import (
    Variant,
    break_even,
    demonstration_cost,
    learning_curve_saving,
    planned_cost,
)
from simreal.verdicts.exact import boschloo, holm, mcnemar, mcnemar_mid_p
from simreal.verdicts.gap import gap, relative_drop, standardised_gap
from simreal.verdicts.intervals import koopman, newcombe, tango
from simreal.verdicts.planning import (
    trials_for_half_width,
    trials_for_noninferiority,
    trials_to_compare,
    trials_without_failure,
)
from simreal.verdicts.rates import (
    clopper_pearson,
    jeffreys,
    probability_better,
    wilson,
    z_value,
)


def four(*numbers):
    """To four digits."""
    return pytest.approx(numbers, abs=5e-5)


def outcomes(k, n, name=""):
    return {(name, i): i < k for i in range(n)}


def pairs(both, a_only, b_only, neither):
    a = [True] * (both + a_only) + [False] * (b_only + neither)
    b = [True] * both + [False] * a_only + [True] * b_only + [False] * neither
    return dict(enumerate(a)), dict(enumerate(b))


def test_z():
    assert z_value() == pytest.approx(1.959964, abs=5e-7)


ONE_RATE = [
    (17, 20, (0.6396, 0.9476), (0.6211, 0.9679), (0.6514, 0.9559)),
    (12, 20, (0.3866, 0.7812), (0.3605, 0.8088), (0.3839, 0.7894)),
    (0, 20, (0, 0.1611), (0, 0.1684), (0.0000, 0.1166)),
    (20, 20, (0.8389, 1), (0.8316, 1), (0.8834, 1.0000)),
    (1, 10, (0.0179, 0.4042), (0.0025, 0.4450), (0.0110, 0.3813)),
]


@pytest.mark.parametrize(("k", "n", "w", "cp", "j"), ONE_RATE)
def test_one_rate(k, n, w, cp, j):
    assert wilson(k, n) == four(*w)
    assert clopper_pearson(k, n) == four(*cp)
    assert jeffreys(k, n) == four(*j)


def test_the_ends_are_exact():
    assert wilson(0, 20)[0] == 0
    assert wilson(20, 20)[1] == 1
    assert clopper_pearson(0, 20)[0] == 0
    assert clopper_pearson(20, 20)[1] == 1


def test_one_sided_clopper_pearson():
    assert clopper_pearson(17, 20, side="lower") == four(0.6563, 1)
    assert clopper_pearson(29, 29, side="lower") == four(0.9019, 1)
    assert clopper_pearson(0, 20, side="upper") == four(0, 0.1391)
    assert collision_bound(0, 300) == pytest.approx(0.009936, abs=5e-7)


def test_trials_without_a_failure():
    assert [trials_without_failure(p) for p in (0.8, 0.9, 0.95, 0.99)] == [14, 29, 59, 299]
    for p, n in ((0.8, 14), (0.9, 29), (0.95, 59), (0.99, 299)):
        assert clopper_pearson(n, n, side="lower")[0] >= p
        assert clopper_pearson(n - 1, n - 1, side="lower")[0] < p


def test_two_unpaired_rates():
    assert newcombe(17, 20, 12, 20) == four(-0.0277, 0.4847)
    assert boschloo(17, 20, 12, 20) == pytest.approx(0.0856, abs=5e-5)
    assert probability_better(17, 20, 12, 20) == pytest.approx(0.9573, abs=5e-5)
    found = compare(outcomes(17, 20, "a"), outcomes(12, 20, "b"))
    assert not found.paired
    assert found.ci == four(-0.0277, 0.4847)
    assert found.p == pytest.approx(0.0856, abs=5e-5)
    assert found.state == "cannot tell"


def miettinen_nurminen(k1, n1, k2, n2):
    """Their score interval of a difference, by inverting the test on a grid of its two ends."""
    p1, p2, n = k1 / n1, k2 / n2, n1 + n2

    def statistic(delta):
        def loss(q):
            first, second = np.clip([q + delta, q], 1e-12, 1 - 1e-12)
            rest = (n1 - k1) * np.log(1 - first) + (n2 - k2) * np.log(1 - second)
            return -(k1 * np.log(first) + k2 * np.log(second) + rest)

        ends = max(0.0, -delta), min(1.0, 1 - delta)
        q = optimize.minimize_scalar(
            loss, bounds=ends, method="bounded", options={"xatol": 1e-12}
        ).x
        r = q + delta
        variance = (r * (1 - r) / n1 + q * (1 - q) / n2) * n / (n - 1)
        return (p1 - p2 - delta) / math.sqrt(variance)

    z = z_value()
    return (
        optimize.brentq(lambda d: statistic(d) - z, -0.9, p1 - p2),
        optimize.brentq(lambda d: statistic(d) + z, p1 - p2, 0.9),
    )


def test_other_methods_on_the_same_two_rates():
    """What else could have been chosen: none of them tells 17/20 from 12/20 either."""
    table = [[17, 12], [3, 8]]
    barnard = stats.barnard_exact(table)
    assert (barnard.pvalue, barnard.statistic) == four(0.1073, 1.7705)
    assert stats.boschloo_exact(table, n=128).pvalue == pytest.approx(0.0856, abs=5e-5)
    assert stats.fisher_exact(table).pvalue == pytest.approx(0.1552, abs=5e-5)
    caffo = confint_proportions_2indep(17, 20, 12, 20, method="agresti-caffo")
    assert caffo == four(-0.0339, 0.4884)
    assert miettinen_nurminen(17, 20, 12, 20) == four(-0.0316, 0.5018)


def test_where_the_libraries_are_not_to_be_trusted():
    """Why these methods are written out here."""
    with np.errstate(divide="ignore"):
        corrected = mcnemar_of_statsmodels([[17, 0], [0, 3]], exact=False, correction=True)
    assert corrected.pvalue == 0
    assert mcnemar(0, 0) == 1
    with pytest.raises(ValueError):
        confint_proportions_2indep(17, 20, 12, 20, method="score", compare="diff")
    assert wilson(0, 0) == clopper_pearson(0, 0) == (0, 1)


PAIRED = [
    ((11, 6, 1, 2), 0.1250, 0.0703, (-0.0112, 0.4882)),
    ((12, 5, 0, 3), 0.0625, 0.0313, (0.0486, 0.4687)),
    ((17, 0, 0, 3), 1.0, 1.0, (-0.1611, 0.1611)),
]


@pytest.mark.parametrize(("table", "exact", "mid", "ci"), PAIRED)
def test_paired_rates(table, exact, mid, ci):
    _, b, c, _ = table
    assert mcnemar(b, c) == pytest.approx(exact, abs=5e-5)
    assert mcnemar_mid_p(b, c) == pytest.approx(mid, abs=6e-5)
    assert tango(b, c, sum(table)) == four(*ci)
    found = compare(*pairs(*table))
    assert found.paired
    assert (found.p, found.mid_p) == pytest.approx((exact, mid), abs=6e-5)
    assert found.ci == four(*ci)
    assert found.state == "cannot tell"


def test_an_interval_alone_is_not_enough_for_better():
    found = compare(*pairs(12, 5, 0, 3))
    assert found.ci[0] > 0
    assert found.p > 0.05
    assert found.state == "cannot tell"


def test_the_gap():
    found = gap(outcomes(170, 200, "sim"), outcomes(12, 20, "real"))
    assert found.points == pytest.approx(0.25)
    assert found.ci == four(0.0603, 0.4677)
    assert found.relative_drop is not None
    assert found.relative_drop.value == pytest.approx(0.2941, abs=5e-5)
    assert found.relative_drop.ci == four(0.0722, 0.5467)
    assert relative_drop(170, 200, 12, 20) == found.relative_drop
    lower, upper = koopman(12, 20, 170, 200)
    assert (1 - upper, 1 - lower) == four(0.0722, 0.5467)


def test_simpson():
    sim = {"easy": outcomes(171, 180, "s"), "hard": outcomes(8, 20, "s")}
    real = {"easy": outcomes(9, 10, "r"), "hard": outcomes(15, 40, "r")}
    pooled = gap(
        {(s, k): v for s, part in sim.items() for k, v in part.items()},
        {(s, k): v for s, part in real.items() for k, v in part.items()},
    )
    assert pooled.points == pytest.approx(0.415)
    found = standardised_gap(sim, real, {"easy": 0.5, "hard": 0.5})
    assert found.points == pytest.approx(0.0375)
    assert found.ci == pytest.approx((-0.090, 0.235), abs=5e-4)
    assert found.state == "cannot tell"


def test_the_published_evaluation_logs():
    """Case C009, C078 and C105 of the case bank."""
    assert wilson(17, 20) == pytest.approx((0.640, 0.948), abs=5e-4)
    assert wilson(45, 50) == pytest.approx((0.786, 0.957), abs=5e-4)
    assert wilson(3, 3) == pytest.approx((0.439, 1), abs=5e-4)
    assert newcombe(45, 50, 17, 20) == pytest.approx((-0.100, 0.268), abs=5e-4)
    assert newcombe(17, 20, 5, 20) == pytest.approx((0.297, 0.769), abs=5e-4)
    found = gap(*pairs(27, 11, 2, 10))
    assert found.points == pytest.approx(0.18)
    assert found.p == pytest.approx(0.0224609375)


def test_holm():
    assert holm([0.01, 0.04, 0.03, 0.20]) == pytest.approx((0.04, 0.09, 0.09, 0.20))


def test_planning():
    assert trials_to_compare(0.60, 0.85) == 49
    assert trials_to_compare(0.70, 0.85) == 121
    assert trials_for_noninferiority(0.8, 0.10) == 198
    assert trials_for_half_width(0.8, 0.10) == 60
    assert trials_to_compare(0.55, 0.45) == pytest.approx(390, abs=5)


def test_precision():
    assert [within_tolerance(t, 2, 1) for t in (1, 3, 5)] == four(0.0819, 0.7856, 0.9978)


def test_cost():
    """Franka: 3 minutes, 85 % usable, 47.75 an hour; 8,000 simulated at 0.055; training 20."""
    c_real = demonstration_cost(3, 0.85, 47.75)
    assert c_real == pytest.approx(2.8088, abs=5e-5)
    real = planned_cost([Variant(10_000, 0, training=20)], c_real, 0)
    hybrid = planned_cost([Variant(2_000, 8_000, training=20)], c_real, 0.055, setup=7_200)
    assert real == pytest.approx(28_108.24, abs=5e-3)
    assert hybrid == pytest.approx(13_277.65, abs=5e-3)
    assert 1 - hybrid / real == pytest.approx(0.5276, abs=5e-5)
    assert break_even(7_200, c_real, 0.8) == pytest.approx(3_204.19, abs=5e-3)


def test_saving_by_a_power_law():
    assert learning_curve_saving(0.3, 0.8) == pytest.approx(0.7780, abs=5e-5)
    assert math.isclose(learning_curve_saving(1.0, 0.8), 0.0)
