"""The same evidence in several situations: does the advised road depend on them?"""

from __future__ import annotations

from collections.abc import Mapping

from simreal.verdicts.advise.answer import advise
from simreal.verdicts.advise.case import Request
from simreal.verdicts.advise.eligibility import Limits
from simreal.verdicts.evidence import Evidence, role_of

#: A placement finer than most calibrations: ±1 mm at an offset of 2 mm and a spread of 1 mm.
_FINE = Limits(tolerance_mm=1.0, bias_mm=2.0, spread_mm=1.0)


def situations(goal: float) -> Mapping[str, Request]:
    """What is asked in each situation; all want the same success rate on the target."""
    return {
        "one task variant, simulator to be built": Request(target=goal),
        "twenty task variants": Request(target=goal, variants=20),
        "simulator built": Request(target=goal, built=True),
        "simulator built, ±1 mm at 2 mm of calibration error": Request(
            target=goal, built=True, limits=_FINE
        ),
    }


def strategies_of(evidence: Evidence) -> dict[str, str]:
    """Situation -> advised road; situations without an advised road, and all without a goal, are
    left out.
    """
    if evidence.goal is None:
        return {}
    found: dict[str, str] = {}
    for name, request in situations(evidence.goal).items():
        advised = advise(evidence, request).strategy
        role = (
            role_of(evidence.arm(advised)) if advised in {a.name for a in evidence.arms} else None
        )
        if role is not None:
            found[name] = role
    return found
