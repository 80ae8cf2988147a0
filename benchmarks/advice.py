"""The advisor over simulated worlds with known truth: calibration, cost, regret.

python benchmarks/advice.py                     240 worlds from seed 1000 on, about a minute
python benchmarks/advice.py --worlds 24         fewer

A world is a true success surface, prices, a goal and a budget (advice_worlds.py). The advisor sees
a pilot of 4 or 5 cells with 20 to 50 trials each. Measurements that it asks for are made and paid,
up to 5; one that passes the test ends the search. The road that the advisor names is followed by
its doubling plan in the true world, without asking again. More than half of the worlds come from
surfaces outside the models that the advisor fits.

The loss of a world is the money spent, plus the budget once more where the goal is not reached;
regret is the loss beyond the least possible with the truth known (a road, or none at all), as a
share of the budget. Fixed rules always take one road. Sizes in `advise/beliefs.py` were chosen on
the worlds 0 to 199; those from 1000 on were looked at once.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.advice_worlds import World, world

from simreal.core.seeds import generator
from simreal.verdicts.advise.beliefs import DEFAULT, Doubt
from simreal.verdicts.advise.decision import Decision, decide
from simreal.verdicts.advise.plan import TRIALS, Bounds, Have, Outlook, Plan, least_passes, walk
from simreal.verdicts.advise.roads import Prospect, Question, survey
from simreal.verdicts.advise.surface import pass_chance
from simreal.verdicts.curves import CellCounts
from simreal.verdicts.evidence import ROADS

#: Measurements made before the advisor must do without.
ROUNDS = 5
#: A concentration at which a rate is as good as known.
_KNOWN = 1e6
BINS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


@dataclass
class State:
    """Where a world stands: what was tried, its true rates, what exists, what was spent."""

    cells: list[CellCounts]
    rates: dict[CellCounts, float]
    have: Have
    spent: float = 0.0

    def copy(self) -> State:
        return State(list(self.cells), dict(self.rates), self.have, self.spent)


@dataclass(frozen=True)
class Row:
    """One world: what was said, what was true. pairs: P(reach) said and true, of every road."""

    seed: int
    family: str
    inside: bool
    first: str
    said: str
    road: str | None
    predicted: float | None
    actual: float | None
    cost: float
    regret: float
    oracle: str | None
    oracle_cost: float | None
    fixed: dict[str, float]
    rounds: int
    pairs: tuple[tuple[float, float], ...]


def tried(
    w: World, place: tuple[int, int], n: int, random: np.random.Generator, later: bool
) -> tuple[CellCounts, float]:
    """Train at a place and try it `n` times: the cell, and the true rate of that checkpoint."""
    mean = w.rate(*place)
    rate = float(random.beta(mean * w.spread, (1 - mean) * w.spread))
    k = int(random.binomial(n, w.later(rate) if later else rate))
    return CellCounts(*place, k, n, f"{place[0]} real, {place[1]} sim"), rate


def pilot(w: World) -> State:
    random = generator(w.seed, "advice pilot")
    made = [tried(w, place, n, random, later=False) for place, n in w.pilot]
    cells = [cell for cell, _ in made]
    have = Have(max(c.n_real for c in cells), max(c.n_sim for c in cells))
    return State(cells, dict(made), have)


def affordable(w: World, state: State, decision: Decision) -> bool:
    """Whether the advisor asks for a measurement that can be paid."""
    wanted = decision.measure
    return wanted is not None and state.spent + wanted.cost <= w.budget


def measured(w: World, state: State, decision: Decision, random: np.random.Generator) -> int:
    """Make the measurement that the advisor asks for; its successes."""
    wanted = decision.measure
    assert wanted is not None
    state.spent += wanted.cost
    if wanted.fresh:
        place = (wanted.n_real, wanted.n_sim)
        cell, rate = tried(w, place, TRIALS, random, later=True)
        won = cell.k
        state.have = Have(max(state.have.n_real, place[0]), max(state.have.n_sim, place[1]))
    else:
        old = next(p.plan.start for p in decision.found if p.plan.road == wanted.road)
        assert old is not None
        rate = state.rates[old]
        won = int(random.binomial(TRIALS, w.later(rate)))
        cell = replace(old, k=old.k + won, n=old.n + TRIALS)
        state.cells.remove(old)
    state.cells.append(cell)
    state.rates[cell] = rate
    return won


def true_chances(w: World, plan: Plan, state: State) -> np.ndarray:
    """P(a stage's test is passed), (1, S), in the true world's sessions to come."""
    rates = [(w.later(w.rate(*place)), w.spread) for place in plan.levels]
    if plan.confirm is not None:
        rates.insert(0, (w.later(state.rates[plan.confirm]), _KNOWN))
    wins = np.array([[rate * spread for rate, spread in rates]])
    losses = np.array([[(1 - rate) * spread for rate, spread in rates]])
    return pass_chance(wins, losses, TRIALS, least_passes(w.goal))


def follow(w: World, state: State, plan: Plan) -> Outlook:
    """The plan in the true world, with what is left of the budget."""
    bounds = Bounds(w.budget - state.spent)
    passed = true_chances(w, plan, state)
    return walk(plan, passed, w.known_rates, bounds, np.array([w.setup]))


def decided(w: World, state: State, doubt: Doubt) -> Decision:
    question = Question(w.goal, w.confidence, Bounds(w.budget - state.spent))
    return decide(state.cells, state.have, w.rates, question, doubt=doubt)


def run(w: World, doubt: Doubt = DEFAULT) -> Row:
    """Ask, measure, ask again; then follow the road, and compare with the truth."""
    start = pilot(w)
    state, random = start.copy(), generator(w.seed, "advice measurements")
    first = decision = decided(w, state, doubt)
    rounds, passed = 0, None
    while decision.kind == "measure" and rounds < ROUNDS and affordable(w, state, decision):
        rounds += 1
        if measured(w, state, decision, random) >= least_passes(w.goal):
            passed = decision.measure
            break
        decision = decided(w, state, doubt)
    known = [Prospect(p.plan, true_chances(w, p.plan, start), True) for p in first.found]
    truth = survey(known, w.known_rates, Question(w.goal, w.confidence, Bounds(w.budget)))
    losses = {o.plan.road: float(o.losses(w.budget).mean()) for o in truth.outlooks}
    least = min(w.budget, *losses.values())
    chosen = decision.survey.chosen if decision.kind == "take" else None
    done = follow(w, state, chosen.plan) if chosen else None
    cost = state.spent + (done.mean if done else 0.0)
    missed = 0.0 if passed else w.budget
    loss = state.spent + (float(done.losses(w.budget).mean()) if done else missed)
    return Row(
        seed=w.seed,
        family=w.family,
        inside=w.inside,
        first=first.kind,
        said="passed" if passed else decision.kind,
        road=passed.road if passed else chosen.plan.road if chosen else None,
        predicted=chosen.p_reach if chosen else None,
        actual=done.p_reach if done else None,
        cost=cost,
        regret=(loss - least) / w.budget,
        oracle=truth.chosen.plan.road if truth.chosen else None,
        oracle_cost=truth.chosen.mean if truth.chosen else None,
        fixed={road: (value - least) / w.budget for road, value in losses.items()},
        rounds=rounds,
        pairs=tuple((o.p_reach, follow(w, start, o.plan).p_reach) for o in first.survey.outlooks),
    )


# The table.


@dataclass(frozen=True)
class Figures:
    """What a group of worlds comes to. ratio: median cost of the road taken over the oracle's."""

    worlds: int
    advised: float  # share in which a road was taken, or a measurement passed
    ratio: float
    right_road: float
    predicted: float
    actual: float
    regret: float
    fixed: dict[str, float]


def figures(rows: Sequence[Row]) -> Figures:
    taken = [r for r in rows if r.said == "take"]
    both = [r for r in rows if r.road and r.oracle_cost]
    return Figures(
        worlds=len(rows),
        advised=sum(r.road is not None for r in rows) / len(rows),
        ratio=float(np.median([r.cost / r.oracle_cost for r in both])) if both else float("nan"),
        right_road=float(np.mean([r.road == r.oracle for r in both])) if both else float("nan"),
        predicted=float(np.mean([r.predicted for r in taken])) if taken else float("nan"),
        actual=float(np.mean([r.actual for r in taken])) if taken else float("nan"),
        regret=float(np.mean([r.regret for r in rows])),
        fixed={road: float(np.mean([r.fixed[road] for r in rows])) for road in ROADS},
    )


def calibration(pairs: Sequence[tuple[float, float]]) -> list[tuple[int, float, float]]:
    """(number, mean said, mean true) in each bin of what was said."""
    table = np.array(pairs).reshape(-1, 2)
    where = np.clip(np.digitize(table[:, 0], BINS) - 1, 0, len(BINS) - 2)
    return [
        (int((where == b).sum()), *(float(x) for x in table[where == b].mean(axis=0)))
        for b in range(len(BINS) - 1)
        if (where == b).any()
    ]


def _line(name: str, f: Figures) -> str:
    numbers = [f.worlds, 100 * f.advised, f.ratio, 100 * f.right_road]
    chance = f"{f.predicted:.2f} / {f.actual:.2f}"
    regrets = " | ".join(f"{100 * x:.0f} %" for x in (f.regret, *f.fixed.values()))
    return (
        f"| {name} | {numbers[0]} | {numbers[1]:.0f} % | {numbers[2]:.2f} | {numbers[3]:.0f} % | "
        f"{chance} | {regrets} |"
    )


def table(rows: Sequence[Row]) -> list[str]:
    """By family of worlds, inside and outside the fitted models, and all."""
    head = (
        "| worlds | number | road taken | cost / oracle's | same road | P(reach) said / true | "
        "regret | always real-only | always hybrid | always sim-only |"
    )
    groups = {name: [r for r in rows if r.family == name] for name in {r.family for r in rows}}
    inside = [r for r in rows if r.inside]
    outside = [r for r in rows if not r.inside]
    named = sorted(groups.items(), key=lambda g: (not g[1][0].inside, g[0]))
    named += [("**inside the models**", inside), ("**outside**", outside), ("**all**", list(rows))]
    lines = [head, "|---|---|---|---|---|---|---|---|---|---|"]
    return [*lines, *(_line(name, figures(group)) for name, group in named if group)]


def calibration_table(rows: Sequence[Row]) -> list[str]:
    """P(reach) said on the pilot against the truth, every road of every world."""
    lines = ["| P(reach) said | true: all | inside | outside |", "|---|---|---|---|"]
    groups = [rows, [r for r in rows if r.inside], [r for r in rows if not r.inside]]
    for low, high in itertools.pairwise(BINS):
        cells = []
        for group in groups:
            pairs = [p for r in group for p in r.pairs if low <= p[0] < high + (high == 1)]
            said, true = np.array(pairs).mean(axis=0) if pairs else (np.nan, np.nan)
            cells.append(f"{said:.2f} → {true:.2f} ({len(pairs)})")
        lines.append(f"| {low:.1f} to {high:.1f} | {' | '.join(cells)} |")
    return lines


def abstentions(rows: Sequence[Row]) -> list[str]:
    """How often no road was named, and how often there was none to name."""
    lines = []
    for said, name in (("measure", "not enough evidence"), ("unreachable", "no strategy")):
        mine = [r for r in rows if r.said == said]
        right = sum(r.oracle is None for r in mine)
        lines.append(f"{name}: {len(mine)} worlds, in {right} of them no road was sure enough.")
    asked = sum(r.first == "measure" for r in rows)
    taken = [r for r in rows if r.said == "take"]
    wrong = sum(r.oracle is None for r in taken)
    lines.append(f"a measurement asked for first: {asked} worlds.")
    lines.append(f"a road named: {len(taken)} worlds, in {wrong} of them none was sure enough.")
    lines.append(f"a measurement passed: {sum(r.said == 'passed' for r in rows)} worlds.")
    none = sum(r.oracle is None for r in rows)
    lines.append(f"no road sure enough in truth: {none} worlds.")
    both = [r.cost / r.oracle_cost for r in rows if r.road and r.oracle_cost]
    close = sum(ratio <= 1.15 for ratio in both)
    lines.append(f"cost within 15 % of the oracle's: {close} of {len(both)} worlds.")
    return lines


def goals(rows: Sequence[Row]) -> dict[str, bool]:
    """What was to be reached."""
    all_of = figures(rows)
    off = [abs(said - true) for n, said, true in calibration([p for r in rows for p in r.pairs])]
    return {
        "P(reach) within 10 points in every bin": max(off) <= 0.10,
        "P(reach) of the road taken within 10 points": abs(all_of.predicted - all_of.actual) <= 0.1,
        "median cost within 15 % of the oracle's": all_of.ratio <= 1.15,
        "regret below each fixed rule": all_of.regret < min(all_of.fixed.values()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worlds", type=int, default=240, help="how many worlds")
    parser.add_argument("--first", type=int, default=1000, help="seed of the first world")
    parser.add_argument("--out", type=Path, default=None, help="write the rows as JSON")
    args = parser.parse_args()
    if args.worlds < 1:
        parser.error("--worlds must be at least 1")
    start = time.process_time()
    rows = [run(world(args.first + i)) for i in range(args.worlds)]
    spent = time.process_time() - start
    for lines in (table(rows), calibration_table(rows), abstentions(rows)):
        print("\n".join(lines) + "\n")
    for goal, met in goals(rows).items():
        print(f"{'met' if met else 'MISSED'}: {goal}")
    print(f"{len(rows)} worlds from seed {args.first} on, {spent:.0f} s of CPU time.")
    if args.out is not None:
        args.out.write_text(json.dumps([asdict(row) for row in rows]) + "\n")


if __name__ == "__main__":
    main()
