"""Money and time: the ledger priced, break-even points, what a road costs and how long it takes."""

from simreal.verdicts.cost.arms import (
    KINDS,
    RESOURCES,
    Arm,
    ArmCost,
    Saving,
    arm_costs,
    ledger_total,
    price_of,
    saving,
)

__all__ = [
    "KINDS",
    "RESOURCES",
    "Arm",
    "ArmCost",
    "Saving",
    "arm_costs",
    "ledger_total",
    "price_of",
    "saving",
]
