"""Partial credit: paired trials until a decision, by stage score and by success alone.

    .venv/bin/python benchmarks/partial_credit.py [--runs R] [--most N] [--seed S] [--out FILE]

Two policies try the same conditions. A trial is a chain of stages (reached, grasped, lifted,
placed); its score is the share of stages it got through, its success the last one. Both tests
look at the same trials after every pair, two-sided, at the same error of 5 %: the binary
e-process (verdicts/sequential.py) and the betting e-process on scores (verdicts/betting.py).

For each model of the stages: mean pairs until the decision (a run that reaches the limit counts
with the limit), the share of runs that decided, and the share of pairs that the score saved.
Conditions are equally hard for both policies, or shared: a common difficulty moves both.

Then the errors without a difference: in all (both questions have the answer no), and where the
mean scores are equal and the shapes differ, so that only the score test must stay silent.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from simreal.core.files import write_json
from simreal.core.seeds import generator
from simreal.verdicts.betting import follow_scores
from simreal.verdicts.rates import wilson
from simreal.verdicts.sequential import follow_pairs

RESULTS = Path(__file__).parent / "results" / "partial_credit.json"
#: How strongly one difficulty moves both policies' stages: none, and half of them.
SHARED = (0.0, 0.5)


@dataclass(frozen=True)
class Stages:
    """Probability of passing each stage, given the one before, for two policies."""

    name: str
    a: tuple[float, ...]
    b: tuple[float, ...]


MODELS = (
    Stages("all stages, easy task", (0.95, 0.90, 0.90, 0.90), (0.85, 0.80, 0.80, 0.80)),
    Stages("all stages, hard task", (0.85, 0.60, 0.70, 0.60), (0.65, 0.40, 0.60, 0.50)),
    Stages("reaching and grasping", (0.95, 0.85, 0.90, 0.90), (0.80, 0.65, 0.90, 0.90)),
    Stages("reaching alone", (0.95, 0.85, 0.90, 0.85), (0.70, 0.85, 0.90, 0.85)),
    Stages("grasping alone, hard task", (0.90, 0.60, 0.70, 0.50), (0.90, 0.30, 0.70, 0.50)),
    Stages("a policy early in training", (0.90, 0.70, 0.60, 0.50), (0.60, 0.50, 0.50, 0.40)),
    Stages("precise placing, both poor", (0.95, 0.90, 0.80, 0.40), (0.80, 0.70, 0.70, 0.30)),
    Stages("placing alone", (0.95, 0.90, 0.90, 0.90), (0.95, 0.90, 0.90, 0.60)),
    Stages("one way to fail, as in the demo", (1.0, 1.0, 0.93, 1.0), (1.0, 1.0, 0.75, 1.0)),
)

Scores = tuple[list[float], list[float]]


def play(stages: Sequence[float], own: np.ndarray, common: np.ndarray, shared: float) -> np.ndarray:
    """Scores of N chains: each stage draws on the common difficulty with probability `shared`."""
    draws = np.where(own[..., 0] < np.sqrt(shared), common, own[..., 1])
    return np.cumprod(draws < np.asarray(stages), axis=1).mean(axis=1)


def trials(model: Stages, n: int, shared: float, seed: int, index: int) -> Scores:
    random = generator(seed, f"partial credit/{model.name}/{shared}", index)
    common = random.random((n, len(model.a)))
    sides = (
        play(stages, random.random((n, len(stages), 2)), common, shared)
        for stages in (model.a, model.b)
    )
    a, b = (side.tolist() for side in sides)
    return a, b


def success(score: float) -> bool:
    return score == 1.0


def both(a: list[float], b: list[float]) -> tuple:
    """The same trials by success and by score."""
    wins = zip(map(success, a), map(success, b), strict=True)
    return follow_pairs(wins, len(a)), follow_scores(zip(a, b, strict=True), len(a))


def measure(model: Stages, shared: float, runs: int, most: int, seed: int) -> dict:
    found = [both(*trials(model, most, shared, seed, i)) for i in range(runs)]
    pairs = np.array([[one.pairs for one in pair] for pair in found], dtype=float)
    binary, scores = pairs.mean(axis=0)
    ratio = pairs[:, 1].sum() / pairs[:, 0].sum()
    error = np.std(pairs[:, 1] - ratio * pairs[:, 0]) / np.sqrt(runs) / binary
    decided = [[one.decided for one in pair] for pair in found]
    wrong = [[one.state == "worse" for one in pair] for pair in found]
    return {
        "model": model.name,
        "shared": shared,
        "success": [float(np.prod(model.a)), float(np.prod(model.b))],
        "score": [float(np.mean(np.cumprod(side))) for side in (model.a, model.b)],
        "pairs": {"success": binary, "score": scores},
        "median": dict(zip(("success", "score"), np.median(pairs, axis=0).tolist(), strict=True)),
        "decided": dict(zip(("success", "score"), np.mean(decided, axis=0).tolist(), strict=True)),
        "wrong": dict(zip(("success", "score"), np.mean(wrong, axis=0).tolist(), strict=True)),
        "saved": 1 - ratio,
        "saved_ci": [1 - ratio - 1.96 * error, 1 - ratio + 1.96 * error],
    }


def alike(stages: tuple[float, ...], shared: float) -> Callable[[int, int, int], Scores]:
    model = Stages(f"null {stages}", stages, stages)
    return lambda n, seed, index: trials(model, n, shared, seed, index)


def shapes(
    values: Sequence[float], weights: Sequence[float], constant: float
) -> Callable[[int, int, int], Scores]:
    """A spread-out score against one that is always its mean."""

    def draw(n: int, seed: int, index: int) -> Scores:
        random = generator(seed, f"partial credit/shape/{constant}", index)
        return random.choice(values, n, p=weights).tolist(), [constant] * n

    return draw


#: Name -> (trials without a difference in mean score, whether success is equal too).
NULLS: dict[str, tuple[Callable[[int, int, int], Scores], bool]] = {
    "alike, easy task": (alike((0.95, 0.90, 0.90, 0.90), 0.0), True),
    "alike, easy task, shared": (alike((0.95, 0.90, 0.90, 0.90), 0.5), True),
    "alike, hard task": (alike((0.65, 0.40, 0.60, 0.50), 0.0), True),
    "alike, hard task, shared": (alike((0.65, 0.40, 0.60, 0.50), 0.5), True),
    "all or nothing against always half": (shapes((0, 1), (0.5, 0.5), 0.5), False),
    "often full, seldom none, against always 3/4": (
        shapes((0, 0.5, 1), (0.1, 0.3, 0.6), 0.75),
        False,
    ),
}


def errors(name: str, runs: int, most: int, seed: int) -> dict:
    draw, equal_success = NULLS[name]
    found = [both(*draw(most, seed, i)) for i in range(runs)]
    counts = [sum(pair[i].decided for pair in found) for i in (0, 1)]
    scores = {"k": counts[1], "n": runs, "ci": list(wilson(counts[1], runs))}
    binary = {"k": counts[0], "n": runs, "ci": list(wilson(counts[0], runs))}
    return {"null": name, "score": scores, "success": binary if equal_success else None}


def print_savings(rows: list[dict]) -> None:
    print(f"{'where the policies differ':32} {'shared':>6} {'success':>9} {'score':>9}", end="")
    print(f" {'pairs, success':>15} {'pairs, score':>13} {'saved':>6}")
    for row in rows:
        cells = [
            f"{row['pairs'][by]:.0f} ({100 * row['decided'][by]:.0f} %)"
            for by in ("success", "score")
        ]
        rates = ["/".join(f"{x:.2f}" for x in row[by]) for by in ("success", "score")]
        print(f"{row['model']:32} {row['shared']:6.1f} {rates[0]:>9} {rates[1]:>9}", end="")
        print(f" {cells[0]:>15} {cells[1]:>13} {100 * row['saved']:5.0f}%")
    for shared in SHARED:
        saved = np.median([row["saved"] for row in rows if row["shared"] == shared])
        print(f"median over the models, shared {shared}: {100 * saved:.0f} % fewer pairs")


def print_errors(rows: list[dict]) -> None:
    print(f"\n{'without a difference in mean score':45} {'score test errs':>18} {'success':>9}")
    for row in rows:
        score, binary = row["score"], row["success"]
        other = f"{binary['k']}/{binary['n']}" if binary else "-"
        print(f"{row['null']:45} {score['k']}/{score['n']:<10} {other:>14}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=400, help="studies a model")
    parser.add_argument("--most", type=int, default=400, help="pairs a study may take")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    if min(options.runs, options.most) < 1:
        parser.error("--runs and --most must be at least 1")
    arguments = (options.runs, options.most, options.seed)
    savings = []
    for model in MODELS:
        savings += [measure(model, shared, *arguments) for shared in SHARED]
        print(f"  {model.name}", file=sys.stderr, flush=True)
    nulls = [errors(name, *arguments) for name in NULLS]
    print_savings(savings)
    print_errors(nulls)
    content = {"runs": options.runs, "most": options.most, "seed": options.seed, "alpha": 0.05}
    write_json(options.out, {**content, "savings": savings, "errors": nulls})


if __name__ == "__main__":
    main()
