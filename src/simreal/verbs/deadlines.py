"""A deadline as people give it: a date, or a number of days from today."""

from __future__ import annotations

from datetime import UTC, date, datetime

from simreal.core.errors import UsageError

#: Days; what lies further off is no deadline.
_LONGEST = 1_000_000


def days_until(deadline: str | None) -> float | None:
    """Days from today until `--deadline`; None where there is none.

    Raises:
        UsageError: for what is neither a date nor a number of days, and for what has passed.
    """
    if deadline is None:
        return None
    try:
        left = int(deadline)
    except ValueError:
        left = _days_to(deadline)
    if left < 0:
        raise UsageError(f"--deadline {deadline} has passed.")
    if left > _LONGEST:
        raise UsageError(f"--deadline {deadline}; give {_LONGEST:,} days at most.")
    return float(left)


def _days_to(text: str) -> int:
    try:
        return (date.fromisoformat(text) - datetime.now(UTC).date()).days
    except ValueError:
        raise UsageError(
            f"--deadline {text}; give a date such as 2026-05-01, or a number of days."
        ) from None
