"""What training really used: shares of each batch, numbers of demonstrations, randomized axes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from simreal.report.numbers import MINUS
from simreal.report.records import Study


@dataclass(frozen=True)
class Diet:
    """One stage of an arm's training. share: of simulated samples in a batch (fraction of 1);
    sim, real: demonstrations it may draw from.
    """

    arm: str
    stage: str
    steps: int
    share: float
    sim: int
    real: int


@dataclass(frozen=True)
class Axis:
    """One randomized quantity in words: `scale`, `0.5 to 1.5, uniform`."""

    name: str
    operation: str
    range: str


def diets(study: Study) -> list[Diet]:
    """The stages of every arm's training, from the plan; none where the plan lacks them."""
    asked = (study.plan.get("study") or {}).get("arms") or ()
    return [diet for arm in asked for diet in _stages(arm)]


def _stages(arm: Mapping[str, Any]) -> Iterator[Diet]:
    stages = arm.get("stages") or ()
    for number, stage in enumerate(stages, start=1):
        parts = stage["parts"]
        weights = {s: sum(p["weight"] for p in parts if p["source"] == s) for s in ("sim", "real")}
        counts = {s: sum(p["episodes"] for p in parts if p["source"] == s) for s in weights}
        total = sum(weights.values())
        name = f"stage {number}" if len(stages) > 1 else ""
        if number == 1 and arm.get("base"):
            name = f"goes on from {arm['base']}"
        yield Diet(
            str(arm["name"]),
            name,
            int(stage["steps"]),
            weights["sim"] / total if total else 0.0,
            int(counts["sim"]),
            int(counts["real"]),
        )


def randomization(study: Study) -> dict[str, Any]:
    """How the simulated demonstrations were asked for: profile, seed, appearances."""
    asked = (study.plan.get("study") or {}).get("simulation") or {}
    return {key: value for key, value in asked.items() if value is not None}


def axes(study: Study) -> list[Axis]:
    """The axes of the profile that the data set was made with; none where it does not say."""
    return [
        Axis(
            name.replace("_", " "),
            {"set": "set to", "add": "shifted by", "scale": "multiplied by"}.get(
                axis["operation"], axis["operation"]
            ),
            _range(axis),
        )
        for name, axis in (study.profile.get("axes") or {}).items()
    ]


def _range(axis: Mapping[str, Any]) -> str:
    kind = axis.get("distribution", "")
    if "mean" in axis:
        return f"{_number(axis['mean'])}, standard deviation {_number(axis['std'])}, {kind}"
    return f"{_number(axis['low'])} to {_number(axis['high'])}, {kind}"


def _number(value: float) -> str:
    return f"{value:g}".replace("-", MINUS)
