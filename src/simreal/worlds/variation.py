"""The algebra of randomization: distributions, operations, and an axis that joins them.

A value is `operation(nominal, drawn)`; everything is data that can be printed, compared, saved and
read back. Distributions draw only from the generator they are given.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special

from simreal.core.errors import UsageError, unknown

Numbers = npt.NDArray[np.float64]

#: Whole numbers up to this are exact in a float64.
_EXACT = 2**53


def _bad_range(low: float, high: float) -> str | None:
    if not (math.isfinite(low) and math.isfinite(high) and math.isfinite(high - low)):
        return f"range [{low}, {high}] is not finite"
    if low > high:
        return f"low {low} is greater than high {high}"
    return None


@dataclass(frozen=True)
class Uniform:
    """Every number in [low, high] alike."""

    low: float
    high: float

    def draw(self, rng: np.random.Generator, size: int) -> Numbers:
        """Shape (size,)."""
        return self.at(rng.random(size))

    def at(self, fractions: Numbers) -> Numbers:
        """The quantiles at these fractions."""
        return np.clip(self.low + (self.high - self.low) * fractions, self.low, self.high)

    def problem(self) -> str | None:
        """What is wrong with the parameters, or None."""
        return _bad_range(self.low, self.high)


@dataclass(frozen=True)
class LogUniform:
    """Uniform in the logarithm: for factors, and for friction with its long tails."""

    low: float
    high: float

    def draw(self, rng: np.random.Generator, size: int) -> Numbers:
        """Shape (size,)."""
        return self.at(rng.random(size))

    def at(self, fractions: Numbers) -> Numbers:
        """The quantiles at these fractions."""
        low, high = math.log(self.low), math.log(self.high)
        return np.clip(np.exp(low + (high - low) * fractions), self.low, self.high)

    def problem(self) -> str | None:
        """What is wrong with the parameters, or None."""
        if bad := _bad_range(self.low, self.high):
            return bad
        return None if self.low > 0 else f"low {self.low} of a log-uniform must be positive"


@dataclass(frozen=True)
class Normal:
    """Gaussian; what lies beyond `clip` standard deviations is moved to that bound."""

    mean: float
    std: float
    clip: float = 3.0

    def draw(self, rng: np.random.Generator, size: int) -> Numbers:
        """Shape (size,)."""
        return self._of(rng.standard_normal(size))

    def at(self, fractions: Numbers) -> Numbers:
        """The quantiles at these fractions."""
        return self._of(special.ndtri(fractions))

    def _of(self, standard: Numbers) -> Numbers:
        return self.mean + self.std * np.clip(standard, -self.clip, self.clip)

    def problem(self) -> str | None:
        """What is wrong with the parameters, or None."""
        if not all(math.isfinite(x) for x in (self.mean, self.std, self.clip)):
            return f"mean {self.mean}, std {self.std}, clip {self.clip} must be finite"
        return None if self.std >= 0 and self.clip >= 0 else "std and clip must not be negative"


@dataclass(frozen=True)
class Integers:
    """Whole numbers from low to high, both included."""

    low: int
    high: int

    def draw(self, rng: np.random.Generator, size: int) -> Numbers:
        """Shape (size,)."""
        return rng.integers(int(self.low), int(self.high) + 1, size).astype(float)

    def at(self, fractions: Numbers) -> Numbers:
        """The quantiles at these fractions."""
        many = int(self.high) - int(self.low) + 1
        steps = np.minimum(np.floor(fractions * float(many)), many - 1)
        return np.asarray(int(self.low) + steps, dtype=float)

    def problem(self) -> str | None:
        """What is wrong with the parameters, or None."""
        if bad := _bad_range(self.low, self.high):
            return bad
        whole = all(float(x).is_integer() and abs(x) <= _EXACT for x in (self.low, self.high))
        return None if whole else f"[{self.low}, {self.high}] must be whole numbers up to 2^53"


@dataclass(frozen=True)
class Mixture:
    """Each number from `second` with probability `weight`, else from `first`."""

    first: Distribution
    second: Distribution
    weight: float

    def draw(self, rng: np.random.Generator, size: int) -> Numbers:
        """Shape (size,)."""
        return self.at(rng.random(size))

    def at(self, fractions: Numbers) -> Numbers:
        """`first` at the fractions up to 1 - weight, `second` at the others, each stretched."""
        fractions, rest = np.asarray(fractions, dtype=float), 1.0 - self.weight
        second = fractions >= rest
        found = np.empty(fractions.shape)
        found[~second] = self.first.at(fractions[~second] / rest if rest else fractions[~second])
        stretched = (fractions[second] - rest) / self.weight if self.weight else fractions[second]
        found[second] = self.second.at(np.clip(stretched, 0.0, 1.0))
        return found

    def problem(self) -> str | None:
        """What is wrong with the parameters, or None."""
        if any(isinstance(part, Each) for part in (self.first, self.second)):
            return "a mixture has no `each` inside; put the mixture into the `each`"
        if not 0 <= self.weight <= 1:
            return f"weight {self.weight} of a mixture lies between 0 and 1"
        return self.first.problem() or self.second.problem()


@dataclass(frozen=True)
class Each:
    """The numbers of an axis, each from a distribution of its own."""

    parts: tuple[Distribution, ...]

    def draw(self, rng: np.random.Generator, size: int) -> Numbers:
        """Shape (size,), which must be the number of parts."""
        return self.at(rng.random(size))

    def at(self, fractions: Numbers) -> Numbers:
        """Each part at the fraction of its own."""
        if len(fractions) != len(self.parts):
            raise UsageError(
                f"A distribution `each` has {len(self.parts)} parts for an axis of "
                f"{len(fractions)} numbers; give as many parts as numbers."
            )
        drawn = [p.at(fractions[i : i + 1]) for i, p in enumerate(self.parts)]
        return np.concatenate(drawn)

    def problem(self) -> str | None:
        """What is wrong with the parameters, or None."""
        if not self.parts:
            return "`each` needs a part for each number of the axis"
        if any(isinstance(part, Each) for part in self.parts):
            return "`each` has no other `each` inside"
        return next((bad for part in self.parts if (bad := part.problem())), None)


#: Each draws `size` independent numbers and says what is wrong with its parameters.
Distribution = Uniform | LogUniform | Normal | Integers | Mixture | Each

#: Those whose parameters are numbers.
_PLAIN: Mapping[str, type[Uniform | LogUniform | Normal | Integers]] = {
    "uniform": Uniform,
    "log-uniform": LogUniform,
    "normal": Normal,
    "integers": Integers,
}
_ENDS = ("first", "second")
DISTRIBUTIONS: Mapping[str, type[Distribution]] = {**_PLAIN, "mixture": Mixture, "each": Each}


def distribution_to_json(distribution: Distribution) -> dict[str, Any]:
    """A JSON value that `distribution_from_json` turns back into an equal distribution."""
    kind = next(k for k, v in DISTRIBUTIONS.items() if isinstance(distribution, v))
    if isinstance(distribution, Mixture):
        parts = {p: distribution_to_json(getattr(distribution, p)) for p in _ENDS}
        return {"distribution": kind, "weight": distribution.weight, **parts}
    if isinstance(distribution, Each):
        return {
            "distribution": kind,
            "parts": [distribution_to_json(p) for p in distribution.parts],
        }
    return {"distribution": kind, **asdict(distribution)}


Operation = Callable[[Any, Any], Any]

#: `set` replaces the nominal value, `add` shifts it, `scale` multiplies it.
OPERATIONS: Mapping[str, Operation] = {
    "set": lambda nominal, value: value + 0.0 * nominal,
    "add": lambda nominal, value: nominal + value,
    "scale": lambda nominal, value: nominal * value,
}


@dataclass(frozen=True)
class Axis:
    """One randomized quantity: which term, how its value acts on nominal, how it is drawn."""

    term: str
    operation: str
    distribution: Distribution

    def __post_init__(self) -> None:
        """Refuse unknown operations and impossible ranges.

        Raises:
            UsageError: naming the axis, what is wrong, and what is allowed.
        """
        if self.operation not in OPERATIONS:
            raise unknown(f"operation of axis {self.term!r}", self.operation, OPERATIONS)
        if problem := self.distribution.problem():
            raise UsageError(f"Axis {self.term!r}: {problem}.")

    def to_json(self) -> dict[str, Any]:
        """A JSON value that `axis_from_json` turns back into an equal axis."""
        return {"operation": self.operation, **distribution_to_json(self.distribution)}


def _number(value: Any) -> float | int:
    """A number as it stands in the file, so that what is read back is written the same."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{value!r} is not a number")
    float(value)  # OverflowError where it is too large
    return value


