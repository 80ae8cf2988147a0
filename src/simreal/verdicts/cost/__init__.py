"""Money and time: the ledger priced, break-even points, what a road costs and how long it takes."""

from simreal.verdicts.cost.arms import (
    Arm,
    ArmCost,
    Saving,
    arm_costs,
    ledger_total,
    price_of,
    saving,
)
from simreal.verdicts.cost.purposes import KINDS, RESOURCES, data_charges, purpose

__all__ = [
    "KINDS",
    "RESOURCES",
    "Arm",
    "ArmCost",
    "Saving",
    "arm_costs",
    "data_charges",
    "ledger_total",
    "price_of",
    "purpose",
    "saving",
]
