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
        drawn = self.low + (self.high - self.low) * rng.random(size)
        return np.clip(drawn, self.low, self.high)

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
        low, high = math.log(self.low), math.log(self.high)
        return np.clip(np.exp(low + (high - low) * rng.random(size)), self.low, self.high)

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
        return self.mean + self.std * np.clip(rng.standard_normal(size), -self.clip, self.clip)

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

    def problem(self) -> str | None:
        """What is wrong with the parameters, or None."""
        if bad := _bad_range(self.low, self.high):
            return bad
        whole = all(float(x).is_integer() and abs(x) <= _EXACT for x in (self.low, self.high))
        return None if whole else f"[{self.low}, {self.high}] must be whole numbers up to 2^53"


#: Each draws `size` independent numbers and says what is wrong with its parameters.
Distribution = Uniform | LogUniform | Normal | Integers

DISTRIBUTIONS: Mapping[str, type[Distribution]] = {
    "uniform": Uniform,
    "log-uniform": LogUniform,
    "normal": Normal,
    "integers": Integers,
}

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
        kind = next(k for k, v in DISTRIBUTIONS.items() if isinstance(self.distribution, v))
        return {
            "operation": self.operation,
            "distribution": kind,
            **asdict(self.distribution),
        }


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
    kind, operation = str(rest.pop("distribution", "uniform")), str(rest.pop("operation", "set"))
    if kind not in DISTRIBUTIONS:
        raise unknown(f"distribution of axis {term!r}", kind, DISTRIBUTIONS)
    try:
        numbers = {str(k): _number(v) for k, v in rest.items()}
        distribution = DISTRIBUTIONS[kind](**numbers)  # type: ignore[arg-type]
    except (TypeError, OverflowError) as error:
        fields = ", ".join(DISTRIBUTIONS[kind].__dataclass_fields__)
        raise UsageError(
            f"Axis {term!r}: a {kind} distribution takes the numbers {fields}; "
            f"got {', '.join(f'{k}={v}' for k, v in rest.items()) or 'none'}."
        ) from error
    return Axis(term, operation, distribution)