def axis_from_json(term: str, content: Mapping[str, Any]) -> Axis:
    """Read one axis of a profile file.

    Raises:
        UsageError: for an unknown distribution or operation, missing or extra parameters,
            non-numbers, and impossible ranges.
    """
    rest = dict(content)
    operation = str(rest.pop("operation", "set"))
    return Axis(term, operation, _distribution_from_json(term, rest))


def _distribution_from_json(term: str, content: Any) -> Distribution:
    if not isinstance(content, Mapping):
        raise UsageError(
            f"Axis {term!r}: {content!r} is no distribution; give a table such as "
            '{ distribution = "uniform", low = 0, high = 1 }.'
        )
    rest = dict(content)
    kind = str(rest.pop("distribution", "uniform"))
    if kind not in DISTRIBUTIONS:
        raise unknown(f"distribution of axis {term!r}", kind, DISTRIBUTIONS)
    try:
        if kind == "mixture":
            first, second = (_distribution_from_json(term, rest.pop(p, None)) for p in _ENDS)
            return Mixture(first, second, **{str(k): float(_number(v)) for k, v in rest.items()})
        if kind == "each":
            parts = rest.pop("parts", ())
            if rest or not isinstance(parts, list | tuple):
                raise TypeError("parts")
            return Each(tuple(_distribution_from_json(term, part) for part in parts))
        return _PLAIN[kind](**{str(k): _number(v) for k, v in rest.items()})  # type: ignore[arg-type]
    except (TypeError, OverflowError) as error:
        needs = {"mixture": "weight and the tables first and second", "each": "a list of parts"}
        fields = ", ".join(DISTRIBUTIONS[kind].__dataclass_fields__)
        takes = needs.get(kind, f"the numbers {fields}")
        raise UsageError(
            f"Axis {term!r}: a {kind} distribution takes {takes}; "
            f"got {', '.join(f'{k}={v}' for k, v in rest.items()) or 'none'}."
        ) from error
