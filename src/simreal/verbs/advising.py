"""Which road next: advise."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import tyro

from simreal.core.errors import UsageError


def advise(
    folder: Annotated[Path, tyro.conf.Positional],
    target: float | None = None,
    prices: Path | None = None,
    json_output: Annotated[bool, tyro.conf.arg(name="json")] = False,
) -> None:
    """Which road to take next, why, and what would change the answer.

    Args:
        folder: A study's folder.
        target: The success rate that must be reached (a fraction), if there is one.
        prices: A TOML file of prices in place of the shipped ones.
        json_output: Print one JSON object and nothing else.
    """
    from simreal.study.evidence import evidence_of
    from simreal.verdicts.advise import Request
    from simreal.verdicts.advise import advise as give

    if target is not None and not 0 < target < 1:
        raise UsageError(f"--target {target}; give a fraction between 0 and 1, such as 0.85.")
    advice = give(evidence_of(folder, prices), Request(target=target))
    if json_output:
        print(json.dumps(advice.to_json()))
        return
    for line in (
        f"{advice.state}: {advice.strategy or 'no road'}.",
        advice.reason,
        advice.next.why,
    ):
        if line:
            print(line)
    for line in (*advice.flips, *advice.assumptions):
        print(f"- {line}")
