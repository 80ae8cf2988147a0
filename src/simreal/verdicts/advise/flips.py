"""What would change the answer: the roads solved again with one price or number changed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from simreal.verdicts.advise.plan import DOUBLINGS, TRIALS
from simreal.verdicts.advise.rates import AMOUNTS, Rates
from simreal.verdicts.advise.reasons import cents
from simreal.verdicts.advise.roads import Prospect, Question, Survey, survey
from simreal.verdicts.advise.words import percent

#: A price is changed by up to this factor; further away no one calls it a flip.
_FARTHEST = 64.0
_STEP = math.sqrt(2)
_MOST_VARIANTS = 1024
#: Confidences that may be asked for in place of a lower one; less than even odds is none.
_SURER = (0.85, 0.9, 0.95)
_LEAST_SURE = 0.5


def flips(
    found: Sequence[Prospect], rates: Rates, question: Question, now: Survey
) -> tuple[str, ...]:
    """Sentences, each with the point at which another road (or none) would be chosen."""
    if now.chosen is None:
        return ()
    road = now.chosen.plan.road

    def winner(changed: Rates, asked: Question = question) -> str | None:
        chosen = survey(found, changed, asked).chosen
        return chosen.plan.road if chosen else None

    return tuple(
        sentence
        for part in (
            _price(rates, winner, road, "real_demo"),
            _few(rates, now, road),
            _setup(rates, winner, road),
            _variants(rates, question, winner, road),
            _confidence(rates, question, winner, now),
        )
        for sentence in part
    )


Winner = Callable[..., str | None]


def _price(rates: Rates, winner: Winner, road: str, name: str) -> Iterator[str]:
    """The nearest price below and above at which another road is chosen."""
    value = getattr(rates, name)
    if value <= 0:
        return

    def at(factor: float) -> str | None:
        return winner(replace(rates, **{name: value * factor}))

    for way, word in ((1 / _STEP, "less"), (_STEP, "more")):
        factor, other = 1.0, road
        while 1 / _FARTHEST < factor < _FARTHEST and other == road:
            last, factor = factor, factor * way
            other = at(factor) or ""
        if other == road:
            continue
        edge = _edge(lambda f: at(f) == road, last, factor)
        price = f"{rates.currency} {cents(value * edge)}"
        yield f"{_wins(other)} if {AMOUNTS[name]} costs {word} than {price} (now {cents(value)})."


def _edge(same: Callable[[float], bool], inside: float, outside: float) -> float:
    """Where `same` ends between two factors, to a per cent."""
    while max(inside, outside) / min(inside, outside) > 1.01:
        middle = math.sqrt(inside * outside)
        inside, outside = (middle, outside) if same(middle) else (inside, middle)
    return math.sqrt(inside * outside)


def _few(rates: Rates, now: Survey, road: str) -> Iterator[str]:
    """How few real demonstrations would have to be enough for the real-only road to win."""
    real = now.of("real-only")
    if road == "real-only" or now.chosen is None or real is None or rates.real_demo <= 0:
        return
    rest = now.chosen.mean - rates.training - TRIALS * rates.trial
    number = math.floor(rest / rates.real_demo)
    if 1 <= number <= real.plan.have.n_real * 2**DOUBLINGS:
        yield f"real-only is taken if it needs fewer than {number:,} more real demonstrations."


def _setup(rates: Rates, winner: Winner, road: str) -> Iterator[str]:
    """The set-up cost at which the choice changes."""
    if rates.built:
        return

    def at(money: float) -> str | None:
        return winner(replace(rates, setup=(money, money)))

    low, high = rates.setup
    if road == "real-only":
        other = at(0.0)
        if other in (None, "real-only"):
            yield "A simulator would not change the choice even if it were there already (--built)."
            return
        edge = _bisect(lambda m: at(m) == road, high, 0.0)
        word = "less"
    else:
        other = at(4 * high)
        if other == road:
            return
        edge, word = _bisect(lambda m: at(m) == road, low, 4 * high), "more"
    price = f"{rates.currency} {edge:,.0f}"
    yield f"{_wins(other)} if building the simulator costs {word} than {price}."


def _bisect(same: Callable[[float], bool], inside: float, outside: float) -> float:
    for _ in range(12):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if same(middle) else (inside, middle)
    return (inside + outside) / 2


def _variants(rates: Rates, question: Question, winner: Winner, road: str) -> Iterator[str]:
    """The number of task variants from which on, or below which, another road is chosen."""

    def at(number: int) -> str | None:
        return winner(rates, replace(question, bounds=replace(question.bounds, variants=number)))

    now = question.bounds.variants
    number = now
    while number < _MOST_VARIANTS and at(number) == road:
        number *= 2
    other = at(number)
    if other not in (road, None):
        low, high = max(now, number // 2), number
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if at(middle) == road else (low, middle)
        yield f"{at(high) or other} is taken from {high} variants of the task on (now {now})."
    if now > 1 and (alone := at(1)) not in (road, None):
        yield f"{alone} is taken if there is one variant of the task only."


def _confidence(rates: Rates, question: Question, winner: Winner, now: Survey) -> Iterator[str]:
    """The nearest higher confidence at which another road, or none, is left; and the highest lower
    one at which another road is taken: that road is only so sure.
    """
    assert now.chosen is not None
    road, asked = now.chosen.plan.road, question.confidence

    def at(confidence: float) -> str | None:
        return winner(rates, replace(question, confidence=confidence))

    for level in (level for level in _SURER if level > asked):
        if (other := at(level)) != road:
            yield f"{_wins(other)} if you ask to be {percent(level)} sure (--confidence)."
            break
    reached = {math.floor(100 * other.p_reach) / 100 for other in now.outlooks}
    for level in sorted((x for x in reached if _LEAST_SURE <= x < asked), reverse=True):
        if (other := at(level)) not in (road, None):
            yield f"{other} is taken if {percent(level)} sure is enough (--confidence)."
            break


def _wins(road: str | None) -> str:
    return f"{road} is taken" if road else "no road is sure enough"
