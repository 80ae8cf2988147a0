"""The plan: what will be tried, fixed and hashed before any training.

Every trial repeats the plan's hash; a trial of another plan is refused. Conditions with the same
index start alike in every suite, on every target and for every arm, so trials are paired.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from simreal.core.errors import BadDataError, UsageError
from simreal.core.files import read_json, sha256_of, write_json
from simreal.core.seeds import generator, integer
from simreal.core.types import Condition

SCHEMA = "simreal/plan/2"

#: Trials that run in lockstep. Fixed, so that a policy sees the same batches whoever works.
SHARD = 50

#: The rule that picks the checkpoint; it looks at no trial.
CHECKPOINT_RULE = "the last checkpoint (exponential moving average) of the fixed number of steps"


@dataclass(frozen=True)
class Cell:
    """One target under one suite. role: `sim` or `target`. arms: who is tried on it, None: all."""

    target: str
    suite: str
    role: str
    arms: tuple[str, ...] | None = None

    def plays(self, arm: str) -> bool:
        """Whether an arm is tried on it."""
        return self.arms is None or arm in self.arms

    def to_json(self) -> dict[str, Any]:
        """The entry of plan.json; `arms` only where not all are tried."""
        plain = {"target": self.target, "suite": self.suite, "role": self.role}
        return plain if self.arms is None else {**plain, "arms": list(self.arms)}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Cell:
        """The inverse of `to_json`."""
        arms = content.get("arms")
        plain = {key: str(content[key]) for key in ("target", "suite", "role")}
        return cls(**plain, arms=None if arms is None else tuple(arms))


@dataclass(frozen=True)
class Plan:
    """Everything fixed before training. `content` is what plan.json holds, without the hash."""

    content: Mapping[str, Any]

    @property
    def sha(self) -> str:
        """SHA-256 of the content in canonical JSON."""
        return sha256_of(self.content)

    @property
    def cells(self) -> tuple[Cell, ...]:
        """What the arms are tried on."""
        return tuple(Cell.from_json(cell) for cell in self.content["cells"])

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The initial conditions, under the suite `nominal`."""
        return tuple(Condition.from_json(c) for c in self.content["conditions"])

    @property
    def seeds(self) -> tuple[int, ...]:
        """Training seeds."""
        return tuple(self.content["seeds"])

    def shards(self, suite: str) -> list[tuple[Condition, ...]]:
        """The conditions of one suite in lockstep groups of the plan's shard."""
        asked = [Condition(c.index, suite, c.reset, c.seed) for c in self.conditions]
        size = int(self.content["shard"])
        return [tuple(asked[i : i + size]) for i in range(0, len(asked), size)]

    def differing(self, other: Plan) -> list[str]:
        """Keys of this plan whose content is another one in `other`."""
        return [k for k in self.content if other.content.get(k) != self.content[k]]

    def save(self, path: Path) -> None:
        """Write plan.json with its hash."""
        write_json(path, {**self.content, "sha256": self.sha})


def draw_conditions(
    draw: Callable[[np.random.Generator], dict[str, float]],
    n: int,
    seed: int,
    fixed: Mapping[str, float] | None = None,
) -> list[Condition]:
    """`n` initial conditions of a task; their random streams are no demonstration's.

    fixed: initial values that are the same in all of them (what the task's nominal suite sets).
    """
    return [
        Condition(
            index=i,
            suite="nominal",
            reset={**draw(generator(seed, "trial/reset", i)), **(fixed or {})},
            seed=integer(seed, "trial/noise", i),
        )
        for i in range(n)
    ]


def make_plan(
    *,
    study: Mapping[str, Any],
    arms: Sequence[Mapping[str, Any]],
    seeds: Sequence[int],
    cells: Sequence[Cell],
    conditions: Sequence[Condition],
    targets: Sequence[Mapping[str, Any]],
    tests: Mapping[str, Any],
    power: Mapping[str, Any],
    randomization: Mapping[str, Any],
    suites: Mapping[str, Mapping[str, float]] | None = None,
    shard: int = SHARD,
) -> Plan:
    """Put a plan together.

    randomization: the profile that simulated demonstrations are made under, as data.
    suites: initial values that suites of the task's own set; written down where there are any.
    shard: conditions that run in lockstep; where trials stop early, those between two looks.

    Raises:
        UsageError: for duplicate arms or cells, no seeds, or no conditions.
    """
    names = [arm["name"] for arm in arms]
    if len(set(names)) != len(names):
        raise UsageError(f"Arm names must differ; got {', '.join(names)}.")
    if len({(c.target, c.suite) for c in cells}) != len(cells):
        raise UsageError("Each target and suite may appear once among the cells.")
    if not seeds or not conditions:
        raise UsageError("A plan needs at least one training seed and one condition.")
    content = {
        "schema": SCHEMA,
        "study": dict(study),
        "arms": [dict(arm) for arm in arms],
        "seeds": list(seeds),
        "cells": [cell.to_json() for cell in cells],
        "conditions": [c.to_json() for c in conditions],
        "targets": [dict(t) for t in targets],
        "tests": dict(tests),
        "power": dict(power),
        "randomization": dict(randomization),
        "shard": shard,
        "checkpoint_rule": CHECKPOINT_RULE,
    }
    if suites:
        content["suites"] = {name: dict(values) for name, values in suites.items()}
    return Plan(content)


def plan_path(out: Path) -> Path:
    """Where the plan of a file of trials lies: trials.plan.json beside trials.jsonl."""
    return out.with_name(f"{out.stem}.plan.json")


def load_plan(path: Path) -> Plan:
    """Read plan.json and verify its hash.

    Raises:
        BadDataError: when the file is missing, of another schema, or was changed after hashing.
    """
    if path.parent.is_file():
        raise BadDataError(f"{path.parent} is a file; a study is a folder.")
    if not path.is_file():
        raise BadDataError(f"{path} is missing; a study folder begins with its plan.")
    content = read_json(path)
    if not isinstance(content, dict):
        raise BadDataError(f"{path} is not a JSON object.")
    recorded = content.pop("sha256", None)
    if content.get("schema") != SCHEMA:
        raise BadDataError(f"{path} has schema {content.get('schema')!r}, expected {SCHEMA!r}.")
    plan = Plan(content)
    if plan.sha != recorded:
        raise BadDataError(f"{path} was changed after it was hashed; restore it or start anew.")
    return plan


def open_plan(path: Path, plan: Plan) -> None:
    """Save a new plan, or accept the folder of the very same one.

    Raises:
        UsageError: when the folder holds another plan, with the first things that differ.
    """
    if not path.exists():
        plan.save(path)
        return
    there = load_plan(path)
    if there.sha == plan.sha:
        return
    keys = plan.differing(there)
    raise UsageError(
        f"{path.parent} holds another study (its plan differs in {', '.join(keys[:4])}). "
        "Choose another folder with --out, or run it with the settings it was started with."
    )
