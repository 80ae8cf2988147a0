"""The fixed list of claims and what a study says about each: all of them, always.

A claim that cannot be examined with what was measured is "not tested here" and says what would
be needed. The list with its parameters is `claims.toml`; the tests are in `claim_tests.py`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any, Literal

from simreal.verdicts.claim_parts import Finding
from simreal.verdicts.claim_tests import TESTS
from simreal.verdicts.evidence import Evidence
from simreal.verdicts.rates import Interval

ClaimState = Literal["supported", "contradicted", "cannot tell", "not tested here"]
CLAIM_STATES: tuple[ClaimState, ...] = (
    "supported",
    "contradicted",
    "cannot tell",
    "not tested here",
)


@dataclass(frozen=True)
class Claim:
    """One claim: its words, the test that decides it, and the test's parameters."""

    id: str
    text: str
    test: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True)
class ClaimVerdict:
    """What a study says about one claim; estimate and ci are None where it was not tested."""

    claim: Claim
    state: ClaimState
    estimate: float | None
    ci: Interval | None
    method: str

    def to_json(self) -> dict[str, Any]:
        """The entry of summary.json's `claims`."""
        return {
            "id": self.claim.id,
            "state": self.state,
            "estimate": self.estimate,
            "ci": None if self.ci is None else list(self.ci),
            "method": self.method,
        }


def all_claims() -> tuple[Claim, ...]:
    """Every claim of the fixed list, in its order."""
    text = resources.files("simreal.verdicts").joinpath("claims.toml").read_text("utf-8")
    fixed = ("id", "text", "test")
    return tuple(
        Claim(
            entry["id"],
            entry["text"],
            entry["test"],
            {key: value for key, value in entry.items() if key not in fixed},
        )
        for entry in tomllib.loads(text)["claim"]
    )


def evaluate_claims(evidence: Evidence) -> tuple[ClaimVerdict, ...]:
    """One verdict for each claim of the list, in its order; none can be left out."""
    return tuple(_verdict(claim, evidence) for claim in all_claims())


def _verdict(claim: Claim, evidence: Evidence) -> ClaimVerdict:
    found = TESTS[claim.test](evidence, claim.parameters)
    if not isinstance(found, Finding):
        return ClaimVerdict(claim, "not tested here", None, None, f"needs {found.what}")
    return ClaimVerdict(claim, found.state, found.estimate, found.ci, found.method)
