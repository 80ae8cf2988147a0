"""What a charge uses up, and what it was for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from simreal.core.errors import BadDataError, unknown
from simreal.core.types import Charge

#: What an hour of each kind of charge uses up.
ROBOT_TIME = ("operator", "robot", "wear")
KINDS: Mapping[str, tuple[str, ...]] = {
    "demonstration": ROBOT_TIME,
    "reset": ROBOT_TIME,
    "retry": ROBOT_TIME,
    "trial": ROBOT_TIME,
    "idle": ROBOT_TIME,
    "operator": ("operator",),
    "simulate": ("compute",),
    "render": ("compute",),
    "train": ("compute",),
    "evaluate": ("compute",),
    "engineering": ("engineering",),
    "validation": ("engineering",),
    "validation_trial": ("robot", "wear"),
    "incident": (),
    "avoided": (),
}
#: Priced resources, in the order of every breakdown.
RESOURCES = ("operator", "robot", "wear", "compute", "engineering", "quality_check", "incident")
_HOURS = {"s": 1 / 3600, "min": 1 / 60, "h": 1.0}
#: What counted charges are paid by; other counts are paid by their time, or not at all.
_COUNTED = {"demonstration": "quality_check", "incident": "incident"}

Purpose = Literal["real data", "simulated data", "simulator", "training", "trials", "none"]
_PURPOSES: Mapping[str, Purpose] = {
    "demonstration": "real data",
    "reset": "real data",
    "retry": "real data",
    "idle": "real data",
    "operator": "real data",
    "simulate": "simulated data",
    "render": "simulated data",
    "engineering": "simulator",
    "validation": "simulator",
    "validation_trial": "simulator",
    "train": "training",
    "trial": "trials",
    "evaluate": "trials",
    "incident": "trials",
    "avoided": "none",
}


def purpose(charge: Charge) -> Purpose:
    """What a charge was for. Validation is part of the simulator.

    Resets belong to demonstrations, unless the work they were part of is a shard of trials.
    """
    if charge.kind not in KINDS:
        raise unknown("kind of charge", charge.kind, KINDS)
    trials = charge.kind == "reset" and charge.work.startswith("trials/")
    return "trials" if trials else _PURPOSES[charge.kind]


def kinds_for(*purposes: Purpose) -> tuple[str, ...]:
    """The kinds of charge that serve these purposes, resets being those of demonstrations."""
    return tuple(kind for kind, purpose in _PURPOSES.items() if purpose in purposes)


def on_stand_in(charge: Charge) -> bool:
    """Whether a twin's clock measured it, not a robot's."""
    return "twin" in charge.source


#: The largest quantity of a charge: a billion seconds are 31 years.
LARGEST = 1e9


def building_booked(charges: Iterable[Charge]) -> bool:
    """Whether anybody booked the work of building the simulator."""
    return any(c.kind == "engineering" and c.quantity > 0 for c in charges)


def data_charges(charges: Iterable[Charge]) -> tuple[Charge, ...]:
    """The charges for data, the simulator included; not those for training and trials."""
    data = ("real data", "simulated data", "simulator")
    return tuple(charge for charge in charges if purpose(charge) in data)


def amounts(charge: Charge) -> dict[str, float]:
    """Resource -> quantity of one charge; demonstrations may also be counted for their review."""
    if charge.kind not in KINDS:
        raise unknown("kind of charge", charge.kind, KINDS)
    if not 0 <= charge.quantity <= LARGEST:
        raise BadDataError(f"A charge must lie between 0 and {LARGEST:,.0f}; got {charge}.")
    if charge.unit == "count":
        counted = _COUNTED.get(charge.kind)
        return {counted: charge.quantity} if counted else {}
    if charge.unit not in _HOURS:
        raise unknown("unit of a charge", charge.unit, [*_HOURS, "count"])
    return dict.fromkeys(KINDS[charge.kind], hours(charge))


def hours(charge: Charge) -> float:
    """Hours of a charge of time; 0 for a count."""
    return charge.quantity * _HOURS.get(charge.unit, 0.0)


def counted(charges: Iterable[Charge], kind: str) -> float:
    """How many of a kind were counted."""
    return sum(c.quantity for c in charges if c.kind == kind and c.unit == "count")
