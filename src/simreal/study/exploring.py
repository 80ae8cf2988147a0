"""Exploration: where in a profile's space a checkpoint fails, by trials in simulation.

Coverage first (a Sobol sequence over the profile), then rounds of adaptive search; then candidate
regions are written down, and fresh trials confirm them. Every trial is a line of explore.jsonl, and
proposals and candidates are files: an interrupted exploration goes on where it was, and what it
finds does not depend on who played which shard.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from simreal.compute.executor import Executor, in_order
from simreal.core.errors import BadDataError, UsageError
from simreal.core.files import append_jsonl, read_json, read_jsonl, sha256_of, write_json
from simreal.core.seeds import check_seed
from simreal.core.types import Form
from simreal.demos.journal import Lock
from simreal.study.drawing import Drawing, budget_of
from simreal.study.explore_job import ExploreJob, explore_job, keep_films, line_of, recorded
from simreal.study.ledger import Ledger
from simreal.study.mapping import CANDIDATES, conclude, read_candidates, write_candidates
from simreal.study.searching import Proposal, Search
from simreal.study.space import Point, Space
from simreal.trials.plan import SHARD
from simreal.verdicts.regions import Flags, Region, candidates, columns_of
from simreal.worlds.randomize import profile
from simreal.worlds.simulated import SimConfig, sim_spec
from simreal.worlds.tasks import task as find_task

SCHEMA = "simreal/explore/1"
#: Trials where nobody says otherwise: about five minutes of two cores for lift.
TRIALS = 3000

#: Held by the one process that explores into a folder.
LOCK = "lock"

#: What is played together: the part it belongs to, its region (None: none), its points.
_Group = tuple[str, int | None, Sequence[Point]]


@dataclass(frozen=True)
class Asked:
    """What is to be explored. profile: name or file."""

    checkpoint: Path
    task: str
    out: Path
    profile: str = "full"
    trials: int = TRIALS
    form: Form = "primitive"
    seed: int = 0
    resume: bool = False


class Exploring:
    """One checkpoint, one profile: what is played, found and written."""

    def __init__(self, asked: Asked) -> None:
        """Check everything that can be checked before the first trial.

        Raises:
            UsageError: for an unknown task or profile, an empty profile, a wrong number of trials,
                a negative seed, or a folder that holds another exploration.
            BadDataError: for a checkpoint that is none, or is of another robot.
        """
        from simreal.policies.runfolder import sha256_of_file
        from simreal.policies.runner import CompactRunner

        task = find_task(asked.task)
        check_seed(asked.seed)
        self.asked, self.budget = asked, budget_of(asked.trials)
        chosen = profile(asked.profile, task.robot)
        runner = CompactRunner.load(asked.checkpoint)
        size = next(iter(runner.cameras.values()), (64, 64))[0]
        self.config = SimConfig(task.name, asked.form, size, chosen, asked.seed, batch=SHARD)
        self.space = Space(self.config)
        runner.check_target(sim_spec(self.config))
        self.name = asked.checkpoint.resolve().parent.name
        self._content = {
            "schema": SCHEMA,
            "weights": sha256_of_file(asked.checkpoint / "model.safetensors"),
            "task": task.name,
            "form": asked.form,
            "profile": chosen.to_json(),
            "seed": asked.seed,
            "trials": asked.trials,
        }
        self.sha = sha256_of(self._content)
        self._open()

    def _open(self) -> None:
        """Begin the folder, or go on with it."""
        path = self.asked.out / "plan.json"
        if self.asked.out.exists() and not self.asked.out.is_dir():
            raise UsageError(f"{self.asked.out} is a file; give a folder.")
        if not path.exists():
            if self.asked.out.exists() and any(self.asked.out.iterdir()):
                raise UsageError(f"{self.asked.out} is not empty; choose another folder.")
            write_json(path, {**self._content, "sha256": self.sha})
            return
        there = read_json(path)
        if not isinstance(there, dict):
            raise BadDataError(f"{path} is no plan of an exploration; choose another folder.")
        differ = [k for k, v in self._content.items() if there.get(k) != v]
        if differ:
            raise UsageError(
                f"{self.asked.out} holds another exploration ({', '.join(differ)} differ); choose "
                "another folder with --out."
            )
        if not self.asked.resume:
            raise UsageError(
                f"{self.asked.out} holds this exploration already; go on with --resume or choose "
                "another folder with --out."
            )

    def play(self, executor: Executor, told: Callable[[int], None] = lambda n: None) -> None:
        """Coverage, search, candidates, confirmation: whatever is not recorded yet.

        told: hears how many more trials are done.

        Raises:
            UsageError: where another process is at it.
        """
        lock = Lock(self.asked.out / LOCK, f"The exploration in {self.asked.out}")
        try:
            self._play(executor, told)
        finally:
            lock.release()

    def _play(self, executor: Executor, told: Callable[[int], None]) -> None:
        self._executor, self._told = executor, told
        self._ledger = Ledger(self.asked.out / "ledger.jsonl")
        axes = [axis.term for axis in self.config.profile.axes]
        self._lines = recorded(self._trials, self.sha, axes)
        drawing = Drawing(self.space, self.asked.seed)
        points = drawing.coverage(self.budget.coverage)
        self._run([("coverage", None, points)])
        rounds: list[tuple[Proposal, int]] = []
        for number, many in enumerate(self.budget.search):
            proposal = self._proposal(number, points, rounds)
            fresh = drawing.searched(len(points), many, number, proposal)
            self._run([("search", None, fresh)])
            points, rounds = [*points, *fresh], [*rounds, (proposal, many)]
        regions = self._candidates(points, rounds)
        general = drawing.general(len(points), self.budget.general)
        groups: list[_Group] = [("general", None, general)]
        each = self.budget.inside // max(1, len(regions))
        for number, region in enumerate(regions):
            first = len(points) + len(general) + number * each
            groups.append(("region", number, drawing.within(first, each, region)))
        self._run(groups)

    @property
    def _trials(self) -> Path:
        return self.asked.out / "explore.jsonl"

    def _proposal(
        self, number: int, points: Sequence[Point], rounds: Sequence[tuple[Proposal, int]]
    ) -> Proposal:
        """The proposal of a round, as it was written down, or found now and written down."""
        path = self.asked.out / "search.jsonl"
        written = list(read_jsonl(path))
        if number < len(written):
            try:
                return Proposal.from_json(written[number])
            except (KeyError, TypeError, ValueError) as error:
                raise BadDataError(
                    f"{path}, line {number + 1}, is no round of a search."
                ) from error
        search = Search(self.space, self.asked.seed)
        proposal = search.propose(number, points, self._failed(points), rounds)
        append_jsonl(path, [{"round": number, **proposal.to_json()}])
        return proposal

    def _candidates(
        self, points: Sequence[Point], rounds: Sequence[tuple[Proposal, int]]
    ) -> list[Region]:
        """The regions to confirm, as they were written down, or found now and written down."""
        if not (self.asked.out / CANDIDATES).exists():
            weights = Search(self.space, self.asked.seed).weights(points, rounds)
            columns = columns_of([self.space.factors(p) for p in points])
            found = candidates(columns, self.space.scales, self._failed(points), weights)
            write_candidates(self.asked.out, found)
        found = read_candidates(self.asked.out)
        for bound in (bound for region in found for bound in region.bounds):
            if bound.factor not in self.space.reference:
                where = self.asked.out / CANDIDATES
                raise BadDataError(f"{where} bounds {bound.factor!r}, which is not searched.")
        return found

    def _failed(self, points: Sequence[Point]) -> Flags:
        return np.array([not self._lines[p.index]["success"] for p in points], dtype=bool)

    def _run(self, groups: Sequence[_Group]) -> None:
        """Play the shards that are not recorded in full; append trials and charges in order."""
        jobs = []
        for phase, region, points in groups:
            shards = [tuple(points[i : i + SHARD]) for i in range(0, len(points), SHARD)]
            left = [s for s in shards if any(p.index not in self._lines for p in s)]
            self._told(len(points) - sum(map(len, left)))
            jobs += [
                ExploreJob(
                    self.sha, self.name, str(self.asked.checkpoint), self.config, s, phase, region
                )
                for s in left
            ]
        results = in_order(self._executor.run(explore_job, jobs))
        for job, explored in zip(jobs, results, strict=True):
            keep_films(self.asked.out, job, explored)
            self._ledger.add([explored.computed], once=job.once)
            made = zip(job.points, explored.trials, strict=True)
            lines = [line_of(job, p, t) for p, t in made if p.index not in self._lines]
            append_jsonl(self._trials, lines)
            self._lines.update({int(line["index"]): line for line in lines})
            self._told(len(job.points))

    def conclude(self) -> dict[str, Any]:
        """Judge what is recorded; write map.json, profiles and the page; returns the map."""
        about = {
            "task": self.config.task,
            "profile": self.config.profile.name,
            "checkpoint": str(self.asked.checkpoint),
            "seed": self.asked.seed,
        }
        return conclude(self.asked.out, self.space, about)
