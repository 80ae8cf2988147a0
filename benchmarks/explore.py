"""Failure exploration on lift, end to end: where a policy fails, and a second round trained there.

    .venv/bin/python benchmarks/explore.py [--base CHECKPOINT --data DATASET] [--out DIR] [...]

1. `simreal explore` finds regions where the base policy fails (or `--where DIR` names a map).
2. Two data sets of equal size are collected: with the map's profile, and with the profile that was
   explored. The base is trained on with either, the same number of steps, with the data it had.
3. Base, second round and control are tried inside every region, and under the whole profile, in
   simulation with a seed that no training saw; and on twins, as far as a region bounds initial
   values. Equal conditions are pairs.

Without --base, a policy is trained first from --episodes demonstrations. Every step is a simreal
command in DIR, and done again only where its result is missing. About 15 minutes on two cores with
the defaults; `--trials 6000 --episodes 500 --steps 4000 --tries 400 --twins 6` is the long form.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simreal.core.files import read_json, write_json
from simreal.core.types import STAND_IN
from simreal.verdicts.compare import Comparison, compare
from simreal.verdicts.keys import outcomes
from simreal.verdicts.records import TrialRow, read_trials

RESULTS = Path(__file__).parent / "results" / "explore.json"
ARMS = ("base", "control", "second")
#: Seeds of data, of trials, and of the first twin: none is used by a study.
DATA_SEED, TRIAL_SEED, TWIN_SEED = 7101, 7201, 7301


@dataclass(frozen=True)
class Plan:
    """The folder of a run, and how large its parts are."""

    out: Path
    workers: Sequence[str]
    options: argparse.Namespace

    def simreal(self, *words: object, made: Path) -> Path:
        """Run one command unless what it makes is there; returns that."""
        if not made.exists():
            command = [sys.executable, "-m", "simreal.cli", *map(str, words)]
            print("simreal", *words, file=sys.stderr, flush=True)
            subprocess.run(command, check=True, stdout=sys.stderr)
        return made

    def collected(self, name: str, profile: object, seed: int) -> Path:
        """A data set of simulated demonstrations; complete once its card is written."""
        folder, words = self.out / name, ("collect", "lift", "--randomize", profile)
        count = ("--episodes", self.options.episodes, "--seed", seed)
        marker = self.out / f"{name}.done"
        self.simreal(*words, *count, "--out", folder, *self.workers, made=marker)
        marker.touch()
        return folder

    def trained(self, name: str, *words: object) -> Path:
        """A checkpoint."""
        run, steps = self.out / name, ("--steps", self.options.steps)
        marker = self.out / f"{name}.done"
        resume = ("--resume",) if run.exists() else ()
        self.simreal("train", *words, *steps, "--out", run, *resume, made=marker)
        marker.touch()
        return run / "checkpoint"


def tried(plan: Plan, arm: str, checkpoint: Path, on: str, name: str, *words: object) -> Path:
    """Trials of one checkpoint on one target."""
    out = plan.out / "trials" / f"{arm}-{name}.jsonl"
    trials = ("--trials", plan.options.tries, "--seed", TRIAL_SEED)
    done = out.with_suffix(".done")
    command = ("evaluate", checkpoint, "--on", on, "--out", out, *trials, *words, *plan.workers)
    plan.simreal(*command, made=done)
    done.touch()
    return out


def rows(paths: Sequence[Path]) -> list[TrialRow]:
    return [row for path in paths for row in read_trials(path).rows]


def compared(first: Sequence[Path], second: Sequence[Path]) -> Comparison:
    """Paired by target and condition."""
    fields = ("target", "condition")
    return compare(outcomes(rows(first), fields), outcomes(rows(second), fields), paired=True)


def verdicts(files: dict[str, list[Path]]) -> dict[str, Any]:
    """Each arm's rate, and the second round against both others."""
    return {
        "against_control": compared(files["second"], files["control"]).to_json(),
        "against_base": compared(files["second"], files["base"]).to_json(),
    }


def measured(plan: Plan, where: Path, checkpoints: dict[str, Path]) -> dict[str, Any]:
    """Every region in simulation and on twins, and the whole profile."""
    found = read_json(where / "map.json")
    every: dict[str, Any] = {}
    whole = {
        arm: [tried(plan, arm, path, f"sim:{found['profile']}", "whole")]
        for arm, path in checkpoints.items()
    }
    every["whole profile, simulation"] = verdicts(whole)
    standing = [region for region in found["regions"] if region["profile"] is not None]
    for region in standing[: plan.options.regions]:
        file = where / region["profile"]
        inside = {
            arm: [tried(plan, arm, path, f"sim:{file}", file.stem)]
            for arm, path in checkpoints.items()
        }
        every[f"{region['text']}, simulation"] = verdicts(inside)
        if "starts" in tomllib.loads(file.read_text()):
            on_twins = {
                arm: [on_twin(plan, arm, path, t, file) for t in range(plan.options.twins)]
                for arm, path in checkpoints.items()
            }
            every[f"{region['text']}, {plan.options.twins} twins ({STAND_IN})"] = verdicts(on_twins)
    return every


