"""Policies by their checkpoint folders, as jobs in a worker process need them."""

from __future__ import annotations

from pathlib import Path

from simreal.core.protocols import Policy

_policies: dict[str, Policy] = {}


def policy_of(checkpoint: str) -> Policy:
    """A checkpoint's runner, kept in this process until another one is asked for."""
    from simreal.policies.runner import CompactRunner

    if checkpoint not in _policies:
        _policies.clear()
        _policies[checkpoint] = CompactRunner.load(Path(checkpoint))
    return _policies[checkpoint]
