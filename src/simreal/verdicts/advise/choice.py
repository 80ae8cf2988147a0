"""Choosing among arms that all do: the cheapest, once the cost of a simulation is known."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from simreal.verdicts.advise.case import Advice, AdviceState, Case
from simreal.verdicts.advise.increment import Increment
from simreal.verdicts.advise.words import amount, failures_to_spare, price_flips, setup_flip
from simreal.verdicts.compare import State, decide
from simreal.verdicts.cost import Arm
from simreal.verdicts.evidence import contrast, role_of
from simreal.verdicts.exact import holm
from simreal.verdicts.rates import Interval


def cheapest(case: Case, able: Sequence[Arm], what: str, target: float | None) -> Advice:
    """The cheapest of the arms that do; the unknown cost of building a simulation decides first."""
    ranked = sorted(able, key=lambda a: (case.money(a), a.name))
    real = [a for a in ranked if role_of(a) == "real-only"]
    sim = [a for a in ranked if role_of(a) != "real-only"]
    if real and sim and case.costs:
        setup = case.costs[sim[0].name].setup
        gain = case.costs[real[0].name].total - case.costs[sim[0].name].total
        gain *= case.request.variants
        if setup is not None and not case.request.built:
            return _against_setup(case, real[0], sim[0], gain, setup, what)
    best = ranked[0]
    why = "the cheapest arm that" if case.costs else "the arm with the least real data that"
    reason = f"{best.name} is {why} {what}" if len(ranked) > 1 else f"Only {best.name} {what}"
    if case.costs:
        reason += f", at {amount(case.costs[best.name], case.request.built)}"
    runner = _runner_up(case, best, ranked)
    flips = _flips(case, best, runner, target)
    name = runner.name if runner else None
    state: AdviceState = "advice"
    if role_of(best) == "real-only" and _transfer_is_negative(case, best):
        state = "do not build a simulator"
        reason += "; every arm with simulated data is shown to be worse"
    return case.answer(state, best, reason + ".", runner_up=name, flips=flips)


def _against_setup(
    case: Case, real: Arm, sim: Arm, gain: float, setup: tuple[float, float], what: str
) -> Advice:
    """A real-only and a simulated road both do, and nobody knows what the simulation costs."""
    currency = case.costs[sim.name].currency
    band = f"{currency} {setup[0]:,.0f} to {setup[1]:,.0f}"
    flip = setup_flip(real.name, sim.name, gain, currency)
    if gain < setup[0]:
        return case.answer(
            "do not build a simulator",
            real,
            f"{real.name} {what}; {sim.name} would save {currency} {max(gain, 0.0):,.2f} at most, "
            f"and building a simulation is assumed to cost {band}.",
            runner_up=sim.name,
            flips=(flip, *price_flips(case.costs, real, sim)),
        )
    if gain > setup[1]:
        return case.answer(
            "advice",
            sim,
            f"{sim.name} {what} and stays cheaper than {real.name} over the whole assumed cost of "
            f"building the simulation ({band}).",
            runner_up=real.name,
            flips=(flip, *price_flips(case.costs, sim, real)),
        )
    return case.answer(
        "not enough evidence",
        None,
        f"Both {real.name} and {sim.name} do: each {what}. Which is cheaper turns on the cost of "
        f"building the simulation, which nobody measured (assumed {band}).",
        next=Increment(why="Give setup_hours and engineering in the price file."),
        runner_up=sim.name,
        flips=(flip,),
    )


def _runner_up(case: Case, best: Arm, ranked: Sequence[Arm]) -> Arm | None:
    others = [a for a in ranked if a.name != best.name]
    if others:
        return others[0]
    rest = [a for a in case.arms if a.name != best.name]
    return max(rest, key=lambda a: (case.reach[a.name].rate or 0.0, a.name), default=None)


def _flips(case: Case, best: Arm, runner: Arm | None, target: float | None) -> tuple[str, ...]:
    found: list[str] = []
    if target is not None and len(case.evidence.on_targets(best.name)) == 1:
        rate = case.evidence.pooled_rate(best.name)
        found.append(failures_to_spare(best.name, rate, target))
    if runner is not None and case.costs:
        found.extend(price_flips(case.costs, best, runner))
    return tuple(found)


def _transfer_is_negative(case: Case, real: Arm) -> bool:
    """Whether every arm with simulated data is shown to be worse than the real-only arm."""
    with_sim = [a.name for a in case.arms if a.n_sim > 0]
    found = contests(case)
    return bool(with_sim) and all(found[real.name, name].state == "better" for name in with_sim)


@dataclass(frozen=True)
class Contest:
    """One arm against another, corrected for the number of pairs."""

    state: State
    ci: Interval


def contests(case: Case) -> dict[tuple[str, str], Contest]:
    """Every pair of eligible arms that share a target, both ways round; Holm over all pairs."""
    pairs, found = [], []
    for first, second in itertools.combinations(case.arms, 2):
        cells = case.evidence.on_targets(first.name), case.evidence.on_targets(second.name)
        result = contrast(cells[0], cells[1], case.evidence.margin)
        if result is not None:
            pairs.append((first.name, second.name))
            found.append(result)
    adjusted = holm([1.0 if c.estimate.p is None else c.estimate.p for c in found])
    margin, table = case.evidence.margin, {}
    for (a, b), one, p in zip(pairs, found, adjusted, strict=True):
        low, high = one.estimate.ci
        table[a, b] = Contest(decide((low, high), p, margin, one.enough), (low, high))
        table[b, a] = Contest(decide((-high, -low), p, margin, one.enough), (-high, -low))
    return table