def on_twin(plan: Plan, arm: str, checkpoint: Path, number: int, region: Path) -> Path:
    """Trials on one twin, from the region's initial values."""
    twin = plan.out / f"twin-{TWIN_SEED + number}.toml"
    plan.simreal("twin", "new", "--seed", TWIN_SEED + number, "--out", twin, made=twin)
    name = f"{region.stem}-twin-{number}"
    return tried(plan, arm, checkpoint, f"twin:{twin}", name, "--starts", region)


def second_round(plan: Plan) -> dict[str, Any]:
    """Everything; returns what is written."""
    given = plan.options
    first = given.data or plan.collected("first", given.profile, DATA_SEED)
    base = given.base or plan.trained("base", "--data", first)
    where = given.where or plan.out / "where"
    explore = ("explore", base, "--task", "lift", "--profile", given.profile, "--out", where)
    resume = ("--resume",) if where.exists() else ()
    plan.simreal(
        *explore, "--trials", given.trials, *resume, *plan.workers, made=where / "map.json"
    )
    found = {
        **read_json(where / "map.json"),
        "checkpoint": "/".join(base.parts[-5:]),  # no path of this machine in the results
    }
    if found["next_profile"] is None:
        return {"map": found, "measured": {}, "note": "No region stands out: no second round."}
    more = plan.collected("more", where / found["next_profile"], DATA_SEED + 1)
    same = plan.collected("same", given.profile, DATA_SEED + 1)
    on = ("--base", base, "--peak-lr", given.peak_lr)
    checkpoints = {
        "base": base,
        "control": plan.trained("control", "--data", first, same, *on),
        "second": plan.trained("second", "--data", first, more, *on),
    }
    return {
        "map": found,
        "episodes": given.episodes,
        "steps": given.steps,
        "tries": given.tries,
        "measured": measured(plan, where, checkpoints),
    }


def said(result: dict[str, Any]) -> list[str]:
    """One line a measurement."""
    lines = []
    for name, found in result["measured"].items():
        base, (second, control) = (
            found["against_base"]["b"],
            (found["against_control"][side] for side in "ab"),
        )
        rates = [f"{100 * r['rate']:.0f} %" for r in (base, control, second)]
        low, high = (100 * x for x in found["against_control"]["ci"])
        gain = 100 * found["against_control"]["difference"]
        lines.append(
            f"{name}: base {rates[0]}, ordinary data {rates[1]}, second round {rates[2]}; second "
            f"round less ordinary {gain:+.1f} points ({low:+.1f} to {high:+.1f}), "
            f"{found['against_control']['state']}"
        )
    return lines or [result["note"]]


def options(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--base", type=Path, help="checkpoint; trained here if left out")
    parser.add_argument("--data", type=Path, help="the data set it was trained with")
    parser.add_argument("--where", type=Path, help="folder of an exploration of that checkpoint")
    parser.add_argument("--out", type=Path, default=Path(".bench/explore"))
    parser.add_argument("--profile", default="full")
    parser.add_argument("--trials", type=int, default=2000, help="of the exploration")
    parser.add_argument("--episodes", type=int, default=250, help="of each data set")
    parser.add_argument("--steps", type=int, default=2000, help="of each training")
    parser.add_argument("--peak-lr", type=float, default=5e-4, help="of the second round")
    parser.add_argument("--tries", type=int, default=150, help="trials of each arm and place")
    parser.add_argument("--regions", type=int, default=2, help="tried, the clearest first")
    parser.add_argument("--twins", type=int, default=2)
    parser.add_argument("--workers", type=int, help="as many as fit if left out")
    parser.add_argument("--results", type=Path, default=RESULTS)
    given = parser.parse_args(words)
    if given.base is not None and given.data is None:
        parser.error("--base needs --data, the data set it was trained with")
    return given


def main(words: Sequence[str]) -> None:
    given = options(words)
    given.out.mkdir(parents=True, exist_ok=True)
    workers = () if given.workers is None else ("--workers", str(given.workers))
    result = second_round(Plan(given.out, workers, given))
    write_json(given.results, result)
    print("\n".join(said(result)))


if __name__ == "__main__":
    main(sys.argv[1:])
