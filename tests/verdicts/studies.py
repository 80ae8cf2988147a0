"""Made-up studies to judge: arms with chosen numbers of successes, and ledgers."""

from simreal.core.types import Charge
from simreal.verdicts.cost import Arm
from simreal.verdicts.cost.prices import Prices, prices_from
from simreal.verdicts.evidence import Evidence
from simreal.verdicts.records import TrialRow

ARMS = (Arm("sim-only", 600, 0), Arm("real-only", 0, 50), Arm("hybrid", 600, 20))
#: A simulator that is there, at a price that is known.
BUILT = prices_from({"engineering": 100, "setup_hours": 0})


def rows(arm, target, k, n, suite="nominal", collisions=0, seed=0):
    """`n` trials; which conditions succeed does not depend on the arm."""
    return [
        TrialRow(str(i), i < k, arm, target, suite, seed, collisions=int(i < collisions))
        for i in range(n)
    ]


def cells(n=100, suite="nominal", target="twin", **successes):
    """Trials of several arms on one target; `sim_only=80` stands for the arm `sim-only`."""
    return [
        row
        for arm, k in successes.items()
        for row in rows(arm.replace("_", "-"), target, k, n, suite)
    ]


def ledger(real_hours=10.0, sim_hours=20.0):
    """Shared demonstrations on the twin and in simulation, training of each arm."""
    when = "2026-01-01T00:00:00Z"
    return (
        Charge(when, "twin clock", "shared", "demonstration", real_hours, "h"),
        Charge(when, "process clock", "shared", "simulate", sim_hours, "h"),
        *(Charge(when, "process clock", arm.name, "train", 1.0, "h") for arm in ARMS),
    )


def study(
    trials, arms=ARMS, charges=(), prices: Prices | None = BUILT, targets=("twin",), **more
) -> Evidence:
    """Evidence on task `lift` with a simulation called `sim`."""
    defaults = {"task": "lift", "sim": "sim", **more}
    return Evidence(
        arms=arms,
        trials=tuple(trials),
        targets=targets,
        charges=tuple(charges),
        prices=prices,
        **defaults,
    )
